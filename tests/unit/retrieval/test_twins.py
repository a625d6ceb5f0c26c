"""Variants of a hit take one place, and others that only share a name keep theirs."""

from __future__ import annotations

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.model import Label, Outline
from pkg.retrieval.query import QueryOptions, run_query
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.twins import fold_twins


def fold(*places: str) -> dict[str, tuple[str, ...]]:
    """Fold candidates at places, best first; return each kept place with its variants."""
    outlines = {
        f"{number}": Outline(
            f"{number}", Label.FUNCTION, "demo", path, name.rpartition(".")[2], name, None, 3, "", f"{number}", 0.5
        )
        for number, (path, _, name) in enumerate(place.partition("::") for place in places)
    }
    ranked = [Ranked(each, 0.5, 0.5, each, owner=each) for each in outlines]
    return {places[int(each.id)]: each.twins for each in fold_twins(ranked, outlines)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("client.py::Client.get", "client.py::AsyncClient.get"),
        ("redis/asyncio/client.py::Redis.scan", "redis/client.py::Redis.scan"),
        ("db/async_session.py::commit", "db/session.py::commit"),
        ("_sync/http.py::Pool.close", "_async/http.py::AsyncPool.close"),
        ("mail.py::Sender.send", "mail.py::FakeSender.send"),
        ("model.py::Chain.invoke", "model.py::Chain.ainvoke"),
        ("model.py::Chain.ainvoke", "model.py::Chain.invoke"),
        ("io.py::read", "io.py::read"),
        ("jobs.py::run_sync", "jobs.py::run_async"),
    ],
)
def test_variants_are_folded_into_the_better_one(first: str, second: str) -> None:
    assert fold(first, "other.py::work", second) == {first: (second,), "other.py::work": ()}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("client.py::Client.get", "server.py::Server.get"),
        ("a.py::main", "b.py::main"),
        ("list.py::List.add", "list.py::List.dd"),
        ("files.py::sync_folder", "files.py::async_folders"),
        ("mask.py::Asynchronous.run", "mask.py::hronous.run"),
        ("model.py::count", "model.py::account"),
        ("model.py::accept", "model.py::ccept"),
        ("synced.py::run", "ed.py::run"),
    ],
)
def test_others_keep_their_places(first: str, second: str) -> None:
    assert fold(first, second) == {first: (), second: ()}


def test_a_query_names_the_variants_and_fills_their_places() -> None:
    code = "class {0}Client:\n    def fetch(self, url):\n        return self.load(url, {1})\n\n\n"
    store: FakeStore = make_store(
        {
            "web.py": code.format("", 1) + code.format("Async", 2),
            "disk.py": "def fetch_file(url):\n    return open(url)\n",
        }
    )
    options = QueryOptions(mode="function", top_k=2, hops=0, prune="none")
    hits = run_query(store, FakeEncoder(), "fetch a url", options).hits
    assert {hit.path for hit in hits} == {"web.py", "disk.py"}
    (folded,) = [hit for hit in hits if hit.path == "web.py"]
    other = "AsyncClient.fetch" if folded.qualname == "Client.fetch" else "Client.fetch"
    assert folded.twins == (f"web.py::{other}",)
