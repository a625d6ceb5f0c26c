"""Heads of frames: facts for choosing the frames to load before code is evaluated (A-12).

They are read from the operations of a file when these are written: decorators, names that are bound or assigned to
elsewhere, and the values that a function returns for which arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.extract.summary.annotation_trees import is_named
from pkg.extract.summary.compaction import Numbering
from pkg.extract.summary.frame_operations import Frame
from pkg.extract.summary.operations import Operation

Guards = tuple[tuple[int, str, bool], ...]
"""Tests that hold where a function returns: index of the parameter, test, whether it passed."""


class Passed(NamedTuple):
    """A parameter that is returned unchanged if it passes some tests."""

    place: int
    tests: tuple[tuple[Sequence[Any], bool], ...] = ()
    guards: Guards = ()


def extract_returned(
    nodes: list[Operation], follow: Callable[[int], int], places: frozenset[int]
) -> tuple[list[Guards], list[Passed]]:
    """Return the tests of some parameters before each return, and which of these parameters are returned.

    The returns keep only these tests, and the operations that are no such parameters. `follow` returns the equivalent
    of an operation.
    """
    guards, passed = dict[Guards, None](), dict[Passed, None]()
    for number, node in enumerate(nodes):
        if node[0] == o.RETURN:
            tested = tuple((place, test, bool(holds)) for place, test, holds in node[2] if place in places)
            found, rest = _trace(nodes, follow, node[1], places)
            guards[tested] = None
            passed.update(dict.fromkeys(each._replace(guards=tested) for each in found))
            nodes[number] = (o.RETURN, rest if found else node[1], tested)
    return list(guards), list(passed)


def _trace(
    nodes: list[Operation], follow: Callable[[int], int], values: Sequence[int], places: frozenset[int]
) -> tuple[list[Passed], list[int]]:
    """Trace returned values back to parameters through joins; other values are kept."""
    found, rest = list[Passed](), list[int]()
    waiting = [number for each in values if (number := follow(each)) >= 0]
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        node = nodes[number]
        passed = _read_parameter(nodes, follow, number, places)
        if passed is not None:
            found.append(passed)
        elif node[0] == o.PHI:
            joined = dict.fromkeys(map(follow, node[1:]))
            new = [each for each in joined if each >= 0 and each not in seen]
            seen.update(new)
            waiting += new
        else:
            rest.append(number)
    return found, rest


def _read_parameter(
    nodes: list[Operation], follow: Callable[[int], int], number: int, places: frozenset[int]
) -> Passed | None:
    """Return a parameter and its tests that call nothing; None for any other operation."""
    tests: list[tuple[Sequence[Any], bool]] = []
    node = nodes[number]
    while node[0] == o.NARROW and len(node[2]) == 1 and (before := follow(node[1])) >= 0:
        tests.append((tuple(node[2]), bool(node[3])))
        node = nodes[before]
    return Passed(node[1], tuple(reversed(tests))) if node[0] == o.PARAM and node[1] in places else None


_METHOD_KINDS = ("classmethod", "staticmethod")
_TELLING = frozenset((
    o.SET_ATTR, o.SET_GLOBAL, o.CALL, o.CALL_ATTR, o.DECORATE, o.CLASS, o.MEMBER, o.YIELD, o.YIELD_FROM, o.STAR,
))  # fmt: skip
_FLAGS = {
    o.YIELD: o.IS_GENERATOR, o.YIELD_FROM: o.IS_GENERATOR, o.CLASS: o.MAKES_CLASSES, o.STAR: o.HAS_STARS,
}  # fmt: skip
_UNBOUND: Operation = (o.UNKNOWN,)


class FrameHead(NamedTuple):
    """Facts about a frame; all of them are empty for most frames."""

    decorators: Sequence[str] = ()  # last names
    decorated_by: Sequence[int] = ()  # operations of the frame around
    own: Sequence[str] = ()  # attributes of its first parameter that it assigns to
    foreign: Sequence[str] = ()  # attributes of anything else
    names: Sequence[str] = ()  # names of the module that it binds
    guards: Sequence[Guards] = ()  # tests before each return, if a parameter is tested before any
    passed: Sequence[Passed] = ()  # parameters that are returned as they are


def read_head(items: Sequence[Any]) -> FrameHead:
    """Read the head of a frame from JSON, without the empty parts at the end."""
    head = FrameHead(*items)
    return head._replace(
        guards=[_read_guards(each) for each in head.guards],
        passed=[
            Passed(place, tuple((tuple(test), holds) for test, holds in tests), _read_guards(guards))
            for place, tests, guards in head.passed
        ],
    )  # fmt: skip


def _read_guards(written: Sequence[Any]) -> Guards:
    return tuple((place, test, holds) for place, test, holds in written)


def list_heads(frames: Sequence[Frame], numbered: Sequence[Numbering], bound_names: Sequence[str]) -> list[FrameHead]:
    """List the heads of the frames of a file, parents before children; flags and returns of frames are completed.

    `numbered` has the result of `compact` for each frame, `bound_names` the name that each import binds.
    """
    decorated: dict[int, _Decorated] = {}
    return [
        _HeadReader(frame, numbering, bound_names, decorated).read()
        for frame, numbering in zip(frames, numbered, strict=True)
    ]


class _Decorated(NamedTuple):
    names: frozenset[str] = frozenset()
    operations: tuple[int, ...] = ()


class _HeadReader:
    """Read the head of one frame."""

    def __init__(
        self, frame: Frame, numbering: Numbering, bound_names: Sequence[str], decorated: dict[int, _Decorated]
    ) -> None:
        self._frame = frame
        self._nodes = frame.nodes
        self._numbers, self._kept = numbering
        self._bound_names = bound_names
        self._decorated = decorated  # by number of the decorated frame
        self._own: dict[str, None] = {}
        self._foreign: dict[str, None] = {}
        self._names: dict[str, None] = {}

    def read(self) -> FrameHead:
        """Return the head, and complete the flags and returns of the frame."""
        frame = self._frame
        for node in self._nodes:
            if node[0] in _TELLING:
                self._note(node)
        decorated = self._decorated.get(frame.number, _Decorated())
        self._note_parameters(decorated.names)
        if frame.name == "__getattr__" and frame.parameters:
            self._note_forwarded()
        guards, passed = list[Guards](), list[Passed]()
        is_plain = frame.kind in (o.FUNCTION, o.LAMBDA) and not frame.flags & (o.IS_GENERATOR | o.IS_ASYNC)
        if is_plain:
            first = 1 if frame.flags & o.HAS_RECEIVER else 0
            placed = (place for place, each in enumerate(frame.parameters) if each[1] in (o.PLACED, o.BY_NAME))
            guards, passed = extract_returned(self._nodes, self._follow, frozenset(placed) - frozenset(range(first)))
        return FrameHead(
            sorted(decorated.names), decorated.operations, list(self._own), list(self._foreign), list(self._names),
            guards if any(guards) else (), passed,
        )  # fmt: skip

    def _follow(self, number: int) -> int:
        """Return the written operation for one; -1 for none."""
        new = self._numbers[number]
        return self._kept[new] if new >= 0 else -1

    def _find(self, number: int) -> Operation:
        found = self._follow(number) if number >= 0 else -1
        return self._nodes[found] if found >= 0 else _UNBOUND

    def _note(self, node: Operation) -> None:
        code, frame = node[0], self._frame
        if code == o.SET_ATTR:
            kept = self._own if self._find(node[1]) == (o.PARAM, 0) else self._foreign
            kept[node[2]] = None
        elif code == o.SET_GLOBAL:
            self._names[node[1]] = None
        elif code in _FLAGS:
            frame.flags |= _FLAGS[code]
        elif code == o.CALL:
            if self._find(node[1]) == (o.GLOBAL, "setattr"):
                frame.flags |= o.SETS_ANY
        elif code == o.CALL_ATTR:
            if node[2] == "register" and len(node[3]) == 1:
                frame.flags |= o.REGISTERS
        elif code == o.MEMBER:
            self._note_made_method(self._find(node[2]))
        else:
            self._note_decorators(node)

    def _note_decorators(self, node: Operation) -> None:
        made = self._find(node[1])
        used = [each for each, _ in node[2] if self._follow(each) >= 0]
        if any(self._find(each)[0] == o.ATTR and self._find(each)[2] == "register" for each in used):
            self._frame.flags |= o.REGISTERS
        if made[0] in (o.FUNC, o.CLASS):
            names = frozenset(self._name_last(each) for each in used)
            self._decorated[made[1]] = _Decorated(names, tuple(self._numbers[each] for each in used))

    def _note_made_method(self, node: Operation) -> None:
        """Record a function that a class makes a class or static method by a call."""
        if node[0] != o.CALL or not node[2]:
            return
        callee, made = self._find(node[1]), self._find(node[2][0][0])
        if callee[0] == o.GLOBAL and callee[1] in _METHOD_KINDS and made[0] == o.FUNC:
            before = self._decorated.get(made[1], _Decorated())
            self._decorated[made[1]] = before._replace(names=before.names | {callee[1]})

    def _name_last(self, number: int) -> str:
        """Return the last name of a callable."""
        node = self._find(number)
        if node[0] in (o.CALL_ATTR, o.ATTR):
            return str(node[2])
        if node[0] == o.CALL:
            return self._name_last(node[1])
        if node[0] == o.IMPORT:
            return self._bound_names[node[1]]
        return str(node[1]) if node[0] in (o.GLOBAL, o.STAR_BOUND) else ""

    def _note_parameters(self, decorators: frozenset[str]) -> None:
        frame = self._frame
        is_method = frame.kind == o.FUNCTION and frame.parent is not None and frame.parent.kind == o.CLASS_BODY
        if is_method and frame.parameters and frame.parameters[0][1] == o.PLACED and "staticmethod" not in decorators:
            frame.flags |= o.HAS_RECEIVER
        annotations = [annotation for _, _, _, annotation in frame.parameters if annotation is not None]
        if annotations and "Callable" in str(annotations) and any(is_named(each, "Callable") for each in annotations):
            frame.flags |= o.TAKES_CALLABLES

    def _note_forwarded(self) -> None:
        """Record the object of which a __getattr__ reads the requested attribute."""
        place = len(self._frame.parameters) - 1
        for node in list(self._nodes):
            if node[0] != o.CALL or len(node[2]) < 2 or self._find(node[1]) != (o.GLOBAL, "getattr"):
                continue
            asked = self._find(node[2][1][0])
            while asked[0] == o.NARROW:
                asked = self._find(asked[1])
            if asked == (o.PARAM, place):
                self._frame.flags |= o.FORWARDS
                self._frame.add(o.SET_CELL, self._frame.number, o.FORWARDED, node[2][0][0])
                self._numbers.insert(-1, len(self._kept))
                self._kept.append(len(self._nodes) - 1)
