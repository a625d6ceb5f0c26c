"""What is kept of a file for the next resolution: its facts, and what its links were worked out from.

A record is a store's to keep and nobody else's to read; one of another version or a damaged one counts as none.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from pkg.model import Class, Function, Import, Span
from pkg.resolution.record_version import VERSION
from pkg.units import UnitLinks, UnitText, hash_bytes

_HEAD = struct.Struct("<BI6I")  # version, checksum of the parts, bytes of each
_WIDTH = 6  # numbers of a fact
_BEFORE = [0, 2, 3, 4]  # of the last four, those that they are told from
_FLAGS = [8, 9, 10, 11]  # bits of the code that say which of these are there


class Record(NamedTuple):
    """The parts of a record, each packed; they are read apart, for few are wanted of most files."""

    links: bytes  # a hash of them, by which it is known whether they come out otherwise
    facts: bytes
    definitions: bytes  # and imports
    dependencies: bytes = b""  # what the links were worked out from; without it everything is to be resolved next time
    reach: bytes = b""  # of that, the files
    taken: bytes = b""  # what the links of other files were worked out from

    def pack(self) -> bytes:
        """Write the parts as one."""
        whole = b"".join(self)
        return _HEAD.pack(VERSION, zlib.crc32(whole), *map(len, self)) + whole


def cut_record(packed: bytes) -> Record | None:
    """Cut a record into its parts; nothing for one of another version, or a damaged one."""
    if len(packed) < _HEAD.size or packed[0] != VERSION:
        return None
    _, checksum, *sizes = _HEAD.unpack_from(packed)
    if checksum != zlib.crc32(packed[_HEAD.size :]):
        return None
    parts, position = [], _HEAD.size
    for size in sizes:
        parts.append(packed[position : position + size])
        position += size
    return Record(*parts)


def make_record(links: UnitLinks, unit: UnitText) -> Record:
    """Make the record of a file as it was extracted, with its links."""
    definitions = [[isinstance(each, Class), *each] for each in unit.definitions]
    digest = hash_bytes(json.dumps([links.edges, links.unbound, links.libraries]).encode("utf-8", "surrogatepass"))
    return Record(
        digest.to_bytes(8, "big"), zlib.compress(_spread_facts(unit.facts), 4), pack_json([definitions, unit.imports])
    )


def unpack_unit(source: str, path: str, text: bytes, record: Record) -> UnitText:
    """Give a file as it was extracted."""
    definitions, imports = unpack_json(record.definitions)
    return UnitText(
        source, path, text, _gather_facts(zlib.decompress(record.facts)),
        tuple(_unpack_definition(*each) for each in definitions),
        tuple(Import(Span(*span), *rest) for span, *rest in imports),
    )  # fmt: skip


def pack_json(value: Sequence[object]) -> bytes:
    """Pack lists, texts and numbers."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("utf-8", "surrogatepass"), 4)


def unpack_json(packed: bytes) -> Any:
    """Give what was packed; tuples come back as lists."""
    return json.loads(zlib.decompress(packed))


def _unpack_definition(is_class: bool, name: str, qualname: str, span: list[int], *rest: Any) -> Class | Function:
    *values, docstring = (tuple(each) if isinstance(each, list) else each for each in rest)
    make: Any = Class if is_class else Function
    found: Class | Function = make(name, qualname, Span(*span), *values, Span(*docstring) if docstring else None)
    return found


def _spread_facts(facts: bytes) -> bytes:
    """Write facts as differences, by columns and of those by bytes of one weight, which compresses to a fifth.

    Beside each code stands which of the four positions there are: of the others, which are 0, nothing is to be told.
    """
    import numpy as np

    rows = np.frombuffer(facts, "<i4").reshape(-1, _WIDTH)
    found = rows.copy()
    is_there = rows[:, 2:] != 0
    found[1:, 0] = np.diff(rows[:, 0])
    found[:, 1] += (is_there << _FLAGS).sum(axis=1, dtype="<i4")
    found[:, 2:] -= rows[:, _BEFORE]
    found[:, 2:] *= is_there
    weights: bytes = np.ascontiguousarray(found.T).view("u1").reshape(_WIDTH, len(rows), 4).transpose(0, 2, 1).tobytes()
    return weights


def _gather_facts(spread: bytes) -> bytes:
    import numpy as np

    weights = np.frombuffer(spread, "u1").reshape(_WIDTH, 4, len(spread) // (_WIDTH * 4))
    rows = weights.transpose(2, 0, 1).copy().view("<i4").reshape(-1, _WIDTH)
    is_there = rows[:, 1:2] >> _FLAGS & 1
    rows[:, 0] = np.cumsum(rows[:, 0], dtype="<i4")
    rows[:, 1] &= 255
    for place, before in enumerate(_BEFORE):
        rows[:, 2 + place] += rows[:, before] * is_there[:, place]
    facts: bytes = rows.tobytes()
    return facts


def hash_text(*parts: object) -> int:
    """Hash texts and numbers to 32 bits, the same on every machine."""
    return zlib.crc32("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"))
