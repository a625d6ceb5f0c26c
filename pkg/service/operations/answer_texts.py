"""Write what an operation found as a short text for an agent: places as path:line, no ornament, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pkg.errors import count_things
from pkg.retrieval.outline_answer import CodeOutline, say_definition, say_file, say_folder
from pkg.retrieval.show import Shown
from pkg.retrieval.token_count import count_tokens

Line = Mapping[str, Any]
SURE = "certain"


def fit_lines(lines: Iterable[str], budget: int) -> tuple[str, int]:
    """Join as many lines as a budget of tokens has room for (0: no limit); give the text, and how many are left out.

    A line may be a text of several: it stays whole, or is left out with all behind it.
    """
    kept, used, left_out = list[str](), 0, 0
    for line in lines:
        cost = count_tokens(line)
        if left_out or (budget and used + cost > budget):
            left_out += line.count("\n") + 1
        else:
            kept.append(line)
            used += cost
    return "\n".join(kept), left_out


def write_hits(lines: Sequence[Line]) -> Iterator[str]:
    """Write the hits of a query, each with its code and helpers."""
    for each in lines:
        if each["type"] == "hit":
            yield f"{each['path']}:{each['start_line']}-{each['end_line']}  {each['qualname']}"
            if each["content"]:
                yield from each["content"].split("\n")
            for helper in each["helpers"]:
                yield f"helper {helper['path']}:{helper['start_line']}  {helper['qualname']} ({helper['reason']})"
            yield ""
        else:
            yield from each.get("explain", ())


def write_shown(shown: Shown, lines: Sequence[Line]) -> Iterator[str]:
    """Write definitions with their code, then what needs them and what they need."""
    for each in shown.definitions:
        yield f"{each.path}:{each.start_line}-{each.end_line}  {each.qualname}"
        if each.class_header:
            yield f"in {each.class_header}"
        yield from each.content.split("\n")
    yield ""
    yield from write_links(lines)


def write_outline(outline: CodeOutline) -> Iterator[str]:
    """Write folders, files and definitions as the lines that the budget was counted by."""
    yield from map(say_folder, outline.folders)
    for file in outline.files:
        yield say_file(file)
        yield from map(say_definition, file.definitions)


def write_links(lines: Sequence[Line]) -> Iterator[str]:
    """Write the JSON lines of an answer about dependencies, one place a line, under a heading for each kind."""
    heading = ""
    for each in lines:
        title, text = _WRITERS.get(each["type"], _write_other)(each)
        if title != heading and title:
            yield f"{title}:"
        heading = title
        if text:
            yield f"  {text}" if title else text


def _write_target(line: Line) -> tuple[str, str]:
    return "about", _say_place(line)


def _write_dependency(line: Line) -> tuple[str, str]:
    at = ", ".join(map(str, line["lines"]))
    depth = f" depth {line['depth']}" if line["depth"] > 1 else ""
    where = f" at {line['at']}:{at}" if line["at"] != line["path"] else f" at {at}"
    return line["relation"], f"{_say_place(line)}{where}{depth}{_say_confidence(line)}"


def _write_affected(line: Line) -> tuple[str, str]:
    title = "tests reached" if line["is_test"] else "affected"
    return title, f"{_say_place(line)} distance {line['distance']}{_say_confidence(line)}"


def _write_chain(line: Line) -> tuple[str, str]:
    hops = line["hops"]
    steps = [_say_place(hops[0]["start"]), *(_say_place(hop["end"]) for hop in hops)]
    return "chain", " -> ".join(steps)


def _write_unused(line: Line) -> tuple[str, str]:
    doubts = f" ({', '.join(map(str, line['doubts']))})" if line["doubts"] else ""
    return "unused", f"{_say_place(line)}{doubts}"


def _write_coverage(line: Line) -> tuple[str, str]:
    counts = f"{line['scope']}: {line['bound']} bound, {line['possible']} possible, {line['unbound']} unbound"
    return "", "\n".join([counts, *line["notes"]])


def _write_other(line: Line) -> tuple[str, str]:
    facts = ", ".join(f"{name} {value}" for name, value in line.items() if name != "type" and value not in (None, []))
    return line["type"], facts


_WRITERS = {
    "target": _write_target,
    "definition": lambda line: ("", ""),  # it is shown with its code
    "dependency": _write_dependency,
    "affected": _write_affected,
    "chain": _write_chain,
    "unused": _write_unused,
    "coverage": _write_coverage,
}


def _say_place(place: Line) -> str:
    line = f":{place['line']}" if place["line"] else ""
    name = "" if place["qualname"] == place["path"] else f" {place['qualname']}"
    return f"{place['path']}{line}{name}"


def _say_confidence(line: Line) -> str:
    return "" if line["confidence"] == SURE else f" ({line['confidence']})"


def write_ranking(line: Line) -> Iterator[str]:
    """Write which candidate is chosen, and why each other one is not."""
    yield f"chosen: {line['chosen']}" + (" (all were dropped; this came furthest)" if line["fallback"] else "")
    for each in line["candidates"]:
        yield f"{each['id']}: {', '.join(f'{name} {value}' for name, value in each.items() if name in _SHOWN)}"
    yield from line["notes"]


_SHOWN = ("status", "stage", "reason", "score")


def count_lines(count: int) -> str:
    """Say how many lines were left out."""
    return f"{count_things(count, 'line')} left out"
