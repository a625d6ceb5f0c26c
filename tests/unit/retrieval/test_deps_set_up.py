"""Tests are reached through the code that runs with them: set-up functions, fixtures, hooks, module code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from trees import open_built

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.retrieval.deps.answer import DepsOptions, Impact
from pkg.retrieval.deps.impact import list_tests
from pkg.retrieval.deps.questions import run_impact
from pkg.retrieval.deps.set_up_rules import find_set_up

_UNITTEST = "from unittest import TestCase\n\nimport parts\n\n\n"
_PYTEST = "import pytest\n\nimport parts\n\n\n"


def _write_parts(names: list[str]) -> str:
    return "".join(f"def {name}():\n    return 1\n\n\n" for name in names)


def _write_case(method: str, part: str, decorator: str = "") -> str:
    return (
        f"{_UNITTEST}class TestIt(TestCase):\n{decorator}    def {method}(self):\n        parts.{part}()\n\n"
        "    def test_one(self):\n        assert True\n\n\n"
        "class TestOther(TestCase):\n    def test_two(self):\n        assert True\n"
    )


def _write_module(function: str, part: str) -> str:
    return (
        f"import parts\n\n\ndef {function}(*given):\n    parts.{part}()\n\n\ndef test_one():\n    assert True\n\n\n"
        "class TestIt:\n    def test_two(self):\n        assert True\n"
    )


_IN_CLASS = ("setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "setUpTestData", "setup_method",
             "teardown_method", "setup_class", "teardown_class")  # fmt: skip
_IN_MODULE = ("setUpModule", "tearDownModule", "setup_module", "teardown_module", "pytest_generate_tests", "load_tests")
_ONE, _TWO = "TestIt::test_one", "TestOther::test_two"

FILES = {
    **{f"tests/test_{name.lower()}_c.py": _write_case(name, f"for_{name}") for name in _IN_CLASS},
    **{f"tests/test_{name.lower()}_m.py": _write_module(name, f"for_{name}") for name in _IN_MODULE},
    "tests/test_functions.py": _write_module("setup_function", "for_setup_function"),
    # inherited from another file
    "tests/bases.py": (
        f"{_UNITTEST}class Base(TestCase):\n    def setUp(self):\n        parts.in_base()\n\n"
        "    def test_shared(self):\n        parts.in_shared()\n\n\n"
        "class Marked:\n    SIZE = parts.in_body()\n    pytestmark = [pytest.mark.usefixtures('marking')]\n"
    ),
    "tests/test_heirs.py": (
        "from bases import Base, Marked\n\n\nclass TestHeir(Base):\n    def test_own(self):\n        pass\n\n\n"
        "class TestBare(Base):\n    pass\n\n\nclass TestOtherwise(Base):\n    def setUp(self):\n        pass\n\n"
        "    def test_own(self):\n        pass\n\n\nclass TestMarked(Marked):\n    def test_own(self):\n        pass\n"
    ),
    "tests/test_nested.py": (
        "class TestAround:\n    def test_own(self):\n        pass\n\n"
        "    class TestInner:\n        def test_inside(self):\n            pass\n"
    ),
    # fixtures and hooks
    "tests/conftest.py": (
        f"{_PYTEST}pytest_plugins = ['tests.plugin']\n\n\n@pytest.fixture\ndef named():\n    parts.by_name()\n\n\n"
        "@pytest.fixture\ndef marking():\n    parts.by_mark()\n\n\n"
        "@pytest.fixture(name='other')\ndef make_other():\n    parts.by_other_name()\n"
    ),
    "tests/plugin.py": f"{_PYTEST}@pytest.fixture\ndef plugged():\n    parts.in_plugin()\n",
    "tests/test_asking.py": (
        "import pytest\n\n\ndef test_dynamic(request):\n    request.getfixturevalue('named')\n\n\n"
        "@pytest.mark.parametrize('name', ['other'])\ndef test_through(request, name):\n"
        "    request.getfixturevalue(name)\n\n\n"
        "def test_plugged(plugged):\n    pass\n\n\ndef test_plain():\n    pass\n"
    ),
    "tests/deep/conftest.py": (
        f"{_PYTEST}parts.in_conftest()\n\n\ndef pytest_runtest_setup(item):\n    parts.in_hook()\n\n\n"
        "@pytest.fixture(autouse=True)\ndef always():\n    parts.unasked()\n"
    ),
    "tests/deep/test_deep.py": "def test_deep():\n    pass\n",
    "tests/unasked.py": f"{_PYTEST}@pytest.fixture(autouse=True)\ndef imported():\n    parts.by_import()\n",
    "tests/test_unasked.py": "from unasked import imported\n\n\ndef test_unasked():\n    pass\n",
    # code that runs when a file is loaded
    "tests/test_loaded.py": "import parts\n\nVALUE = parts.at_load()\n\n\ndef test_loaded():\n    assert VALUE\n",
    "tests/helpers.py": "import parts\n\nVALUE = parts.in_helper()\n",
    "tests/test_helped.py": "from helpers import VALUE\n\n\ndef test_helped():\n    assert VALUE\n",
    "tests/test_decorated.py": (
        "import parts\n\n\n@parts.decorating\ndef test_decorated():\n    pass\n\n\ndef test_beside():\n    pass\n"
    ),
    "app.py": "import parts\n\nVALUE = parts.elsewhere()\n\n\ndef setUp():\n    parts.elsewhere()\n",
}
FILES["parts.py"] = _write_parts(
    [f"for_{name}" for name in (*_IN_CLASS, *_IN_MODULE, "setup_function")]
    + ["in_base", "in_shared", "in_body", "by_name", "by_mark", "by_other_name", "in_plugin", "in_conftest"]
    + ["in_hook", "unasked", "by_import", "at_load", "in_helper", "decorating", "elsewhere", "nowhere"]
)  # fmt: skip

REACHED = {
    **{f"for_{name}": [f"test_{name.lower()}_c.py::{_ONE}"] for name in _IN_CLASS},
    **{
        f"for_{name}": [f"test_{name.lower()}_m.py::TestIt::test_two", f"test_{name.lower()}_m.py::test_one"]
        for name in _IN_MODULE
    },
    "for_setup_function": ["test_functions.py::test_one"],
    "in_base": ["test_heirs.py::TestBare", "test_heirs.py::TestHeir", "test_heirs.py::TestHeir::test_own"],
    "in_shared": ["test_heirs.py::TestBare", "test_heirs.py::TestHeir", "test_heirs.py::TestOtherwise"],
    "in_body": ["test_heirs.py::TestMarked::test_own"],
    "by_name": ["test_asking.py::test_dynamic"],
    "by_mark": ["test_heirs.py::TestMarked::test_own"],
    "by_other_name": ["test_asking.py::test_through"],
    "in_plugin": ["test_asking.py::test_plugged"],
    "in_conftest": ["deep/test_deep.py::test_deep"],
    "in_hook": ["deep/test_deep.py::test_deep"],
    "unasked": ["deep/test_deep.py::test_deep"],
    "by_import": ["test_unasked.py::test_unasked"],
    "at_load": ["test_loaded.py::test_loaded"],
    "in_helper": ["test_helped.py::test_helped"],
    "decorating": ["test_decorated.py::test_decorated"],
    "elsewhere": [],
    "nowhere": [],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    with open_built(tmp_path_factory.mktemp("set-up"), FILES, "parts") as store:
        yield store


def ask(store: EmbeddedStore, name: str) -> Impact:
    return run_impact(store, [name], DepsOptions(question="impact"))


@pytest.mark.parametrize("part", REACHED)
def test_a_change_reaches_the_tests_whose_set_up_runs_it_and_no_others(store: EmbeddedStore, part: str) -> None:
    answer = ask(store, part)
    assert list_tests(answer) == [f"tests/{each}" for each in REACHED[part]]
    named = {f"{each.place.path}::{each.place.qualname}".replace(".", "::") for each in answer.affected if each.is_test}
    assert {f"tests/{each}".replace(".", "::") for each in REACHED[part]} <= named


def test_a_changed_conftest_reaches_the_tests_below_its_folder(store: EmbeddedStore) -> None:
    assert list_tests(ask(store, "tests/deep/conftest.py")) == ["tests/deep/test_deep.py::test_deep"]


def test_a_test_class_that_changes_reaches_its_subclasses(store: EmbeddedStore) -> None:
    assert "tests/test_heirs.py::TestBare" in list_tests(ask(store, "Base"))
    assert list_tests(ask(store, "Marked")) == ["tests/test_heirs.py::TestMarked::test_own"]


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("tests/test_setup_c.py::TestIt", ["test_setup_c.py::TestIt::test_one"]),
        ("TestBare", ["test_heirs.py::TestBare"]),
        ("TestHeir", ["test_heirs.py::TestHeir", "test_heirs.py::TestHeir::test_own"]),
        ("TestMarked", ["test_heirs.py::TestMarked::test_own"]),
        ("TestAround", ["test_nested.py::TestAround::TestInner::test_inside", "test_nested.py::TestAround::test_own"]),
    ],
)
def test_a_test_class_by_its_name_reaches_the_tests_that_pytest_collects_of_it(
    store: EmbeddedStore, name: str, tests: list[str]
) -> None:
    answer = ask(store, name)
    assert list_tests(answer) == [f"tests/{each}" for each in tests]
    assert answer.tests >= len(tests)


def test_a_link_names_the_rule_of_the_set_up(store: EmbeddedStore) -> None:
    (found,) = [each for each in ask(store, "in_hook").affected if each.place.qualname == "test_deep"]
    assert (found.link.type, found.link.rule, found.confidence) == ("RUNS", "set-up", "certain")
    (found,) = [each for each in ask(store, "by_other_name").affected if each.place.qualname == "test_through"]
    assert (found.link.rule, found.confidence) == ("getfixturevalue", "possible")


def test_set_up_is_known_by_its_name_and_its_home() -> None:
    assert find_set_up("setUp", "module") is None
    assert find_set_up("setup", "class") != find_set_up("setup", "module")
    assert find_set_up("pytest_configure", "class") is None


OVERRIDDEN = {
    "parts.py": _write_parts(["outer", "inner", "in_class", "unasked", "abstract"]),
    "tests/conftest.py": (
        f"{_PYTEST}@pytest.fixture\ndef db():\n    return parts.outer()\n\n\n"
        "@pytest.fixture\ndef gold(db):\n    return db\n\n\n@pytest.fixture\ndef rich(gold):\n    return gold\n\n\n"
        "@pytest.fixture\ndef late(request):\n    return request.getfixturevalue('db')\n\n\n"
        "@pytest.fixture\ndef fed(given):\n    return given\n\n\n"
        "@pytest.fixture(autouse=True)\ndef always():\n    pass\n"
    ),
    "tests/test_top.py": "def test_top(rich, late):\n    pass\n",
    "tests/deep/conftest.py": (
        f"{_PYTEST}@pytest.fixture(name='db')\ndef make_db():\n    return parts.inner()\n\n\n"
        "@pytest.fixture\ndef given():\n    return parts.abstract()\n\n\n"
        "@pytest.fixture\ndef always():\n    parts.unasked()\n"
    ),
    "tests/deep/test_deep.py": (
        f"{_PYTEST}@pytest.fixture\ndef own(request):\n    return request.getfixturevalue('rich')\n\n\n"
        "def test_direct(db):\n    pass\n\n\ndef test_gold(gold):\n    pass\n\n\ndef test_own(own):\n    pass\n\n\n"
        "def test_late(late):\n    pass\n\n\ndef test_fed(fed):\n    pass\n\n\n"
        "def test_dynamic(request):\n    request.getfixturevalue('db')\n\n\n"
        "class TestOwn:\n    @pytest.fixture\n    def db(self):\n        return parts.in_class()\n\n"
        "    def test_inside(self, gold):\n        pass\n"
    ),
}


@pytest.fixture(scope="module")
def overridden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    with open_built(tmp_path_factory.mktemp("overridden"), OVERRIDDEN, "parts") as store:
        yield store


@pytest.mark.parametrize(
    ("part", "tests"),
    [
        ("inner", ["test_direct", "test_dynamic", "test_gold", "test_late", "test_own"]),
        ("in_class", ["TestOwn::test_inside"]),
        ("abstract", ["test_fed"]),
        ("unasked", ["TestOwn::test_inside", "test_direct", "test_dynamic", "test_fed", "test_gold", "test_late",
                     "test_own"]),
    ],
)  # fmt: skip
def test_a_fixture_reaches_the_tests_that_get_it_through_outer_fixtures(
    overridden: EmbeddedStore, part: str, tests: list[str]
) -> None:
    assert list_tests(ask(overridden, part)) == [f"tests/deep/test_deep.py::{each}" for each in tests]


def test_a_fixture_is_not_linked_to_tests_that_get_a_nearer_one_of_its_name(overridden: EmbeddedStore) -> None:
    tests = list_tests(ask(overridden, "outer"))
    assert "tests/test_top.py::test_top" in tests
    assert not {"tests/deep/test_deep.py::test_dynamic", "tests/deep/test_deep.py::test_direct"} & {*tests}
