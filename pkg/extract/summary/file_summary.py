"""The summary of one file, and its stored format (A-12).

It depends only on the text of the file. The places of sites, which change with every inserted line, are separate from
the operations, so that an edited comment leaves these equal.
"""

from __future__ import annotations

import json
import marshal
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.summary.compaction import compact
from pkg.extract.summary.file_frames import Builder
from pkg.extract.summary.frame_heads import FrameHead, list_heads, read_head
from pkg.extract.summary.frame_operations import Frame
from pkg.extract.summary.operations import Operation
from pkg.extract.summary.written_operations import Table, read_operations, write_operations
from pkg.model import Class, Function, Import

VERSION = 3
_HEAD = 4  # bytes for the length of the head
_ITEM = array("i").itemsize
_FIXED_ITEMS = 11  # fixed items of each frame, before its optional head
_NOTHING = FrameHead()


class Written(NamedTuple):
    """The parts of a file's summary that are read frame by frame."""

    operations: memoryview
    site_kinds: bytes
    values: Sequence[Any]  # values that operations refer to by number


@dataclass(slots=True)
class FrameSummary:
    """A frame: its head, and its operations, which are read on first access."""

    first: int  # start of its operations among the numbers of the file
    first_site: int  # number of its first site in the file
    head: FrameHead
    written: Written = field(repr=False, compare=False)
    kind: int
    name: str
    parent: int  # number of the frame around; -1 for the module
    definition: int  # its number among the definitions of the file; -1 for code without a node
    flags: int
    parameters: list[tuple[str, int, bool, Any]]
    returns: Any
    loops: bool
    count: int  # number of its operations
    site_count: int
    length: int  # of its operations, in stored numbers
    _nodes: list[Operation] | None = field(default=None, init=False, repr=False, compare=False)
    _packed: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def nodes(self) -> list[Operation]:
        """Return the operations, which are read if they are packed."""
        nodes = self._nodes
        if nodes is None:
            nodes = self._nodes = marshal.loads(self._packed) if self._packed else self._read()
        return nodes

    @property
    def site_kinds(self) -> bytes:
        """Return the kind of each site."""
        return self.written.site_kinds[self.first_site : self.first_site + self.site_count]

    def find_kind(self, site: int) -> int:
        """Return the kind of a site."""
        return self.written.site_kinds[self.first_site + site]

    def replace(self, number: int, node: Operation) -> None:
        """Replace an operation."""
        self.nodes[number] = node
        self._packed = b""

    def pack(self) -> None:
        """Keep the operations packed until the next access, in a sixth of the memory."""
        if self._nodes is not None:
            self._packed = self._packed or marshal.dumps(self._nodes)
            self._nodes = None

    def _read(self) -> list[Operation]:
        written = self.written
        start, end = self.first * _ITEM, (self.first + self.length) * _ITEM
        return read_operations(tuple(written.operations[start:end].cast("i")), written.values)


def summarise(root: Node, definitions: Sequence[Class | Function], imports: Sequence[Import]) -> bytes:
    """Return the summary of a file, in the format of `read_summary`; empty if its syntax tree is too deep."""
    numbers = {(each.span.start, normalize("NFKC", each.name)): number for number, each in enumerate(definitions)}
    statements: dict[tuple[int, int], list[int]] = {}
    for number, record in enumerate(imports):
        statements.setdefault((record.span.start, record.span.end), []).append(number)
    builder = Builder(numbers, statements)
    frames = builder.build(root, [(each.bound_name, each.name == "*") for each in imports])
    return write_summary(frames, imports)


def write_summary(frames: Sequence[Frame], imports: Sequence[Import]) -> bytes:
    """Write the frames of a file: their heads, then operations, kinds of sites and their places.

    The numbers have the byte order of the machine.
    """
    numbered = [compact(frame.nodes) for frame in frames]
    facts = list_heads(frames, numbered, [each.bound_name for each in imports])
    table, operations, kinds, places = Table(), list[int](), list[int](), list[int]()
    heads: list[list[Any]] = []
    for frame, numbering, head in zip(frames, numbered, facts, strict=True):
        first = len(operations)
        write_operations(frame.nodes, numbering, table, operations)
        kinds += frame.site_kinds
        places += frame.places
        heads.append([
            frame.kind, frame.name, frame.parent.number if frame.parent is not None else -1, frame.definition,
            frame.flags, frame.parameters, frame.returns, frame.has_loops, len(numbering.kept),
            len(frame.site_kinds), len(operations) - first, *_trim(head),
        ])  # fmt: skip
    counts = len(operations), len(kinds)
    written = json.dumps([VERSION, counts, table.list_values(), heads], separators=(",", ":"), ensure_ascii=False)
    encoded = written.encode("utf-8", "surrogatepass")
    parts = array("i", operations).tobytes(), bytes(kinds), array("i", places).tobytes()
    return b"".join((len(encoded).to_bytes(_HEAD, "little"), encoded, *parts))


def _trim(head: FrameHead) -> list[Any]:
    """List the parts of a frame's head, without empty ones at the end."""
    items = list(head)
    while items and not items[-1]:
        items.pop()
    return items


def read_summary(written: bytes) -> tuple[list[FrameSummary], array[int]]:
    """Read the frames of a file and the places of their sites; none from an empty summary."""
    if not written:
        return [], array("i")
    start, (_, (count, sites), values, heads) = _read_head(written)
    middle = start + count * _ITEM
    parts = Written(memoryview(written)[start:middle], written[middle : middle + sites], values)
    first = first_site = 0
    frames: list[FrameSummary] = []
    for each in heads:
        items, head = each[:_FIXED_ITEMS], read_head(each[_FIXED_ITEMS:]) if len(each) > _FIXED_ITEMS else _NOTHING
        frames.append(FrameSummary(first, first_site, head, parts, *items))
        first += items[-1]
        first_site += items[-2]
    return frames, _read_places(written[middle + sites :])


def split_summary(written: bytes) -> tuple[bytes, array[int]]:
    """Split a summary into the part that does not depend on the places of sites, and these places."""
    if not written:
        return b"", array("i")
    start, (_, (count, sites), _, _) = _read_head(written)
    end: int = start + count * _ITEM + sites
    return written[:end], _read_places(written[end:])


def _read_head(written: bytes) -> tuple[int, list[Any]]:
    start = _HEAD + int.from_bytes(written[:_HEAD], "little")
    return start, json.loads(written[_HEAD:start])


def _read_places(written: bytes) -> array[int]:
    places = array("i")
    places.frombytes(written)
    return places
