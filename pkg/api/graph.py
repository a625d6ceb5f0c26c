"""An open graph, with a method for each question that it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from pkg.api.building import NO_LISTENER, Ask, Listener, make_build_options
from pkg.api.lazy_types import api_types
from pkg.argument_types import check_sequence
from pkg.errors import QueryError, StoreChangedError, UsageError
from pkg.graph.audits import is_current
from pkg.graph.opening import find_address, open_store

RETRIES = 3  # of a read that a write interrupted: two writes within one read are rare

Result = TypeVar("Result")


def open_graph(store: str | None = None, *, ask: Ask | None = None) -> Graph:
    """Open the graph at an address; default: PKG_STORE, else the user's own store."""
    return Graph(open_store(find_address(store), ask=ask))


class Graph:
    """An open graph; use it in a with statement, or call close."""

    def __init__(self, store: api_types.GraphStore) -> None:
        self.store = store
        self._encoder: tuple[str, api_types.Encoder] | None = None  # with its name in the store

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def query(
        self,
        text: str,
        *,
        mode: api_types.Mode = "block",
        top_k: int = 3,
        blocks: api_types.BlockChoice = "all",
        ranking: api_types.RankingMethod = "linear",
        source: str | None = None,
        path: api_types.Globs = None,
        kind: api_types.BlockKind | None = None,
        budget: int = 8000,
        prune: api_types.PruneChoice | bool = "safe",
        prune_steps: int = 1,
        hops: int = 1,
        callers: bool = False,
        rerank_hits: str | None = None,
        helpers: api_types.HelperChoice = "needed",
        tests: api_types.TestChoice = "auto",
        declarations: bool = True,
        floor: bool = True,
        exclude_leaks: bool = False,
        fresh: bool = False,
    ) -> api_types.QueryResult:
        """Search code for a question, prune it, add called functions, and pack it into a budget.

        The options are described at pkg.QueryOptions. fresh: update the graph before, like refresh. coverage.stale
        lists files that changed since the build. Raises QueryError for a query that cannot be searched, UsageError for
        conflicting options.
        """
        from pkg.retrieval.query_options import QueryOptions

        options = QueryOptions(
            mode=mode,
            top_k=top_k,
            blocks=blocks,
            ranking=ranking,
            source=source,
            path=path,
            kind=kind,
            budget=budget,
            prune=prune,
            prune_steps=prune_steps,
            hops=hops,
            callers=callers,
            rerank_hits=rerank_hits,
            helpers=helpers,
            tests=tests,
            declarations=declarations,
            floor=floor,
            exclude_leaks=exclude_leaks,
        )
        return self._run_query(text, options, fresh)

    def refresh(
        self, source: str | None = None, *, listener: Listener = NO_LISTENER
    ) -> list[api_types.BuildReport | api_types.Skip]:
        """Update all sources, or one, incrementally from their input, with the options of their last build.

        A Skip is the reason why a source cannot be updated, such as a deleted folder; its graph is kept. Raises
        UsageError for an unknown source, StoreError for a store that cannot be written.
        """
        from pkg.indexing.build import refresh

        return refresh(self.store, source, make_build_options(None, 1, listener))

    def _answer(self, read: Callable[[], Result], fresh: bool, source: str | None) -> Result:
        """Read an answer, after an update of the graph if fresh."""
        if fresh:
            self.refresh(source)
        return _retry_read(read)

    def _answer_encoded(self, read: Callable[[api_types.Encoder], Result], fresh: bool, source: str | None) -> Result:
        """Read an answer with the encoder of the same generation."""

        def read_whole() -> Result:
            with self.store.snapshot():
                return read(self.load_encoder())

        return self._answer(read_whole, fresh, source)

    def _run_query(self, text: str, options: api_types.QueryOptions, fresh: bool = False) -> api_types.QueryResult:
        from pkg.retrieval.query import run_query

        order = self._open_order(options)
        return self._answer_encoded(
            lambda encoder: run_query(self.store, encoder, text, options, order), fresh, options.source
        )

    def _open_order(self, options: api_types.QueryOptions) -> api_types.HitOrder | None:
        """Return the order that rerank_hits names: by questions, or by a model."""
        if options.rerank_hits is None:
            return None
        if options.rerank_hits.startswith("questions"):
            from pkg.enhance.question_order import open_question_order

            order = open_question_order(options.rerank_hits)
            if order is not None and options.mode in ("text", "fact"):
                raise UsageError(
                    f"questions order functions, and mode '{options.mode}' finds texts; leave out one of them"
                )
            if order is not None:
                return order
        from pkg.retrieval.second_look import open_model_order

        return open_model_order(options.rerank_hits)

    def explore(
        self,
        text: str,
        *,
        budget: int = 1500,
        source: str | None = None,
        path: api_types.Globs = None,
        tests: api_types.TestChoice = "auto",
        fresh: bool = False,
    ) -> api_types.Exploration:
        """Find the code relevant to a text and its relationships, within a budget of tokens (0: no limit).

        The options are described at pkg.retrieval.query_options. fresh: update the graph before, like refresh. Raises
        QueryError for a query that cannot be searched.
        """
        from pkg.retrieval.explore import explore
        from pkg.retrieval.query_options import ExploreOptions

        options = ExploreOptions(budget, source, path, tests)
        return self._answer_encoded(lambda encoder: explore(self.store, encoder, text, options), fresh, source)

    def deps(
        self,
        name: str | os.PathLike[str] | None = None,
        *,
        question: api_types.QuestionKind = "links",
        to: str | None = None,
        source: str | None = None,
        depth: int | None = None,
        direction: api_types.Direction = "both",
        limit: int = 200,
        relations: tuple[api_types.RelationKind, ...] = (),
        diff: str | None = None,
        staged: bool = False,
        entries: bool = False,
        doubtful: bool = False,
        fresh: bool = False,
    ) -> api_types.Answer:
        """Find the dependencies of a name, or the readers of a constant; the options are described at pkg.DepsOptions.

        name: path:line, a path, a dotted module, a qualified or a bare name of a function, class, constant or field.
        fresh: update the graph before, like refresh; else coverage.stale lists changed files.
        Raises QueryError for an unknown name, UsageError for conflicting options.
        """
        from pkg.retrieval.deps.answer import DepsOptions
        from pkg.retrieval.deps.questions import run_deps

        check_sequence("relations", relations, 'kinds of links, such as ("CALLS",)')
        place = None if name is None else os.fspath(name)
        options = DepsOptions(
            question=question,
            to=to,
            source=source,
            depth=depth,
            direction=direction,
            limit=limit,
            relations=relations,
            diff=diff,
            staged=staged,
            entries=entries,
            doubtful=doubtful,
        )
        return self._answer(lambda: run_deps(self.store, place, options), fresh, source)

    def show(
        self, name: str | os.PathLike[str], *, source: str | None = None, limit: int = 10, fresh: bool = False
    ) -> api_types.Shown:
        """Return the source, docstring, callers and callees of a function, class, constant or file.

        name: as in deps. limit: links of one kind; 0 for no limit. fresh: update the graph before, like refresh.
        Raises QueryError for an unknown or ambiguous name.
        """
        from pkg.retrieval.show import run_show

        return self._answer(lambda: run_show(self.store, os.fspath(name), source, limit), fresh, source)

    def outline(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        source: str | None = None,
        budget: int = 2000,
        fresh: bool = False,
    ) -> api_types.CodeOutline:
        """Outline a file or folder by its classes and functions, or a source by its central definitions.

        budget: in tokens; 0 for no limit. fresh: update the graph before, like refresh. Raises QueryError for an
        unknown path, and without a path if there are several sources.
        """
        from pkg.retrieval.outline import run_outline

        place = None if path is None else os.fspath(path)
        return self._answer(lambda: run_outline(self.store, place, source, budget), fresh, source)

    def map(
        self, path: str | os.PathLike[str] | None = None, *, source: str | None = None, fresh: bool = False
    ) -> api_types.PackageMap:
        """Return the imports between folders and files of a source or below a path, and their cycles.

        fresh: update the graph before, like refresh. Raises QueryError for an unknown path, and without a path if there
        are several sources.
        """
        from pkg.retrieval.deps.package_map import run_map

        place = None if path is None else os.fspath(path)
        return self._answer(lambda: run_map(self.store, place, source), fresh, source)

    def impact(
        self,
        *names: str | os.PathLike[str],
        diff: str | None = None,
        staged: bool = False,
        source: str | None = None,
        depth: int | None = None,
        limit: int = 200,
        relations: tuple[api_types.RelationKind, ...] = (),
        entries: bool = False,
        fresh: bool = False,
    ) -> api_types.Impact:
        """Find the code that a change of functions, classes, constants, files or a git diff may break.

        names: as in deps. diff: a revision to compare the files with, or REV..REV. staged: compare the staged files.
        entries: also find the entry points of frameworks that reach it, such as routes and commands.
        fresh: update the graph before, like refresh.
        Raises QueryError for an unknown name or a diff without Python code, PathError for a missing repository or
        revision, UsageError for conflicting options.
        """
        from pkg.retrieval.deps.answer import DepsOptions
        from pkg.retrieval.deps.questions import run_impact

        check_sequence("relations", relations, 'kinds of links, such as ("CALLS",)')
        places = [os.fspath(name) for name in names]
        options = DepsOptions(
            "impact",
            source=source,
            depth=depth,
            limit=limit,
            relations=relations,
            diff=diff,
            staged=staged,
            entries=entries,
        )
        return self._answer(lambda: run_impact(self.store, places, options), fresh, source)

    def trace(self, command: str, *, source: str | None = None) -> api_types.TraceReport:
        """Run a command in the current folder and compare its calls with those of the graph.

        Output of the command goes to standard error. source: default: that of the current folder.
        """
        from pkg.trace import trace_calls

        return trace_calls(self.store, command, source)

    def prompt(self, result: api_types.QueryResult) -> str:
        """Return the augmented prompt of a result (P-19, P-20); without code if nothing fits."""
        from pkg.generation.prompt_templates.paper_templates import render_prompt

        return render_prompt(result)

    def generate(
        self,
        text: str,
        model: str | api_types.TextModel,
        options: api_types.GenerateOptions | None = None,
        *,
        query: api_types.QueryOptions | None = None,
        listen: api_types.Listen | None = None,
        say: Callable[[str], None] = lambda text: None,
        on_sample: Callable[[api_types.Sample], None] = lambda sample: None,
    ) -> api_types.WrittenAnswer:
        """Generate an answer to a question with the code found for it; generated code runs in the sandbox.

        model: a name such as gguf:FILE, or an open model. query: options of the search. listen: called with parts of
        the text if no other answer can replace it. say: called with each decision. on_sample: called with each checked
        sample. Raises ModelError and the errors of query; a query without known words is answered without context, and
        with the context ``auto`` so is one that nothing fits.
        """
        from pkg.api.answering import generate_answer, generate_in_context
        from pkg.generation.sample_writer import Context

        if options is not None and options.context == "none":
            return generate_answer(text, model, options, listen=listen, say=say, on_sample=on_sample)
        try:
            is_open = options is None or options.context == "auto"  # context chosen by the caller is always used
            result, context = self._find_context(text, query, is_open)
        except QueryError as fault:
            result, context = None, Context(notes=(f"answered without context: {fault}",))
        return replace(generate_in_context(text, model, context, options, listen, say, on_sample), result=result)

    def ask(
        self,
        question: str,
        model: str | api_types.TextModel | None = None,
        options: api_types.AskOptions | None = None,
        *,
        fresh: bool = False,
    ) -> api_types.RepositoryAnswer:
        """Answer a question about the code and its documents with checked citations; without a model, give evidence.

        model: a name such as gguf:FILE, or an open model. fresh: update the graph before, like refresh. Raises
        ModelError, and QueryError for a question that cannot be searched.
        """
        from pkg.generation.ask.ask_options import DEFAULT_ASK
        from pkg.models.registry import use_model

        options = options or DEFAULT_ASK
        if fresh:
            self.refresh(options.evidence.source)
        with use_model(model) as opened:
            return self.open_conversation(opened, options).ask(question)

    def open_conversation(
        self, model: api_types.TextModel | None = None, options: api_types.AskOptions | None = None
    ) -> api_types.QuestionAnswerer:
        """Open a conversation: questions may refer to earlier ones, and evidence keeps its numbers."""
        from pkg.generation.ask.ask_options import DEFAULT_ASK
        from pkg.generation.ask.question_answer import QuestionAnswerer
        from pkg.retrieval.deps.link_facts import LinkFacts
        from pkg.retrieval.evidence.gather_evidence import EvidenceReader

        options = options or DEFAULT_ASK
        source, reader = options.evidence.source, EvidenceReader(self.store, options.evidence)

        def gather(text: str) -> api_types.Gathered:
            return self._answer_encoded(lambda encoder: reader.read(encoder, text), False, source)

        repository = source or ", ".join(each.name for each in self.store.sources())
        return QuestionAnswerer(gather, repository, model, options, check_link=LinkFacts(self.store, source).check)

    def _find_context(
        self, text: str, query: api_types.QueryOptions | None, judge: bool = True
    ) -> tuple[api_types.QueryResult, api_types.Context]:
        """Search for code and for functions; return the context of an answer.

        judge: return an empty context if nothing fits.
        """
        from pkg.generation.answer_context import MOST_SIGNATURES, read_context
        from pkg.generation.sample_writer import Context
        from pkg.retrieval.query_options import PROMPT_HITS, QueryOptions, check_shows_code

        chosen = query or QueryOptions(top_k=PROMPT_HITS, helpers="all")
        check_shows_code(chosen.mode)
        chosen = replace(chosen, floor=chosen.floor and judge)
        functions = replace(chosen, mode="function", top_k=max(chosen.top_k, MOST_SIGNATURES), blocks="all", kind=None)
        code = self._run_query(text, chosen)
        if code.coverage.fits is False:
            return code, Context(notes=(f"answered without context: {code.coverage.notes[0]}",))
        whole = self._run_query(text, functions)
        return code, _retry_read(lambda: read_context(self.store, code, whole))

    def find_name(self, name: str, source: str | None = None) -> list[api_types.Node]:
        """Find the functions, classes and constants of a bare name."""
        return _retry_read(lambda: self.store.find_name(name, source))

    def docstrings(self, source: str | None = None) -> list[api_types.DocstringCount]:
        """Count the generated docstrings by source, model and prompt (A-13)."""
        from pkg.enhance.enhancement_session import count_docstrings

        return _retry_read(lambda: count_docstrings(self.store, source))

    def patches(
        self, source: str | None = None, fresh: Mapping[str, api_types.Docstring] | None = None
    ) -> Iterator[api_types.FilePatch | api_types.Skip]:
        """Yield a unified diff of each file with its generated docstrings, or a Skip with the reason for none.

        fresh: docstrings by content hash that are not stored yet; if given, only these are included.
        """
        from pkg.enhance.code_patch import list_all_patches

        return list_all_patches(self.store, source, fresh)

    def stats(self, source: str | None = None) -> api_types.StoreStats:
        """Return statistics of the graph or of one source; audits and sizes are those of the whole graph."""

        def read() -> api_types.StoreStats:
            audits = self.store.audits()
            outdated = tuple(each.benchmark for each in audits if not is_current(self.store, each))
            return replace(self.store.stats(source), audits=audits, outdated_audits=outdated)

        return _retry_read(read)

    def export(self, *, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the whole graph as JSON-ready lines, sorted and byte-stable."""
        return self.store.export(vectors)

    def export_bulk(self, folder: str | os.PathLike[str], *, jobs: int = 1) -> api_types.BulkReport:
        """Write files for `neo4j-admin database import` into a new or empty folder, which is emptied on failure."""
        from pkg.indexing.bulk_export import export_bulk

        return export_bulk(self.store, folder, jobs)

    def load_encoder(self) -> api_types.Encoder:
        """Return the encoder of the graph, loaded once; raise StoreMissingError if no graph was built."""
        name, _ = self.store.encoder()
        if self._encoder is None or self._encoder[0] != name:
            from pkg.indexing.store_encoder import load_store_encoder

            self._encoder = name, load_store_encoder(self.store)
        return self._encoder[1]


def _retry_read(read: Callable[[], Result]) -> Result:
    """Read; retry if a write ended meanwhile, and raise StoreChangedError after RETRIES."""
    for _ in range(RETRIES):
        with suppress(StoreChangedError):
            return read()
    return read()
