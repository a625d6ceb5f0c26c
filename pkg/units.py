"""The part of a graph that one file or row makes: fragments of text with their nodes and ids.

UnitText is the input of resolution for a file. All positions are byte offsets into the text.
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
from pkg.model import Class, CodeUnit, Edge, Function, Generated, Import, Label, LocalError, Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np, npt = LazyModule("numpy"), LazyModule("numpy.typing")


NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
"""An identifier in UTF-8; non-ASCII characters need no check, because Python rejects those that are no letters."""
DOTTED = re.compile(NAME + rb"(?:\s*\.\s*" + NAME + rb")*\Z")


def read_name(name: bytes) -> str:
    """Return an identifier or dotted name in NFKC, as Python compares it."""
    text = name.decode("utf-8", "replace")
    return text if text.isascii() else normalize("NFKC", text)


def render_callee(callee: bytes) -> str:
    """Return the stored form of a callee: a dotted name whole, otherwise only the last attribute."""
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
    """One call: the expression, its line in the fragment, and the node that contains it (-1 outside functions)."""

    expression: str
    line: int
    owner: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of text that a source stores once, with its nodes (parents before children) and their vectors.

    A file is one fragment. In a corpus row each top-level definition and import is one, so that equal code in
    another row is the same fragment; its lines count from 1.
    """

    key: int  # unsigned 64 bit; equal keys in one source are the same fragment
    text: bytes
    nodes: tuple[NodeRow, ...]
    vectors: npt.NDArray[np.float16]  # [nodes with an embedded label, dimension], in the order of nodes
    terms: bytes  # of its functions and imports, as pkg.terms.packed_terms packs them
    calls: tuple[CallSite, ...]


class StoredFragment(NamedTuple):
    """A fragment as a store returns it, to be extracted again."""

    source: str
    key: int  # unsigned 64 bit
    path: str  # of the file; "" for a piece of rows
    text: bytes
    terms: bytes


@dataclass(frozen=True, slots=True)
class GeneratedChange:
    """The change of a stored fragment whose functions gain or lose generated texts."""

    key: int  # of the fragment
    texts: Mapping[str, Generated]  # by id of the function: all that it has after the change
    vectors: Mapping[str, npt.NDArray[np.float16]]  # [dimension] by id, of the functions whose docstring changes
    terms: bytes  # of the whole fragment


class Part(NamedTuple):
    """The position of a fragment in a unit; the fragment is None when the same build has already sent it."""

    key: int
    first_line: int  # line of the unit at which the fragment begins
    fragment: Fragment | None


@dataclass(frozen=True)
class UnitText:
    """One file as the input of resolution: its text, its summary, and the ids of its nodes."""

    source: str
    path: str
    text: bytes
    definitions: Sequence[Class | Function]
    imports: Sequence[Import]
    summary: bytes = b""  # of the flow of values (pkg.extract.summary.file_summary)

    @cached_property
    def ids(self) -> list[str]:
        """Return the ids of the definitions."""
        names = PieceNames(self.source, self.path)
        labels = [Label.CLASS if isinstance(each, Class) else Label.FUNCTION for each in self.definitions]
        pieces = zip(labels, self.definitions, strict=True)
        return [format_id(names.name(label, each.qualname)) for label, each in pieces]

    @cached_property
    def import_ids(self) -> list[str]:
        """Return the ids of the imports."""
        names = PieceNames(self.source, self.path)
        statements = [each.statement.encode("utf-8", "replace").decode() for each in self.imports]
        return [format_id(names.name(Label.IMPORT, statement)) for statement in statements]


def describe_code(source: str, path: str, code: CodeUnit) -> UnitText:
    """Build the input of resolution from an extracted file."""
    return UnitText(source, path, code.text, code.definitions, code.imports, code.summary)


class PieceNames:
    """Assigns ids to the pieces of one fragment by label and name; pieces of equal label and name by position."""

    def __init__(self, source: str, place: str) -> None:
        self._prefix = blake2b(f"{source}\0{place}".encode("utf-8", "surrogatepass"), digest_size=8)
        self._equals: dict[str, int] = {}

    def name(self, label: Label, name: str) -> int:
        """Return the id of the next piece of a label and name."""
        key = f"\0{label.value}\0{name}\0"
        position = self._equals.get(key, 0)
        self._equals[key] = position + 1
        hasher = self._prefix.copy()
        hasher.update(f"{key}{position}".encode("utf-8", "surrogatepass"))
        return int.from_bytes(hasher.digest(), "big")


@dataclass(frozen=True, slots=True)
class UnitGraph:
    """One file or row, ready to replace the stored one at its path."""

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
    errors: tuple[LocalError, ...] = ()  # that cost parts of it


class UnboundCall(NamedTuple):
    """A call site that could not be bound: a Call node, and the UNRESOLVED relationship that leads to it."""

    id: str
    owner: str  # id of the function, or of the file for module code
    expression: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class UnitLinks:
    """The links of one file or row, which replace those that were resolved before.

    The relationships (RESOLVES_TO, CALLS, INHERITS, OVERRIDES) start at the unit or at nodes in it. Library nodes that
    they end at are made from their names, one for each source, and vanish with the last relationship to them.
    """

    path: str
    edges: tuple[Edge, ...] = ()
    unbound: tuple[UnboundCall, ...] = ()
    libraries: tuple[str, ...] = ()
    notes: bytes = b""  # for the resolver, to find the units that a change affects; opaque to the store


def name_library(source: str, library: str) -> str:
    """Return the id of a Library node."""
    return format_id(hash_key(source, "", Label.LIBRARY.value, library))


def hash_bytes(data: bytes) -> int:
    """Hash bytes to an unsigned 64-bit number, the same on every machine."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def hash_key(*parts: str) -> int:
    """Hash the identity of a node: its source, position, kind and name (docs/schema.md)."""
    return hash_bytes("\0".join(parts).encode("utf-8", "surrogatepass"))


def hash_inside(owner: int, path: str) -> int:
    """Return the id of a position inside a node: the id of the node, multiplied, plus the hash of the path.

    Paths recur in every function, so their hashes are cached; hashing both together would take ten times as long.
    """
    return (owner * _FACTOR + _hash_path(path)) & _MASK


def name_module(path: str) -> str:
    """Return the last name of the module in a file; that of a package is the name of its folder."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0] or file
    return folder.rpartition("/")[2] if stem == "__init__" and folder else stem


def find_owner(node_id: str, label: Label, name: str) -> str:
    """Return the id of the function that contains a block, by inverting hash_inside; else the id of the node."""
    if label is not Label.BLOCK:
        return node_id
    return format_id((int(node_id, 16) - _hash_path(name)) * _INVERSE & _MASK)


_FACTOR, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1  # the odd number next to 2**64 over the golden ratio
_INVERSE = pow(_FACTOR, -1, _MASK + 1)


@lru_cache(maxsize=10_000)
def _hash_path(path: str) -> int:
    return hash_bytes(path.encode())


def forget_hashes() -> None:
    """Empty the cache of hash_inside, whose entries lie among objects of all ages and keep their memory pages."""
    _hash_path.cache_clear()


def format_id(value: int) -> str:
    """Return a 64-bit id as 16 hex digits."""
    return f"{value:016x}"
