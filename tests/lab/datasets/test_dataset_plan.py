"""Datasets are built in Python as by the command: from a graph or rows, with or without a model."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pages import read_blocks
from scripted_model import Asked, ScriptedModel
from trees import SHOP, open_graph_at, write_tree

from pkg.api import Graph
from pkg.errors import UsageError
from pkg.indexing.build import build
from pkg.lab import make_dataset
from pkg.lab.datasets.dataset_plan import PLAIN_STEPS, DatasetStep
from pkg.lab.lab_options import DatasetOptions


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    texts = {"README.md": "# Shop\n\nIt sells things.\nIn the market.\n"}
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_tree(tmp_path / "one", SHOP | texts)), store)
        build(str(write_tree(tmp_path / "two", SHOP)), store)
        yield Graph(store)


@pytest.mark.parametrize("step", PLAIN_STEPS)
def test_a_source_gives_its_rows_of_the_whole(graph: Graph, step: DatasetStep) -> None:
    whole = make_dataset(graph, step).rows
    parts = [make_dataset(graph, step, source=name).rows for name in ("one", "two")]
    assert [*parts[0], *parts[1]] == list(whole)
    assert parts[0]


def test_a_limit_draws_rows_by_the_seed_and_keeps_their_order(graph: Graph) -> None:
    whole = [row["id"] for row in make_dataset(graph, "dependencies").rows]
    made = make_dataset(graph, "dependencies", options=DatasetOptions(limit=5))
    drawn = [row["id"] for row in made.rows]
    assert drawn == [each for each in whole if each in drawn]
    (counts,) = made.counts
    assert (counts.written, counts.dropped["not drawn"]) == (5, len(whole) - 5)
    others = [row["id"] for row in make_dataset(graph, "chunks", options=DatasetOptions(limit=3, seed=1)).rows]
    assert others != [row["id"] for row in make_dataset(graph, "chunks", options=DatasetOptions(limit=3, seed=2)).rows]


def test_a_model_starts_from_rows_or_from_the_graph(graph: Graph) -> None:
    def answer(asked: Asked) -> str:
        return "It adds up."

    model = ScriptedModel(answer)
    options = DatasetOptions(repeat=1)
    chunks = make_dataset(graph, "chunks").rows
    given = make_dataset(graph, "explain", model, options, rows=chunks)
    assert given.rows == make_dataset(graph, "explain", model, options).rows
    assert len(given.rows) == len(chunks) == given.usage.requests
    later = make_dataset(graph, "questions", model, options, rows=given.rows)
    assert later.rows == ()
    assert later.counts[0].dropped == {"an answer without code": len(chunks)}


def test_an_impossible_step_is_refused(graph: Graph) -> None:
    with pytest.raises(UsageError, match="the step explain needs a model"):
        make_dataset(graph, "explain")
    with pytest.raises(UsageError, match="the step chunks uses no model"):
        make_dataset(graph, "chunks", ScriptedModel(["x"]))
    with pytest.raises(UsageError, match="no repository 'three' in"):
        make_dataset(graph, "meta", source="three")


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (session,) = read_blocks("docs/data.md", "python")
    examples = doctest.DocTestParser().get_doctest(session, {}, "data.md", "docs/data.md", 0)
    assert doctest.DocTestRunner().run(examples).failed == 0
