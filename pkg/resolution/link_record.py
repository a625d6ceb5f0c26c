"""Links of a file by call site, and the stored record of a file for the next resolution (A-12).

The lines of call sites, which an edit may move, are added when the links are stored.
Records are opaque to a store; one of another version or a damaged one counts as missing.
"""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from pkg.extract.summary.file_summary import split_summary
from pkg.model import Class, Edge, Function, Import, RelationType, Span, rank_confidence
from pkg.resolution import record_version
from pkg.resolution.module_records import ModuleRecord, pack_json, unpack_json
from pkg.units import UnboundCall, UnitLinks, UnitText, format_id, hash_inside, render_callee

CallEnd = tuple[str, str, str]
"""Id of a callee, rule, and confidence."""


class SiteLinks(NamedTuple):
    """Callees of one site, or of pytest for a function."""

    site: int  # number in the file; -1 where pytest calls
    definition: int  # number of the function that pytest calls for; -1 for a site
    owner: str  # id of the calling function, or of the file for module code
    ends: list[CallEnd]
    reason: str = ""  # why the call is unbound


@dataclass(slots=True)
class FileLinks:
    """Links of one file by its sites, independent of lines."""

    edges: list[Edge] = field(default_factory=list)  # of imports and classes
    sites: list[SiteLinks] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)


def place_links(unit: UnitText, links: FileLinks, notes: bytes = b"") -> UnitLinks:
    """Return the links of a file with the lines of its sites."""
    placing = _Placing(unit)
    edges = drop_doubles([*links.edges, *placing.place_calls(links.sites)])
    unbound = sorted(placing.unbound, key=lambda each: (each.line, each.id))
    return UnitLinks(unit.path, tuple(edges), tuple(unbound), tuple(links.libraries), notes)


class _Placing:
    """Lines of the sites of one file."""

    def __init__(self, unit: UnitText) -> None:
        self._unit = unit
        _, self._places = split_summary(unit.summary)
        self._starts = find_lines(unit.text)
        self._equals: dict[tuple[str, str], int] = {}
        self.unbound: list[UnboundCall] = []

    def place_calls(self, sites: Iterable[SiteLinks]) -> list[Edge]:
        """Return the edges of call sites with their lines, and collect the unbound calls."""
        edges: list[Edge] = []
        for site, definition, owner, ends, reason in sites:
            if definition >= 0:
                line = self._unit.definitions[definition].span.start_line
            else:
                start, end = self._places[2 * site : 2 * site + 2]
                line = bisect_right(self._starts, start)
                if reason:
                    self.unbound.append(self._make_unbound(self._unit.text[start:end], owner, line, reason))
            for identity, rule, confidence in ends:
                edges.append(Edge(RelationType.CALLS, owner, identity, line, rule, confidence))
        return edges

    def _make_unbound(self, text: bytes, owner: str, line: int, reason: str) -> UnboundCall:
        expression = render_callee(text)
        position = self._equals.get((owner, expression), 0)
        self._equals[owner, expression] = position + 1
        identity = format_id(hash_inside(int(owner, 16), f"call/{expression}[{position}]"))
        return UnboundCall(identity, owner, expression, line, reason)


def drop_doubles(edges: Iterable[Edge]) -> list[Edge]:
    """Sort edges, and keep the surest of those that differ only in rule or confidence."""
    kept: dict[tuple[RelationType, str, str, int | None], Edge] = {}
    for edge in edges:
        key = edge.type, edge.start, edge.end, edge.line
        before = kept.get(key)
        if before is None or (edge != before and _rank(edge) < _rank(before)):
            kept[key] = edge
    return sorted(kept.values(), key=lambda edge: (edge.type, edge.start, edge.line or 0, edge.end))


def _rank(edge: Edge) -> tuple[int, str]:
    return rank_confidence(edge.confidence), edge.rule or ""


def find_lines(text: bytes) -> list[int]:
    """Return the offset at which each line begins."""
    starts, position = [0], text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts


_SIZE = 16  # bytes of a digest
NO_DIGEST = bytes(_SIZE)
"""Equal to the digest of no file: marks files resolved with a fault, to be resolved again."""
_SIZES = struct.Struct("<2I")  # bytes of definitions and imports
_HEAD = struct.Struct(f"<BI{_SIZE}s7I")  # version, checksum of the parts, digest, bytes of each part


class LinkRecord(NamedTuple):
    """Stored record of a file: a digest, and packed parts."""

    digest: bytes
    links: bytes
    unit: bytes = b""  # the extracted file
    facts: bytes = b""  # facts that others may look up, and lookups of its own
    flows: bytes = b""  # values that crossed its boundary
    shared: bytes = b""  # values that belong to no file; stored in one of the records
    results: bytes = b""  # of a file of a part, for the parts that import it
    part: bytes = b""  # key and shared results of its part; stored in the record of its first file

    def pack(self) -> bytes:
        """Return the record as bytes."""
        digest, *parts = self
        whole = b"".join(parts)
        return _HEAD.pack(record_version.VERSION, zlib.crc32(whole), digest, *map(len, parts)) + whole


def cut_record(packed: bytes) -> LinkRecord | None:
    """Split a record into its parts; None for one of another version or a damaged one."""
    if len(packed) < _HEAD.size or packed[0] != record_version.VERSION:
        return None
    _, checksum, digest, *sizes = _HEAD.unpack_from(packed)
    if checksum != zlib.crc32(memoryview(packed)[_HEAD.size :]) or _HEAD.size + sum(sizes) != len(packed):
        return None
    parts, position = [], _HEAD.size
    for size in sizes:
        parts.append(packed[position : position + size])
        position += size
    return LinkRecord(digest, *parts)


def pack_unit(unit: UnitText) -> bytes:
    """Pack an extracted file without its text."""
    definitions = pack_json([[isinstance(each, Class), *each] for each in unit.definitions])
    imports = pack_json(unit.imports)
    sizes = _SIZES.pack(len(definitions), len(imports))
    return b"".join((sizes, definitions, imports, zlib.compress(unit.summary, 1)))


class PackedUnit(UnitText):
    """An extracted file whose parts are unpacked lazily, and then kept in that form alone."""

    _packed: dict[str, bytes]  # by part
    _read_text: Callable[[], bytes]

    @cached_property
    def text(self) -> bytes:
        """Read the text."""
        return self._read_text()

    @cached_property
    def definitions(self) -> Sequence[Class | Function]:
        """Unpack the definitions."""
        found = tuple(_read_definition(*each) for each in unpack_json(self._packed["definitions"]))
        del self._packed["definitions"]
        return found

    @cached_property
    def imports(self) -> Sequence[Import]:
        """Unpack the imports."""
        found = tuple(Import(Span(*span), *rest) for span, *rest in unpack_json(self._packed["imports"]))
        del self._packed["imports"]
        return found

    @cached_property
    def summary(self) -> bytes:
        """Unpack the summary."""
        found = zlib.decompress(self._packed["summary"])
        del self._packed["summary"]
        return found


def unpack_unit(source: str, path: str, packed: bytes, text: bytes | Callable[[], bytes] = b"") -> UnitText:
    """Return a packed file with its text, or with a function that reads it on first use."""
    first, second = _SIZES.unpack_from(packed)
    middle = _SIZES.size + first
    end = middle + second
    unit = PackedUnit.__new__(PackedUnit)
    parts = {"definitions": packed[_SIZES.size : middle], "imports": packed[middle:end], "summary": packed[end:]}
    vars(unit).update(source=source, path=path, _packed=parts)
    vars(unit)["text" if isinstance(text, bytes) else "_read_text"] = text
    return unit


def _read_definition(is_class: bool, name: str, qualname: str, span: list[int], *rest: Any) -> Class | Function:
    *values, docstring = (tuple(each) if isinstance(each, list) else each for each in rest)
    make: Any = Class if is_class else Function
    found: Class | Function = make(name, qualname, Span(*span), *values, Span(*docstring) if docstring else None)
    return found


def pack_shared(record: ModuleRecord) -> bytes:
    """Pack the record of the values that belong to no file."""
    facts = record.pack_facts()
    return len(facts).to_bytes(4, "little") + facts + record.pack_flows()


def unpack_shared(packed: bytes) -> tuple[bytes, bytes]:
    """Return the facts and flows of `pack_shared`."""
    size = 4 + int.from_bytes(packed[:4], "little")
    return packed[4:size], packed[size:]


def digest_unit(unit: UnitText) -> bytes:
    """Return the digest of a file's inputs to links: neither comments nor positions count."""
    definitions = [[isinstance(each, Class), each.qualname] for each in unit.definitions]
    imports = [list(each)[1:] for each in unit.imports]  # without their spans
    facts = json.dumps([definitions, imports], separators=(",", ":")).encode("utf-8", "surrogatepass")
    return blake2b(split_summary(unit.summary)[0] + b"\n" + facts, digest_size=_SIZE).digest()


def pack_links(links: FileLinks) -> bytes:
    """Pack the links of a file, each id once."""
    ids: dict[str, int] = {}
    edges = [(each.type.value, _count(ids, each.start), _count(ids, each.end), *each[3:]) for each in links.edges]
    sites = [
        (
            site, definition, _count(ids, owner),
            [(_count(ids, identity), rule, confidence) for identity, rule, confidence in ends], reason,
        )
        for site, definition, owner, ends, reason in links.sites
    ]  # fmt: skip
    return pack_json([edges, sites, links.libraries, "".join(ids)], level=4)


def _count(ids: dict[str, int], identity: str) -> int:
    return ids.setdefault(identity, len(ids))


def unpack_links(packed: bytes) -> FileLinks | None:
    """Return packed links; None where they are damaged."""
    try:
        edges, sites, libraries, written = unpack_json(packed)
    except (zlib.error, ValueError):
        return None
    ids = [written[start : start + 16] for start in range(0, len(written), 16)]
    return FileLinks(
        [Edge(RelationType(kind), ids[start], ids[end], *rest) for kind, start, end, *rest in edges],
        [
            SiteLinks(site, definition, ids[owner], [(ids[end], *rest) for end, *rest in ends], reason)
            for site, definition, owner, ends, reason in sites
        ],
        libraries,
    )
