"""Link tests to the code that their runner runs with them: set-up functions, hooks, fixtures, module code (RUNS).

No text contains these calls, so the graph has no relationship for them. They are computed for the nodes that an impact
reaches, and read nothing that an impact has not read before.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pkg.extract.syntax import parse_statements
from pkg.graph.path_filter import is_test
from pkg.model import CERTAIN, LIKELY, POSSIBLE, Edge, Label, Node, RelationType
from pkg.retrieval.deps.answer import ENTERS, READS, RUNS
from pkg.retrieval.deps.entries import is_autouse, list_decorators
from pkg.retrieval.deps.levels import find_reachable
from pkg.retrieval.deps.neighbours import Step
from pkg.retrieval.deps.paths import derive_module
from pkg.retrieval.deps.set_up_rules import CONFTEST, Home, find_set_up, is_collected, is_conftest
from pkg.retrieval.heads import locate_header

PLUGINS = "pytest_plugins"
_ASKING = "getfixturevalue"
_MODULE_CODE = (RelationType.CALLS.value, READS, ENTERS)  # types of links from code that runs when it is loaded
_CLASS_CODE = (*_MODULE_CODE, RelationType.INHERITS.value)
_QUOTED = re.compile(r"""["']([\w.]+)["']""")

Scopes = Mapping[tuple[str, str], Node]
"""Definitions by path and qualified name."""
_MARK = "usefixtures"
_OF_CLASS = "pytestmark"


class SetUpCode:
    """The steps from tests to the set-up code that runs with them."""

    def __init__(
        self,
        definitions: Sequence[Node],
        edges: Iterable[Edge],
        list_imports: Callable[[], Mapping[str, set[str]]],
        list_plugins: Callable[[], Sequence[Node]],
    ) -> None:
        """list_imports: paths of the importers by the path or id of the imported; list_plugins: pytest_plugins."""
        self._definitions = definitions
        self._scopes: Scopes = {(node.path, node.qualname): node for node in definitions}
        self._ids = {node.id: node for node in definitions}
        self._list_imports = list_imports
        self._list_plugins = list_plugins
        self._above: dict[str, set[str]] = defaultdict(set)
        self._below: dict[str, set[str]] = defaultdict(set)
        self._requests: dict[str, set[str]] = defaultdict(set)  # explicit requests of fixtures, by the fixture's id
        for edge in edges:
            if edge.type is RelationType.INHERITS and {edge.start, edge.end} <= self._ids.keys():
                self._above[edge.start].add(edge.end)
                self._below[edge.end].add(edge.start)
            elif edge.type is RelationType.CALLS and edge.rule == "fixture" and edge.start in self._ids:
                self._requests[edge.end].add(edge.start)
        self._functions: dict[str, list[Node]] = defaultdict(list)  # test functions of modules, by path
        self._methods: dict[str, list[Node]] = defaultdict(list)  # test methods, by the id of the class
        self._classes: dict[str, list[Node]] = defaultdict(list)  # by path
        for node in definitions:
            self._sort_in(node)

    def _sort_in(self, node: Node) -> None:
        owner = self._find_owner(node)
        if node.label is Label.CLASS:
            self._classes[node.path].append(node)
        elif node.name.startswith("test" if is_collected(node.path) else "test_") and owner is not None:
            self._methods[owner.id].append(node)
        elif node.name.startswith("test") and "." not in node.qualname and is_collected(node.path):
            self._functions[node.path].append(node)

    def _find_owner(self, node: Node) -> Node | None:
        owner = self._scopes.get((node.path, node.qualname.rpartition(".")[0]))
        return owner if owner is not None and owner.label is Label.CLASS else None

    def list_steps(self, node_id: str) -> Iterator[Step]:
        """Yield the steps from tests to a definition that runs with them."""
        node = self._ids.get(node_id)
        if node is not None and node.label is Label.FUNCTION:
            for test, rule, confidence in self._list_users(node):
                yield Step(RUNS, test.id, node_id, None, rule, confidence)

    def list_runs(self, step: Step, path: str | None) -> Iterator[Step]:
        """Yield the steps from tests to the dependencies of their module or class, given a step from that.

        path: of the file that the step starts at; None if it starts at a definition.
        """
        around = self._ids.get(step.start)
        tests, rule = list[Node](), "class of the test"
        if path is not None and step.type in _MODULE_CODE and not self._is_of_definition(path, step.line):
            tests, rule = self._list_around(path), "module code"
        elif around is not None and around.label is Label.CLASS and step.type in _CLASS_CODE:
            below = self._sort(find_reachable([around.id], self._below.__getitem__))
            tests = [test for each in below for test in self.list_of_class(each)]
        for test in tests:
            yield step._replace(type=RUNS, start=test.id, rule=rule, line=None if test is around else step.line)

    def list_of_class(self, owner: Node) -> list[Node]:
        """List the tests of a class; the class itself stands for inherited tests."""
        if not is_collected(owner.path):
            return []  # its tests are run by its subclasses
        inherited = [owner] if self._inherits_tests(owner) else []
        return [*self._methods.get(owner.id, ()), *inherited]

    def list_served(self, path: str) -> list[Node]:
        """List the tests that run with the module code of a conftest.py or plugin; none for any other file."""
        return self._list_around(path) if is_conftest(path) or path in self._plugins else []

    def _is_of_definition(self, path: str, line: int | None) -> bool:
        """Return whether a line of module code is a decorator or default, on which only the definition depends."""
        return line is not None and any(first <= line <= last for first, last in self._spans.get(path, ()))

    @cached_property
    def _spans(self) -> Mapping[str, list[tuple[int, int]]]:
        spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for node in self._definitions:
            if "." not in node.qualname:
                spans[node.path].append((node.start_line, node.end_line))
        return spans

    def _list_users(self, node: Node) -> Iterator[tuple[Node, str, str]]:
        """Yield the tests that run with a function, or that inherit it as a test."""
        owner = self._find_owner(node)
        home: Home | None = "class" if owner is not None else "module" if "." not in node.qualname else None
        rule = None if home is None else find_set_up(node.name, home)
        if owner is not None and rule is not None:
            yield from ((test, "set-up", CERTAIN) for test in self._list_running(owner, node.name))
        elif rule is not None:
            for path in self._list_homes(node):
                chosen = self._functions[path] if rule.reach == "functions" else self._list_of_file(path)
                tests = self._list_around(path) if rule.reach == "around" else chosen
                yield from ((test, "set-up", CERTAIN) for test in tests)
        if owner is not None and node.name.startswith("test"):
            below = self._find_inheriting(owner, node.name)[1:]
            yield from ((each, "inherited test", CERTAIN) for each in self._sort(below) if is_collected(each.path))
        if node.id in self._fixtures:
            asking = (each for each in self._list_asking(node) if owner is None or self._serves(node, each[0]))
            yield from (each for each in asking if not self._overrides.is_hidden(node, each[0]))
            yield from ((each, "overriding fixture", LIKELY) for each in self._overrides.list_indirect(node))

    def _list_asking(self, fixture: Node) -> Iterator[tuple[Node, str, str]]:
        """Yield the tests that get a fixture by autouse, a plugin, a base class's mark, or getfixturevalue."""
        name, is_autouse = self._fixtures[fixture.id]
        owner, homes = self._find_owner(fixture), self._list_homes(fixture)
        # pytest keeps the names of autouse fixtures, whichever fixture of the name is the nearest
        if is_autouse or any(self._fixtures[each.id][1] for each in self._overrides.list_hidden(fixture)):
            chosen = (
                self._list_running(owner, fixture.name)
                if owner is not None
                else [test for path in homes for test in self._list_around(path)]
            )
            yield from ((test, "autouse fixture", CERTAIN) for test in chosen)
        for node in self._dynamic:
            if any(self._sees(node.path, home) for home in homes) and name in _QUOTED.findall(node.content):
                is_plain = re.search(rf"""{_ASKING}\(\s*["']{re.escape(name)}["']""", node.content)
                yield node, _ASKING, LIKELY if is_plain else POSSIBLE
        for each, marks in self._marked:
            if name in marks and any(self._sees(each.path, home) for home in homes):
                below = self._sort(find_reachable([each.id], self._below.__getitem__))
                yield from ((test, "usefixtures", CERTAIN) for one in below for test in self.list_of_class(one))
        for home in homes if any(home in self._plugins for home in homes) else ():
            for node in self._list_functions(home):
                if requests_fixture(node, name):
                    yield node, "fixture of a plugin", LIKELY

    @cached_property
    def _overrides(self) -> FixtureOverrides:
        fixtures = {each: (self._ids[each], name) for each, (name, _) in self._fixtures.items()}
        return FixtureOverrides(fixtures, self._serves, _may_ask, self._list_requesting)

    def _list_requesting(self, fixture: Node) -> list[Node]:
        asked = self._sort(self._requests.get(fixture.id, ()))
        return [*asked, *(each for each, _, _ in self._list_asking(fixture))]

    def _serves(self, fixture: Node, node: Node) -> bool:
        """Return whether a fixture is visible from a definition: from its class, or from files that see its file."""
        owner = self._find_owner(fixture)
        if owner is None:
            is_around = is_conftest(fixture.path) and node.path in self._plugins  # a plugin does not belong to a folder
            return not is_around and any(self._sees(node.path, home) for home in self._list_homes(fixture))
        around = node if node.label is Label.CLASS else self._find_owner(node)
        return around is not None and around.id in self._find_inheriting(owner, fixture.name)

    def _list_functions(self, home: str) -> Iterator[Node]:
        """Yield the tests and fixtures that may request a fixture of a file."""
        tests = (each for each in self._list_around(home) if each.label is Label.FUNCTION)
        fixtures = (self._ids[each] for each in self._fixtures)
        yield from tests
        yield from (node for node in fixtures if node.path == home or self._sees(node.path, home))

    def _list_homes(self, node: Node) -> list[str]:
        """List the files that have a function: its own, and those that import it."""
        imports = self._list_imports()
        stars = imports.get(f"*{node.path}", set()) if not node.name.startswith("_") else set[str]()
        return sorted({node.path} | imports.get(node.id, set()) | stars)

    def _sees(self, path: str, home: str) -> bool:
        """Return whether a file sees the test definitions of another one."""
        return any(
            path.startswith(each.removesuffix(CONFTEST)) if is_conftest(each) else path == each
            for each in find_reachable([home], lambda each: self._plugins.get(each, ()))
        )

    def _list_around(self, path: str) -> list[Node]:
        """List the tests that run with module code; that of test helpers runs with the files that import it."""
        open_paths, seen, served = [path], {path}, set[str]()
        while open_paths:
            each = open_paths.pop()
            if is_conftest(each) or is_collected(each) or each in self._plugins:
                served |= {other for other in self._collected if self._sees(other, each)}
            elif each == path or is_test(each):
                level = self._list_imports().get(each, set()) - seen if is_test(each) else set[str]()
                seen |= level
                open_paths += sorted(level)
        return [test for each in sorted(served) for test in self._list_of_file(each)]

    @cached_property
    def _collected(self) -> list[str]:
        return [path for path in {node.path for node in self._definitions} if is_collected(path)]

    def _list_of_file(self, path: str) -> list[Node]:
        inside = (test for each in self._classes.get(path, ()) for test in self.list_of_class(each))
        return [*self._functions.get(path, ()), *inside] if is_collected(path) else []

    def _inherits_tests(self, owner: Node) -> bool:
        return any(self._methods.get(each) for each in find_reachable([owner.id], self._above.__getitem__)[1:])

    def _list_running(self, owner: Node, name: str) -> list[Node]:
        """List the tests that run a method of a class: its own, and those of the classes that inherit the method."""
        return [test for each in self._sort(self._find_inheriting(owner, name)) for test in self.list_of_class(each)]

    def _find_inheriting(self, owner: Node, name: str) -> list[str]:
        """Return the classes that have a method of a class: it, and subclasses that do not override it."""

        def list_inheriting(class_id: str) -> Iterator[str]:
            return (each for each in self._below[class_id] if not self._defines(self._ids[each], name))

        return find_reachable([owner.id], list_inheriting)

    def _defines(self, owner: Node, name: str) -> bool:
        return (owner.path, f"{owner.qualname}.{name}") in self._scopes

    def _sort(self, ids: Iterable[str]) -> list[Node]:
        return sorted((self._ids[each] for each in ids), key=lambda node: (node.path, node.start_line, node.id))

    @cached_property
    def _fixtures(self) -> Mapping[str, tuple[str, bool]]:
        """Fixtures by id: the name that tests request, and whether they have autouse."""
        found: dict[str, tuple[str, bool]] = {}
        for node in self._definitions:
            if node.label is Label.FUNCTION and "fixture" in str(node.properties.get("decorators") or ""):
                for dotted, call in list_decorators(node):
                    if dotted.rpartition(".")[2] in ("fixture", "yield_fixture"):
                        found[node.id] = _find_name(call) or node.name, is_autouse(node)
        return found

    @cached_property
    def _dynamic(self) -> list[Node]:
        return [node for node in self._definitions if node.label is Label.FUNCTION and _ASKING in node.content]

    @cached_property
    def _marked(self) -> list[tuple[Node, set[str]]]:
        """Classes with subclasses whose marks name fixtures, with these."""
        classes = (each for listed in self._classes.values() for each in listed if self._below.get(each.id))
        return [(node, marks) for node in classes if (marks := list_marks(node))]

    @cached_property
    def _plugins(self) -> Mapping[str, set[str]]:
        """Files that name each plugin of the source in pytest_plugins."""
        found: dict[str, set[str]] = defaultdict(set)
        nodes = [node for node in self._list_plugins() if node.qualname == PLUGINS]
        paths = {node.path for node in self._definitions} if nodes else set[str]()
        for node in nodes:
            for name in _QUOTED.findall(node.content):
                for path in paths:
                    if f".{derive_module(path)}".endswith(f".{name}"):
                        found[path].add(node.path)
        return found


def _find_name(call: ast.Call | None) -> str | None:
    """Return the name that a decorator gives a fixture instead of its function's."""
    given = (each.value for each in call.keywords if each.arg == "name") if call is not None else ()
    return next((str(each.value) for each in given if isinstance(each, ast.Constant)), None)


def _may_ask(node: Node, name: str) -> bool:
    """Return whether a fixture requests another one, by a parameter or at run time."""
    return requests_fixture(node, name) or (_ASKING in node.content and name in _QUOTED.findall(node.content))


class FixtureOverrides:
    """Fixtures of a source by the names that are requested, and which of them a test gets.

    pytest looks up a name from the test, whichever fixture requests it: a fixture of an outer conftest.py gets the one
    that a deeper one, a file or a class defines for the tests there.
    """

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


def requests_fixture(node: Node, name: str) -> bool:
    """Return whether a test or fixture requests a fixture, by a parameter or a mark of its own.

    Brackets in defaults, annotations and texts defeat regular expressions, so headers, decorators and classes are
    parsed. Code that this Python cannot parse requests nothing.
    """
    if name in node.content and name in _list_parameters(node.content):
        return True
    return name in _list_decorated(node)


def list_marks(owner: Node) -> set[str]:
    """List the fixtures that the marks of a class name: its decorators, and its pytestmark."""
    found = set(_list_decorated(owner))
    if _OF_CLASS in owner.content and _MARK in owner.content:
        found.update(_list_assigned(owner))
    return found


def _list_parameters(content: str) -> Iterator[str]:
    """Yield the parameters of a function that pytest fills: those without a default."""
    place = locate_header(content)
    if place is None:
        return
    header = content[: place.end].split("\n", place.first)[-1].strip()
    for statement in parse_statements(f"{header}\n pass".encode("utf-8", "replace")):  # a header may end in a comment
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = statement.args
            plain = [*arguments.posonlyargs, *arguments.args]
            yield from (each.arg for each in plain[: len(plain) - len(arguments.defaults)])
            named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            yield from (each.arg for each, default in named if default is None)


def _list_decorated(node: Node) -> Iterator[str]:
    for _, call in list_decorators(node):
        yield from _list_named(call) if call is not None else ()


def _list_assigned(owner: Node) -> Iterator[str]:
    """Yield the fixtures that the body of a class assigns to its pytestmark."""
    indent = b" " * owner.start_col
    for definition in parse_statements(owner.content.encode("utf-8", "replace"), indent):
        for each in definition.body if isinstance(definition, ast.ClassDef) else ():
            if isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign) and each.value is not None:
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                if any(isinstance(target, ast.Name) and target.id == _OF_CLASS for target in targets):
                    yield from _list_named(each.value)


def _list_named(value: ast.expr) -> Iterator[str]:
    """Yield the fixtures in the usefixtures calls of an expression."""
    for each in ast.walk(value):
        if isinstance(each, ast.Call):
            called = each.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
            for argument in each.args if name == _MARK else ():
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value
