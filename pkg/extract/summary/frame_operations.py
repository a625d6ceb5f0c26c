"""The operations, sites and names of one module, class, function or lambda, while it is summarised (A-12)."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.summary.environment import SHARED, UNBOUND, Environment, Joiner
from pkg.extract.summary.operations import (
    CELL,
    CLASS_BODY,
    CONST,
    GLOBAL,
    MODULE,
    NARROW,
    PARAM,
    PHI,
    SET_CELL,
    STAR_BOUND,
)

NAMES_LIMIT = 50_000  # size of the cache


class _Names(dict[bytes, str]):
    """Cache of identifiers as Python normalises them, as most recur."""

    def __missing__(self, written: bytes) -> str:
        if len(self) > NAMES_LIMIT:
            self.clear()
        text = written.decode("utf-8", "replace")
        name = self[written] = text if text.isascii() else normalize("NFKC", text)
        return name


_NAMES = _Names()


Parameter = tuple[str, int, bool, Any]
"""Name, kind, whether it has a default, annotation or None."""


class Frame(Joiner):
    """A frame that is being summarised."""

    def __init__(
        self, kind: int, name: str, number: int, parent: Frame | None, source: bytes, definition: int = -1
    ) -> None:
        super().__init__()
        self.kind = kind
        self.name = name
        self.number = number
        self.parent = parent
        self.definition = definition
        self.source = source
        self.private_prefix: str = parent.private_prefix if parent is not None else ""  # of private names in a class
        if kind == CLASS_BODY:
            self.private_prefix = "_" + name.lstrip("_")
        self.environment: Environment | None = Environment()
        self.site_kinds: list[int] = []
        self.places: list[int] = []  # start and end of each site, in bytes
        self.parameters: list[Parameter] = []
        self.returns: Any = None  # annotation
        self.flags = 0
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.declared: dict[str, Any] = {}  # annotations of names that are bound later
        self.shared: set[str] = set()  # names that other code may bind, so that a call may change them
        self.versions: dict[str, list[int]] = {}  # by name, all its bindings
        self.hidden: dict[str, list[int]] = {}  # the same of comprehensions
        self.captured: set[str] = set()  # names that nested functions read
        self.logs: list[dict[str, list[int]]] = []  # bindings in open try statements
        self.lines: list[int] = []
        self._constants: dict[tuple[object, ...], int] = {}
        self._open: dict[int, str] = {}  # reads of names that nothing before has bound

    def add(self, *operation: Any) -> int:
        """Add an operation."""
        self.nodes.append(operation)
        return len(self.nodes) - 1

    def add_once(self, *operation: Any) -> int:
        """Add an operation that is the same wherever it occurs; a second call returns the first one."""
        node = self._constants.get(operation)
        if node is None:
            node = self._constants[operation] = self.add(*operation)
        return node

    def add_constant(self, kind: str, value: object = None) -> int:
        """Add a constant."""
        return self.add_once(CONST, kind, value)

    def add_site(self, kind: int, start: int, end: int) -> int:
        """Add a site."""
        self.site_kinds.append(kind)
        self.places += (start, end)
        return len(self.site_kinds) - 1

    def read(self, name: str) -> int:
        """Return the value of a name at this point, which may be a new read."""
        environment = self.environment
        if environment is not None:
            is_shared = name in self.shared
            node = environment.places.get((SHARED, name)) if is_shared else self.look_up(environment, name)
            if node is not None and node != UNBOUND:
                return node
        return self.read_open(name)

    def read_open(self, name: str) -> int:
        """Return the read of a name that nothing before has bound here, added once."""
        node = self._constants.get((GLOBAL, name))
        if node is None:
            node = self._constants[(GLOBAL, name)] = self.add(GLOBAL, name)
            self._open[node] = name
        return node

    def bind(self, name: str, node: int) -> None:
        """Bind a name to the value of an operation."""
        if self.environment is None:
            return
        if name in self.shared:
            self.environment.places[SHARED, name] = node
        else:
            self.environment.bind(name, node)
        self.versions.setdefault(name, []).append(node)
        for log in self.logs:
            log.setdefault(name, []).append(node)

    def bind_star(self, number: int) -> None:
        """Record that a star import may bind names that are bound already."""
        for name, node in list(self.environment.names.items()) if self.environment is not None else ():
            if node != UNBOUND and not name.startswith("__"):
                before = self.nodes[node]
                is_star_bound = before[0] == STAR_BOUND
                inner, numbers = (before[2], before[3]) if is_star_bound else (node, ())
                self.bind(name, self.add(STAR_BOUND, name, inner, (*numbers, number)))

    def list_guards(self) -> list[tuple[int, str, int]]:
        """List the tests of parameters that hold here and call nothing: parameter index, test, whether it passed."""
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

    def spell(self, node: Node) -> str:
        """Return a name, mangled if it is private to its class."""
        name = _NAMES[self.source[node.start_byte : node.end_byte]]
        return self.mangle(name) if name[:2] == "__" else name

    def mangle(self, name: str) -> str:
        """Mangle a name that is private to the class around."""
        is_private = name.startswith("__") and not name.endswith("__")
        return self.private_prefix + name if is_private else name

    def forget_places(self) -> None:
        """Forget the values of attributes and items before code that may assign to them."""
        if self.environment is not None and self.environment.places:
            self.environment.places = {}

    def find_owner(self, name: str) -> Frame | None:
        """Return the enclosing function of whose variable this is the name; None for a name of the module."""
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
        """Resolve the owners of names that were read before anything has bound them here."""
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
        """Add the values of the variables that nested functions read."""
        for name in sorted(self.captured) if self.kind != MODULE else ():
            for node in dict.fromkeys((*self.versions.get(name, ()), *self.hidden.get(name, ()))):
                self.add(SET_CELL, self.number, name, node)


def read_identifier(node: Node) -> str:
    """Return a name as Python normalises it."""
    return _NAMES[node.text or b""]
