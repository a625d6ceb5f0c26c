"""What one file or row puts into a graph: fragments of text with the nodes cut from them, ids included.

Beside them stands what resolution needs to know of a file (UnitText). All positions are byte offsets into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from pkg.lazy_module import LazyModule
from pkg.model import Class, CodeUnit, Docstring, Edge, Function, Import, Label, LocalError, Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np, npt = LazyModule("numpy"), LazyModule("numpy.typing")


NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
"""An identifier in bytes of UTF-8; what is no letter in other scripts, Python would not have let stand there."""
DOTTED = re.compile(NAME + rb"(?:\s*\.\s*" + NAME + rb")*\Z")


def read_name(name: bytes) -> str:
    """Give an identifier or dotted name as Python knows it: in NFKC, however it is written."""
    text = name.decode("utf-8", "replace")
    return text if text.isascii() else normalize("NFKC", text)


def render_callee(callee: bytes) -> str:
    """Write the callee of a call as it is kept: dotted names whole, of anything else the attribute alone."""
    if DOTTED.match(callee):
        return b"".join(callee.split()).decode("utf-8", "replace")
    last = callee.rpartition(b".")[2].strip()
    return f"(...).{last.decode('utf-8', 'replace')}" if DOTTED.match(last) else "(...)"


class NodeRow(NamedTuple):
    """One node on its way into a store; a tuple, because hundreds of thousands are made, pickled and inserted."""

    id: int  # unsigned 64 bit
    label: Label
    parent: int  # index in the fragment's nodes; -1 for the file or row itself
    name: str
    qualname: str
    kind: str | None
    start: int
    end: int
    start_line: int
    end_line: int
    content_hash: int  # unsigned 64 bit
    properties: dict[str, object] | None


class CallSite(NamedTuple):
    """One call: the expression, its line in the fragment, and the node it stands in (-1 outside functions)."""

    expression: str
    line: int
    owner: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of text that a source stores once, with its nodes (parents before children) and their vectors.

    A file is one fragment. Of a corpus row, each top-level definition and import is one, so that an equal body in
    another row is the same fragment; its lines count from 1.
    """

    key: int  # unsigned 64 bit; equal keys in one source are the same fragment
    text: bytes
    nodes: tuple[NodeRow, ...]
    vectors: npt.NDArray[np.float16]  # [nodes with an embedded label, dimension], in the order of nodes
    terms: bytes  # of its functions and imports, as pkg.terms.packed_terms packs them
    calls: tuple[CallSite, ...]


class StoredFragment(NamedTuple):
    """A fragment as a store gives it back, to be drafted once more."""

    source: str
    key: int  # unsigned 64 bit
    path: str  # of the file; "" for a piece of rows
    text: bytes
    terms: bytes


@dataclass(frozen=True, slots=True)
class DocstringChange:
    """What changes in a stored fragment where functions get docstrings that were written for them, or lose them."""

    key: int  # of the fragment
    docstrings: Mapping[str, Docstring | None]  # by id of the function; None takes away what was written
    vectors: npt.NDArray[np.float16]  # [docstrings, dimension], in their order
    terms: bytes  # of the whole fragment


class Part(NamedTuple):
    """A fragment's place in a unit; the fragment itself is None when the same build has already sent it."""

    key: int
    first_line: int  # line of the unit at which the fragment begins
    fragment: Fragment | None


@dataclass(frozen=True)
class UnitText:
    """One file as resolution wants it: its text and summary, and the ids of the nodes cut from it."""

    source: str
    path: str
    text: bytes
    definitions: Sequence[Class | Function]
    imports: Sequence[Import]
    summary: bytes = b""  # what its code does with names and values (pkg.extract.summary.file_summary)

    @cached_property
    def ids(self) -> list[str]:
        """Give the ids of the definitions."""
        names = PieceNames(self.source, self.path)
        labels = [Label.CLASS if isinstance(each, Class) else Label.FUNCTION for each in self.definitions]
        pieces = zip(labels, self.definitions, strict=True)
        return [format_id(names.name(label, each.qualname)) for label, each in pieces]

    @cached_property
    def import_ids(self) -> list[str]:
        """Give the ids of the imports."""
        names = PieceNames(self.source, self.path)
        statements = [each.statement.encode("utf-8", "replace").decode() for each in self.imports]
        return [format_id(names.name(Label.IMPORT, statement)) for statement in statements]


def describe_code(source: str, path: str, code: CodeUnit) -> UnitText:
    """Give what resolution wants of an extracted file."""
    return UnitText(source, path, code.text, code.definitions, code.imports, code.summary)


class PieceNames:
    """Give the pieces of one fragment their ids: by what they are and what they are called, equals by position."""

    def __init__(self, source: str, place: str) -> None:
        self._prefix = blake2b(f"{source}\0{place}".encode("utf-8", "surrogatepass"), digest_size=8)
        self._equals: dict[tuple[str, str], int] = {}

    def name(self, label: Label, name: str) -> int:
        """Give the id of the next piece of a label and name."""
        position = self._equals.get((label.value, name), 0)
        self._equals[label.value, name] = position + 1
        hasher = self._prefix.copy()
        hasher.update(f"\0{label.value}\0{name}\0{position}".encode("utf-8", "surrogatepass"))
        return int.from_bytes(hasher.digest(), "big")


@dataclass(frozen=True, slots=True)
class UnitGraph:
    """One file or row, ready to be stored in the place of what stood at its path."""

    source: str
    label: Label  # FILE or ROW
    path: str
    fingerprint: str
    content_hash: str
    language: str
    status: Status
    reason: str | None
    parts: tuple[Part, ...]
    code: UnitText | None = None  # of a file: for resolution, not for the store
    errors: tuple[LocalError, ...] = ()  # that made it less than it could be


class UnboundCall(NamedTuple):
    """A call site that could not be bound: a Call node, and the UNRESOLVED relationship that leads to it."""

    id: str
    owner: str  # id of the function, or of the file for module code
    expression: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class UnitLinks:
    """What the code of one file or row refers to, in the place of what was resolved for it before.

    The relationships (RESOLVES_TO, CALLS, INHERITS, OVERRIDES) start at the unit or at nodes in it. Library nodes that
    they end at are made from their names, one for each source, and vanish with the last relationship to them.
    """

    path: str
    edges: tuple[Edge, ...] = ()
    unbound: tuple[UnboundCall, ...] = ()
    libraries: tuple[str, ...] = ()
    notes: bytes = b""  # what the resolver needs to find the units that a change affects; the store only keeps it


def name_library(source: str, library: str) -> str:
    """Give the id of a Library node."""
    return format_id(hash_key(source, "", Label.LIBRARY.value, library))


def hash_bytes(data: bytes) -> int:
    """Hash bytes to an unsigned 64-bit number, the same on every machine."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def hash_key(*parts: str) -> int:
    """Hash what identifies a node: its source, its place, its kind and its name (docs/schema.md)."""
    return hash_bytes("\0".join(parts).encode("utf-8", "surrogatepass"))


def hash_inside(owner: int, path: str) -> int:
    """Give the id of a place inside a node: the node's id, spread, and moved on by the hash of the path.

    Paths recur in every function, so their hashes are remembered; a hash of the whole would cost ten times as much.
    """
    return (owner * _SPREAD + _hash_path(path)) & _MASK


def name_module(path: str) -> str:
    """Give the bare name of the module in a file; that of a package is the folder's."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0] or file
    return folder.rpartition("/")[2] if stem == "__init__" and folder else stem


def find_owner(node_id: str, label: Label, name: str) -> str:
    """Give the id of the function that a block is a block of, which hash_inside made its id of; else the node's own."""
    if label is not Label.BLOCK:
        return node_id
    return format_id((int(node_id, 16) - _hash_path(name)) * _GATHER & _MASK)


_SPREAD, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1  # the odd number next to 2**64 over the golden ratio
_GATHER = pow(_SPREAD, -1, _MASK + 1)


@lru_cache(maxsize=10_000)
def _hash_path(path: str) -> int:
    return hash_bytes(path.encode())


def format_id(value: int) -> str:
    """Write a 64-bit id as the 16 hex digits that people see."""
    return f"{value:016x}"
