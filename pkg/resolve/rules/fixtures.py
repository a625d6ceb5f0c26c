"""Fixtures: functions that pytest calls for tests, found by the names of parameters as it finds them (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.model import CERTAIN
from pkg.resolution.module_map import Found
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import EMPTY, FUNCTION, Value, Values, join, library
from pkg.resolve.facts.requests import CONFTEST, is_asked, is_fixture, list_requests, name_fixture
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.outcomes import Target
from pkg.resolve.resolution_context import Context
from pkg.units import Code

_OF_PYTEST = {
    "cache": "pytest.Cache", "capfd": "pytest.CaptureFixture", "caplog": "pytest.LogCaptureFixture",
    "capsys": "pytest.CaptureFixture", "monkeypatch": "pytest.MonkeyPatch", "pytestconfig": "pytest.Config",
    "recwarn": "pytest.WarningsRecorder", "request": "pytest.FixtureRequest", "tmp_path": "pathlib.Path",
    "tmp_path_factory": "pytest.TempPathFactory",
}  # fmt: skip


class Fixtures:
    """Find fixtures: in the class, in the file, then in each conftest.py of the folders around it.

    Where one may stand is told from the texts alone, so that sets which are not known yet lead nobody further out.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._renamed: dict[str, dict[str, set[Value]]] = {}
        context.bind((Code.REQUEST,), self.bind)
        context.answer(q.FIXTURE, self.derive)
        context.keep(q.RENAMED_FIXTURE, self._derive_renamed)

    def bind(self, site: Site) -> Iterator[Target]:
        """Bind a function to the fixtures that it asks for; pytest calls them before it."""
        for name in list_requests(site.scope):
            for value in self._find(site.scope, name) or ():
                yield Target(value[1], "fixture", CERTAIN)

    def derive(self, scope: Scope, name: str) -> Values | None:
        """Give what pytest gives a parameter: what its fixture gives back or yields; None where it gives nothing."""
        if not is_asked(scope, name):
            return None
        found = self._find(scope, name)
        if found is None:
            return frozenset({library(f"{_OF_PYTEST[name]}()")}) if name in _OF_PYTEST else None
        given = ((each, self._ask(q.CALL, each)) for each in found)
        return join([self._ask(q.ITERATED, values, False) if each[1].yields else values for each, values in given])

    def _find(self, scope: Scope, name: str) -> Values | None:
        """Find the fixture of a name for a function; None where nothing of that name may be one."""
        found: Values | None = None
        for place, is_definition in self._list_places(scope, name):
            values = self._ask(q.MEMBER, place, name) if place.kind == "class" else self._derive_file(place, name)
            kept = frozenset(
                value
                for value in self._solver.spread(values)
                if value[0] == FUNCTION and _is_meant(value[1], scope, name)
            )
            found = kept | (found or EMPTY)
            if is_definition:
                break
        return found

    def _list_places(self, scope: Scope, name: str) -> Iterator[tuple[Scope, bool]]:
        """Give the scopes in which a fixture may stand, the nearest first, and whether it is defined there."""
        parent = scope.parent
        if parent is not None and parent.kind == "class":
            owner = self._context.hierarchy.find(parent, name)
            if owner is not None and _defines(owner, scope, name):
                yield owner, True
        for path in self._list_files(scope.module.path):
            root = self._context.modules[path].root
            renamed = self._list_renamed(path).get(name, ())
            if _defines(root, scope, name) or any(value[1] is not scope for value in renamed):
                yield root, True
            elif self._brings(root, name):
                yield root, False

    def _list_files(self, path: str) -> Iterator[str]:
        yield path
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            conftest = f"{folder}/{CONFTEST}" if folder else CONFTEST
            if conftest in self._context.modules and conftest != path:
                yield conftest

    def _brings(self, root: Scope, name: str) -> bool:
        """Tell whether an import brings a name from the repository."""
        path, records = root.module.path, (each.record for each in root.names.get(name, ()))
        if any(record is not None and self._context.map.find_import(path, record) for record in records):
            return True
        return bool(root.stars) and self._ask(q.STAR, root, name, -1) is not None

    def _derive_file(self, root: Scope, name: str) -> Values:
        path = root.module.path
        found = self._ask(q.MODULE_NAME, Found(path), name)
        if name in self._list_renamed(path):
            found |= self._context.solver.get(q.RENAMED_FIXTURE, root, name)
        return found

    def _derive_renamed(self, root: Scope, name: str) -> Values:
        """Give the fixtures of another name than their function; as a set, so that it is known who stands on them."""
        return frozenset(self._list_renamed(root.module.path)[name])

    def _list_renamed(self, path: str) -> dict[str, set[Value]]:
        """Give the fixtures of a file that have another name than their function, by that name."""
        found = self._renamed.get(path)
        if found is None:
            found = self._renamed[path] = {}
            for scope in self._context.modules[path].scopes:
                other = name_fixture(scope) if scope.kind == "function" and is_fixture(scope) else None
                if other is not None:
                    found.setdefault(other, set()).add((FUNCTION, scope))
        return found


def _defines(place: Scope, scope: Scope, name: str) -> bool:
    """Tell whether a module or class defines a fixture of a name, other than the function that asks for it."""
    bindings = place.names.get(name, ())
    return any(each.scope is not None and _is_meant(each.scope, scope, name) for each in bindings)


def _is_meant(fixture: Scope, scope: Scope, name: str) -> bool:
    return fixture is not scope and is_fixture(fixture) and name_fixture(fixture) in (None, name)
