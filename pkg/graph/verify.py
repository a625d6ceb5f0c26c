"""Compare two stores of any kind node by node and relationship by relationship.

Exports are sorted, so that two of them are merged while they are read and no graph is held in memory. An export depends
on the input only, without times or numbers assigned by a store: every difference counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import merge
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any

from pkg.errors import NodeNotFoundError
from pkg.graph.store import GraphStore
from pkg.model import Label

MAX_LISTED_DIFFERENCES = 20  # all are counted; more do not help to find the cause

Line = dict[str, Any]  # of an export
Key = tuple[str, ...]

_ORDER = {label.value: f"{number:02}" for number, label in enumerate(Label)}


@dataclass(frozen=True, slots=True)
class Difference:
    """A node or relationship that differs between the stores."""

    label: str  # of a node; type of a relationship; or graph: the header
    id: str  # of the node; of both ends of a relationship: id -> id
    path: str
    qualname: str
    where: str  # "a" or "b": only there; "both": there with other properties
    properties: tuple[str, ...] = ()  # that differ


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a label or type in both stores, and of the differences."""

    name: str
    a: int
    b: int
    different: int


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a comparison of two stores."""

    a: str
    b: str
    nodes: tuple[Tally, ...]
    relations: tuple[Tally, ...]
    different: int  # nodes and relationships, including the header
    differences: tuple[Difference, ...]  # the first of them, in the order of an export

    @property
    def is_equal(self) -> bool:
        """Return whether both stores hold the same graph."""
        return not self.different


def compare_stores(a: GraphStore, b: GraphStore, vectors: bool = False) -> Verification:
    """Compare two stores.

    Raise StoreChangedError where one was written meanwhile, StoreCorruptError where one is damaged.
    """
    found: list[Difference] = []
    tallies: dict[tuple[str, str], list[int]] = {}
    for left, right in _pair(a.export(vectors), b.export(vectors)):
        line = (left or right)[0]
        tally = tallies.setdefault((line["type"], _name(line)), [0, 0, 0])
        differing = list(_differ(left, right))
        for place, count in enumerate((len(left), len(right), len(differing))):
            tally[place] += count
        found += differing[: MAX_LISTED_DIFFERENCES - len(found)]
    return Verification(
        a.address,
        b.address,
        tuple(Tally(name, *counts) for (kind, name), counts in tallies.items() if kind == "node"),
        tuple(Tally(name, *counts) for (kind, name), counts in tallies.items() if kind == "relation"),
        sum(counts[2] for counts in tallies.values()),
        tuple(_name_ends(each, a if each.where == "a" else b) for each in found),
    )


def _pair(a: Iterable[Line], b: Iterable[Line]) -> Iterator[tuple[list[Line], list[Line]]]:
    """Yield the lines of each key of two exports, an empty list where an export has none."""
    lines = merge(_tag(a, 0), _tag(b, 1), key=itemgetter(0))
    for _, group in groupby(lines, key=itemgetter(0)):
        sides: tuple[list[Line], list[Line]] = [], []
        for _, side, line in group:
            sides[side].append(line)
        yield sides


def _tag(lines: Iterable[Line], side: int) -> Iterator[tuple[Key, int, Line]]:
    return ((_key(line), side, line) for line in lines)


def _key(line: Line) -> Key:
    """Return the sort key of a line in an export; relationships of the same ends share one."""
    if line["type"] == "relation":
        return "2", line["name"], line["start"], line["end"]
    return ("1", _ORDER[line["label"]], line["id"]) if line["type"] == "node" else ("0",)


def _name(line: Line) -> str:
    return str(line["label"] if line["type"] == "node" else line.get("name", "graph"))


def _differ(left: list[Line], right: list[Line]) -> Iterator[Difference]:
    """Yield the differences between lines of one key, after equal parallel relationships are paired."""
    if left == right:
        return
    only_left, only_right = _subtract(left, right), _subtract(right, left)
    for one, other in zip_longest(only_left, only_right):
        if other is None:
            yield _describe(one, "a")
        elif one is None:
            yield _describe(other, "b")
        else:
            names = sorted(one.keys() | other.keys())
            yield _describe(one, "both", tuple(name for name in names if one.get(name) != other.get(name)))


def _subtract(lines: list[Line], others: list[Line]) -> list[Line]:
    """Return the multiset difference of two lists of lines."""
    rest, kept = list(others), []
    for line in lines:
        if line in rest:
            rest.remove(line)
        else:
            kept.append(line)
    return kept


def _describe(line: Line, where: str, properties: tuple[str, ...] = ()) -> Difference:
    if line["type"] == "relation":
        return Difference(line["name"], f"{line['start']} -> {line['end']}", "", "", where, properties)
    node_id, path, qualname = (str(line.get(name, "")) for name in ("id", "path", "qualname"))
    return Difference(_name(line), node_id, path, qualname, where, properties)


def _name_ends(found: Difference, store: GraphStore) -> Difference:
    """Add the path of the start and the names of both ends to the difference of a relationship."""
    start, arrow, end = found.id.partition(" -> ")
    if not arrow:
        return found
    with suppress(NodeNotFoundError):
        first, last = store.get([start, end])
        return replace(found, path=first.path, qualname=f"{first.qualname} -> {last.qualname}")
    return found
