"""`pkg rerank`: read tasks, rank them, write lines or tables, and resume an earlier run."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from pkg.api import rank_tasks
from pkg.console.options import json_option
from pkg.console.progress import ProgressBar
from pkg.console.settings import decode_option, decode_options, jobs_setting
from pkg.console.streams import emit, read_text, style_words
from pkg.console.tables import make_table
from pkg.errors import InputError, PathError, UsageError, count_things, refuse_file, shorten
from pkg.extract.records import is_corpus
from pkg.model import Skip
from pkg.quoting.hidden_characters import escape_json, spell_hidden
from pkg.rerank.candidates import (
    STAGES,
    BackendName,
    Candidate,
    Comparison,
    Ranked,
    Ranking,
    RerankOptions,
    Task,
    check_stages,
    paper_options,
)
from pkg.rerank.tasks import (
    ORACLE,
    Item,
    Outcome,
    make_item_key,
    outcome_line,
    read_done,
    read_oracle,
    read_tasks,
    skip_done,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text


LONGEST = 100  # characters of a reason in the table; JSON output is complete

_SCORES = ("oracle", "examples", "behaviour", "similarity")

Keyed = tuple[str, Item]

Rank = Callable[[Iterable[Item]], Iterator[Outcome]]


@click.command(epilog='Example:  pkg rerank answers.jsonl   or   pkg rerank a.py b.py --query "add(1, 2) returns 3"')
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, callback=decode_options)
@click.option(
    "--query",
    callback=decode_option,
    metavar="TEXT",
    help="Query that the candidate files answer; - reads it from standard input.",
)
@click.option(
    "--stages",
    callback=lambda ctx, parameter, value: value and tuple(word.strip() for word in value.split(",")),
    metavar="A,B",
    help="Run these stages alone, of syntax, static, smoke, examples, behaviour, similarity; default: all.",
)
@click.option("--without", multiple=True, metavar="STAGE", help="Leave out a stage. Repeatable.")
@click.option("--paper", is_flag=True, help="Run only syntax, smoke and raw similarity, as in the paper.")
@click.option(
    "--weights", metavar="A=1,B=.5", help="Order by a weighted sum of the stages instead of lexicographically."
)
@click.option(
    "--compare",
    type=click.Choice(get_args(Comparison)),
    help="Measure similarity without comments and docstrings (default), or with them.",
)
@click.option(
    "--sandbox",
    type=click.Choice(get_args(BackendName)),
    help="Sandbox of candidates. Default: process on Linux, docker elsewhere; none gives no protection.",
)
@jobs_setting(help="Parallel tasks and candidates; 0 for one per processor.")
@click.option("--inputs", type=click.IntRange(0), help="Number of calls on which candidates are compared. Default: 24.")
@click.option(
    "--cpu-seconds",
    type=click.FloatRange(0, min_open=True),
    help="CPU limit in seconds for loading a candidate, and for all its calls together. Default: 2.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the calls.")
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    help="Write to OUT, and skip the tasks that it already contains.",
)
@click.option(
    "--oracle-tests",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="For research: rank by hidden tests; every line is marked ORACLE.",
)
@json_option
def rerank(paths: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Choose the best of several generated answers by running them.

    FILE has JSON lines {"query": ..., "candidates": [...]}; - reads standard input. Other files, such as a.py and b.py,
    are the candidates for one --query. Candidates run in a sandbox, and are ranked by the examples of the query, by
    their agreement with each other, and by their similarity to the query.
    """

    out, oracle_path, query = given.pop("resume"), given.pop("oracle_tests"), given.pop("query")
    options = make_options(given)
    oracle = read_oracle(oracle_path) if oracle_path is not None else None
    keyed = ((make_item_key(item, options, oracle is not None), item) for item in _read_items(paths, query))
    rank = partial(rank_tasks, options=options, oracle=oracle)
    with closing(ProgressBar()) as bar:
        # Output on the terminal is its own progress report.
        counts = Counts(bar.rank if sys.stderr.isatty() and not sys.stdout.isatty() else None)
        if out is not None:
            _write_rest(out, keyed, rank, oracle is not None, counts)
        else:
            outcomes = counts.count(outcome for _, outcome in _rank_keyed(keyed, rank))
            lines = (outcome_line(each, is_oracle=oracle is not None) for each in outcomes)
            emit(as_json, lines, lambda: _view_all(outcomes))
    counts.close()


def view_outcome(outcome: Outcome) -> Iterator[RenderableType]:
    """Render the ranking of one task, or the reason why there is none."""
    if isinstance(outcome, Skip):
        yield style_words(f"left out {outcome.path}: {outcome.reason}", "yellow")
        return
    yield _say_head(outcome)
    yield _make_table(outcome)
    for note in outcome.notes:
        yield style_words(f"  {note}", "dim")


def _say_head(ranking: Ranking) -> Text:
    name = f"{ranking.id}: " if ranking.id is not None else ""
    line = style_words(f"{name}chosen: candidate {ranking.chosen}", "bold")
    wanted = f" of {ranking.entry}" if ranking.entry else ""
    examples, calls = count_things(len(ranking.examples), "example"), count_things(ranking.inputs, "call")
    ran = f"run on {examples}{wanted} and {calls} in the sandbox {ranking.sandbox}"
    line.append(f"  {spell_hidden(ran) if ranking.sandbox else 'nothing was run'}", "dim")
    if ranking.fallback:
        line.append("  fallback: every candidate was dropped", "red")
    if ranking.oracle:
        line.append(f"  {ORACLE}: hidden tests were seen", "red")
    return line


def _make_table(ranking: Ranking) -> Table:
    shown = [name for name in _SCORES if any(_find_score(each, name) is not None for each in ranking.candidates)]
    numbers = ("rank", "votes", *shown)
    places = {name: place for place, name in enumerate(ranking.order)}
    rows = []
    for each in sorted(ranking.candidates, key=lambda ranked: places[ranked.id]):
        scores = [_say_score(_find_score(each, name)) for name in shown]
        cells = (str(each.rank), str(each.id), str(each.votes), *scores, shorten(each.why, LONGEST))
        rows.append([style_words(cell, "dim" if each.dropped else "") for cell in cells])
    return make_table(("rank", "candidate", "votes", *shown, "why"), rows, right=numbers)


def _find_score(ranked: Ranked, stage: str) -> float | None:
    return next((each.score for each in ranked.verdicts if each.stage == stage), None)


def _say_score(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"


def _read_items(paths: Sequence[str], query: str | None) -> Iterable[Item]:
    """Read the tasks of a file, or build one from candidate files, whose names become their ids."""
    corpora = [path for path in paths if is_corpus(path)]
    if not corpora:
        return [Task(read_text(query or ""), tuple(Candidate(path, _read_text(path)) for path in dict.fromkeys(paths)))]
    if len(paths) > 1:
        raise UsageError(f"{corpora[0]} is a file of tasks; give it alone, or only files with one answer each")
    if query is not None:
        raise UsageError(f"--query is for files that each hold one answer; the tasks of {paths[0]} have their own")
    return read_tasks(paths[0])


def _read_text(path: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8", "replace")
    except OSError as fault:
        raise PathError(
            f"cannot read {path}: {fault.strerror}; expected files that each hold one answer, such as a.py, JSON lines"
            " in a file .jsonl or .json (also .gz), or - for a pipe"
        ) from None


def make_options(given: dict[str, Any]) -> RerankOptions:
    """Build the options of a run from those of the command line; options not given keep their defaults.

    Raises UsageError for options that exclude each other, and for an unknown stage or an invalid weight.
    """
    stages, without, is_paper = given.pop("stages"), given.pop("without"), given.pop("paper")
    weights = given.pop("weights")
    chosen = {name: value for name, value in given.items() if value is not None}
    if is_paper:
        if stages or without or weights:
            raise UsageError("--paper chooses the stages itself; leave out --stages, --without and --weights")
        return paper_options(**chosen)
    check_stages(without)
    left = tuple(name for name in (stages or STAGES) if name not in without)
    return RerankOptions(stages=left, weights=_read_weights(weights), **chosen)


def _read_weights(text: str | None) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in (text or "").split(",") if text else ():
        name, _, number = part.partition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"no weight in '{part}'; expected a stage and a number, such as examples=1") from None
    return weights


def _rank_keyed(keyed: Iterable[Keyed], rank: Rank) -> Iterator[tuple[str, Outcome]]:
    """Rank the items and yield each outcome with the key of its item."""
    keys: deque[str] = deque()

    def take_items() -> Iterator[Item]:
        for key, item in keyed:
            keys.append(key)
            yield item

    for outcome in rank(take_items()):
        yield keys.popleft(), outcome


def _write_rest(out: Path, keyed: Iterable[Keyed], rank: Rank, is_oracle: bool, counts: Counts) -> None:
    """Append the missing outcomes to a file, one complete line after another."""
    rest = skip_done(keyed, read_done(out))
    try:
        file = out.open("a", encoding="utf-8")
    except OSError as fault:
        raise refuse_file(out, fault) from None
    with file:
        for key, outcome in _rank_keyed(rest, rank):
            next(counts.count([outcome]), None)
            line = json.dumps(outcome_line(outcome, key, is_oracle), ensure_ascii=False)
            file.write(escape_json(line) + "\n")
            file.flush()
    counts.is_resumed = True


def _view_all(outcomes: Iterable[Outcome]) -> Iterator[Any]:
    for outcome in outcomes:
        yield from view_outcome(outcome)


class Counts:
    """Counts the outcomes of the tasks, and shows progress while output goes to a file."""

    def __init__(self, show: Callable[[int, int], None] | None = None) -> None:
        self.ranked = self.skipped = 0
        self.is_resumed = False
        self._first: Skip | None = None
        self._show = show

    def count(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """Yield the outcomes unchanged, and count them."""
        for outcome in outcomes:
            if isinstance(outcome, Skip):
                self.skipped += 1
                self._first = self._first or outcome
            else:
                self.ranked += 1
            if self._show is not None:
                self._show(self.ranked, self.skipped)
            yield outcome

    def close(self) -> None:
        """Report the tasks left out; raises InputError if none was ranked."""
        if self._first is None:
            if not self.ranked and not self.is_resumed:
                raise InputError("no tasks; expected JSON lines, each with a query and candidates")
            return
        if not self.ranked and not self.is_resumed:
            raise InputError(f"none of {self.skipped:,} tasks can be ranked; the first: {self._first}")
        click.echo(f"pkg: {self.skipped:,} of {self.ranked + self.skipped:,} tasks left out; {self._first}", err=True)
