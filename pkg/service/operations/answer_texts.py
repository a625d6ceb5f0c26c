"""Render answers as short texts for agents: places as path:line, without ornament, within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pkg.errors import count_things, shorten
from pkg.model import Label
from pkg.retrieval.deps.answer import (
    Answer,
)
from pkg.retrieval.deps.answer_sections import (
    CERTAIN,
    describe_coverage,
    fit_lines,
    fit_sections,
    format_head,
    list_sections,
    measure_section,
    share_budget,
)
from pkg.retrieval.explore import Connection, Exploration, write_piece
from pkg.retrieval.link_questions.link_answers import write_link_answers
from pkg.retrieval.outline_answer import CodeOutline, format_definition, format_file, format_folder
from pkg.retrieval.show import Definition, Shown
from pkg.retrieval.token_count import count_tokens

Line = Mapping[str, Any]
Outline = Callable[[Definition], list[str]]
"""Returns the outline of a class or file as lines."""

LINKS_SHARE = 4
"""A quarter of the budget is reserved for the callers and callees of a definition, if they need as much."""
NEAREST = 8  # places listed if nothing fits, which is also reported for 7 % of the questions that have an answer
LONGEST_HEAD = 140  # characters of a line of an outline; longer signatures are not worth their tokens
_OUTLINED = (Label.CLASS.value, Label.FILE.value)


def write_hits(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the lines of the hits of a query, each with its code and helpers."""
    several = len({each["source"] for each in lines if each["type"] == "hit"}) > 1
    for each in lines:
        if each["type"] == "hit":
            source = f"  ({each['source']})" if several else ""
            yield f"{each['path']}:{each['start_line']}-{each['end_line']}  {each['qualname']}{source}"
            if each["content"]:
                yield from each["content"].split("\n")
            for helper in each["helpers"]:
                yield f"helper {helper['path']}:{helper['start_line']}  {helper['qualname']} ({helper['reason']})"
            yield ""
        else:
            yield from each.get("explain", ())


def write_explored(found: Exploration) -> str:
    """Return the pieces found for a question, then a line for each call, caller and use."""
    several = len({piece.place.source for piece in found.pieces}) > 1
    parts = [] if found.links is None else [write_link_answers(found.links, found.links_budget)]
    parts += [write_piece(piece, several) for piece in found.pieces]
    for title, links, is_placed in (
        ("calls", found.calls, False),
        ("callers", found.callers, False),
        ("uses", found.uses, True),
    ):
        if links:
            parts.append("\n".join([f"{title}:", *(f"  {_format_link(link, is_placed)}" for link in links)]))
    return "\n\n".join(parts)


def write_nearest(found: Exploration) -> Iterator[str]:
    """Yield the notes of a question that nothing fits, and the nearest places without their code."""
    yield from found.notes or ("nothing found",)
    if found.pieces:
        yield "nearest places; show one, or ask in words of the code:"
    for each in found.pieces[:NEAREST]:
        yield f"  {each.place.path}:{each.place.line} {each.place.qualname}"


def describe_over_budget(budget: int) -> str:
    """Return the text of an answer of which nothing fits the budget."""
    return f"found, but over the budget of {count_things(budget, 'token')}; raise budget"


def _format_link(link: Connection, is_placed: bool) -> str:
    """Format a call; is_placed: with the place of the callee, which is not shown above."""
    unsure = "" if link.confidence == CERTAIN else f" ({link.confidence})"
    place = f" ({link.end.path}:{link.end.line})" if is_placed else ""
    return f"{link.start.path}:{link.line} {link.start.qualname} -> {link.end.qualname}{place}{unsure}"


def write_shown(shown: Shown, budget: int, outline: Outline) -> tuple[str, tuple[str, ...]]:
    """Return the text of definitions with their code and links, and the parts left out.

    A class or file over the budget is outlined, a function is cut after its first lines.
    """
    sections, coverage = list_sections(shown.links), describe_coverage(shown.links)
    reserved = min(sum(map(measure_section, sections)), budget // LINKS_SHARE) + sum(map(count_tokens, coverage))
    heads = ["\n".join(_write_place(each)) for each in shown.definitions]
    costs = [
        count_tokens(head) + count_tokens(each.content) for head, each in zip(heads, shown.definitions, strict=True)
    ]
    rooms = share_budget(costs, max(budget - reserved, 1) if budget else 0)
    parts, left_out = list[str](), list[str]()
    for each, head, cost, room in zip(shown.definitions, heads, costs, rooms, strict=True):
        code, missing = (each.content, "") if cost <= room else _cut(each, room - count_tokens(head), outline)
        parts.append(f"{head}\n{code}")
        left_out += [missing] * bool(missing)
    used = sum(map(count_tokens, [*parts, *coverage]))
    links, cut = fit_sections(sections, max(budget - used, 1) if budget else 0)
    text = "\n".join([*parts, *([links] if links else []), *coverage])
    more = (f"{', '.join(cut)}: ask deps",) if cut else ()
    return text, (*left_out, *more)


def _write_place(each: Definition) -> Iterator[str]:
    yield f"{each.path}:{each.start_line}-{each.end_line}  {each.qualname}"
    if each.class_header:
        yield f"in {each.class_header}"


def _cut(each: Definition, room: int, outline: Outline) -> tuple[str, str]:
    """Return the part of a definition that fits, and how to get the rest."""
    enough = f"raise budget to {count_tokens(each.content) * 3 // 2}"
    if each.label in _OUTLINED and (lines := outline(each)):
        text, missing = fit_lines(lines, max(room, 1))
        more = f" and {count_things(missing, 'line')} of its outline" if missing else ""
        return text, f"the code of {each.qualname}{more}: show one of its definitions, or {enough}"
    text, missing = fit_lines(each.content.split("\n"), max(room, 1))
    first = each.end_line - missing + 1
    return text, f"lines {first}-{each.end_line} of {each.path}: {enough}"


def write_outline(outline: CodeOutline) -> Iterator[str]:
    """Yield folders, files and definitions in the lines by which the budget was counted."""
    yield from map(format_folder, outline.folders)
    for file in outline.files:
        yield format_file(file)
        yield from map(format_definition, file.definitions)


def list_inside(outline: CodeOutline, definition: Definition) -> list[str]:
    """List the lines of an outline inside the lines of a class or file."""
    first, last = definition.start_line, definition.end_line
    found = (each for file in outline.files if file.path == definition.path for each in file.definitions)
    return [shorten(format_definition(each), LONGEST_HEAD) for each in found if first <= each.start_line <= last]


def write_links(answer: Answer, budget: int) -> tuple[str, tuple[str, ...]]:
    """Return the text of an answer about dependencies, and how much of each kind is left out."""
    lines = [*([head] if (head := format_head(answer)) else []), *describe_coverage(answer)]
    used = sum(map(count_tokens, lines))
    body, left_out = fit_sections(list_sections(answer), max(budget - used, 1) if budget else 0)
    text, _ = fit_lines([*lines[:1], body, *lines[1:]] if body else lines, budget)
    return text, left_out


def write_ranking(line: Line) -> Iterator[str]:
    """Yield the chosen candidate, then each candidate, best first, with the reason of its rank."""
    yield f"chosen: candidate {line['chosen']}" + (" (all were dropped; it passed most stages)" * line["fallback"])
    for each in sorted(line["candidates"], key=lambda each: each["rank"]):
        dropped = f"dropped at {each['dropped']}: {each['reason']}" if each["dropped"] else each["why"]
        same = f" (same code as {each['same_as']})" if each["same_as"] is not None else ""
        yield f"candidate {each['id']}: {dropped}{same}"
    yield from line["notes"]
