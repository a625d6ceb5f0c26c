"""What is kept of a file for the next resolution: its facts, and what its links were worked out from.

A record is a store's to keep and nobody else's to read; one of another version counts as none.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pkg.graph.resolve.pieces import Piece
from pkg.graph.unit import UnitText
from pkg.model import Class, Function, Import, Span

VERSION = 6
_HEAD = struct.Struct("<B16sI")  # version, digest of the links, bytes of the compressed facts
_WIDTH = 6  # numbers of a fact


class Origin(NamedTuple):
    """A site or assignment by its place in its file."""

    code: int
    start: int
    end: int


class Received(NamedTuple):
    """A set that is made of deliveries: its name in its file, and a hash of its values."""

    name: Any  # as foundations.py writes it
    values: int


@dataclass(frozen=True, slots=True)
class Basis:
    """What the links of a file were worked out from, and what those of others took from it.

    Files and places stand as hashes of 32 bits: one too many costs time, no truth.
    """

    reach: frozenset[int]  # files
    deliveries: Sequence[tuple[Origin, int]]  # the places that its sites deliver to
    received: Mapping[str, Sequence[Received]]  # what is made of deliveries to it, by place
    pieces: Sequence[Piece]  # of the file, that the links of others were worked out from
    classes: Mapping[str, int]  # what its classes are derived from
    patches: Mapping[str, int]  # what it assigns to attributes of classes and modules


def hash_text(*parts: object) -> int:
    """Hash texts and numbers to 32 bits, the same on every machine."""
    return zlib.crc32("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"))


def pack_record(digest: bytes, unit: UnitText, basis: Basis | None) -> bytes:
    """Pack the record of a file; without a basis everything is to be resolved next time."""
    facts = zlib.compress(_spread_facts(unit.facts), 4)
    definitions = [[isinstance(each, Class), *each] for each in unit.definitions]
    rest = [definitions, unit.imports, None if basis is None else _write_basis(basis)]
    text = json.dumps(rest, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return _HEAD.pack(VERSION, digest, len(facts)) + facts + zlib.compress(text, 4)


def repack_record(record: bytes, unit: UnitText, basis: Basis) -> bytes:
    """Pack the record of a file whose links stay as they are."""
    return pack_record(_HEAD.unpack_from(record)[1], unit, basis)


def unpack_record(source: str, path: str, text: bytes, record: bytes) -> tuple[UnitText, Basis | None] | None:
    """Give a file as it was extracted, and what its links were worked out from.

    Nothing for a record of another version or a damaged one: then everything is extracted and resolved again.
    """
    if len(record) < _HEAD.size or record[0] != VERSION:
        return None
    size = _HEAD.unpack_from(record)[2]
    try:
        facts = _gather_facts(zlib.decompress(record[_HEAD.size : _HEAD.size + size]))
        definitions, imports, basis = json.loads(zlib.decompress(record[_HEAD.size + size :]))
    except (zlib.error, ValueError):
        return None
    unit = UnitText(
        source, path, text, facts, tuple(_read_definition(*each) for each in definitions),
        tuple(Import(Span(*span), *rest) for span, *rest in imports),
    )  # fmt: skip
    return unit, None if basis is None else _read_basis(*basis)


def _read_definition(is_class: bool, name: str, qualname: str, span: list[int], *rest: Any) -> Class | Function:
    *values, docstring = (tuple(each) if isinstance(each, list) else each for each in rest)
    make: Any = Class if is_class else Function
    found: Class | Function = make(name, qualname, Span(*span), *values, Span(*docstring) if docstring else None)
    return found


def _write_basis(basis: Basis) -> list[Any]:
    deliveries = [[*origin, place] for origin, place in basis.deliveries]
    return [
        sorted(basis.reach), deliveries, dict(basis.received), basis.pieces, dict(basis.classes), dict(basis.patches)
    ]  # fmt: skip


def _read_basis(
    reach: list[int],
    deliveries: list[list[int]],
    received: dict[str, list[tuple[Any, int]]],
    pieces: list[tuple[str, str, str]],
    classes: dict[str, int],
    patches: dict[str, int],
) -> Basis:
    found = [(Origin(code, start, end), place) for code, start, end, place in deliveries]
    sets = {place: [Received(*each) for each in named] for place, named in received.items()}
    return Basis(frozenset(reach), found, sets, [(kind, name, inner) for kind, name, inner in pieces], classes, patches)


def _spread_facts(facts: bytes) -> bytes:
    """Write facts by columns and as differences, which compress to a third."""
    import numpy as np

    rows = np.frombuffer(facts, "<i4").reshape(-1, _WIDTH).copy()
    rows[:, 2:] -= rows[:, :1]
    rows[1:, 0] = np.diff(rows[:, 0])
    columns: bytes = rows.T.tobytes()
    return columns


def _gather_facts(columns: bytes) -> bytes:
    import numpy as np

    rows = np.frombuffer(columns, "<i4").reshape(_WIDTH, -1).T.copy()
    rows[:, 0] = np.cumsum(rows[:, 0], dtype="<i4")
    rows[:, 2:] += rows[:, :1]
    facts: bytes = rows.tobytes()
    return facts
