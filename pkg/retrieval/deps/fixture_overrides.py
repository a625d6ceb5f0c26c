"""Find the tests that get a fixture which overrides another one of the same name.

pytest looks up a name from the test, whichever fixture requests it: a fixture of an outer conftest.py gets the one that
a deeper one, a file or a class defines for the tests there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from pkg.model import Node


class FixtureOverrides:
    """Fixtures of a source by the names that are requested, and which of them a test gets."""

    def __init__(
        self,
        fixtures: Mapping[str, tuple[Node, str]],
        serves: Callable[[Node, Node], bool],
        asks: Callable[[Node, str], bool],
        list_users: Callable[[Node], Iterable[Node]],
    ) -> None:
        """fixtures: node and name by id; serves: whether a fixture is visible from a definition."""
        self._fixtures = fixtures
        self._serves = serves
        self._asks = asks
        self._list_users = list_users
        self._by_name: dict[str, list[Node]] = defaultdict(list)
        for node, name in fixtures.values():
            self._by_name[name].append(node)

    def list_hidden(self, fixture: Node) -> list[Node]:
        """Return the fixtures that a fixture overrides."""
        name = self._fixtures[fixture.id][1]
        return [each for each in self._by_name[name] if self._is_outside(each, fixture)]

    def is_hidden(self, fixture: Node, node: Node) -> bool:
        """Return whether a definition gets a nearer fixture of the same name; a fixture never gets itself."""
        nearer = (each for each in self._by_name[self._fixtures[fixture.id][1]] if each.id != node.id)
        return any(self._is_outside(fixture, each) and self._serves(each, node) for each in nearer)

    def list_indirect(self, fixture: Node) -> list[Node]:
        """Return the tests and fixtures that get a fixture through fixtures from outside of its scope."""
        name = self._fixtures[fixture.id][1]
        asking = [node for node, _ in self._fixtures.values() if name in node.content and self._asks(node, name)]
        level = [node for node in asking if self._is_outside(node, fixture)]
        seen = {node.id for node in level}
        found: dict[str, Node] = {}
        while level:
            users = {user.id: user for node in level for user in self._list_users(node)}
            fixtures = [user for user in users.values() if user.id in self._fixtures and user.id not in seen]
            level = [user for user in fixtures if self._is_outside(user, fixture)]
            seen |= {node.id for node in level}
            found |= {user.id: user for user in users.values() if self._serves(fixture, user)}
        chosen = [node for node in found.values() if node.id != fixture.id and not self._is_outside(node, fixture)]
        return sorted(
            (node for node in chosen if not self.is_hidden(fixture, node)), key=lambda node: (node.path, node.id)
        )

    def _is_outside(self, outer: Node, inner: Node) -> bool:
        """Return whether a fixture is visible wherever another one is, but not the other way round."""
        return outer.id != inner.id and self._serves(outer, inner) and not self._serves(inner, outer)
