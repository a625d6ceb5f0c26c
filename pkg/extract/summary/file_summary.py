"""The summary of one file, and how it is written and read (A-12).

It depends on the text of the file alone. What changes with every line that is put in, the places of sites, stands
apart from the operations, so that a comment leaves these equal.
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
_HEAD = 4  # bytes that tell the length of the head
_ITEM = array("i").itemsize
_TOLD = 11  # items of each frame before its head, which is left out where it is empty
_NOTHING = FrameHead()


class Written(NamedTuple):
    """The parts of the summary of a file that are read frame by frame."""

    operations: memoryview
    site_kinds: bytes
    values: Sequence[Any]  # that operations name by their numbers


@dataclass(slots=True)
class FrameSummary:
    """One frame: its head, and its operations, which are read with the first access."""

    first: int  # where its operations begin among the numbers of the file
    first_site: int  # the number of its first site among those of the file
    head: FrameHead
    written: Written = field(repr=False, compare=False)
    kind: int
    name: str
    parent: int  # the number of the frame around; -1 for that of the module
    definition: int  # its number among the definitions of the file; -1 for code that is no node of its own
    flags: int
    parameters: list[tuple[str, int, bool, Any]]
    returns: Any
    loops: bool
    count: int  # of its operations
    site_count: int
    length: int  # of its operations as numbers
    _nodes: list[Operation] | None = field(default=None, init=False, repr=False, compare=False)
    _packed: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def nodes(self) -> list[Operation]:
        """Return the operations, which are read where they are not at hand."""
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
        """Put another operation in the place of one."""
        self.nodes[number] = node
        self._packed = b""

    def rest(self) -> None:
        """Keep the operations packed until the next access, which takes a sixth of the memory."""
        if self._nodes is not None:
            self._packed = self._packed or marshal.dumps(self._nodes)
            self._nodes = None

    def _read(self) -> list[Operation]:
        written = self.written
        start, end = self.first * _ITEM, (self.first + self.length) * _ITEM
        return read_operations(tuple(written.operations[start:end].cast("i")), written.values)


def summarise(root: Node, definitions: Sequence[Class | Function], imports: Sequence[Import]) -> bytes:
    """Sum up a file by its syntax tree, written so that `read_summary` reads it; empty where that is too deep."""
    numbers = {(each.span.start, normalize("NFKC", each.name)): number for number, each in enumerate(definitions)}
    statements: dict[tuple[int, int], list[int]] = {}
    for number, record in enumerate(imports):
        statements.setdefault((record.span.start, record.span.end), []).append(number)
    builder = Builder(numbers, statements)
    frames = builder.build(root, [(each.bound_name, each.name == "*") for each in imports])
    return write_summary(frames, imports)


def write_summary(frames: Sequence[Frame], imports: Sequence[Import]) -> bytes:
    """Write the frames of a file: their heads, then operations, kinds of sites and their places.

    The numbers are in the byte order of the machine.
    """
    numbered = [compact(frame.nodes) for frame in frames]
    told = list_heads(frames, numbered, [each.bound_name for each in imports])
    table, operations, kinds, places = Table(), list[int](), list[int](), list[int]()
    heads: list[list[Any]] = []
    for frame, numbering, head in zip(frames, numbered, told, strict=True):
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
    """List the parts of the head of a frame, without empty ones at the end."""
    told = list(head)
    while told and not told[-1]:
        told.pop()
    return told


def read_summary(written: bytes) -> tuple[list[FrameSummary], array[int]]:
    """Read the frames of a file and the places of their sites; none of an empty summary."""
    if not written:
        return [], array("i")
    start, (_, (count, sites), values, heads) = _read_head(written)
    middle = start + count * _ITEM
    parts = Written(memoryview(written)[start:middle], written[middle : middle + sites], values)
    first = first_site = 0
    frames: list[FrameSummary] = []
    for each in heads:
        told, head = each[:_TOLD], read_head(each[_TOLD:]) if len(each) > _TOLD else _NOTHING
        frames.append(FrameSummary(first, first_site, head, parts, *told))
        first += told[-1]
        first_site += told[-2]
    return frames, _read_places(written[middle + sites :])


def split_summary(written: bytes) -> tuple[bytes, array[int]]:
    """Split a summary into what is the same wherever its sites stand, and their places, as `read_summary` has them."""
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
