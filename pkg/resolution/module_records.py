"""Records of modules for the next resolution: values that crossed their boundaries, by round (A-12).

A module depends only on its code, on the values shown to it, and on those that it received: with equal inputs it does
in the next resolution what it did before.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pkg.resolution.program import ModuleInfo
from pkg.resolution.recorded_names import RecordedNames
from pkg.resolution.static_facts import list_consulted, list_heads
from pkg.resolution.value_sets import Container, Values
from pkg.resolution.variables import Home, Schedule

_SIZE = struct.Struct("<I")  # bytes of an outline
Names = frozenset[str]
History = list[tuple[int, Names]]
"""Rounds, from 0, in which a variable changed, with its values afterwards."""
Received = dict[int, dict[str, Names]]
"""Values written by one other module, by round and variable."""


@dataclass(slots=True)
class ModuleRecord:
    """Values that crossed the boundary of one module."""

    shown: dict[str, History] = field(default_factory=dict)  # of variables that others read
    readers: dict[str, list[str]] = field(default_factory=dict)  # paths of their readers
    received: dict[str, Received] = field(default_factory=dict)  # by path of the writer
    reads: list[str] = field(default_factory=list)  # paths of modules that it read from
    writes: list[str] = field(default_factory=list)  # paths of modules that it wrote to
    consulted: list[str] = field(default_factory=list)  # keys of its lookups
    heads: dict[str, int] = field(default_factory=dict)  # hashes of the heads of its classes, by name
    last: int = -1  # the last round with any of this
    outline: bytes = b""  # packed

    def pack_facts(self) -> bytes:
        """Pack the outline, lookups and heads of classes."""
        return join_outline(self.outline, pack_json([self.consulted, self.heads]))

    def pack_flows(self) -> bytes:
        """Pack the values that crossed the boundary; each text and each set is stored once."""
        texts, sets = _Table(), _Table()

        def number(names: Names) -> int:
            return sets.number(tuple(sorted(texts.number(each) for each in sorted(names))))

        shown = [
            [texts.number(name), [[at, number(names)] for at, names in history],
             [texts.number(each) for each in self.readers.get(name, ())]]
            for name, history in sorted(self.shown.items())
        ]  # fmt: skip
        received = [
            [path, [[at, [[texts.number(name), number(names)] for name, names in sorted(each.items())]]
                    for at, each in sorted(rounds.items())]]
            for path, rounds in sorted(self.received.items())
        ]  # fmt: skip
        return pack_json([texts.listed, sets.listed, shown, received, self.reads, self.writes, self.last])

    @classmethod
    def unpack(cls, facts: bytes, flows: bytes) -> ModuleRecord:
        """Unpack a record."""
        texts, sets, shown, received, reads, writes, last = unpack_json(flows)
        named = [frozenset(texts[each] for each in numbers) for numbers in sets]
        consulted, heads = unpack_facts(facts)
        return cls(
            shown={texts[name]: [(at, named[each]) for at, each in history] for name, history, _ in shown},
            readers={texts[name]: [texts[each] for each in readers] for name, _, readers in shown if readers},
            received={
                path: {at: {texts[name]: named[each] for name, each in written} for at, written in rounds}
                for path, rounds in received
            },
            reads=reads, writes=writes, consulted=consulted, heads=heads, last=last, outline=cut_outline(facts)[0],
        )  # fmt: skip


def unpack_facts(packed: bytes) -> tuple[list[str], dict[str, int]]:
    """Unpack the lookups and heads of classes."""
    consulted, heads = unpack_json(cut_outline(packed)[1])
    return consulted, heads


def join_outline(outline: bytes, rest: bytes) -> bytes:
    """Join a packed outline and what else is known of a module."""
    return _SIZE.pack(len(outline)) + outline + rest


def cut_outline(packed: bytes) -> tuple[bytes, bytes]:
    """Split what `join_outline` has joined into the outline and the rest."""
    end: int = _SIZE.size + _SIZE.unpack_from(packed)[0]
    return packed[_SIZE.size : end], packed[end:]


def pack_json(value: Any, level: int = 1) -> bytes:
    """Return a compressed JSON value; level: 1 is fast, 9 small."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("utf-8", "surrogatepass"), level)


def unpack_json(packed: bytes) -> Any:
    """Return a packed value, tuples as lists; ValueError or zlib.error where it is damaged."""
    return json.loads(zlib.decompress(packed))


class _Table:
    """Numbers of things in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, thing: Any) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    @property
    def listed(self) -> list[Any]:
        return list(self._numbers)


class SetNames:
    """Cache of the names of sets of values."""

    def __init__(self, names: RecordedNames) -> None:
        self._names = names
        self._named: dict[Values, Names] = {}

    def name(self, values: Values) -> Names:
        """Name the values of a set."""
        found = self._named.get(values)
        if found is None:
            found = self._named[values] = frozenset(map(self._names.name_value, values))
        return found


def begin_record(home: Home, names: RecordedNames) -> ModuleRecord:
    """Return a record of a module's outline and lookups, without flows."""
    found = ModuleRecord(consulted=list_consulted(home))
    if isinstance(home, ModuleInfo):
        found.heads, found.outline = list_heads(home, names.program, names.name_value), home.outline.pack()
    return found


def record_all(homes: Iterable[Home], schedule: Schedule, names: RecordedNames) -> dict[str, ModuleRecord]:
    """Return the records of all modules of a complete resolution."""
    sets, owners = SetNames(names), schedule.owners
    records = {home.path: begin_record(home, names) for home in homes}
    containers = {each.owner for each in schedule.read_by_others if isinstance(each.owner, Container)}
    for variable in schedule.read_by_others:
        record = records[variable.home.path]
        name = names.name_variable(variable)
        record.shown[name] = []
        record.readers[name] = sorted({owners[node].module.path for node in variable.others or ()})
        for path in record.readers[name]:
            records[path].reads.append(variable.home.path)
    for at, each in enumerate(schedule.history):
        for variable, values in each.shown:
            record = records[variable.home.path]
            record.last = at
            if variable.others is not None or variable.owner in containers:
                record.shown.setdefault(names.name_variable(variable), []).append((at, sets.name(values)))
        for home, written in each.sent:
            records[home.path].last = at
            for variable, found in written.items():
                owner = variable.home
                if owner is not home:
                    record = records[owner.path]
                    record.last = at
                    rounds = record.received.setdefault(home.path, {})
                    rounds.setdefault(at, {})[names.name_variable(variable)] = sets.name(frozenset(found))
                    records[home.path].writes.append(owner.path)
    for record in records.values():
        record.reads, record.writes = sorted(set(record.reads)), sorted(set(record.writes))
    return records
