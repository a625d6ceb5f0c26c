from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fakes import FakeStore
from linked import make_linked_store, make_shop

from pkg.errors import QueryError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Source
from pkg.retrieval.deps.names import find_target

TWINS = {
    "app/a.py": """\
class C:
    def run(self):
        def inner():
            pass

    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        pass
""",
    "app/b.py": """\
class C:
    def run(self):
        pass
""",
    "app/b.pyi": "class Only: ...\n",
    "app/c.py": """\
class Only:
    pass
""",
    "app/c.pyi": "class Only: ...\n",
    "app/__init__.py": "",
    "lib/app/a.py": "",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(make_linked_store(tmp_path / "graph.db", TWINS)) as store:
        yield store


@pytest.mark.parametrize(
    ("name", "path", "qualname"),
    [
        ("app/a.py::C.run", "app/a.py", "C.run"),
        ("app.a.C.run", "app/a.py", "C.run"),
        ("a.C.run", "app/a.py", "C.run"),
        ("inner", "app/a.py", "C.run.inner"),
        ("app/a.py:2", "app/a.py", "C.run"),
        ("app/a.py:4", "app/a.py", "C.run.inner"),
        ("app/a.py:5", "app/a.py", "C"),
        ("./app/b.py", "app/b.py", "app/b.py"),
        ("/src/shop/app/b.py:3", "app/b.py", "C.run"),
        ("b.py", "app/b.py", "app/b.py"),
        ("app", "app/__init__.py", "app/__init__.py"),
        ("app/c.py::Only", "app/c.py", "Only"),
    ],
)
def test_a_name_means_one_place(store: EmbeddedStore, name: str, path: str, qualname: str) -> None:
    place = find_target(store, name).place
    assert (place.path, place.qualname) == (path, qualname)


def test_a_target_holds_what_is_inside_it(store: EmbeddedStore) -> None:
    target = find_target(store, "app/a.py")
    assert [node.qualname for node in target.inside] == ["C", "C.run", "C.run.inner", "C.size", "C.size"]
    assert len(target.ids) == 6


def test_a_property_and_its_setter_are_one_target(store: EmbeddedStore) -> None:
    assert [node.start_line for node in find_target(store, "C.size").nodes] == [6, 10]


@pytest.mark.parametrize("name", ["run", "C.run", "C"])
def test_an_ambiguous_name_lists_its_candidates(store: EmbeddedStore, name: str) -> None:
    with pytest.raises(QueryError, match="may be any of 2") as fault:
        find_target(store, name)
    assert re.findall(r"app/[ab]\.py:\d", str(fault.value)) == [f"app/{file}.py:{1 + (name != 'C')}" for file in "ab"]


def test_a_common_end_of_two_paths_is_ambiguous_and_a_whole_path_is_not(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match=r"lib/app/a\.py:0"):
        find_target(store, "a.py")
    assert find_target(store, "app/a.py").place.path == "app/a.py"


def test_a_stub_beside_its_module_does_not_make_a_name_ambiguous(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match=r"2; expected one[\s\S]+app/b\.pyi:1[\s\S]+app/c\.py:1"):
        find_target(store, "Only")


def test_many_candidates_are_cut_and_counted(tmp_path: Path) -> None:
    files = {f"m{number:02}.py": "def run():\n    pass\n" for number in range(25)}
    with (
        closing(make_linked_store(tmp_path / "many.db", files)) as store,
        pytest.raises(QueryError, match="and 5 more"),
    ):
        find_target(store, "run")


def test_a_name_in_two_sources_is_narrowed_by_the_source(tmp_path: Path) -> None:
    files = {"m.py": "def run():\n    pass\n"}
    with closing(make_linked_store(tmp_path / "two.db", files, source="one")) as store:
        with (
            closing(make_linked_store(tmp_path / "two.db", files, source="two")),
            pytest.raises(QueryError, match="of 2"),
        ):
            find_target(store, "run")
        assert find_target(store, "run", "two").place.source == "two"
        assert find_target(store, "m.py:1", "one").place.source == "one"


@pytest.mark.parametrize(
    ("name", "near"), [("fnd_price", "find_price"), ("find_prices", "find_price"), ("Crat", "Cart")]
)
def test_an_unknown_name_proposes_near_ones(tmp_path: Path, name: str, near: str) -> None:
    with closing(make_shop(tmp_path / "graph.db")) as store, pytest.raises(QueryError, match=f"did you mean: .*{near}"):
        find_target(store, name)


@pytest.mark.parametrize("name", ["zzzz", "no/such.py", "no/such.py:3", "app/a.py::nothing", ".", "::", "\x00"])
def test_an_unknown_name_without_a_near_one_points_to_the_search(store: EmbeddedStore, name: str) -> None:
    with pytest.raises(QueryError, match="pkg query TEXT"):
        find_target(store, name)


def test_a_line_beyond_the_end_of_a_file_is_refused(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match=r"app/b\.py has no line 4; expected a line from 1 to 3"):
        find_target(store, "app/b.py:4")
    with pytest.raises(QueryError, match="has no line 0"):
        find_target(store, "app/b.py:0")


def test_an_unknown_source_and_an_empty_graph_are_refused() -> None:
    store = FakeStore()
    with pytest.raises(QueryError, match="holds no code; run: pkg build PATH"):
        find_target(store, "run")
    with store.write() as writer:
        writer.put_source(Source("demo", "repository", "/demo"))
    with pytest.raises(QueryError, match=r"no source 'other' in .*; sources that are there: demo"):
        find_target(store, "run", "other")
