"""The code of one module, class, function or lambda while it is summed up: operations, sites, names (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.summary import operations as o
from pkg.extract.summary.environment import SHARED, UNBOUND, Environment, Joiner
from pkg.extract.summary.operations import (
    BROUGHT,
    CELL,
    CLASS_BODY,
    CONST,
    GLOBAL,
    MODULE,
    NARROW,
    PARAM,
    PHI,
    PURE,
    SET_CELL,
    Operation,
)

Parameter = tuple[str, int, bool, Any]
"""Name, kind, whether it has a default, annotation or None."""


class Frame(Joiner):
    """One frame that is being summed up."""

    def __init__(self, kind: int, name: str, number: int, parent: Frame | None, definition: int = -1) -> None:
        super().__init__()
        self.kind = kind
        self.name = name
        self.number = number
        self.parent = parent
        self.definition = definition
        self.class_name: str = (
            name if kind == CLASS_BODY else parent.class_name if parent is not None else ""
        )  # by which private names are mangled
        self.environment: Environment | None = Environment()
        self.sites: list[tuple[int, int, int]] = []  # kind, and the span in bytes
        self.parameters: list[Parameter] = []
        self.returns: Any = None  # annotation
        self.flags = 0
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.declared: dict[str, Any] = {}  # annotations of names that are bound later
        self.shared: set[str] = set()  # names that other code may bind as well, so that a call may change them
        self.versions: dict[str, list[int]] = {}  # by name, all that it is bound to
        self.hidden: dict[str, list[int]] = {}  # the same of comprehensions
        self.captured: set[str] = set()  # names that functions inside read
        self.logs: list[dict[str, list[int]]] = []  # of what open try statements have bound
        self.lines: list[int] = []
        self._constants: dict[tuple[object, ...], int] = {}
        self._open: dict[int, str] = {}  # reads of names that nothing before has bound

    def add(self, *operation: Any) -> int:
        """Add an operation."""
        self.nodes.append(operation)
        return len(self.nodes) - 1

    def add_once(self, *operation: Any) -> int:
        """Add an operation that is the same wherever it stands; asked again, the same one."""
        node = self._constants.get(operation)
        if node is None:
            node = self._constants[operation] = self.add(*operation)
        return node

    def add_constant(self, kind: str, value: object = None) -> int:
        """Add a constant."""
        return self.add_once(CONST, kind, value)

    def add_site(self, kind: int, start: int, end: int) -> int:
        """Add a site."""
        self.sites.append((kind, start, end))
        return len(self.sites) - 1

    def read(self, name: str) -> int:
        """Find or add what a name stands for here."""
        name = self.mangle(name)
        environment = self.environment
        if environment is not None:
            is_shared = name in self.shared
            node = environment.places.get((SHARED, name)) if is_shared else self.look_up(environment, name)
            if node is not None and node != UNBOUND:
                return node
        return self.read_open(name)

    def read_open(self, name: str) -> int:
        """Find or add the read of a name that nothing before has bound here."""
        node = self._constants.get((GLOBAL, name))
        if node is None:
            node = self._constants[(GLOBAL, name)] = self.add(GLOBAL, name)
            self._open[node] = name
        return node

    def bind(self, name: str, node: int) -> None:
        """Bind a name to what an operation gives."""
        name = self.mangle(name)
        if self.environment is None:
            return
        if name in self.shared:
            self.environment.places[SHARED, name] = node
        else:
            self.environment.names[name] = node
        self.versions.setdefault(name, []).append(node)
        for log in self.logs:
            log.setdefault(name, []).append(node)

    def bind_star(self, number: int) -> None:
        """Note that a star import may bind names that are bound already."""
        for name, node in list(self.environment.names.items()) if self.environment is not None else ():
            if node != UNBOUND and not name.startswith("__"):
                before = self.nodes[node]
                is_brought = before[0] == BROUGHT
                inner, numbers = (before[2], before[3]) if is_brought else (node, ())
                self.bind(name, self.add(BROUGHT, name, inner, (*numbers, number)))

    def list_guards(self) -> list[tuple[int, str, int]]:
        """List the tests that parameters have passed here, which ask nothing else: the place, the test, if it holds."""
        found: list[tuple[int, str, int]] = []
        names = self.environment.names if self.environment is not None else {}
        for place, (name, _, _, _) in enumerate(self.parameters):
            number, tests = names.get(name, UNBOUND), list[tuple[int, str, int]]()
            while number >= 0 and self.nodes[number][0] == NARROW and len(self.nodes[number][2]) == 1:
                _, inner, test, holds = self.nodes[number]
                tests.append((place, test[0], holds))
                number = inner
            if number >= 0 and self.nodes[number] == (PARAM, place):
                found += reversed(tests)
        return found

    def mangle(self, name: str) -> str:
        """Write a name as Python knows it inside of its class."""
        if name.startswith("__") and self.class_name and not name.endswith("__"):
            return f"_{self.class_name.lstrip('_')}{name}"
        return name

    def forget_places(self) -> None:
        """Forget what attributes and items stand for: code that may assign to them runs."""
        if self.environment is not None and self.environment.places:
            self.environment.places = {}

    def find_owner(self, name: str) -> Frame | None:
        """Find the function around whose variable a name is that this frame does not bind; None for the module's."""
        each = self.parent
        while each is not None and each.kind != MODULE:
            if each.kind != CLASS_BODY:
                if name in each.globals:
                    return None
                if (name in each.versions or name in each.hidden) and name not in each.nonlocals:
                    return each
            each = each.parent
        return None

    def settle_reads(self) -> None:
        """Find whose names those are that were read before anything has bound them here."""
        for node, name in self._open.items():
            if name in self.globals:
                continue
            if self.kind not in (MODULE, CLASS_BODY) and name in self.versions and name not in self.nonlocals:
                if name in self.shared:
                    self.captured.add(name)
                    self.nodes[node] = (CELL, self.number, name)
                else:
                    self.nodes[node] = (PHI,)
                continue
            owner = self.find_owner(name)
            if owner is not None:
                owner.captured.add(name)
                self.nodes[node] = (CELL, owner.number, name)

    def store_cells(self) -> None:
        """Add what the variables hold that functions inside read."""
        for name in sorted(self.captured) if self.kind != MODULE else ():
            for node in dict.fromkeys((*self.versions.get(name, ()), *self.hidden.get(name, ()))):
                self.add(SET_CELL, self.number, name, node)

    def compact(self) -> list[Operation]:
        """List the operations without those that give what nothing refers to, and joins of one thing."""
        return compact(self.nodes)


def compact(nodes: list[Operation]) -> list[Operation]:
    """Leave out joins of one thing and values that are not used, and number the rest."""
    alias = _find_aliases(nodes)
    used = _find_used(nodes, alias)
    if all(used) and all(number == each for number, each in enumerate(alias[:-1])):
        return nodes
    numbers, kept = [UNBOUND] * (len(nodes) + 1), 0
    for number, is_used in enumerate(used):
        if is_used:
            numbers[number] = kept
            kept += 1
    moved = [numbers[each] for each in alias]
    return [_renumber(node, moved) for node, is_used in zip(nodes, used, strict=True) if is_used]


def _find_used(nodes: list[Operation], alias: list[int]) -> list[bool]:
    """Find the operations that do something, and those that they refer to."""
    used = [node[0] not in PURE or (node[0] == o.UNPACK and node[5] >= 0) for node in nodes]
    is_changed = True
    while is_changed:  # a second time where a loop refers to later operations
        is_changed = False
        for number in range(len(nodes) - 1, -1, -1):
            if used[number]:
                for operand in list_operands(nodes[number]):
                    each = alias[operand]
                    if each >= 0 and not used[each]:
                        used[each] = True
                        is_changed |= each > number
    return used


def _find_aliases(nodes: list[Operation]) -> list[int]:
    """Find for each operation the one that it is equal to: a join of itself and one other is that other.

    Behind the others stands what -1 is equal to.
    """
    alias = [*range(len(nodes)), UNBOUND]
    joins = [number for number, node in enumerate(nodes) if node[0] == PHI]
    is_changed = bool(joins)
    while is_changed:
        is_changed = False
        for number in joins:
            if alias[number] == number:
                others = {_follow(alias, each) for each in nodes[number][1:]} - {number}
                if len(others) == 1:
                    alias[number] = others.pop()
                    is_changed = True
    for number in joins:
        alias[number] = _follow(alias, number)
    return alias


def _follow(alias: list[int], number: int) -> int:
    while number >= 0 and alias[number] != number:
        number = alias[number]
    return number


SHAPES: dict[int, tuple[int, ...]] = {}
"""By code, the positions in an operation at which the numbers of others stand; operations with lists are not here."""


def _fill_shapes() -> None:
    SHAPES.update({
        o.CONST: (), o.PARAM: (), o.GLOBAL: (), o.CELL: (), o.ATTR: (1,), o.ITEM: (1, 2), o.ITER: (1,), o.UNPACK: (1,),
        o.BINARY: (2, 3), o.INPLACE: (2, 3), o.UNARY: (2,), o.COMPARE: (2, 3), o.AWAIT: (1,), o.YIELD: (1,),
        o.YIELD_FROM: (1,), o.ASK: (2,), o.ENTER: (1,), o.IMPORT: (), o.DECLARE: (2,), o.UNKNOWN: (),
        o.SET_ATTR: (1, 3), o.SET_ITEM: (1, 2, 3), o.DEL_ATTR: (1,), o.DEL_ITEM: (1, 2), o.SET_GLOBAL: (2,),
        o.SET_CELL: (3,), o.MEMBER: (2,), o.RAISE: (1,), o.STAR: (), o.CAUGHT: (1,), o.BROUGHT: (2,),
    })  # fmt: skip


_fill_shapes()


def list_operands(node: Sequence[Any]) -> list[int]:
    """List the operations that one refers to."""
    code = node[0]
    shape = SHAPES.get(code)
    if shape is not None:
        return [node[place] for place in shape]
    if code == o.CALL_ATTR:
        return [node[1], *[each[0] for each in node[3]], *[each[1] for each in node[4]]]
    if code == o.CALL:
        return [node[1], *[each[0] for each in node[2]], *[each[1] for each in node[3]]]
    if code == o.PHI:
        return list(node[1:])
    found: list[int] = []
    _renumber_lists(node, found.append)
    return found


def _renumber(node: Operation, moved: list[int]) -> Operation:
    shape = SHAPES.get(node[0])
    if shape is not None:
        if not shape:
            return node
        changed = list(node)
        for place in shape:
            changed[place] = moved[node[place]]
        return tuple(changed)
    return _renumber_lists(node, moved.__getitem__)


def _renumber_lists(node: Sequence[Any], move: Any) -> Operation:
    code = node[0]
    if code == o.RETURN:
        return (code, [move(each) for each in node[1]], node[2])
    if code == o.PHI:
        return (code, *dict.fromkeys(move(each) for each in node[1:]))
    if code == o.CALL:
        return (code, move(node[1]), _move_placed(node[2], move), _move_named(node[3], move), node[4])
    if code == o.CALL_ATTR:
        return (code, move(node[1]), node[2], _move_placed(node[3], move), _move_named(node[4], move), node[5])
    if code == o.COLLECT:
        return (code, node[1], [tuple(move(x) if i else x for i, x in enumerate(each)) for each in node[2]], node[3])
    if code == o.NARROW:
        return (code, move(node[1]), _move_test(node[2], move), node[3])
    if code == o.CLASS:
        return (code, node[1], [move(each) for each in node[2]], _move_named(node[3], move), node[4])
    if code == o.DECORATE:
        return (code, move(node[1]), [(move(each), made) for each, made in node[2]], node[3])
    if code == o.FUNC:
        return (code, node[1], _move_named(node[2], move))
    if code == o.TEXT:
        return (code, [move(each) for each in node[1]])
    raise ValueError(f"operation {code} has no shape")


def _move_placed(placed: Iterable[tuple[int, int]], move: Any) -> list[tuple[int, int]]:
    return [(move(each), starred) for each, starred in placed]


def _move_named(named: Iterable[tuple[Any, int]], move: Any) -> list[tuple[Any, int]]:
    return [(name, move(each)) for name, each in named]


def _move_test(test: tuple[Any, ...], move: Any) -> tuple[Any, ...]:
    return (test[0], *(move(each) for each in test[1:]))


def read_identifier(node: Node) -> str:
    """Read a name as Python knows it."""
    text = (node.text or b"").decode("utf-8", "replace")
    return text if text.isascii() else normalize("NFKC", text)
