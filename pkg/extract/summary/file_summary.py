"""The summary of one file, and how it is written and read (A-12).

It depends on the text of the file alone. What changes with every line that is put in, the places of sites, stands
apart from the operations, so that a comment leaves these equal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.summary.frame_operations import Frame
from pkg.extract.summary.statements import Builder
from pkg.model import Class, Function, Import

VERSION = 1


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
    nodes: list[tuple[Any, ...]]
    site_kinds: list[int]


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
    """Write the frames of a file: their operations, then the places of their sites."""
    code = [
        [
            frame.kind, frame.name, frame.parent.number if frame.parent is not None else -1, frame.definition,
            frame.flags, frame.parameters, frame.returns, frame.has_loops, frame.compact(),
            [kind for kind, _, _ in frame.sites],
        ]
        for frame in frames
    ]  # fmt: skip
    places = [[(start, end) for _, start, end in frame.sites] for frame in frames]
    return json.dumps([VERSION, code, places], separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def read_summary(written: bytes) -> tuple[list[FrameSummary], list[list[tuple[int, int]]]]:
    """Read the frames of a file and the places of their sites."""
    _, code, places = json.loads(written)
    return [FrameSummary(*each) for each in code], places
