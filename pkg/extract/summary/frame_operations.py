"""The operations, sites and names of one module, class, function or lambda, while it is summarised (A-12).

An environment has the operation that each name stands for at a place in the text, through branches and loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unicodedata import normalize

from tree_sitter import Node

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
    UNBOUND,
    Operation,
)

Place = tuple[int, str]
"""An assigned or tested attribute or item of an operation's value."""

SHARED = -2
"""The owner of places for names that other code may bind as well."""


class Loop:
    """An open loop: values that return to its head, and those with which it is left."""

    def __init__(self, outer: Environment) -> None:
        self.outer = outer
        self.joins: dict[str, int] = {}  # by name, its PHI at the head of the loop
        self.continued: list[Environment] = []
        self.left: list[Environment] = []


class Changes:
    """The names that an environment has bound since it branched off from another, and the earlier changes of both."""

    __slots__ = ("before", "depth", "names")

    def __init__(self, before: Changes | None, names: dict[str, None]) -> None:
        self.before = before
        self.depth: int = before.depth + 1 if before is not None else 0
        self.names = names


class Environment:
    """Values of names and places. Inside a loop, only what was bound or tested there is its own."""

    __slots__ = ("changes", "loop", "names", "places")

    def __init__(
        self,
        loop: Loop | None = None,
        names: dict[str, int] | None = None,
        places: dict[Place, int] | None = None,
        changes: Changes | None = None,
    ) -> None:
        self.loop = loop
        self.names = names if names is not None else {}
        self.places = places if places is not None else {}
        self.changes = Changes(changes, {})

    def copy(self) -> Environment:
        """Return a copy for a branch to change."""
        common = self.changes
        self.changes = Changes(common, {})
        return Environment(self.loop, self.names.copy(), self.places.copy() if self.places else {}, common)

    def bind(self, name: str, node: int) -> None:
        """Bind a name to another operation from here on."""
        self.names[name] = node
        self.changes.names[name] = None


def find_changes(environments: Sequence[Environment]) -> tuple[Changes | None, dict[str, None]]:
    """Return the last common changes of several environments, and the names that any of them has bound since."""
    names: dict[str, None] = {}
    common: Changes | None = environments[0].changes
    seen: set[Changes] = set()
    for environment in environments[1:]:
        other: Changes | None = environment.changes
        while other is not common and other not in seen:
            if other is None or (common is not None and common.depth >= other.depth):
                assert common is not None
                seen.add(common)
                names.update(common.names)
                common = common.before
            else:
                seen.add(other)
                names.update(other.names)
                other = other.before
    return common, names


def list_different(
    environments: Sequence[Environment], common: Changes | None, names: dict[str, None]
) -> dict[str, list[Environment]]:
    """List the environments with different values of each changed name; the others have the value of one of them.

    These are the environments that have bound the name since they branched off, and the first that has its value at
    that point. So the branches of a long chain are not searched for each name that one of them binds.
    """
    found: dict[str, list[Environment]] = {name: [] for name in names}
    paths: dict[Changes, tuple[list[Changes], int]] = {}  # position of each part of a path in the first that has it
    unseen: dict[Changes | None, set[str]] = {common: set(names)}  # by part, names whose value there no environment has
    for environment in environments:
        path: list[Changes] = []
        part: Changes | None = environment.changes
        while part is not None and part is not common and part not in paths:
            paths[part] = path, len(path)
            path.append(part)
            part = part.before
        own = {name for each in path for name in each.names}
        if part not in unseen and part is not None:
            before, place = paths[part]
            unseen[part] = {name for each in before[:place] for name in each.names}
        for name in own | unseen[part]:
            found[name].append(environment)
        unseen[part] &= own
    return found


def copy(environment: Environment | None) -> Environment | None:
    """Copy the environment of reachable code; None for unreachable code."""
    return environment.copy() if environment is not None else None


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


class Frame:
    """A frame that is being summarised: its operations, names and environments, whose joins are operations too."""

    def __init__(
        self, kind: int, name: str, number: int, parent: Frame | None, source: bytes, definition: int = -1
    ) -> None:
        self.nodes: list[Operation] = []
        self.has_loops = False
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

    def look_up(self, environment: Environment, name: str) -> int | None:
        """Return the value of a name; None if nothing before has bound it."""
        node = environment.names.get(name)
        if node is not None or environment.loop is None:
            return node
        loop = environment.loop
        node = loop.joins.get(name)
        if node is None:
            outer = self.look_up(loop.outer, name)
            if outer is None:
                outer = self.read_open(name)
            node = loop.joins[name] = len(self.nodes)
            self.nodes.append((PHI, outer))
        return node

    def join(self, environments: Sequence[Environment | None]) -> Environment | None:
        """Join the environments of branches; None if none of them continues."""
        live = [each for each in environments if each is not None]
        if len(live) < 2:
            return live[0] if live else None
        first = live[0]
        common, changed = find_changes(live)
        joined = Environment(first.loop, first.names.copy(), {}, common)
        joined.changes.names = changed
        names = joined.names
        needed = list_different(live, common, changed) if len(live) > 2 else {}
        for name in changed:
            node, different = names.get(name), needed.get(name, live)
            if node is not None and {each.names.get(name) for each in different} == {node}:
                continue
            found = [self.look_up(each, name) for each in different]
            missing = UNBOUND
            if None in found and any(each is not None and self._is_open(each, name) for each in found):
                missing = self.read_open(name)
            node = self.add_join([missing if each is None else each for each in found])
            if node < 0 or self.nodes[node][0] != GLOBAL or self.nodes[node][1] != name:
                names[name] = node
            else:
                names.pop(name, None)
        if first.places:
            for place, node in first.places.items():
                others = [each.places.get(place) for each in live]
                if all(other == node for other in others):
                    joined.places[place] = node
                elif all(other is not None for other in others):
                    joined.places[place] = self.add_join(other for other in others if other is not None)
        return joined

    def add_join(self, nodes: Iterable[int]) -> int:
        """Add an operation that stands for any of several."""
        kept = tuple(dict.fromkeys(nodes))
        if len(kept) > 1 and any(each >= 0 and self.nodes[each][0] == NARROW for each in kept):
            kept = self._drop_tests(kept)
        if len(kept) == 1:
            return kept[0]
        self.nodes.append((PHI, *kept))
        return len(self.nodes) - 1

    def _is_open(self, node: int, name: str) -> bool:
        """Return whether an operation is the read of a name that nothing before has bound, tested or not."""
        while node >= 0 and self.nodes[node][0] == NARROW:
            node = self.nodes[node][1]
        return node >= 0 and self.nodes[node][:2] == (GLOBAL, name)

    def _drop_tests(self, kept: tuple[int, ...]) -> tuple[int, ...]:
        """Replace the two results of a test, passed and failed, by the tested operation."""
        places = {each: place for place, each in enumerate(kept)}
        waiting = [each for each in reversed(kept) if each >= 0 and self.nodes[each][0] == NARROW]
        tested: dict[Operation, int] = {}
        beside: dict[int, list[int]] = {}  # by tested operation
        while waiting:
            each = waiting.pop()
            if each not in places:
                continue
            _, number, test, holds = self.nodes[each]
            other = tested.get((number, test, 1 - holds))
            if number in places:
                del places[each]
            elif other is None or other not in places:
                tested[number, test, holds] = each
                beside.setdefault(number, []).append(each)
            else:
                places[number] = min(places.pop(each), places.pop(other))
                for same in beside.pop(number):
                    places.pop(same, None)
                if number >= 0 and self.nodes[number][0] == NARROW:
                    waiting.append(number)
        return tuple(sorted(places, key=places.__getitem__))

    def run_loop(self, outer: Environment, body: Callable[[Loop, Environment], Environment | None]) -> Environment:
        """Run the body of a loop, and join the values that return to its head; return the environment at its end.

        The loop's `left` has the environments of its breaks.
        """
        loop = Loop(outer)
        end = body(loop, Environment(loop, changes=outer.changes))
        back = self.join([end, *loop.continued])
        loop.continued.clear()  # else environments and loop form a reference cycle
        after = Environment(outer.loop, outer.names.copy(), {}, outer.changes)
        self.has_loops = True
        for name, head in loop.joins.items():
            came = back.names.get(name, head) if back is not None else head
            if came != head:
                before = self.nodes[head]
                self.nodes[head] = (*before, came) if came not in before[1:] else before
            after.bind(name, head)
        for name, node in back.names.items() if back is not None else ():
            if name not in loop.joins:
                outside = self.look_up(outer, name)
                after.bind(name, self.add_join((UNBOUND if outside is None else outside, node)))
        for each in loop.left:
            each.loop = outer.loop
            each.names = {**outer.names, **loop.joins, **each.names}
            each.changes.names.update(dict.fromkeys(loop.joins))
        return after


def read_identifier(node: Node) -> str:
    """Return a name as Python normalises it."""
    return _NAMES[node.text or b""]
