"""Fixtures: functions that pytest calls for tests, found by names of parameters (A-12).

They are found before solving.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pkg.extract.summary import operations as o
from pkg.model import CERTAIN
from pkg.resolution.program import Code, ModuleInfo, list_texts
from pkg.resolution.record_fields import name_last
from pkg.resolution.site_outcomes import Target
from pkg.resolution.value_sets import EMPTY, Class, Function, Library, Values

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

_CONFTEST = "conftest.py"
_FIXTURE, _PARAMETRIZE, _USE = "fixture", "parametrize", "usefixtures"
_MARKS = "pytestmark"  # name of the marks of all tests of a file or class
_OF_PYTEST = {
    "cache": "pytest.Cache", "capfd": "pytest.CaptureFixture", "caplog": "pytest.LogCaptureFixture",
    "capsys": "pytest.CaptureFixture", "monkeypatch": "pytest.MonkeyPatch", "pytestconfig": "pytest.Config",
    "recwarn": "pytest.WarningsRecorder", "request": "pytest.FixtureRequest", "tmp_path": "pathlib.Path",
    "tmp_path_factory": "pytest.TempPathFactory",
}  # fmt: skip

FIXTURES = "<fixtures>"
"""Key of a lookup of fixtures."""


class Fixtures:
    """Find fixtures in the class, the file, then the conftest.py of each parent folder."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._program = machine.program
        self._requested: dict[Code, frozenset[str]] = {}
        self._found: dict[tuple[Code, str], tuple[Code, ...]] = {}
        self._renamed: dict[ModuleInfo, dict[str, list[Code]]] = {}

    def read_parameter(self, code: Code, name: str) -> Values | None:
        """Return the values of the fixture of a parameter; None where it has none."""
        requested = self._requested.get(code)
        if requested is None:
            requested = self._requested[code] = frozenset(_list_parameters(code)) if _is_called(code) else frozenset()
        if name not in requested:
            return None
        self._machine.schedule.consulted.add(FIXTURES)
        fixtures = self.find(code, name)
        if not fixtures:
            known = _OF_PYTEST.get(name)
            return frozenset({self._machine.make(Library, f"{known}()")}) if known is not None else None
        return EMPTY.union(*(self._read(each) for each in fixtures))

    def _read(self, fixture: Code) -> Values:
        machine = self._machine
        if fixture.is_generator:
            return machine.read(fixture.yielded)
        passed = EMPTY.union(*(machine.parameter(fixture, each.place) for each in fixture.passed))
        return machine.calls.returned(fixture, None, machine.read(fixture.result) | passed)

    def list_requested(self, code: Code) -> list[Target]:
        """Return the fixtures that pytest calls for the parameters and marks of a function."""
        if not _is_called(code):
            return []
        names = dict.fromkeys((*_list_parameters(code), *_list_used(code)))
        return [Target(each, "fixture", CERTAIN) for name in names for each in self.find(code, name)]

    def find(self, code: Code, name: str) -> tuple[Code, ...]:
        """Return the nearest fixtures of a name requested by a function."""
        key = code, name
        found = self._found.get(key)
        if found is None:
            places = self._list_places(code, name)
            kept = ({each: None for each in place if _is_meant(each, code, name)} for place in places)
            found = self._found[key] = next((tuple(each) for each in kept if each), ())
        return found

    def _list_places(self, code: Code, name: str) -> Iterator[list[Code]]:
        """Iterate over the functions of a name in each place that may have a fixture, the nearest first."""
        types, parent = self._machine.types, code.parent
        if parent is not None and parent.class_info is not None:
            made = frozenset({self._machine.make(Class, parent.class_info, False)})
            yield _list_functions(types.find_attribute(made, name))
        for path in self._list_files(code.module.path):
            module = self._program.modules[path]
            yield [*_list_functions(types.find_name(module, name)), *self._list_renamed(module).get(name, ())]

    def _list_files(self, path: str) -> Iterator[str]:
        yield path
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            conftest = f"{folder}/{_CONFTEST}" if folder else _CONFTEST
            if conftest in self._program.modules and conftest != path:
                yield conftest

    def _list_renamed(self, module: ModuleInfo) -> dict[str, list[Code]]:
        """Return the fixtures of a file that are renamed by `name=`, by that name."""
        found = self._renamed.get(module)
        if found is None:
            found = self._renamed[module] = {}
            for code in module.codes:
                other = _name_fixture(code) if _FIXTURE in code.decorators else None
                if other is not None:
                    found.setdefault(other, []).append(code)
        return found


def _list_functions(values: Values) -> list[Code]:
    return sorted(each.code for each in values if isinstance(each, Function))


def _is_meant(fixture: Code, code: Code, name: str) -> bool:
    return fixture is not code and _FIXTURE in fixture.decorators and _name_fixture(fixture) in (None, name)


def _name_fixture(code: Code) -> str | None:
    """Return the name of a fixture that is renamed by `name=`."""
    for call in _list_marks(code, _FIXTURE):
        for key, number in call[-2]:
            if key == "name" and code.parent is not None:
                return next(iter(list_texts(code.parent.summary.nodes, number) or ()), None)
    return None


def _is_called(code: Code) -> bool:
    """Return whether pytest calls a function, as a fixture or as a test."""
    return code.summary.kind == o.FUNCTION and (_FIXTURE in code.decorators or _is_test(code))


def _is_test(code: Code) -> bool:
    parent, file = code.parent, code.module.path.rpartition("/")[2]
    if not code.name.startswith("test") or parent is None:
        return False
    if not file.startswith("test_") and not file.endswith("_test.py") and file != _CONFTEST:
        return False
    return parent.number == 0 or (parent.class_info is not None and parent.name.startswith("Test"))


def _list_parameters(code: Code) -> list[str]:
    """Return the parameters without a default or values from a mark."""
    given = _list_given(code)
    return [
        name for place, (name, kind, has_default, _) in enumerate(code.summary.parameters)
        if kind in (o.PLACED, o.BY_NAME) and not has_default and place != code.receiver_place and name not in given
    ]  # fmt: skip


def _list_given(code: Code) -> set[str]:
    """Return the parameters with values from a `parametrize` mark that is not `indirect`."""
    given: set[str] = set()
    for owner in _list_marked(code):
        nodes = owner.parent.summary.nodes if owner.parent is not None else []
        for call in _list_marks(owner, _PARAMETRIZE):
            named = dict(call[-2])
            first = call[-3][0][0] if call[-3] else named.get("argnames", -1)
            if "indirect" not in named:
                given.update(_split(list_texts(nodes, first)))
    return given


def _list_used(code: Code) -> Iterator[str]:
    """Iterate over the fixtures named by marks of a test, its class or its file."""
    for owner in _list_marked(code):
        for call in _list_marks(owner, _USE):
            yield from _list_named(owner.parent.summary.nodes if owner.parent is not None else [], call)
    for around in (code.parent, code.module.root) if _FIXTURE not in code.decorators else ():
        nodes = around.summary.nodes if around is not None else []
        for node in nodes:
            if node[0] in (o.MEMBER, o.SET_GLOBAL) and node[1] == _MARKS:
                yield from _list_used_by_all(nodes, node[2])


def _list_used_by_all(nodes: list[Any], number: int) -> Iterator[str]:
    node: Any = nodes[number] if number >= 0 else (o.UNKNOWN,)
    if node[0] == o.COLLECT:
        for element in node[2]:
            yield from _list_used_by_all(nodes, element[1])
    elif node[0] == o.CALL_ATTR and node[2] == _USE:
        yield from _list_named(nodes, node)


def _list_named(nodes: list[Any], call: Any) -> Iterator[str]:
    for number, _ in call[-3]:
        yield from sorted(list_texts(nodes, number) or ())


def _list_marked(code: Code) -> list[Code]:
    """Return the definitions whose marks apply to a test: itself and its class; fixtures have none."""
    if _FIXTURE in code.decorators or code.parent is None:
        return []
    return [code, code.parent] if code.parent.class_info is not None else [code]


def _list_marks(code: Code, name: str) -> Iterator[Any]:
    """Iterate over the decorators of a definition that are calls of a name."""
    for number in code.decorated_by if code.parent is not None else ():
        node = code.parent.summary.nodes[number]  # type: ignore[union-attr]
        if node[0] in (o.CALL, o.CALL_ATTR) and name_last(code.parent, number) == name:  # type: ignore[arg-type]
            yield node


def _split(texts: set[str] | None) -> Iterator[str]:
    for text in texts or ():
        yield from text.replace(",", " ").split()
