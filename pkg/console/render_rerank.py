"""Show rankings to a person: one table a task. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pkg.console.terminal import show_controls, style_words
from pkg.model import Skip
from pkg.rerank.lines import ORACLE
from pkg.rerank.nouns import Ranked, Ranking
from pkg.wording import shorten

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from pkg.rerank.stream import Outcome

LONGEST = 100  # characters of a reason in the table; the JSON form holds all
_SCORES = ("oracle", "examples", "behaviour", "similarity")


def view_outcome(outcome: Outcome) -> Iterator[RenderableType]:
    """Show the ranking of one task, or why there is none."""
    if isinstance(outcome, Skip):
        yield style_words(f"left out {outcome.path}: {outcome.reason}", "yellow")
        return
    yield _say_head(outcome)
    yield _make_table(outcome)
    for note in outcome.notes:
        yield style_words(f"  {note}", "dim")


def _say_head(ranking: Ranking) -> Text:
    name = f"{ranking.id}: " if ranking.id is not None else ""
    line = style_words(f"{name}chosen {ranking.chosen}", "bold")
    wanted = f" for {ranking.entry}" if ranking.entry else ""
    counts = f"{len(ranking.examples)} examples in the query{wanted}, {ranking.inputs} calls compared"
    line.append(f"  {show_controls(counts)}, sandbox {ranking.sandbox or 'none, nothing was run'}", "dim")
    if ranking.fallback:
        line.append("  fallback: every candidate was dropped", "red")
    if ranking.oracle:
        line.append(f"  {ORACLE}: hidden tests were seen", "red")
    return line


def _make_table(ranking: Ranking) -> Table:
    from rich.table import Table

    shown = [name for name in _SCORES if any(_find_score(each, name) is not None for each in ranking.candidates)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("rank", "candidate", "votes", *shown, "why"):
        table.add_column(header, justify="right" if header in ("rank", "votes", *shown) else "left", overflow="fold")
    places = {name: place for place, name in enumerate(ranking.order)}
    for each in sorted(ranking.candidates, key=lambda ranked: places[ranked.id]):
        scores = [_say_score(_find_score(each, name)) for name in shown]
        cells = (str(each.rank), str(each.id), str(each.votes), *scores, _say_reason(each))
        table.add_row(*(style_words(cell, "dim" if each.dropped else "") for cell in cells))
    return table


def _find_score(ranked: Ranked, stage: str) -> float | None:
    return next((each.score for each in ranked.verdicts if each.stage == stage), None)


def _say_score(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"


def _say_reason(ranked: Ranked) -> str:
    """Say why a candidate stands where it stands: what dropped it, what it repeats, or what it failed."""
    if ranked.same_as is not None:
        return f"the same as {ranked.same_as}"
    if ranked.dropped is not None:
        return shorten(f"dropped by {ranked.dropped}: {ranked.reason}", LONGEST)
    told = [each for each in ranked.verdicts if each.stage in ("oracle", "examples") and not each.passed]
    return shorten(told[0].reason if told else ranked.reason, LONGEST)
