"""The measurement equals that of running the same queries by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import mean

import pytest
from click.testing import CliRunner

import pkg
import pkg.lab
import pkg.sandbox
from pkg.cli import main
from pkg.console.streams import show
from pkg.encode.registry import load_encoder
from pkg.errors import EncoderError, QueryError
from pkg.graph.opening import open_store
from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.lab.bench.bare_copy import DocumentedFunction, copy_bare
from pkg.lab.bench.graph_bench import BenchReport, choose_questions, find_percentiles
from pkg.lab.commands.bench import view_bench
from pkg.lab.evaluation.retrieval.rank_scores import DEPTH
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import QueryOptions

REAL = Path(pkg.sandbox.__file__).parent
OPTIONS = pkg.lab.BenchOptions(limit=20, sample=0, seed=3)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the graph of the sandbox of this package."""
    address = f"sqlite:///{tmp_path_factory.mktemp('bench') / 'graph.db'}"
    pkg.build_graph(REAL, store=address)
    return address


@pytest.fixture(scope="module")
def report(address: str) -> BenchReport:
    """Measure it once for all tests."""
    with pkg.open_graph(address) as graph:
        return pkg.lab.bench_graph(graph, OPTIONS)


@pytest.fixture(scope="module")
def bare(
    address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[GraphStore, list[DocumentedFunction]]]:
    """Build the graph of the code without docstrings step by step."""
    folder = tmp_path_factory.mktemp("bare")
    with closing(open_store(address)) as store:
        copy = copy_bare(store, store.sources()[0], folder / "copy")
    with closing(open_store(f"sqlite:///{folder / 'bare.db'}", create=True)) as store:
        build(str(copy.root), store, source=copy.source)
        yield store, list(copy.documented)


def find_rank(store: GraphStore, text: str, place: str) -> int | None:
    """Query as pkg query does, and find the function among the hits."""
    options = QueryOptions("function", top_k=DEPTH, budget=0, prune="none", helpers="none", hops=0)
    hits = run_query(store, load_encoder(store.encoder()[0]), text, options).hits
    return next((hit.rank for hit in hits if f"{hit.path}::{hit.qualname}" == place), None)


def test_the_figures_equal_those_of_each_query_by_hand(
    report: BenchReport, bare: tuple[GraphStore, list[DocumentedFunction]]
) -> None:
    store, documented = bare
    questions, left_out = choose_questions(documented, OPTIONS.limit, OPTIONS.seed)
    assert left_out == report.left_out
    ranks = [find_rank(store, each.text, next(iter(each.gold))) for each in questions]
    (row,) = [
        each for each in report.retrieval.rows if (each.mode, each.ranking, each.without) == ("function", "linear", "")
    ]
    assert row.figures["questions"] == len(ranks) == 20
    assert row.figures["mrr@10"] == pytest.approx(
        mean(1 / rank if rank and rank <= 10 else 0 for rank in ranks), abs=1e-4
    )
    for k in (1, 5, 10):
        assert row.figures[f"recall@{k}"] == pytest.approx(mean(bool(rank and rank <= k) for rank in ranks), abs=1e-4)


def test_every_expected_function_is_in_the_second_graph(report: BenchReport) -> None:
    assert report.retrieval.gold == 20
    assert set(report.retrieval.gold_missing.values()) == {0}


def test_costs_are_of_the_graph_itself(report: BenchReport, address: str) -> None:
    with pkg.open_graph(address) as graph:
        stats = graph.stats()
    assert report.costs.nodes == sum(stats.nodes.values())
    assert report.costs.stages == stats.stages
    assert report.costs.bytes_a_node["vectors"] == round(stats.parts["vectors"] / report.costs.nodes, 1)
    assert [each.mode for each in report.costs.answers] == ["function", "block"]
    for each in report.costs.answers:
        assert 0 < each.wall_ms["p50"] <= each.wall_ms["p95"]
        assert 0 < each.tokens["p50"] <= each.tokens["p95"] <= 8000
        assert each.empty == 0


def test_the_graph_is_unchanged(report: BenchReport, address: str) -> None:
    with pkg.open_graph(address) as graph:
        assert (graph.stats().generation, [each.name for each in graph.stats().sources]) == (1, list(report.sources))


def test_shared_docstrings_make_no_questions() -> None:
    said = ["Give the name of it.", "Give the name of it.", "Read a whole file.", "Go."]
    documented = [DocumentedFunction("a.py", f"f{number}", text) for number, text in enumerate(said)]
    questions, left_out = choose_questions(documented, 10, 0)
    assert [(each.text, each.gold) for each in questions] == [("Read a whole file.", {"a.py::f2": 1.0})]
    assert list(left_out.values()) == [1, 2, 0]


def test_the_seed_draws_the_questions() -> None:
    documented = [DocumentedFunction("a.py", f"f{number}", f"Read the file {number} again.") for number in range(50)]
    first, again, other = ([each.text for each in choose_questions(documented, 20, seed)[0]] for seed in (1, 1, 2))
    assert first == again
    assert set(first) != set(other)


def test_percentiles_are_measured_values() -> None:
    assert find_percentiles([float(value) for value in range(1, 101)]) == {"p50": 50.0, "p95": 95.0}
    assert find_percentiles([7.0]) == {"p50": 7.0, "p95": 7.0}


def test_encoders_are_compared_on_the_same_functions(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.encode.registry.find_spec", lambda package: None)  # as if minilm were not installed
    with pkg.open_graph(address) as graph:
        report = pkg.lab.bench_graph(graph, pkg.lab.BenchOptions(limit=20, sample=150))
    assert [(each.encoder, each.ranking) for each in report.encoders] == [("static", "dense"), ("static", "linear")]
    assert all(100 <= each.functions <= 150 and each.figures["questions"] == 20 for each in report.encoders)
    (note,) = [each for each in report.notes if "minilm" in each]
    assert "pip install" in note


def test_a_graph_with_few_docstrings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        'def add_tax(price):\n    """Add the tax to a price."""\n    return price * 1.2\n'
    )
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(tmp_path, store=address)
    with pkg.open_graph(address) as graph, pytest.raises(QueryError, match=r"1 functions .* expected at least 20"):
        pkg.lab.bench_graph(graph)
    done = CliRunner().invoke(main, ["bench", "--store", address])
    assert done.exit_code == 1
    assert "expected at least 20" in done.stderr


def test_an_unknown_source_is_reported(address: str) -> None:
    with pkg.open_graph(address) as graph, pytest.raises(QueryError, match="no source 'nowhere'"):
        pkg.lab.bench_graph(graph, pkg.lab.BenchOptions(source="nowhere"))


def test_a_graph_with_a_remote_encoder_is_not_measured(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.lab.bench.graph_bench.find_service", lambda name: "https://example.org")
    with pkg.open_graph(address) as graph, pytest.raises(EncoderError, match="uses no network"):
        pkg.lab.bench_graph(graph, OPTIONS)


def test_a_pipe_gets_a_line_for_each_figure(address: str) -> None:
    done = CliRunner().invoke(main, ["bench", "--store", address, "--limit", "20", "--sample", "0"])
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert (kinds[0], kinds[-1]) == ("bench", "costs")
    assert {"retrieval", "answers"} < set(kinds)


def test_a_person_gets_tables(report: BenchReport, capsys: pytest.CaptureFixture[str]) -> None:
    show(view_bench(report))
    shown = capsys.readouterr().out
    assert f"{report.documented} of {report.functions} functions" in shown
    assert all(word in shown for word in ("MRR@10", "tokens", "bytes", "CPU seconds"))
