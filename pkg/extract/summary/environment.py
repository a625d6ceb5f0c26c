"""The operation that each name stands for at a place in the text, through branches and loops (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pkg.extract.summary.operations import GLOBAL, NARROW, PHI, Operation

Place = tuple[int, str]
"""An assigned or tested attribute or item of an operation's value."""

SHARED = -2
"""The owner of places for names that other code may bind as well."""

UNBOUND = -1
"""The value of a name that was deleted, or that no earlier statement has bound."""


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


class Joiner:
    """Resolve names and join environments; joins are operations of the frame."""

    def __init__(self) -> None:
        self.nodes: list[Operation] = []
        self.has_loops = False

    def read_open(self, name: str) -> int:
        """Return the read of a name that nothing before has bound, added once."""
        raise NotImplementedError

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
