"""Write answers side by side with their judgements and human ratings, as one HTML page (Q-21, C-26).

The page is self-contained and has no script: buttons and style rules select the questions. All texts are untrusted, so
they are escaped, and the content security policy allows only inline styles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TypeVar

from pkg.errors import count_things
from pkg.lab.evaluation.report.report_format import Table, render_html_table, render_page
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judgements import NO_VALUE, TIE_BAD, TIE_GOOD, Judgement
from pkg.lab.judge.ratings import Rating
from pkg.quoting.hidden_characters import spell_hidden

TITLE = "Answers side by side"
UNJUDGED, DISPUTED = "not compared", "not agreed"
"""Outcomes of an item without a comparison, and of one whose comparisons differ."""

LONGEST = 100_000  # characters of one text: browsers take minutes for a line of two million
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
COLUMNS = ("by", "kind", "run", "shown", "says", "why")
STYLE = """
.answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
pre { font: inherit; white-space: pre-wrap; margin: 0; background: var(--soft); padding: .7rem; border-radius: 6px;
  border: 1px solid var(--line); max-height: 40rem; overflow-y: auto; }
.text td { min-width: 4rem; } li summary { margin-top: 0; }
mark { background: var(--down); color: inherit; }
.filters { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; }
.filters fieldset { border: 1px solid var(--line); border-radius: 6px; display: flex; flex-wrap: wrap; gap: 0 1rem; }
"""
_CITATION = re.compile(r"\[(\d{1,4})\]")

T = TypeVar("T", Judgement, Rating)


def write_answers_page(
    items: Sequence[JudgedItem], judgements: Iterable[Judgement] = (), ratings: Iterable[Rating] = ()
) -> str:
    """Write a section for each item: question, reference, answers, evidence, and the judgements of each run and judge.

    Planted cases are left out. Buttons select items by type and by winner.
    """
    judged = _group(each for each in judgements if not each.case)
    rated = _group(ratings)
    outcomes = [find_outcome(judged[item.id], rated[item.id]) for item in items]
    filters = [("Winner", outcomes), ("Type", [item.type or "none" for item in items])]
    shown = [(name, kinds) for name, kinds in filters if len(set(kinds)) > 1]
    sections = []
    for number, item in enumerate(items):
        classes = " ".join(_name_class(name, kinds, kinds[number]) for name, kinds in shown)
        said = [*map(_make_row, judged[item.id]), *map(_make_human_row, rated[item.id])]
        sections.append(
            f'<section class="{classes}" id="q{number}">{_write_item(number, item, outcomes[number], said)}</section>'
        )
    rules = "".join(rule for name, kinds in shown for rule in _write_rules(name, kinds))
    choices = "".join(_write_filter(name, kinds) for name, kinds in shown)
    body = (
        f"<p>{count_things(len(items), 'question')}</p>\n"
        f'<div class="filters">{choices}</div>\n<main>\n{chr(10).join(sections)}\n</main>'
    )
    return render_page(TITLE, body, STYLE + rules, POLICY)


def find_outcome(judgements: Iterable[Judgement], ratings: Iterable[Rating]) -> str:
    """Return the system that all comparisons of an item prefer, or the reason why there is none."""
    winners = {each.winner for each in judgements if each.kind == "pairwise"}
    winners |= {_find_winner(each) for each in ratings if each.kind == "pairwise"}
    return UNJUDGED if not winners else winners.pop() if len(winners) == 1 else DISPUTED


def _find_winner(rating: Rating) -> str:
    return {"A": rating.systems[0], "B": rating.systems[1], "C": TIE_GOOD, "D": TIE_BAD}.get(rating.verdict, NO_VALUE)


def _group(given: Iterable[T]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for each in given:
        groups[each.id].append(each)
    return groups


def _name_class(name: str, kinds: Sequence[str], kind: str) -> str:
    """Return the CSS class of the sections of one kind; it holds its number, because a kind may be any text."""
    return f"{name.lower()}-{sorted(set(kinds)).index(kind)}"


def _write_rules(name: str, kinds: Sequence[str]) -> Iterator[str]:
    """Yield rules that hide all sections but those of the selected kind."""
    for kind in sorted(set(kinds)):
        chosen = _name_class(name, kinds, kind)
        yield f"body:has(#{chosen}:checked) main > section:not(.{chosen}) {{ display: none; }}\n"


def _write_filter(name: str, kinds: Sequence[str]) -> str:
    counts = Counter(kinds)
    buttons = [f'<label><input type="radio" name="{name}" checked> all {len(kinds)}</label>']
    buttons += [
        f'<label><input type="radio" name="{name}" id="{_name_class(name, kinds, kind)}"> {_spell(kind)} {counts[kind]}'
        "</label>"
        for kind in sorted(counts)
    ]
    return f"<fieldset><legend>{name}</legend>{''.join(buttons)}</fieldset>"


def _write_item(number: int, item: JudgedItem, outcome: str, said: Sequence[Sequence[str]]) -> str:
    reference = f"<h3>Reference</h3><pre>{_spell(item.reference)}</pre>\n" if item.reference else ""
    answers = "".join(
        f"<div><h3>{_spell(system)}</h3><pre>{_cite(text, number, item)}</pre></div>"
        for system, text in item.answers.items()
    )
    table = Table(COLUMNS, tuple(tuple(map(_show, row)) for row in said), is_text=True)
    return (
        f'<h2>{_spell(item.id)}</h2>\n<p class="note">{_spell(", ".join(filter(None, (item.type, outcome))))}</p>\n'
        f'<pre>{_spell(item.question)}</pre>\n{reference}<div class="answers">{answers}</div>\n'
        f"{_list_evidence(number, item)}{render_html_table(table) if said else ''}"
    )


def _cite(text: str, number: int, item: JudgedItem) -> str:
    """Link each [n] of an answer to its evidence, and mark those without one."""
    if not item.evidence:
        return _spell(text)

    def link(found: re.Match[str]) -> str:
        is_known = 1 <= int(found[1]) <= len(item.evidence)
        return f'<a href="#q{number}-{int(found[1])}">{found[0]}</a>' if is_known else f"<mark>{found[0]}</mark>"

    return _CITATION.sub(link, _spell(text))


def _list_evidence(number: int, item: JudgedItem) -> str:
    lines = [
        f'<li id="q{number}-{place}">{_spell(f"{each.path}:{each.start_line}-{each.end_line}")}'
        + (f"<details><summary>text</summary><pre>{_spell(each.content)}</pre></details>" if each.content else "")
        + "</li>"
        for place, each in enumerate(item.evidence, start=1)
    ]
    return f"<h3>Evidence</h3><ol>{''.join(lines)}</ol>\n" if lines else ""


def _make_row(judgement: Judgement) -> tuple[str, ...]:
    if judgement.kind == "pairwise":
        says = judgement.winner
    else:
        rated = zip(judgement.systems, judgement.ratings, strict=False)
        says = ", ".join(f"{system} {NO_VALUE if rating is None else rating}" for system, rating in rated)
    why = "\n".join(filter(None, judgement.rationales)) or judgement.text
    kind = f"{judgement.kind} {judgement.preference}".strip()
    return judgement.judge, kind, str(judgement.run), ", ".join(judgement.systems), says, why


def _make_human_row(rating: Rating) -> tuple[str, ...]:
    says = ", ".join(f"{name} {value:g}" for name, value in rating.ratings.items())
    says = _find_winner(rating) if rating.kind == "pairwise" else f"{rating.system} {says}".strip()
    shown = ", ".join(rating.systems) or rating.system
    return rating.rater, rating.kind, "", shown, says + ", bad code" * rating.bad_code, rating.comment


def _spell(text: str) -> str:
    return escape(_show(text))


def _show(text: str) -> str:
    """Escape hidden characters, and replace the rest of a very long text by its length."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n[{len(text) - LONGEST:,} more characters]"
    return spell_hidden(text)
