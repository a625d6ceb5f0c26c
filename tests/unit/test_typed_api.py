"""The public API says what it takes and returns to programs too, and refuses what is easily confused."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from hint_walk import HintWalk

import pkg
import pkg.api


def test_every_hint_of_the_public_api_and_of_what_it_returns_can_be_resolved() -> None:
    walk = HintWalk()
    exported = [getattr(pkg, name) for name in pkg.__all__]
    own = [each for each in (getattr(pkg.api, name) for name in pkg.api.__all__) if inspect.isfunction(each)]
    for each in (*exported, *own):
        walk.walk(each)
    assert walk.faults == []
    assert len(walk.classes) > 120  # answers, options, records of the graph, stores, encoders, models


def test_what_only_hints_need_is_not_imported_with_the_package() -> None:
    code = "import sys, pkg, pkg.cli; print('pkg.api_types' in sys.modules, 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"


OF_OTHERS = (
    "email.utils", "pkg.indexing.build", "pkg.rerank.candidates", "pkg.retrieval.chunk_search",
    "pkg.retrieval.deps.answer", "pkg.retrieval.long.long_search",
)  # fmt: skip
"""Modules that other commands, modes or kinds of questions need."""


def test_a_query_starts_without_the_modules_of_others() -> None:
    code = (
        f"import sys, pkg.cli, pkg.commands.query, pkg.retrieval.query; print([*{set(OF_OTHERS)} & sys.modules.keys()])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


NOT_SEQUENCES = ["x = 1", b"x = 1", {"text": "x = 1"}, MappingProxyType({"a": "x = 1"}), 3]


@pytest.mark.parametrize("given", NOT_SEQUENCES, ids=lambda given: type(given).__name__)
def test_candidates_that_are_no_sequence_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=f"candidates is of type {type(given).__name__}; expected a sequence of texts"):
        pkg.rank_candidates("Set x to 1.", given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pkg.rank_candidates(["Set x."], ["x = 1"]), "query is of type list; expected a text"),  # type: ignore[arg-type]
        (lambda: pkg.rank_candidates("Set x.", ["x = 1"], examples="x == 1"), "examples is of type str"),
        (lambda: pkg.rank_candidates("Set x.", ["x = 1"], stages="syntax"), "stages is of type str"),  # type: ignore[arg-type]
        (lambda: list(pkg.rank_tasks(pkg.Task("Set x.", ()))), "tasks is of type Task"),  # type: ignore[arg-type]
        (lambda: pkg.api.write_corpus("rows.jsonl", "out.jsonl"), "paths is of type str"),
        (lambda: pkg.diff_graphs("a", "b", source="shop"), "source is of type str"),  # type: ignore[arg-type]
        (lambda: pkg.open_graph(Path("graph.db")), r"store is of type \w+; expected an address, such as sqlite:///"),  # type: ignore[arg-type]
        (lambda: pkg.verify_stores(Path("a.db"), "b"), r"store is of type \w+; expected an address"),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_a_type_that_is_easily_confused_is_refused_with_what_is_expected(
    call: Callable[[], object], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        call()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pkg.Graph]:
    folder = tmp_path_factory.mktemp("typed")
    (folder / "code" / "shop").mkdir(parents=True)
    (folder / "code" / "shop" / "prices.py").write_text("def add_tax(price):\n    return price * 1.2\n")
    store = f"sqlite:///{folder / 'graph.db'}"
    pkg.build_graph(folder / "code", store=store)
    with pkg.open_graph(store) as opened:
        yield opened


def test_a_path_is_taken_wherever_a_name_or_a_glob_may_be_one(graph: pkg.Graph) -> None:
    place = Path("shop", "prices.py")
    assert graph.show(place).definitions[0].path == "shop/prices.py"
    assert graph.impact(place).targets[0].path == "shop/prices.py"
    assert graph.deps(place) == graph.deps("shop/prices.py")
    for path in (place, [place], ["shop/*"]):
        assert [hit.path for hit in graph.query("add the tax", mode="function", path=path).hits] == ["shop/prices.py"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda graph: graph.query("add the tax", path=3), "path is of type int; expected a sequence of globs"),
        (lambda graph: graph.deps("add_tax", relations="CALLS"), "relations is of type str"),
        (lambda graph: graph.impact("add_tax", relations="CALLS"), "relations is of type str"),
    ],
)
def test_a_question_to_a_graph_refuses_a_single_value_for_several(
    graph: pkg.Graph, call: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        call(graph)


@pytest.mark.parametrize("package", [pkg, pkg.api], ids=["pkg", "pkg.api"])
def test_every_exported_name_is_the_one_that_type_checkers_import(package: ModuleType) -> None:
    tree = ast.parse(Path(str(package.__file__)).read_bytes())
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    sources = {alias.name: import_module(str(each.module)) for each in imports for alias in each.names}
    assert set(package.__all__) <= sources.keys()
    for name in package.__all__:
        assert getattr(package, name) is getattr(sources[name], name), name
    assert not hasattr(package, "no_such_name")
