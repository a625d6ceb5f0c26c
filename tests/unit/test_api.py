from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import pkg
from pkg.api import RETRIES
from pkg.errors import StoreChangedError, StoreMissingError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.rerank.candidates import StageName

CODE = '''\
def clamp(value, low, high):
    """Keep a value between two limits."""
    if value < low:
        return low
    return min(value, high)
'''


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "limits.py").write_text(CODE)
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    assert pkg.build_graph(tmp_path / "code", store=address).written == 1
    return address


def test_the_public_names_are_all_there_and_documented() -> None:
    assert all(getattr(pkg, name).__doc__ for name in pkg.__all__)


def test_a_graph_answers_with_dataclasses(store: str) -> None:
    with pkg.open_graph(store) as graph:
        result = graph.query("keep a value between limits", mode="function")
    (hit,) = result.hits
    assert isinstance(hit, pkg.Hit)
    assert (hit.path, hit.qualname, hit.content) == ("limits.py", "clamp", CODE.rstrip("\n"))
    assert result.coverage.searched == 1


def test_a_result_becomes_a_prompt(store: str) -> None:
    with pkg.open_graph(store) as graph:
        prompt = graph.prompt(graph.query("keep a value between limits", mode="function"))
    assert "def clamp(value, low, high):" in prompt


def test_a_name_is_found_with_its_docstring(store: str) -> None:
    with pkg.open_graph(store) as graph:
        (node,) = graph.find_name("clamp")
    assert node.properties["docstring"] == "Keep a value between two limits."
    assert node.properties["docstring_source"] == "human"


def test_an_export_is_restored(store: str, tmp_path: Path) -> None:
    import json

    with pkg.open_graph(store) as graph:
        lines = list(graph.export(vectors=True))
    (tmp_path / "graph.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (report,) = pkg.restore_graph(str(tmp_path / "graph.jsonl"), store=f"sqlite:///{tmp_path / 'again.db'}")
    with pkg.open_graph(report.store) as graph:
        assert list(graph.export(vectors=True)) == lines


OPTIONS = [
    (pkg.Graph.query, pkg.QueryOptions),
    (pkg.Graph.deps, pkg.DepsOptions),
    (pkg.rank_candidates, pkg.RerankOptions),
]


@pytest.mark.parametrize(("function", "options"), OPTIONS)
def test_every_option_is_a_keyword_with_the_type_and_the_default_of_its_class(
    function: Callable[..., Any], options: type[Any]
) -> None:
    hints, own_hints = get_type_hints(function), get_type_hints(options)
    keywords = {
        name: (hints[name], each.default)
        for name, each in signature(function).parameters.items()
        if each.kind is Parameter.KEYWORD_ONLY
    }
    own = {each.name: (own_hints[each.name], each.default) for each in fields(options)}
    if function is pkg.rank_candidates:
        keywords.pop("examples")
        assert keywords.pop("weights") == (Mapping[str, float] | None, None)  # a new dictionary each time
        own.pop("weights")
        own["stages"] = (Sequence[StageName], own["stages"][1])  # a list is accepted too
    else:
        assert keywords.pop("fresh") == (bool, False)  # precedes the query
    assert keywords == own


def test_the_default_address_is_that_of_the_environment_then_the_users_store(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreMissingError, match="run: pkg build PATH"):
        pkg.open_graph()
    monkeypatch.setenv("PKG_STORE", store)
    with pkg.open_graph() as graph:
        assert graph.stats().nodes["Function"] == 1


def test_nothing_is_written_into_the_analysed_folder(store: str, tmp_path: Path) -> None:
    assert sorted(path.name for path in (tmp_path / "code").rglob("*")) == ["limits.py"]


class BusyStore(EmbeddedStore):
    """A store that is written this often during a read."""

    def __init__(self, address: str, writes: int) -> None:
        super().__init__(address.removeprefix("sqlite:///"))
        self.writes, self.depth = writes, 0

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self.depth += 1
        try:
            with super().snapshot():
                yield
        finally:
            self.depth -= 1
        if self.writes and not self.depth:
            self.writes -= 1
            raise StoreChangedError("a write ended while the store was read; try again to see the new graph")


def test_a_read_interrupted_by_a_write_is_retried(store: str) -> None:
    with pkg.Graph(BusyStore(store, RETRIES)) as graph:
        assert graph.query("keep a value between limits").hits
    with pkg.Graph(BusyStore(store, RETRIES)) as graph:
        assert graph.stats().nodes["Function"] == len(graph.find_name("clamp")) == 1


def test_retries_of_a_read_are_limited(store: str) -> None:
    with pkg.Graph(BusyStore(store, RETRIES + 1)) as graph, pytest.raises(StoreChangedError):
        graph.query("keep a value between limits")


def test_two_stores_are_compared_by_their_addresses(store: str, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path / 'other.db'}"
    pkg.build_graph(tmp_path / "code", store=other)
    assert pkg.verify_stores(store, other, vectors=True).is_equal
    with pytest.raises(StoreMissingError):
        pkg.verify_stores(store, f"sqlite:///{tmp_path / 'nothing.db'}")
