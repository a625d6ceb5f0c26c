"""Render answers about dependencies for agents: one place per line, as path:line, grouped by relation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import groupby

from pkg.errors import count_things
from pkg.retrieval.deps.answer import (
    Affected,
    Answer,
    CallCoverage,
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
    UnusedPlace,
)
from pkg.service.operations.answer_sections import Section

CERTAIN = "certain"
MOST_LINES = 4  # line numbers of the calls from one place: enough to find the others


@singledispatch
def list_sections(answer: Answer) -> list[Section]:
    """List the results of an answer, one section per kind; raises TypeError for another class."""
    raise TypeError(f"no text for {type(answer).__name__}; expected an answer of Graph.deps")


@singledispatch
def format_head(answer: Answer) -> str:
    """Return the subject of an answer in one line; "" if the sections show it."""
    return ""


def describe_coverage(coverage: CallCoverage) -> list[str]:
    """Return what the graph does not know about the subject, as an incomplete answer would look complete."""
    texts = [coverage.named.describe()] if coverage.named is not None else []
    if coverage.unbound or coverage.possible:
        total = coverage.bound + coverage.possible + coverage.unbound
        parts = [f"{coverage.unbound} lead nowhere known"] * bool(coverage.unbound)
        parts += [f"{coverage.possible} only possibly somewhere"] * bool(coverage.possible)
        texts.append(f"of {total:,} {coverage.what} ({coverage.scope}), {' and '.join(parts)}")
    return [*texts, *coverage.notes]


@list_sections.register(Dependencies)
def _list_links(answer: Dependencies) -> list[Section]:
    left_out = dict(answer.left_out)
    found = defaultdict[str, dict[str, None]](dict)
    for each in answer.found:  # a call of a class links to the class and to its constructor: one line for both
        found[each.relation][_format_dependency(each)] = None
    entries = [f"{each.path}:{each.line} {each.by}" for each in answer.entries]
    sections = [Section(name, [*lines], len(lines) + left_out.get(name, 0)) for name, lines in found.items()]
    return [Section("entered by", entries, len(entries)), *sections]


@format_head.register(Dependencies)
def _format_target(answer: Dependencies) -> str:
    nothing = "" if answer.found or answer.entries else ": nothing known"
    return f"{format_place(answer.target)}{nothing}"


def _format_dependency(each: Dependency) -> str:
    """Format a link: a caller at the line of the call, a callee at its definition."""
    notes = [f"depth {each.depth}"] if each.depth > 1 else []
    notes += [inside] if (inside := each.describe_inside()) else []
    notes += [each.link.confidence] if each.link.confidence != CERTAIN else []
    place = each.place
    if each.is_incoming and each.link.lines and place.path:
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
    counts = [f"{count_things(answer.total, 'place')} may break", f"{answer.tests:,} of them in tests"]
    counts += [f"{answer.left_out:,} not listed"] if answer.left_out else []
    return f"{places}: {', '.join(counts)}"


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
    lines = join_places((each.place, _format_doubts(each)) for each in answer.found)
    return [Section("unused", lines, len(lines))]


@format_head.register(Unused)
def _count_unused(answer: Unused) -> str:
    more = f", {answer.left_out:,} not listed" if answer.left_out else ""
    return f"{answer.total:,} of {answer.definitions:,} definitions have no known use{more}"


def _format_doubts(each: UnusedPlace) -> str:
    return "; ".join(each.doubts)


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
