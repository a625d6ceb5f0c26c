"""The impact of a git diff: changed code, affected places, and tests that reach them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from git_trees import commit_all, run_git
from trees import open_graph_at, write_tree

from pkg.errors import PathError, QueryError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.retrieval.deps.answer import DepsOptions, Impact
from pkg.retrieval.deps.impact import list_tests
from pkg.retrieval.deps.questions import run_impact

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": (
        "RATE = 2\n\n\ndef find_price(item):\n    return load()[item] * RATE\n\n\ndef load():\n    return {}\n"
    ),
    "shop/cart.py": (
        "from collections import UserList\n\nfrom shop.prices import find_price\n\n\nclass Cart(UserList):\n"
        "    def append(self, item):\n        self.price = find_price(item)\n\n    def __len__(self):\n"
        "        return size()\n"
        "\n\ndef size():\n    return 1\n"
    ),
    "shop/wrap.py": (
        "def traced(function):\n    def run(*words):\n        return function(*words)\n\n    return run\n\n\n"
        "@traced\ndef start():\n    return 1\n"
    ),
    "shop/setup_code.py": "from shop import wrap\n\nVALUE = wrap.start\n\nprint(VALUE)\n",
    "tests/conftest.py": (
        "import pytest\n\nfrom shop.prices import load\n\n\n@pytest.fixture(autouse=True)\ndef loaded():\n"
        "    load()\n\n\n"
        "@pytest.fixture\ndef cart():\n    from shop.cart import Cart\n\n    return Cart()\n"
    ),
    "tests/test_cart.py": (
        "def test_length(cart):\n    assert len(cart) == 1\n\n\nclass TestPrice:\n    def test_price(self):\n"
        "        from shop.prices import find_price\n\n        find_price(1)\n"
    ),
    "tests/test_start.py": "from shop.wrap import start\n\n\ndef test_start():\n    assert start() == 1\n",
    "tests/test_code.py": "import shop.setup_code\n\n\ndef test_code():\n    assert shop.setup_code\n",
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    write_tree(folder, FILES)
    run_git(folder, "init", "--quiet")
    commit_all(folder)
    return folder


@pytest.fixture
def store(tmp_path: Path, top: Path) -> Iterator[EmbeddedStore]:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(top), store)
        yield store


def edit(top: Path, path: str, before: str, after: str) -> None:
    text = (top / path).read_text()
    assert before in text
    (top / path).write_text(text.replace(before, after))


def ask(store: EmbeddedStore, *names: str, **options: Any) -> Impact:
    return run_impact(store, names, DepsOptions(question="impact", **options))


def affected(answer: Impact) -> set[str]:
    return {each.place.qualname for each in answer.affected}


def test_several_names_are_asked_about_together(store: EmbeddedStore) -> None:
    answer = ask(store, "load", "start", "load")
    assert [place.qualname for place in answer.targets] == ["load", "start"]
    assert affected(answer) == affected(ask(store, "load")) | affected(ask(store, "start"))


def test_a_diff_starts_at_the_functions_that_its_lines_change(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "load()[item] * RATE", "load()[item] + RATE")
    answer = ask(store, diff="HEAD")
    assert [(each.path, each.qualname, each.how) for each in answer.changes] == [
        ("shop/prices.py", "find_price", "changed")
    ]
    assert {"Cart.append", "TestPrice.test_price"} <= affected(answer)
    assert answer.coverage.notes == ("the graph is of the state before the diff: what was added is not in it",)


def test_a_graph_of_the_state_after_the_diff_has_no_note(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "load()[item] * RATE", "load()[item] + RATE")
    build(str(top), store)
    assert ask(store, diff="HEAD").coverage.notes == ()


def test_a_graph_of_another_state_has_a_note(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "RATE = 2", "RATE = 3")
    commit_all(top)
    edit(top, "shop/prices.py", "RATE = 3", "RATE = 4")
    notes = ask(store, diff="HEAD").coverage.notes
    assert "the graph is of another state than the diff" in notes[0]
    assert notes[1] == "differs in the graph from both sides of the diff: shop/prices.py"


def test_a_file_that_does_not_parse_is_named_and_counts_as_a_whole(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/wrap.py", "def start():", "def start(:")
    build(str(top), store)
    answer = ask(store, diff="HEAD")
    assert [(each.path, each.qualname, each.how) for each in answer.changes] == [("shop/wrap.py", "", "does not parse")]
    assert answer.coverage.notes == (
        "does not parse: its functions cannot be compared, so all of it counts as changed: shop/wrap.py",
    )


def test_unmerged_files_are_named_for_staged_changes(store: EmbeddedStore, top: Path) -> None:
    run_git(top, "checkout", "--quiet", "-b", "topic")
    edit(top, "shop/prices.py", "RATE = 2", "RATE = 3")
    commit_all(top)
    run_git(top, "checkout", "--quiet", "-")
    edit(top, "shop/prices.py", "RATE = 2", "RATE = 4")
    commit_all(top)
    with suppress(subprocess.CalledProcessError):
        run_git(top, "merge", "topic")
    answer = ask(store, staged=True)
    assert [(each.path, each.how) for each in answer.changes] == [("shop/prices.py", "cannot be read")]
    assert "TestPrice.test_price" in affected(answer)
    assert "shop/prices.py (not merged: " in answer.coverage.notes[-1]


@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_a_file_that_cannot_be_read_is_not_taken_as_deleted(
    store: EmbeddedStore, top: Path, put: Callable[[Path], None]
) -> None:
    (top / "shop" / "prices.py").unlink()
    put(top / "shop" / "prices.py")
    answer = ask(store, diff="HEAD")
    assert [(each.path, each.how) for each in answer.changes] == [("shop/prices.py", "cannot be read")]
    assert "its change cannot be read, so all of it counts as changed: shop/prices.py" in answer.coverage.notes[-1]


def test_no_build_is_suggested_where_none_helps(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "RATE = 2", "RATE = 3")
    run_git(top, "add", "shop/prices.py")
    edit(top, "shop/prices.py", "RATE = 3", "RATE = 4")
    build(str(top), store)
    (state, _) = ask(store, staged=True).coverage.notes
    assert state == "the graph is of another state than the diff, see below; lines and links may be off"


def test_a_changed_constant_affects_its_readers(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "RATE = 2", "RATE = 3")
    answer = ask(store, diff="HEAD")
    assert (1, "find_price", "READS") in {(e.distance, e.place.qualname, e.link.type) for e in answer.affected}
    assert "Cart.append" in affected(answer)


def test_changed_module_code_affects_importers(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/setup_code.py", "print(VALUE)", "print(VALUE, 1)")
    answer = ask(store, diff="HEAD")
    assert [(place.label, place.path) for place in answer.targets] == [("File", "shop/setup_code.py")]
    assert list_tests(answer) == ["tests/test_code.py"]


def test_a_renamed_file_affects_its_importers(store: EmbeddedStore, top: Path) -> None:
    run_git(top, "mv", "shop/setup_code.py", "shop/begin_code.py")
    answer = ask(store, staged=True)
    assert [(each.path, each.how) for each in answer.changes] == [("shop/begin_code.py", "renamed")]
    assert list_tests(answer) == ["tests/test_code.py"]
    run_git(top, "mv", "tests/test_code.py", "tests/test_more.py")
    assert "tests/test_code.py" in list_tests(ask(store, staged=True))


def test_dependents_of_deleted_code_are_unknown_to_a_later_graph(store: EmbeddedStore, top: Path) -> None:
    (top / "shop/wrap.py").unlink()
    build(str(top), store)
    (note,) = ask(store, diff="HEAD").coverage.notes
    assert note.startswith("no longer in the graph, so its dependents are unknown")
    assert "shop/wrap.py (deleted)" in note


def test_dependents_of_deleted_code_are_known_to_an_earlier_graph(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "\n\ndef load():\n    return {}\n", "")
    (top / "shop/wrap.py").unlink()
    answer = ask(store, diff="HEAD")
    how = {(each.path, each.qualname): each.how for each in answer.changes}
    assert how["shop/prices.py", "load"] == how["shop/wrap.py", "start"] == "deleted"
    assert {"find_price", "test_start"} <= affected(answer)


def test_changes_missing_from_the_graph_are_reported(store: EmbeddedStore, top: Path) -> None:
    (top / "shop/wrap.py").unlink()
    build(str(top), store)
    write_tree(top, {"shop/fresh.py": "def fresh():\n    pass\n"})
    answer = ask(store, diff="HEAD")
    assert (answer.targets, answer.affected) == ((), ())
    added, deleted = answer.coverage.notes
    assert added == "not in the graph: shop/fresh.py (added)"
    assert deleted.endswith("use a graph of the revision before: shop/wrap.py (deleted)")


def test_a_renamed_file_is_found_under_the_name_that_the_graph_has(store: EmbeddedStore, top: Path) -> None:
    (top / "shop/prices.py").rename(top / "shop/costs.py")
    edit(top, "shop/costs.py", "return {}", "return {1: 1}")
    run_git(top, "add", "--all")
    answer = ask(store, staged=True)
    assert [(place.path, place.qualname) for place in answer.targets] == [("shop/prices.py", "shop/prices.py")]
    assert "Cart.append" in affected(answer)


def test_comments_and_docstrings_change_nothing(store: EmbeddedStore, top: Path) -> None:
    edit(top, "shop/prices.py", "RATE = 2", "# the rate\nRATE = 2")
    answer = ask(store, diff="HEAD")
    assert (answer.changes, answer.affected) == ((), ())
    assert "comments" in answer.coverage.notes[-1]


def test_tests_are_reached_through_fixtures_special_methods_and_wrappers(store: EmbeddedStore) -> None:
    assert "tests/test_cart.py::test_length" in list_tests(ask(store, "size"))
    assert list_tests(ask(store, "traced.run")) == ["tests/test_start.py::test_start"]
    assert list_tests(ask(store, "traced")) == ["tests/test_start.py::test_start"]


def test_an_autouse_fixture_leads_to_all_tests_around_it(store: EmbeddedStore) -> None:
    assert list_tests(ask(store, "load")) == [
        "tests/test_cart.py::TestPrice::test_price", "tests/test_cart.py::test_length",
        "tests/test_code.py::test_code", "tests/test_start.py::test_start",
    ]  # fmt: skip


def test_a_test_that_has_changed_is_one_to_run(store: EmbeddedStore, top: Path) -> None:
    edit(top, "tests/test_start.py", "== 1", "== 2")
    assert list_tests(ask(store, diff="HEAD")) == ["tests/test_start.py::test_start"]


def test_links_of_one_kind_can_be_followed_alone(store: EmbeddedStore) -> None:
    assert {each.link.type for each in ask(store, "find_price", relations=("imports",)).affected} == {"RESOLVES_TO"}


@pytest.mark.parametrize(
    ("names", "options", "fault", "told"),
    [
        ((), {}, UsageError, "no name was given"),
        (("load",), {"diff": "HEAD"}, UsageError, "give one of them"),
        ((), {"diff": "nowhere"}, PathError, "has no revision 'nowhere'"),
        ((), {"diff": "HEAD"}, QueryError, "no Python file differs between HEAD and the files"),
        (("missing",), {}, QueryError, "no function, class, constant or file 'missing'"),
    ],
)
def test_invalid_questions_are_refused(
    store: EmbeddedStore, names: tuple[str, ...], options: dict[str, Any], fault: type[Exception], told: str
) -> None:
    with pytest.raises(fault, match=told):
        ask(store, *names, **options)


def test_a_source_outside_of_a_repository_has_no_diff(tmp_path: Path) -> None:
    write_tree(tmp_path / "plain", {"a.py": "def f():\n    pass\n"})
    with closing(open_graph_at(tmp_path / "plain.db")) as store:
        build(str(tmp_path / "plain"), store)
        with pytest.raises(PathError, match="not a git repository"):
            ask(store, diff="HEAD")


def test_of_several_sources_one_has_to_be_named(store: EmbeddedStore, tmp_path: Path, top: Path) -> None:
    write_tree(tmp_path / "other", {"a.py": "def other():\n    pass\n"})
    build(str(tmp_path / "other"), store)
    with pytest.raises(QueryError, match="the graph has: code, other; expected --source"):
        ask(store, diff="HEAD")
    with pytest.raises(QueryError, match="names are of several sources: code, other"):
        ask(store, "load", "other")
    edit(top, "shop/prices.py", "return {}", "return {1: 1}")
    assert ask(store, diff="HEAD", source="code").targets[0].qualname == "load"
