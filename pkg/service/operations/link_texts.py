"""Write answers about dependencies for an agent: a place a line, as path:line, grouped by what it is to the name."""

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

SURE = "certain"
MOST_LINES = 4  # of the calls from one place that are named: enough to find the others


@singledispatch
def list_sections(answer: Answer) -> list[Section]:
    """Give what an answer found, one section for each kind; a TypeError for what is no answer."""
    raise TypeError(f"no text for {type(answer).__name__}; expected an answer of Graph.deps")


@singledispatch
def say_head(answer: Answer) -> str:
    """Say in a line what the answer is about; "" where the sections say it."""
    return ""


def say_coverage(coverage: CallCoverage) -> list[str]:
    """Say what the graph does not know of it: silence about that would read as certainty."""
    said = [coverage.named.describe()] if coverage.named is not None else []
    if coverage.unbound or coverage.possible:
        total = coverage.bound + coverage.possible + coverage.unbound
        parts = [f"{coverage.unbound} lead nowhere known"] * bool(coverage.unbound)
        parts += [f"{coverage.possible} only possibly somewhere"] * bool(coverage.possible)
        said.append(f"of {total:,} {coverage.what} ({coverage.scope}), {' and '.join(parts)}")
    return [*said, *coverage.notes]


@list_sections.register(Dependencies)
def _list_links(answer: Dependencies) -> list[Section]:
    left_out = dict(answer.left_out)
    found = defaultdict[str, dict[str, None]](dict)
    for each in answer.found:  # a class that is called is called as such and as its constructor: one line for both
        found[each.relation][_say_dependency(each)] = None
    entries = [f"{each.path}:{each.line} {each.by}" for each in answer.entries]
    sections = [Section(name, [*lines], len(lines) + left_out.get(name, 0)) for name, lines in found.items()]
    return [Section("entered by", entries, len(entries)), *sections]


@say_head.register(Dependencies)
def _say_target(answer: Dependencies) -> str:
    nothing = "" if answer.found or answer.entries else ": nothing known"
    return f"{say_place(answer.target)}{nothing}"


def _say_dependency(each: Dependency) -> str:
    """Say where it stands: who calls is found at the call, what is called at its definition."""
    told = [f"depth {each.depth}"] if each.depth > 1 else []
    told += [inside] if (inside := each.describe_inside()) else []
    told += [each.link.confidence] if each.link.confidence != SURE else []
    place = each.place
    if each.is_incoming and each.link.lines and place.path:
        lines = ",".join(map(str, each.link.lines[:MOST_LINES])) + (",..." * (len(each.link.lines) > MOST_LINES))
        return f"{place.path}:{lines}{_say_name(place)}{_say_told(told)}"
    said = each.link.text or say_place(place)
    if not place.path and each.link.lines:  # a library, or what is bound to nothing: only the call has a place
        said = f"{said} at {each.link.start.path}:{each.link.lines[0]}"
    return f"{said}{_say_told(told)}"


@list_sections.register(Chains)
def _list_chains(answer: Chains) -> list[Section]:
    lines = [_say_chain(chain) for chain in answer.chains]
    return [Section("chains", lines, len(lines) + answer.left_out)]


@say_head.register(Chains)
def _say_ends(answer: Chains) -> str:
    ends = f"from {say_place(answer.start)} to {say_place(answer.end)}"
    return ends if answer.chains else f"no chain of at most {answer.depth} calls {ends}"


def _say_chain(chain: Sequence[Link]) -> str:
    """Say each place with the line at which it calls the next one."""
    steps = [
        f"{hop.start.qualname} ({hop.start.path}:{hop.lines[0] if hop.lines else hop.start.line})"
        f"{_say_told([hop.confidence] if hop.confidence != SURE else [])}"
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


@say_head.register(Impact)
def _say_impact(answer: Impact) -> str:
    places = ", ".join(map(say_place, answer.targets)) or "the diff"
    counts = [f"{count_things(answer.total, 'place')} may break", f"{answer.tests:,} of them in tests"]
    counts += [f"{answer.left_out:,} not listed"] if answer.left_out else []
    return f"{places}: {', '.join(counts)}"


def _join_affected(title: str, found: Sequence[Affected]) -> Section:
    lines = join_places((each.place, each.confidence if each.confidence == "likely" else "") for each in found)
    return Section(title, lines, len(lines))


@list_sections.register(Cycles)
def _list_cycles(answer: Cycles) -> list[Section]:
    lines = [
        f"{each.kind}, {each.size}: {' -> '.join(map(say_place, (hop.start for hop in each.around)))} -> again"
        for each in answer.cycles
    ]
    return [Section("cycles", lines, len(lines) + answer.left_out)]


@say_head.register(Cycles)
def _count_cycles(answer: Cycles) -> str:
    return f"{count_things(answer.imports, 'cycle')} of imports, {answer.calls:,} of calls"


@list_sections.register(Unused)
def _list_unused(answer: Unused) -> list[Section]:
    lines = join_places((each.place, _say_doubts(each)) for each in answer.found)
    return [Section("unused", lines, len(lines))]


@say_head.register(Unused)
def _count_unused(answer: Unused) -> str:
    more = f", {answer.left_out:,} not listed" if answer.left_out else ""
    return f"{answer.total:,} of {answer.definitions:,} definitions have no known use{more}"


def _say_doubts(each: UnusedPlace) -> str:
    return "; ".join(each.doubts)


@list_sections.register(ImportTable)
def _list_imports(answer: ImportTable) -> list[Section]:
    lines = [_say_import([*group]) for _, group in groupby(answer.records, key=_name_statement)]
    return [Section("imports", lines, len(lines))]


@say_head.register(ImportTable)
def _count_imports(answer: ImportTable) -> str:
    more = f", {answer.left_out:,} not listed" if answer.left_out else ""
    return f"{count_things(answer.total, 'import')} in {count_things(answer.files, 'file')}{more}"


def _name_statement(record: ImportRecord) -> tuple[object, ...]:
    return record.file_name, record.line, record.category, record.target_file, record.library_name


def _say_import(records: Sequence[ImportRecord]) -> str:
    first = records[0]
    origin, names = first.target_file or first.library_name or "?", [each.artifact for each in records]
    said = f"import {origin}" if first.category.endswith("direct") else f"from {origin}: {', '.join(names)}"
    return f"{first.file_name}:{first.line} {said}"


def join_places(places: Iterable[tuple[Place, str]]) -> list[str]:
    """Write places with what is told of each, those of one file behind each other on a line."""
    lines = list[str]()
    for path, group in groupby(places, key=lambda each: each[0].path):
        listed = [*group]
        inside = [
            f":{place.line}{_say_name(place)}{_say_told([told] if told else [])}"
            for place, told in listed
            if place.line
        ]
        told = next((told for place, told in listed if not place.line), None)
        whole = [] if told is None else [f"module code{_say_told([told] if told else [])}"]
        lines.append(f"{path}{', '.join([*inside, *whole])}" if inside else f"{path} {whole[0]}")
    return lines


def say_place(place: Place) -> str:
    """Write a place: path:line and its name, or the name of a library."""
    line = f":{place.line}" if place.line else ""
    return f"{place.path}{line}{_say_name(place)}".strip()


def _say_name(place: Place) -> str:
    return "" if place.qualname == place.path else f" {place.qualname}"


def _say_told(told: Sequence[str]) -> str:
    return f" ({', '.join(told)})" if told else ""
