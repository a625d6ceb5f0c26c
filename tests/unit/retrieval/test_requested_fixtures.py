"""Fixtures that tests and test classes request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import open_graph_at, write_tree

from pkg.indexing.build import build
from pkg.model import Label, Node
from pkg.retrieval.deps.answer import DepsOptions
from pkg.retrieval.deps.impact import list_tests
from pkg.retrieval.deps.questions import run_impact
from pkg.retrieval.deps.set_up_code import list_marks, requests_fixture

FUNCTIONS = {
    "plain": ("def test(db): pass", True),
    "after_brackets": ("def test(x: f(), db): pass", True),
    "after_a_text": ("def test(x: ')', db): pass", True),
    "after_a_default": ("def test(x=f(1), *, db): pass", True),
    "after_a_decorator": ("@mark('def f(x)')\nasync def test(a, db, ): pass", True),
    "in_a_class": (
        "class TestIt:\n    @mark\n    def test(\n        self,  # )\n        db,\n    ) -> None: pass",
        True,
    ),
    "only_a_default": ("def test(x=db): pass", False),
    "only_an_annotation": ("def test(x: db): pass", False),
    "with_a_default": ("def test(db=None): pass", False),
    "of_any_number": ("def test(*db): pass", False),
    "only_in_the_body": ("def test(x):\n    def inner(db): pass", False),
    "a_part_of_a_name": ("def test(my_db): pass", False),
    "by_a_mark": ("@pytest.mark.usefixtures(\"db\", 'x')\ndef test(): pass", True),
    "by_another_mark": ("@pytest.mark.skip('usefixtures(', 'db')\ndef test(): pass", False),
}
CLASSES = {
    "plain": ("class A:\n    pytestmark = pytest.mark.usefixtures('db')", {"db"}),
    "list": ("class A:\n    pytestmark: L = [x(')'), mark.usefixtures('a', name), mark.usefixtures('b')]", {"a", "b"}),
    "decorated": ("@mark.usefixtures('a')\nclass A:\n    pytestmark += [mark.usefixtures('b')]", {"a", "b"}),
    "inner": ("class O:\n    @mark.x\n    class A:\n        pytestmark = mark.usefixtures('a')", {"a"}),
    "of_a_method": ("class A:\n    def f(self):\n        pytestmark = mark.usefixtures('db')", set()),
    "in_a_text": ('class A:\n    """\n    pytestmark = [mark.usefixtures("db")]\n    """', set()),
    "other": ("class A:\n    pytestmark = [mark.django_db]\n    x = 'usefixtures'", set()),
}  # fmt: skip


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Node]]:
    folder = tmp_path_factory.mktemp("asked")
    texts = {**{f"f_{name}.py": text for name, (text, _) in FUNCTIONS.items()},
             **{f"c_{name}.py": text for name, (text, _) in CLASSES.items()}}  # fmt: skip
    write_tree(folder / "tree", texts)
    with closing(open_graph_at(folder / "graph.db")) as store:
        build(str(folder / "tree"), store, source="tree")
        found = store.nodes((Label.FUNCTION, Label.CLASS), "tree")
        yield {node.path: node for node in found if node.name == ("test" if node.path.startswith("f_") else "A")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_test_asks_by_parameters_without_a_default_and_by_marks(nodes: dict[str, Node], name: str) -> None:
    assert requests_fixture(nodes[f"f_{name}.py"], "db") is FUNCTIONS[name][1]


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_asks_by_its_decorators_and_its_own_pytestmark(nodes: dict[str, Node], name: str) -> None:
    assert list_marks(nodes[f"c_{name}.py"]) == CLASSES[name][1]


def test_a_fixture_of_a_plugin_reaches_the_tests_that_ask_for_it_alone(tmp_path: Path) -> None:
    files = {
        "conftest.py": "pytest_plugins = ['plugin']\n",
        "plugin.py": "import pytest\n\n\n@pytest.fixture\ndef db():\n    return 1\n",
        "test_it.py": "def test_asking(x=max(1, 2), *, db):\n    pass\n\n\ndef test_other(x=db):\n    pass\n",
    }
    write_tree(tmp_path / "tree", files)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "tree"), store, source="tree")
        answer = run_impact(store, ["db"], DepsOptions(question="impact"))
    assert list_tests(answer) == ["test_it.py::test_asking"]
