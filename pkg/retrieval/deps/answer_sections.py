"""Format answers about dependencies as sections of lines, places as path:line, within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import groupby

from pkg.errors import count_things
from pkg.model import RelationType
from pkg.retrieval.deps.answer import (
    Affected,
    Answer,
    Chains,
    Cycles,
    Dependencies,
    Dependency,
    Impact,
    ImportRecord,
    ImportTable,
    Link,
    Place,
    Unused,
)
from pkg.retrieval.deps.coverage_text import describe_affected, describe_doubt, describe_unlisted
from pkg.retrieval.token_count import count_tokens

CERTAIN = "certain"
MOST_LINES = 4  # line numbers of the calls from one place: enough to find the others


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind under a title, and their total number with those that are not in `lines`."""

    title: str  # a plural, such as callers
    lines: Sequence[str]
    total: int


def fit_lines(lines: Iterable[str], budget: int) -> tuple[str, int]:
    """Join lines up to a token budget (0: no limit); return the text and the number of lines left out.

    An item may hold several lines: it is kept whole, or left out with all items after it.
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


def fit_sections(sections: Sequence[Section], budget: int) -> tuple[str, tuple[str, ...]]:
    """Render sections that share a token budget (0: no limit); return the text and what each leaves out."""
    filled = [each for each in sections if each.total]
    texts, left_out = list[str](), list[str]()
    rooms = share_budget([measure_section(each) for each in filled], budget)
    for each, room in zip(filled, rooms, strict=True):
        left = room - _count_title(each)
        text, cut = fit_lines([f"  {line}" for line in each.lines], left) if left > 0 else ("", 0)
        shown = len(each.lines) - cut if text else 0
        missing = each.total - shown
        if shown:
            texts.append(f"{each.title}{f' ({shown} of {each.total})' if missing else ''}:\n{text}")
        if missing:
            left_out.append(f"{missing} {each.title}")
    return "\n".join(texts), tuple(left_out)


def measure_section(section: Section) -> int:
    """Count the tokens of a whole section."""
    return sum(map(count_tokens, section.lines)) + _count_title(section)


def _count_title(section: Section) -> int:
    return count_tokens(f"{section.title} ({len(section.lines)} of {section.total}):")


def share_budget(costs: Sequence[int], budget: int) -> list[int]:
    """Share a budget among items with these costs: one that needs less than its share leaves the rest to the others."""
    if not budget:
        return list(costs)
    rooms, left = [0] * len(costs), budget
    order = sorted(range(len(costs)), key=costs.__getitem__)
    for done, number in enumerate(order):
        rooms[number] = min(costs[number], left // (len(costs) - done))
        left -= rooms[number]
    return rooms


@singledispatch
def list_sections(answer: Answer) -> list[Section]:
    """List the results of an answer, one section per kind; raises TypeError for another class."""
    raise TypeError(f"no text for {type(answer).__name__}; expected an answer of Graph.deps")


@singledispatch
def format_head(answer: Answer) -> str:
    """Return the subject of an answer in one line; "" if the sections show it."""
    return ""


def describe_coverage(answer: Answer) -> list[str]:
    """Return what the answer may lack, as an incomplete answer would look complete."""
    return [*filter(None, (describe_doubt(answer), describe_unlisted(answer))), *answer.coverage.notes]


@list_sections.register(Dependencies)
def _list_links(answer: Dependencies) -> list[Section]:
    left_out = dict(answer.left_out)
    found = defaultdict[str, dict[str, None]](dict)
    for each in answer.found:  # a call of a class links to the class and to its constructor: one line for both
        found[each.relation][format_dependency(each)] = None
    entries = [f"{each.path}:{each.line} {each.by}" for each in answer.entries]
    sections = [Section(name, [*lines], len(lines) + left_out.get(name, 0)) for name, lines in found.items()]
    return [Section("entered by", entries, len(entries)), *sections]


@format_head.register(Dependencies)
def _format_target(answer: Dependencies) -> str:
    nothing = "" if answer.found or answer.entries else ": nothing known"
    return f"{format_place(answer.target)}{nothing}"


def format_dependency(each: Dependency) -> str:
    """Format a link: a caller at the line of the call, a callee at its definition."""
    notes = [f"depth {each.depth}"] if each.depth > 1 else []
    notes += [inside] if (inside := each.describe_inside()) else []
    notes += [each.link.confidence] if each.link.confidence != CERTAIN else []
    place = each.place
    has_sites = bool(each.link.lines) and each.link.type != RelationType.INHERITS.value  # of a base: its position
    if each.is_incoming and has_sites and place.path:
        lines = ",".join(map(str, each.link.lines[:MOST_LINES])) + (",..." * (len(each.link.lines) > MOST_LINES))
        return f"{place.path}:{lines}{_format_name(place)}{_format_notes(notes)}"
    text = each.link.text or format_place(place)
    if not place.path and each.link.lines:  # a library, or an unbound call: only the call site has a place
        text = f"{text} at {each.link.start.path}:{each.link.lines[0]}"
    return f"{text}{_format_notes(notes)}"


@list_sections.register(Chains)
def _list_chains(answer: Chains) -> list[Section]:
    lines = [_format_chain(chain) for chain in answer.chains]
    return [Section("chains", lines, len(lines) + answer.left_out)]


@format_head.register(Chains)
def _format_ends(answer: Chains) -> str:
    ends = f"from {format_place(answer.start)} to {format_place(answer.end)}"
    return ends if answer.chains else f"no chain of at most {answer.depth} calls {ends}"


def _format_chain(chain: Sequence[Link]) -> str:
    """Format a chain of calls, each place with the line at which it calls the next one."""
    steps = [
        f"{hop.start.qualname} ({hop.start.path}:{hop.lines[0] if hop.lines else hop.start.line})"
        f"{_format_notes([hop.confidence] if hop.confidence != CERTAIN else [])}"
        for hop in chain
    ]
    return " -> ".join([*steps, f"{chain[-1].end.qualname} ({chain[-1].end.path}:{chain[-1].end.line})"])


@list_sections.register(Impact)
def _list_impact(answer: Impact) -> list[Section]:
    changes = [f"{each.path} {each.qualname or 'module code'} ({each.how})" for each in answer.changes]
    tests = [each for each in answer.affected if each.is_test]
    sure = [each for each in answer.affected if not each.is_test and each.confidence != "possible"]
    unsure = [each for each in answer.affected if not each.is_test and each.confidence == "possible"]
    entries = [f"{each.entry.path}:{each.entry.line} {each.entry.by}" for each in answer.entries]
    sections = [Section("changed", changes, len(changes)), Section("entered by", entries, len(entries))]
    for distance, group in groupby(sorted(sure, key=lambda each: each.distance), key=lambda each: each.distance):
        sections.append(_join_affected(f"{distance} step{'s' * (distance > 1)} away", [*group]))
    return [*sections, _join_affected("only possibly affected", unsure), _join_affected("tests", tests)]


@format_head.register(Impact)
def _format_impact(answer: Impact) -> str:
    places = ", ".join(map(format_place, answer.targets)) or "the diff"
    more = f", {answer.left_out:,} not listed" if answer.left_out else ""
    return f"{places}: {describe_affected(answer)}{more}"


def _join_affected(title: str, found: Sequence[Affected]) -> Section:
    lines = join_places((each.place, each.confidence if each.confidence == "likely" else "") for each in found)
    return Section(title, lines, len(lines))


@list_sections.register(Cycles)
def _list_cycles(answer: Cycles) -> list[Section]:
    lines = [
        f"{each.kind}, {each.size}: {' -> '.join(map(format_place, (hop.start for hop in each.around)))} -> again"
        for each in answer.cycles
    ]
    return [Section("cycles", lines, len(lines) + answer.left_out)]


@format_head.register(Cycles)
def _count_cycles(answer: Cycles) -> str:
    return f"{count_things(answer.imports, 'cycle')} of imports, {answer.calls:,} of calls"


@list_sections.register(Unused)
def _list_unused(answer: Unused) -> list[Section]:
    lines = join_places((each.place, "; ".join(each.doubts)) for each in answer.found)
    return [Section("unused", lines, len(lines))]


@format_head.register(Unused)
def _count_unused(answer: Unused) -> str:
    more = f", {answer.left_out:,} not listed" if answer.left_out else ""
    return f"{answer.total:,} of {answer.definitions:,} definitions have no known use{more}"


@list_sections.register(ImportTable)
def _list_imports(answer: ImportTable) -> list[Section]:
    lines = [_format_import([*group]) for _, group in groupby(answer.records, key=_name_statement)]
    return [Section("imports", lines, len(lines))]


@format_head.register(ImportTable)
def _count_imports(answer: ImportTable) -> str:
    more = f", {answer.left_out:,} not listed" if answer.left_out else ""
    return f"{count_things(answer.total, 'import')} in {count_things(answer.files, 'file')}{more}"


def _name_statement(record: ImportRecord) -> tuple[object, ...]:
    return record.file_name, record.line, record.category, record.target_file, record.library_name


def _format_import(records: Sequence[ImportRecord]) -> str:
    first = records[0]
    origin, names = first.target_file or first.library_name or "?", [each.artifact for each in records]
    statement = f"import {origin}" if first.category.endswith("direct") else f"from {origin}: {', '.join(names)}"
    return f"{first.file_name}:{first.line} {statement}"


def join_places(places: Iterable[tuple[Place, str]]) -> list[str]:
    """List places with their notes, those of one file in one line."""
    lines = list[str]()
    for path, group in groupby(places, key=lambda each: each[0].path):
        listed = [*group]
        inside = [
            f":{place.line}{_format_name(place)}{_format_notes([note] if note else [])}"
            for place, note in listed
            if place.line
        ]
        module_note = next((note for place, note in listed if not place.line), None)
        whole = [] if module_note is None else [f"module code{_format_notes([module_note] if module_note else [])}"]
        lines.append(f"{path}{', '.join([*inside, *whole])}" if inside else f"{path} {whole[0]}")
    return lines


def format_place(place: Place) -> str:
    """Return path:line and name of a place, or the name of a library."""
    line = f":{place.line}" if place.line else ""
    return f"{place.path}{line}{_format_name(place)}".strip()


def _format_name(place: Place) -> str:
    return "" if place.qualname == place.path else f" {place.qualname}"


def _format_notes(notes: Sequence[str]) -> str:
    return f" ({', '.join(notes)})" if notes else ""
