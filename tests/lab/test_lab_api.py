"""The public functions of the laboratory: their hints, what they refuse, and the names by which pkg finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hint_walk import HintWalk
from trees import SHOP, open_graph_at, write_tree

import pkg
import pkg.lab
from pkg.indexing.build import build


def test_the_public_names_are_all_there_and_documented() -> None:
    assert all(getattr(pkg.lab, name).__doc__ for name in pkg.lab.__all__)


def test_every_hint_of_the_public_functions_and_of_what_they_return_can_be_resolved() -> None:
    walk = HintWalk()
    for name in pkg.lab.__all__:
        walk.walk(getattr(pkg.lab, name))
    assert walk.faults == []
    assert len(walk.classes) > 30


@pytest.mark.parametrize(
    "name",
    [
        *("BenchOptions", "SolverOptions", "calibrate_gate", "evaluate_code", "evaluate_repository"),
        *("report_evaluation", "write_report_page"),
    ],
)
def test_pkg_finds_a_name_of_the_laboratory_too(name: str) -> None:
    assert getattr(pkg, name) is getattr(pkg.lab, name)


def test_pkg_has_no_other_names_of_the_laboratory() -> None:
    with pytest.raises(AttributeError, match="module 'pkg' has no attribute 'make_dataset'"):
        _ = pkg.make_dataset  # type: ignore[attr-defined]


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[pkg.Graph]:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_tree(tmp_path / "shop", SHOP)), store)
        yield pkg.Graph(store)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda graph: pkg.lab.calibrate_gate("runs"), "paths is of type str; expected a sequence of folders"),
        (lambda graph: pkg.lab.write_report_page({}), "reports is of type dict"),  # type: ignore[arg-type]
        (lambda graph: pkg.lab.evaluate_code("humaneval", "m", "d", "o", columns="none"), "columns is of type str"),
        (lambda graph: pkg.lab.evaluate_repository("p", None, "o", tests="tests/unit"), "tests is of type str"),
        (lambda graph: pkg.lab.audit_graph(graph, "humaneval"), "against is of type str"),
        (lambda graph: pkg.lab.make_dataset(graph, "chunks", rows={}), "rows is of type dict"),  # type: ignore[arg-type]
        (lambda graph: pkg.lab.evaluate_retrieval(graph, "q", "r", modes="f"), "modes is of type str"),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_a_type_that_is_easily_confused_is_refused_with_what_is_expected(
    graph: pkg.Graph, call: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        call(graph)
