"""The Python interface: build a graph, open it, ask it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from pkg.config import default_store
from pkg.errors import StoreChangedError, UsageError
from pkg.graph.opening import open_store
from pkg.indexing.build import BuildOptions, BuildReport, Progress, build_export
from pkg.indexing.build import build as run_build
from pkg.rerank.candidates import Ranking

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from pkg.encode.encoder import Encoder
    from pkg.evaluation.trace import TraceReport
    from pkg.graph.store import GraphStore, StoreStats
    from pkg.graph.verify import Verification
    from pkg.model import Node, QueryResult, Skip
    from pkg.rerank.candidates import Candidate, Task
    from pkg.retrieval.deps import Answer
    from pkg.retrieval.query_options import QueryOptions

RETRIES = 3  # of a read that a write fell into: two writes within one read are rare, four are not to be waited for

Found = TypeVar("Found")
Options = TypeVar("Options", bound="DataclassInstance")


def build(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    source: str | None = None,
    encoder: str | None = None,
    field: str | None = None,
    jobs: int = 1,
    max_file_size: int | None = None,
    follow_links: bool = False,
    progress: Progress | None = None,
    agree: Callable[[str], bool] | None = None,
) -> BuildReport:
    """Build or update the graph of a repository, archive, git revision or corpus; only what changed is done again.

    store: an address such as sqlite:///graph.db; without one PKG_STORE, else the user's own store.
    jobs: worker processes, 0 for one per processor; a script that asks for more than one needs the
    ``if __name__ == "__main__"`` guard of multiprocessing.
    encoder: such as minilm; without one the store's own. Another one than before encodes the whole graph anew.
    follow_links: read what links lead to outside of the folder too, as long as it lies in the user's home.
    agree: asked, with an estimate, before code is sent to a service; without it nothing is ever sent.
    Raises pkg.errors.PkgError; the store then holds what it held before.
    """
    with closing(open_store(find_address(store), create=True)) as target:
        options = BuildOptions(encoder, jobs, progress, agree=agree)
        return run_build(
            os.fspath(path), target, options,
            source=source, field=field, max_file_size=max_file_size, follow_links=follow_links,
        )  # fmt: skip


def restore(path: str, *, store: str | None = None, encoder: str | None = None, jobs: int = 1) -> list[BuildReport]:
    """Build the sources of an export again, one report each; the graph comes out byte-equal."""
    with closing(open_store(find_address(store), create=True)) as target:
        return build_export(path, target, BuildOptions(encoder, jobs))


def open_graph(store: str | None = None, *, ask: Callable[[str], str] | None = None) -> Graph:
    """Open the graph at an address for questions; without one PKG_STORE, else the user's own store.

    ask: called for the password of a server where PKG_NEO4J_PASSWORD is not set.
    """
    return Graph(open_store(find_address(store), ask=ask))


def verify(a: str, b: str, *, vectors: bool = False, ask: Callable[[str], str] | None = None) -> Verification:
    """Compare the graphs at two addresses, node by node and relationship by relationship; vectors when asked to."""
    from pkg.graph.verify import verify_stores

    with closing(open_store(a, ask=ask)) as first, closing(open_store(b, ask=ask)) as second:
        return verify_stores(first, second, vectors)


def rerank(
    query: str,
    candidates: Sequence[str | Mapping[str, Any] | Candidate],
    *,
    examples: Sequence[Any] = (),
    **options: Any,
) -> Ranking:
    """Choose the best of several answers to a query, and say why (P-23 to P-25, A-08); no graph is needed.

    candidates: texts, or objects with a text and perhaps an id; one is enough, none is an InputError.
    examples: what is known beside the query, as "f(2) == 4" or {"call": "f(2)", "expected": 4}.
    options: the fields of pkg.rerank.candidates.RerankOptions. For many queries keep a pkg.rerank.reranker.Reranker.
    """
    from pkg.rerank.candidates import RerankOptions
    from pkg.rerank.reranker import Reranker

    with Reranker(_make_options(RerankOptions, options)) as reranker:
        return reranker.rerank(query, candidates, examples=examples)


def rerank_stream(
    tasks: AsyncIterable[Task | Skip] | Iterable[Task | Skip], **options: Any
) -> AsyncIterator[Ranking | Skip]:
    """Rank tasks as they come, one after the other; a task that cannot be ranked comes out as a Skip."""
    from pkg.rerank.candidates import RerankOptions
    from pkg.rerank.reranker import Reranker
    from pkg.rerank.tasks import rank_stream

    chosen = _make_options(RerankOptions, options)
    return rank_stream(lambda: Reranker(chosen), tasks)


def _make_options(kind: type[Options], given: dict[str, Any]) -> Options:
    """Make the options of a use case; a UsageError that lists their fields for what is none."""
    try:
        return kind(**given)
    except TypeError as fault:
        names = ", ".join(each.name for each in fields(kind))
        raise UsageError(f"{fault}; expected the fields of {kind.__name__}: {names}") from None


class Graph:
    """A graph to ask; use it in a with statement, or call close."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self._encoder: tuple[str, Encoder] | None = None  # with the name that the store knows it by

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store."""
        self.store.close()

    def query(self, text: str, **options: Any) -> QueryResult:
        """Find what helps with a question; options are the fields of pkg.retrieval.query.QueryOptions."""
        from pkg.retrieval.query import QueryOptions

        chosen = _make_options(QueryOptions, options)
        return _read_again(lambda: self._query(text, chosen))

    def _query(self, text: str, options: QueryOptions) -> QueryResult:
        """Ask one generation with its own encoder, which a build may have changed since the last question."""
        from pkg.retrieval.query import run_query

        with self.store.snapshot():
            return run_query(self.store, self._load_encoder(), text, options)

    def deps(self, name: str | None = None, **options: Any) -> Answer:
        """Tell what depends on what; options are the fields of pkg.retrieval.deps.DepsOptions.

        name: path:line, a path, a dotted module, a qualified or a bare name of a function or class.
        """
        from pkg.retrieval.deps import DepsOptions, run_deps

        chosen = _make_options(DepsOptions, options)
        return _read_again(lambda: run_deps(self.store, name, chosen))

    def trace(self, command: str, *, source: str | None = None) -> TraceReport:
        """Run a command in the current folder, and compare the calls that it makes with those of the graph.

        What the command writes goes to standard error. source: which one; else that of the current folder.
        """
        from pkg.evaluation.trace import trace_calls

        return trace_calls(self.store, command, source)

    def prompt(self, result: QueryResult) -> str:
        """Write the augmented prompt of a result (P-19, P-20)."""
        from pkg.generation.prompt import render_prompt

        return render_prompt(result)

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        """Find the functions and classes of a bare name."""
        return _read_again(lambda: self.store.find_name(name, source))

    def stats(self) -> StoreStats:
        """Count what the graph holds."""
        return _read_again(self.store.stats)

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Give the whole graph as JSON-ready lines, sorted and byte-stable."""
        return self.store.export(vectors)

    def _load_encoder(self) -> Encoder:
        from pkg.encode.registry import load_encoder
        from pkg.errors import StoreMissingError

        name, _ = self.store.encoder()
        if not name:
            raise StoreMissingError(f"no graph in {self.store.address} yet; run: pkg build PATH")
        if self._encoder is None or self._encoder[0] != name:
            from pkg.indexing.reencode import keep_encoder

            self._encoder = name, load_encoder(keep_encoder(self.store))
        return self._encoder[1]


def _read_again(read: Callable[[], Found]) -> Found:
    """Read, and read again where a write has ended meanwhile; a StoreChangedError when that goes on and on."""
    for _ in range(RETRIES):
        with suppress(StoreChangedError):
            return read()
    return read()


def find_address(store: str | None) -> str:
    """Choose the store address: the argument, else PKG_STORE, else the user's own."""
    return store or os.environ.get("PKG_STORE") or default_store()
