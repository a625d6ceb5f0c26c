"""Answers about definitions without known callers: occurrences of the name in the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from tree_sitter import Tree
from trees import open_built, open_graph_at, write_rows, write_tree

from pkg.extract.parser import parse
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.retrieval.deps.answer import CallCoverage, Dependencies, DepsOptions, Impact, NamedSites
from pkg.retrieval.deps.named_sites import Wanted, list_uses
from pkg.retrieval.deps.questions import run_deps

FILES = {
    "jobs.py": (
        "class Job:\n    def __init__(self):\n        self.done = False\n\n    def run(self):\n        return 1\n\n"
        "    @property\n    def size(self):\n        return 2\n\n    def __len__(self):\n        return 3\n\n\n"
        "class Other:\n    def start(self):\n        return 4\n\n\nclass Third:\n    def start(self):\n"
        "        return 5\n\n\ndef lonely():\n    return 6\n\n\ndef handed():\n    return 7\n"
    ),
    "routes.py": "@app.get('/x')\ndef routed():\n    return 8\n",
    "work.py": (
        "import queue\n\nfrom jobs import Other, handed\n\n\ndef work(found):\n    job = queue.Queue().get()\n"
        "    job.run()\n    print(found[0].size)\n    Other().start()\n    return [handed]\n"
    ),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    with open_built(tmp_path_factory.mktemp("named"), FILES, "jobs") as store:
        yield store


def ask(store: EmbeddedStore, name: str, **options: object) -> CallCoverage:
    answer = run_deps(store, name, DepsOptions(**options))  # type: ignore[arg-type]
    assert isinstance(answer, (Dependencies, Impact))
    return answer.coverage


def say(store: EmbeddedStore, name: str) -> str:
    named = ask(store, name).named
    assert named is not None
    return named.describe()


def test_no_callers_are_found_where_no_expression_calls_the_name(store: EmbeddedStore) -> None:
    assert say(store, "lonely") == "no callers found: the source has no call expression of lonely"


def test_a_call_on_a_value_of_a_library_is_counted_and_placed(store: EmbeddedStore) -> None:
    assert say(store, "Job.run") == (
        "no caller is known; 1 call expression of run in the source: 1 that could not be resolved, first at work.py:8"
    )


def test_a_call_of_another_definition_of_the_name_is_counted_as_bound_elsewhere(store: EmbeddedStore) -> None:
    assert say(store, "Third.start").endswith("1 call expression of start in the source: 1 of another definition")


def test_passed_functions_are_referenced(store: EmbeddedStore) -> None:
    assert say(store, "handed").endswith("call expression of handed; 1 reference without a call, first at work.py:11")


def test_special_methods_are_called_without_an_expression(store: EmbeddedStore) -> None:
    said = say(store, "Job.__len__")
    assert "no callers found" not in said
    assert said.endswith("Python calls special methods by itself, which is not counted")


def test_a_constructor_is_called_by_the_name_of_its_class(store: EmbeddedStore) -> None:
    named = ask(store, "Job.__init__").named
    assert named is not None
    assert (named.names, named.calls) == (("Job", "__init__"), 0)


def test_names_are_counted_only_where_a_caller_is_missed(store: EmbeddedStore) -> None:
    assert ask(store, "Other.start").named is None
    assert ask(store, "lonely", direction="out").named is None
    assert ask(store, "lonely", relations=("inherits",)).named is None
    assert ask(store, "jobs.py").named is None


def test_code_entered_by_a_framework_is_not_reported_without_callers(store: EmbeddedStore) -> None:
    answer = run_deps(store, "routed", DepsOptions())
    assert isinstance(answer, Dependencies)
    assert (len(answer.entries), answer.coverage.named) == (1, None)


def test_an_empty_impact_reports_its_limits(store: EmbeddedStore) -> None:
    named = ask(store, "Job.run", question="impact").named
    assert named is not None
    assert named.first == ("work.py:8",)


def test_calls_in_the_rows_of_a_corpus_are_counted_once(tmp_path: Path) -> None:
    code = "def f(x):\n    def g():\n        return h(x)\n    return g\n\n\nclass K:\n    size = h(2)\n"
    rows = [
        {"id": "1", "content": f"```python\n{code}```"},
        {"id": "2", "content": "```python\ndef h(x):\n    return x\n```"},
    ]
    write_rows(tmp_path / "rows.jsonl", *rows)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "rows.jsonl"), store, source="rows")
        named = ask(store, "h").named
    assert named is not None
    assert (named.calls, named.elsewhere, len(named.first)) == (2, 0, 2)


def test_missing_callers_of_rows_are_reported_with_their_limits(tmp_path: Path) -> None:
    rows = [{"id": "1", "content": "def foo():\n    return 1\n\nprint(foo())\n"}, {"id": "2", "content": "foo()\n"}]
    write_rows(tmp_path / "rows.jsonl", *rows)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "rows.jsonl"), store, source="rows")
        assert say(store, "foo") == (
            "no caller is known: the definitions of the rows have no call expression of foo;"
            " code of rows outside of definitions is not stored and was not searched"
        )


def test_missing_callers_are_reported_with_unsearched_files(tmp_path: Path) -> None:
    unread = {"gen.py": f"T = [{'foo(), ' * 3000}]\n", "nul.py": "x = 1\0\nfoo()\n"}
    read = {"a.py": "def foo():\n    return 1\n", "__init__.py": "", "notes.md": "# foo()\n"}
    write_tree(tmp_path / "tree", {**unread, **read})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "tree"), store, source="tree")
        assert say(store, "foo") == (
            "no caller is known: the searched files have no call expression of foo;"
            " not searched, since no text is stored: 2 files (gen.py, nul.py)"
        )
        (tmp_path / "tree" / "b.py").write_text("def f(x):\n    x.foo()\n")
        build(str(tmp_path / "tree"), store, source="tree")
        named = ask(store, "foo").named
    assert named is not None
    assert (named.calls, named.unread, named.first_unread) == (1, 2, ("gen.py", "nul.py"))


def test_counting_stops_at_references_as_at_calls(tmp_path: Path) -> None:
    handed = "".join(f"put(foo, {number})\n" for number in range(1500))
    write_tree(tmp_path / "tree", {"a.py": "def foo():\n    return 1\n", "b.py": handed, "c.py": "x.foo()\n"})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "tree"), store, source="tree")
        said = say(store, "foo")
    assert said == (
        "no caller is known; the first 1,000 uses of foo in the source are not calls, first at b.py:1, b.py:2, b.py:3"
    )


def test_only_names_without_occurrences_have_no_callers() -> None:
    assert not NamedSites(("f",), 0, 0, 1, ("a.py:1",)).is_none
    assert not NamedSites(("f",), 1, 1, 0, ()).is_none
    assert (
        NamedSites(("a", "b", "c", "d"), 1000, 0, 0, ("a.py:1",), is_cut=True)
        .describe()
        .startswith("no caller is known; at least 1,000 call expressions of a, b, c and 1 more in the source")
    )


@pytest.mark.parametrize(
    ("text", "calls", "references"),
    [
        ("run()\nx.run()\nx.run ()\n(x\n .run())\n", 4, 0),
        ("@run\ndef f(): pass\n@x.run\ndef g(): pass\n@run(1)\ndef h(): pass\n", 3, 0),
        ("(run)()\nrun[int](1)\nawait x.run()\n", 3, 0),
        ("from m import run as go\nimport n.run as other\ngo(1)\nother.x()\n", 1, 1),
        ("x = run\nf(run, key=run)\ngetattr(x, 'run')\n", 0, 4),
        ("def run(run=1): pass\nf(run=2)\nrun = 3\nfor run in x: pass\nself.run = 4\nimport run\n", 0, 0),
        ("# run()\n'''run()'''\n'call run'\nrunner()\n", 0, 0),
        ("f'{x.run()}'\n", 1, 0),
        ("print run(1), x.run\n", 1, 1),
        ("def f(:\n    x.run(\n", 1, 0),
    ],
)  # fmt: skip
def test_uses_of_a_name_are_found_by_syntax(text: str, calls: int, references: int) -> None:
    found = list(list_uses(parse(text.encode()), text.encode(), Wanted(frozenset({"run"}))))
    assert (sum(each.is_call for each in found), sum(not each.is_call for each in found)) == (calls, references)


def test_plain_names_are_members_only_when_called_and_reading_a_property_calls_it() -> None:
    text = b"run\nx.run\nx.size\nrun()\n"
    wanted = Wanted(frozenset({"run", "size"}), frozenset({"size"}), is_member=True)
    assert [(each.start, each.is_call) for each in list_uses(parse(text), text, wanted)] == [
        (6, False), (12, True), (17, True),
    ]  # fmt: skip


@dataclass(slots=True)
class CountedTree:
    """A tree that counts the steps of the cursors that walk it."""

    tree: Tree
    steps: int = 0

    def walk(self) -> CountedCursor:
        return CountedCursor(self, self.tree.walk())


@dataclass(slots=True)
class CountedCursor:
    """A cursor whose steps are counted; other ways through the tree are disabled."""

    counted: CountedTree
    cursor: Any

    def __getattr__(self, name: str) -> object:
        self.counted.steps += name.startswith("goto_")
        return getattr(self.cursor, name)


DEEP = [
    pytest.param(b"foo(" * 2000 + b")" * 2000, id="nested calls"),
    pytest.param(b"x = " + b" + ".join([b"foo"] * 2000), id="a long sum"),
    pytest.param(b"foo" + b".foo" * 2000, id="a long chain of attributes"),
    pytest.param(b"x = '" + b"\\n foo" * 2000 + b"'", id="a long text"),
]


@pytest.mark.parametrize("text", DEEP)
def test_all_uses_of_a_deep_text_are_found_within_two_walks(text: bytes) -> None:
    tree = CountedTree(parse(text))
    uses = list(list_uses(cast(Tree, tree), text, Wanted(frozenset({"foo"}))))
    assert len(uses) in (0, 2000, 2001)
    assert tree.steps <= 2 * 3 * tree.tree.root_node.descendant_count  # into each node, past it, and out of it


def test_the_first_use_is_found_before_the_others_are_looked_for() -> None:
    text = b"foo()\n" * 2000
    first, all_of_them = CountedTree(parse(text)), CountedTree(parse(text))
    next(iter(list_uses(cast(Tree, first), text, Wanted(frozenset({"foo"})))))
    list(list_uses(cast(Tree, all_of_them), text, Wanted(frozenset({"foo"}))))
    assert first.steps < 0.6 * all_of_them.steps
