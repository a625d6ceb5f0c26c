"""The public API says what it takes and returns to programs too, and refuses what is easily confused."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, get_args, get_type_hints

import pytest

import pkg
import pkg.api


class HintWalk:
    """Resolve the hints of everything public, and of every class of pkg that they name, recursively."""

    def __init__(self) -> None:
        self.classes: set[type[Any]] = set()
        self.faults: list[str] = []

    def walk(self, found: object) -> None:
        """Visit an object that is exported, or a hint."""
        if isinstance(found, type) and not get_args(found):
            self._walk_class(found)
        elif isinstance(found, FunctionType):
            self._resolve(inspect.unwrap(found))
        for part in found if isinstance(found, list) else get_args(found):  # a list: parameters of a Callable
            self.walk(part)

    def _walk_class(self, found: type[Any]) -> None:
        if found in self.classes or found.__module__.partition(".")[0] != "pkg":
            return
        self.classes.add(found)
        for base in found.__bases__:
            self.walk(base)
        self._resolve(found)
        for method in _list_methods(found):
            self._resolve(method)

    def _resolve(self, found: Any) -> None:
        try:
            hints = get_type_hints(found)
        except Exception as fault:
            self.faults.append(f"{found.__module__}.{found.__qualname__}: {fault!r}")
        else:
            for hint in hints.values():
                self.walk(hint)


def _list_methods(found: type[Any]) -> Iterator[Callable[..., Any]]:
    """List the public and the special methods that a class defines, with those under decorators."""
    for name, value in vars(found).items():
        if name.startswith("_") and not name.endswith("__"):
            continue
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        function = inspect.unwrap(function) if callable(function) else None
        if isinstance(function, FunctionType) and function.__module__.partition(".")[0] == "pkg":
            yield function


def test_every_hint_of_the_public_api_and_of_what_it_returns_can_be_resolved() -> None:
    walk = HintWalk()
    exported = [getattr(pkg, name) for name in pkg.__all__]
    own = [
        each
        for name, each in vars(pkg.api).items()
        if inspect.isfunction(each) and each.__module__ == "pkg.api" and not name.startswith("_")
    ]
    for each in (*exported, *own):
        walk.walk(each)
    assert walk.faults == []
    assert len(walk.classes) > 150  # answers, options, records of the graph, stores, encoders, models


def test_what_only_hints_need_is_not_imported_with_the_package() -> None:
    code = "import sys, pkg, pkg.cli; print('pkg.api_types' in sys.modules, 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"


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
        (lambda: pkg.calibrate_gate("runs"), "paths is of type str; expected a sequence of folders"),
        (lambda: pkg.write_report_page({}), "reports is of type dict"),  # type: ignore[arg-type]
        (lambda: pkg.api.write_corpus("rows.jsonl", "out.jsonl"), "paths is of type str"),
        (lambda: pkg.evaluate_code("humaneval", "m", "d", "o", columns="none"), "columns is of type str"),
        (lambda: pkg.evaluate_repository("p", None, "o", tests="tests/unit"), "tests is of type str"),
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
        (lambda graph: graph.audit("humaneval"), "against is of type str"),
        (lambda graph: graph.make_dataset("chunks", rows={"step": "chunks"}), "rows is of type dict"),
        (lambda graph: graph.evaluate_retrieval("q", "r", modes="function"), "modes is of type str"),
    ],
)
def test_a_question_to_a_graph_refuses_a_single_value_for_several(
    graph: pkg.Graph, call: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        call(graph)
