"""The summary of one file, and how it is written and read (A-12).

It depends on the text of the file alone. What changes with every line that is put in, the places of sites, stands
apart from the operations, so that a comment leaves these equal.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.summary.compaction import compact
from pkg.extract.summary.file_frames import Builder
from pkg.extract.summary.frame_operations import Frame
from pkg.extract.summary.operations import Operation
from pkg.extract.summary.written_operations import Table, read_operations, write_operations
from pkg.model import Class, Function, Import

VERSION = 2
_HEAD = 4  # bytes that tell the length of the head


@dataclass(frozen=True, slots=True)
class FrameSummary:
    """One frame: its operations, and what stands around its code."""

    kind: int
    name: str
    parent: int  # the number of the frame around; -1 for that of the module
    definition: int  # its number among the definitions of the file; -1 for code that is no node of its own
    flags: int
    parameters: list[tuple[str, int, bool, Any]]
    returns: Any
    loops: bool
    first_site: int  # the number of its first site among those of the file
    nodes: list[Operation]
    site_kinds: bytes


def summarise(root: Node, definitions: Sequence[Class | Function], imports: Sequence[Import]) -> bytes:
    """Sum up a file by its syntax tree, written so that `read_summary` reads it; empty where that is too deep."""
    numbers = {(each.span.start, normalize("NFKC", each.name)): number for number, each in enumerate(definitions)}
    statements: dict[tuple[int, int], list[int]] = {}
    for number, record in enumerate(imports):
        statements.setdefault((record.span.start, record.span.end), []).append(number)
    builder = Builder(numbers, statements)
    frames = builder.build(root, [(each.bound_name, each.name == "*") for each in imports])
    return write_summary(frames)


def write_summary(frames: Sequence[Frame]) -> bytes:
    """Write the frames of a file: what stands around their code, then operations, kinds of sites and their places.

    The numbers are in the byte order of the machine.
    """
    table, operations, kinds, places = Table(), list[int](), list[int](), list[int]()
    heads: list[list[Any]] = []
    for frame in frames:
        first, first_site = len(operations), len(kinds)
        write_operations(frame.nodes, compact(frame.nodes), table, operations)
        kinds += frame.site_kinds
        places += frame.places
        heads.append([
            frame.kind, frame.name, frame.parent.number if frame.parent is not None else -1, frame.definition,
            frame.flags, frame.parameters, frame.returns, frame.has_loops, first_site, len(operations) - first,
        ])  # fmt: skip
    counts = len(operations), len(kinds)
    head = json.dumps([VERSION, counts, table.list_values(), heads], separators=(",", ":"), ensure_ascii=False)
    written = head.encode("utf-8", "surrogatepass")
    parts = array("i", operations).tobytes(), bytes(kinds), array("i", places).tobytes()
    return b"".join((len(written).to_bytes(_HEAD, "little"), written, *parts))


def read_summary(written: bytes) -> tuple[list[FrameSummary], array[int]]:
    """Read the frames of a file and the places of their sites; none of an empty summary."""
    if not written:
        return [], array("i")
    start, (_, (count, sites), values, heads) = _read_head(written)
    operations = array("i")
    middle = start + count * operations.itemsize
    operations.frombytes(written[start:middle])
    kinds = written[middle : middle + sites]
    flat, first, frames = tuple(operations), 0, list[FrameSummary]()
    ends = [*(head[8] for head in heads[1:]), sites]
    for head, end in zip(heads, ends, strict=True):
        last, first_site = first + head.pop(), head[-1]
        head += read_operations(flat, first, last, values), kinds[first_site:end]
        frames.append(FrameSummary(*head))
        first = last
    return frames, _read_places(written[middle + sites :])


def split_summary(written: bytes) -> tuple[bytes, array[int]]:
    """Split a summary into what is the same wherever its sites stand, and their places, as `read_summary` has them."""
    if not written:
        return b"", array("i")
    start, (_, (count, sites), _, _) = _read_head(written)
    end: int = start + count * array("i").itemsize + sites
    return written[:end], _read_places(written[end:])


def _read_head(written: bytes) -> tuple[int, list[Any]]:
    start = _HEAD + int.from_bytes(written[:_HEAD], "little")
    return start, json.loads(written[_HEAD:start])


def _read_places(written: bytes) -> array[int]:
    places = array("i")
    places.frombytes(written)
    return places
