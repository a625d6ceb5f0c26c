"""The summary of one file, and its stored format (A-12).

It depends only on the text of the file. The places of sites, which change with every inserted line, are separate from
the operations, so that an edited comment leaves these equal.

Operations are stored as plain numbers, which are small and fast to write and read: each is its code followed by its
items; a string is its number in a table shared by the frames of a file, and a list follows its length. Operations are
read as tuples, with tuples for lists.
"""

from __future__ import annotations

import json
import marshal
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.summary import operations as o
from pkg.extract.summary.compaction import OPERANDS, Numbering, compact
from pkg.extract.summary.file_frames import Builder
from pkg.extract.summary.frame_heads import FrameHead, list_heads, read_head
from pkg.extract.summary.frame_operations import Frame
from pkg.extract.summary.operations import Operation
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


_NONE = -2  # a missing item; -1 is an operand


class Table(dict[object, int]):
    """Numbers of strings, and of constants together with their type, because 1 == True."""

    def __missing__(self, value: object) -> int:
        number = self[value] = len(self)
        return number

    def list_values(self) -> list[object]:
        """List the values in the order of their numbers."""
        return [key[1] if isinstance(key, tuple) else key for key in self]


_NAMED: dict[int, tuple[int, ...]] = {
    o.GLOBAL: (1,), o.CELL: (2,), o.BINARY: (1,), o.INPLACE: (1,), o.UNARY: (1,), o.COMPARE: (1,), o.PROTOCOL: (1,),
    o.SET_ATTR: (2,), o.DEL_ATTR: (2,), o.SET_GLOBAL: (1,), o.SET_CELL: (2,), o.MEMBER: (1,),
}  # fmt: skip
_LENGTHS: dict[int, int] = {
    o.PARAM: 2, o.GLOBAL: 2, o.CELL: 3, o.ITEM: 4, o.ITER: 4, o.UNPACK: 6, o.BINARY: 5, o.INPLACE: 5, o.UNARY: 4,
    o.COMPARE: 5, o.AWAIT: 3, o.YIELD: 2, o.YIELD_FROM: 3, o.PROTOCOL: 4, o.ENTER: 4, o.IMPORT: 2, o.UNKNOWN: 1,
    o.SET_ATTR: 5, o.SET_ITEM: 5, o.DEL_ATTR: 4, o.DEL_ITEM: 4, o.SET_GLOBAL: 3, o.SET_CELL: 4, o.MEMBER: 3,
    o.RAISE: 3, o.STAR: 2, o.CAUGHT: 2,
}  # fmt: skip
_CODES = range(o.STAR_BOUND + 1)
_TEXTS = [_NAMED.get(code, ()) for code in _CODES]
_LENGTH = [_LENGTHS.get(code, 0) for code in _CODES]


def write_operations(nodes: Sequence[Operation], numbering: Numbering, table: Table, out: list[int]) -> None:
    """Write the kept operations of a frame, with the numbers of `compact`."""
    numbers = numbering.numbers
    for number in numbering.kept:
        node = nodes[number]
        code = node[0]
        if _LENGTH[code]:
            flat = list(node)
            for place in OPERANDS[code] or ():
                flat[place] = numbers[flat[place]]
            for place in _TEXTS[code]:
                flat[place] = table[flat[place]]
            out += flat
        else:
            _WRITERS[code](node, numbers, table, out)


def read_operations(flat: tuple[int, ...], values: Sequence[Any]) -> list[Operation]:
    """Read the operations of a frame from the written numbers."""
    nodes: list[Operation] = []
    start, end = 0, len(flat)
    while start < end:
        code = flat[start]
        length = _LENGTH[code]
        if not length:
            node, start = _READERS[code](flat, start, values)
            nodes.append(node)
            continue
        after, texts = start + length, _TEXTS[code]
        if not texts:
            nodes.append(flat[start:after])
        elif texts[0] == 1:
            nodes.append((code, values[flat[start + 1]], *flat[start + 2 : after]))
        else:
            nodes.append((code, flat[start + 1], values[flat[start + 2]], *flat[start + 3 : after]))
        start = after
    return nodes


_Writer = Callable[[Operation, Sequence[int], Table, list[int]], None]
_Reader = Callable[[tuple[int, ...], int, Sequence[Any]], tuple[Operation, int]]


def _write_constant(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, kind, value = node
    key = value if value is None or value.__class__ is str else (kind, value)
    out += (code, table[kind], table[key])


def _read_constant(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    return (o.CONST, values[flat[at + 1]], values[flat[at + 2]]), at + 3


def _write_attribute(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, owner, name, *sites = node
    out += (code, numbers[owner], table[name], len(sites))
    out += sites


def _read_attribute(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 4 + flat[at + 3]
    return (o.ATTR, flat[at + 1], values[flat[at + 2]], *flat[at + 4 : end]), end


def _write_call(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, callee, placed, named, site = node
    out += (code, numbers[callee])
    _write_arguments(placed, named, site, numbers, table, out)


def _read_call(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    placed, named, end = _read_arguments(flat, at + 2, values)
    return (o.CALL, flat[at + 1], placed, named, flat[at + 2]), end


def _write_method_call(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, owner, name, placed, named, site = node
    out += (code, numbers[owner], table[name])
    _write_arguments(placed, named, site, numbers, table, out)


def _read_method_call(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    placed, named, end = _read_arguments(flat, at + 3, values)
    return (o.CALL_ATTR, flat[at + 1], values[flat[at + 2]], placed, named, flat[at + 3]), end


def _write_arguments(
    placed: Sequence[tuple[int, int]],
    named: Sequence[tuple[str, int]],
    site: int,
    numbers: Sequence[int],
    table: Table,
    out: list[int],
) -> None:
    out += (site, len(placed), len(named))
    for each, is_starred in placed:
        out += (numbers[each], is_starred)
    for name, each in named:
        out += (table[name], numbers[each])


def _read_arguments(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, Operation, int]:
    """Read arguments after a site; return positional ones, keywords, and the end."""
    start = at + 3
    middle = start + 2 * flat[at + 1]
    end = middle + 2 * flat[at + 2]
    placed = tuple(zip(flat[start:middle:2], flat[start + 1 : middle : 2], strict=True)) if middle > start else ()
    named = tuple([(values[flat[each]], flat[each + 1]) for each in range(middle, end, 2)]) if end > middle else ()
    return placed, named, end


def _write_collection(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, kind, elements, site = node
    out += (code, table[kind], site, len(elements))
    for how, first, *rest in elements:
        out += (how, numbers[first], numbers[rest[0]] if rest else _NONE)


def _read_collection(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 4 + 3 * flat[at + 3]
    elements = tuple([
        (flat[each], flat[each + 1]) if flat[each + 2] == _NONE else (flat[each], flat[each + 1], flat[each + 2])
        for each in range(at + 4, end, 3)
    ])  # fmt: skip
    return (o.COLLECT, values[flat[at + 1]], elements, flat[at + 2]), end


def _write_join(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    joined = dict.fromkeys([numbers[each] for each in node[1:]])
    out += (node[0], len(joined), *joined)


def _read_join(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 2 + flat[at + 1]
    return (o.PHI, *flat[at + 2 : end]), end


def _write_test(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, tested, (kind, *rest), holds = node
    out += (code, numbers[tested], table[kind], numbers[rest[0]] if rest else _NONE, holds)


def _read_test(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    kind, other = values[flat[at + 2]], flat[at + 3]
    return (o.NARROW, flat[at + 1], (kind,) if other == _NONE else (kind, other), flat[at + 4]), at + 5


def _write_function(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, frame, defaults = node
    out += (code, frame, len(defaults))
    for place, each in defaults:
        out += (place, numbers[each])


def _read_function(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 3 + 2 * flat[at + 2]
    return (o.FUNC, flat[at + 1], tuple(zip(flat[at + 3 : end : 2], flat[at + 4 : end : 2], strict=True))), end


def _write_class(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, frame, bases, keywords, site = node
    out += (code, frame)
    _write_arguments([(each, 0) for each in bases], keywords, site, numbers, table, out)


def _read_class(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    placed, named, end = _read_arguments(flat, at + 2, values)
    return (o.CLASS, flat[at + 1], tuple([each for each, _ in placed]), named, flat[at + 2]), end


def _write_annotation(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, annotation, value = node
    out += (code, table["annotation", json.dumps(annotation, separators=(",", ":"))], numbers[value])


def _read_annotation(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    return (o.DECLARE, json.loads(values[flat[at + 1]]), flat[at + 2]), at + 3


def _write_decorated(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, definition, decorators, site = node
    out += (code, numbers[definition], site, len(decorators))
    for each, is_made in decorators:
        out += (numbers[each], is_made)


def _read_decorated(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 4 + 2 * flat[at + 3]
    decorators = tuple(zip(flat[at + 4 : end : 2], flat[at + 5 : end : 2], strict=True))
    return (o.DECORATE, flat[at + 1], decorators, flat[at + 2]), end


def _write_text(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    out += (node[0], len(node[1]), *[numbers[each] for each in node[1]])


def _read_text(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 2 + flat[at + 1]
    return (o.TEXT, flat[at + 2 : end]), end


def _write_return(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, values, guards = node
    out += (code, len(values), len(guards), *[numbers[each] for each in values])
    for place, test, holds in guards:
        out += (place, table[test], holds)


def _read_return(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    middle = at + 3 + flat[at + 1]
    end = middle + 3 * flat[at + 2]
    guards = [(flat[each], values[flat[each + 1]], flat[each + 2]) for each in range(middle, end, 3)]
    return (o.RETURN, flat[at + 3 : middle], tuple(guards)), end


def _write_star_bound(node: Operation, numbers: Sequence[int], table: Table, out: list[int]) -> None:
    code, name, value, imports = node
    out += (code, table[name], numbers[value], len(imports), *imports)


def _read_star_bound(flat: tuple[int, ...], at: int, values: Sequence[Any]) -> tuple[Operation, int]:
    end = at + 4 + flat[at + 3]
    return (o.STAR_BOUND, values[flat[at + 1]], flat[at + 2], flat[at + 4 : end]), end


_WRITERS: dict[int, _Writer] = {
    o.CONST: _write_constant, o.ATTR: _write_attribute, o.CALL: _write_call, o.CALL_ATTR: _write_method_call,
    o.COLLECT: _write_collection, o.PHI: _write_join, o.NARROW: _write_test, o.FUNC: _write_function,
    o.CLASS: _write_class, o.DECLARE: _write_annotation, o.DECORATE: _write_decorated, o.TEXT: _write_text,
    o.RETURN: _write_return, o.STAR_BOUND: _write_star_bound,
}  # fmt: skip
_READERS: dict[int, _Reader] = {
    o.CONST: _read_constant, o.ATTR: _read_attribute, o.CALL: _read_call, o.CALL_ATTR: _read_method_call,
    o.COLLECT: _read_collection, o.PHI: _read_join, o.NARROW: _read_test, o.FUNC: _read_function,
    o.CLASS: _read_class, o.DECLARE: _read_annotation, o.DECORATE: _read_decorated, o.TEXT: _read_text,
    o.RETURN: _read_return, o.STAR_BOUND: _read_star_bound,
}  # fmt: skip
