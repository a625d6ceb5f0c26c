"""Write what an operation found as a short text for an agent: places as path:line, no ornament, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pkg.errors import count_things, shorten
from pkg.model import Label
from pkg.retrieval.deps.answer import Answer
from pkg.retrieval.explore import Connection, Exploration, write_piece
from pkg.retrieval.outline_answer import CodeOutline, format_definition, format_file, format_folder
from pkg.retrieval.show import Definition, Shown
from pkg.retrieval.token_count import count_tokens
from pkg.service.operations.answer_sections import fit_lines, fit_sections, measure_section, share_budget
from pkg.service.operations.link_texts import SURE, list_sections, say_coverage, say_head

Line = Mapping[str, Any]
Outline = Callable[[Definition], list[str]]
"""Gives the lines of an outline of a class or file."""

LINKS_SHARE = 4
"""One of so many parts of the budget is kept for what calls a definition and what it calls, where there is as much."""
NEAREST = 8  # places that are named where nothing fits, which is told of 7 % of the questions that have an answer too
LONGEST_HEAD = 140  # characters of a line of an outline: a signature of fifteen parameters is not read
_OUTLINED = (Label.CLASS.value, Label.FILE.value)


def write_hits(lines: Sequence[Line]) -> Iterator[str]:
    """Write the hits of a query, each with its code and helpers."""
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
    """Write what a question found: the pieces, and then a line for each call, by the place where it stands."""
    several = len({piece.place.source for piece in found.pieces}) > 1
    parts = [write_piece(piece, several) for piece in found.pieces]
    for title, links, is_placed in (
        ("calls", found.calls, False),
        ("callers", found.callers, False),
        ("uses", found.uses, True),
    ):
        if links:
            parts.append("\n".join([f"{title}:", *(f"  {_format_link(link, is_placed)}" for link in links)]))
    return "\n\n".join(parts)


def write_nearest(found: Exploration) -> Iterator[str]:
    """Write that nothing fits a question, and where that comes nearest to it stands, without its code."""
    yield from found.notes or ("nothing found",)
    if found.pieces:
        yield "nearest places; show one, or ask in words of the code:"
    for each in found.pieces[:NEAREST]:
        yield f"  {each.place.path}:{each.place.line} {each.place.qualname}"


def say_over_budget(budget: int) -> str:
    """Say that something was found and the budget has no room for any of it, and what to do."""
    return f"found, but over the budget of {count_things(budget, 'token')}; raise budget"


def _format_link(link: Connection, is_placed: bool) -> str:
    """Write a call; where it leads has its place only if it is not shown above."""
    unsure = "" if link.confidence == SURE else f" ({link.confidence})"
    place = f" ({link.end.path}:{link.end.line})" if is_placed else ""
    return f"{link.start.path}:{link.line} {link.start.qualname} -> {link.end.qualname}{place}{unsure}"


def write_shown(shown: Shown, budget: int, outline: Outline) -> tuple[str, tuple[str, ...]]:
    """Write definitions with their code, then what needs them and what they need; give also what is left out.

    A class or file over the budget is outlined; of a function the first lines are shown.
    """
    sections, coverage = list_sections(shown.links), say_coverage(shown.links.coverage)
    kept = min(sum(map(measure_section, sections)), budget // LINKS_SHARE) + sum(map(count_tokens, coverage))
    heads = ["\n".join(_write_place(each)) for each in shown.definitions]
    costs = [
        count_tokens(head) + count_tokens(each.content) for head, each in zip(heads, shown.definitions, strict=True)
    ]
    rooms = share_budget(costs, max(budget - kept, 1) if budget else 0)
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
    """Show a part of a definition, and say how to get the rest."""
    enough = f"raise budget to {count_tokens(each.content) * 3 // 2}"
    if each.label in _OUTLINED and (lines := outline(each)):
        text, missing = fit_lines(lines, max(room, 1))
        more = f" and {count_things(missing, 'line')} of its outline" if missing else ""
        return text, f"the code of {each.qualname}{more}: show one of its definitions, or {enough}"
    text, missing = fit_lines(each.content.split("\n"), max(room, 1))
    first = each.end_line - missing + 1
    return text, f"lines {first}-{each.end_line} of {each.path}: {enough}"


def write_outline(outline: CodeOutline) -> Iterator[str]:
    """Write folders, files and definitions as the lines that the budget was counted by."""
    yield from map(format_folder, outline.folders)
    for file in outline.files:
        yield format_file(file)
        yield from map(format_definition, file.definitions)


def list_inside(outline: CodeOutline, definition: Definition) -> list[str]:
    """List the lines of an outline that lie inside of a class, or all of a file."""
    first, last = definition.start_line, definition.end_line
    found = (each for file in outline.files if file.path == definition.path for each in file.definitions)
    return [shorten(format_definition(each), LONGEST_HEAD) for each in found if first <= each.start_line <= last]


def write_links(answer: Answer, budget: int) -> tuple[str, tuple[str, ...]]:
    """Write an answer about dependencies; give also how much of each kind is left out."""
    lines = [*([head] if (head := say_head(answer)) else []), *say_coverage(answer.coverage)]
    used = sum(map(count_tokens, lines))
    body, left_out = fit_sections(list_sections(answer), max(budget - used, 1) if budget else 0)
    text, _ = fit_lines([*lines[:1], body, *lines[1:]] if body else lines, budget)
    return text, left_out


def write_ranking(line: Line) -> Iterator[str]:
    """Write which candidate is chosen, and of each, the best first, what speaks for it or against it."""
    yield f"chosen: candidate {line['chosen']}" + (" (all were dropped; this came furthest)" * line["fallback"])
    for each in sorted(line["candidates"], key=lambda each: each["rank"]):
        dropped = f"dropped at {each['dropped']}: {each['reason']}" if each["dropped"] else each["why"]
        same = f" (the same code as {each['same_as']})" if each["same_as"] is not None else ""
        yield f"candidate {each['id']}: {dropped}{same}"
    yield from line["notes"]
