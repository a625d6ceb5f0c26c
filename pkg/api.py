"""The typed public API, which the commands use too.

Progress and questions go to callbacks of the caller; nothing here prints.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from pkg.argument_types import check_sequence, check_text
from pkg.config import default_store
from pkg.errors import PkgError, QueryError, StoreChangedError
from pkg.graph.audits import is_current
from pkg.graph.opening import open_store
from pkg.indexing.build import build, build_export, drop_source
from pkg.indexing.build_plan import BuildOptions, Progress
from pkg.indexing.report import BuildReport
from pkg.lazy_module import LazyModule
from pkg.rerank.candidates import CPU_SECONDS, INPUTS, STAGES, Ranking, RerankOptions

if TYPE_CHECKING:
    from pkg import api_types
else:
    api_types = LazyModule("pkg.api_types")

RETRIES = 3  # of a read that a write interrupted: two writes within one read are rare

Result = TypeVar("Result")

Ask = Callable[[str], str]
"""Called for the password of a server if PKG_NEO4J_PASSWORD is not set."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Callbacks of a build; the default ones do nothing, and without agree no code is sent to a service."""

    progress: Progress | None = None  # called with the bytes read and the total
    index_progress: Callable[[str, float], None] | None = None  # a server's index, percentage populated
    say: Callable[[str], None] = lambda text: None  # called with a message before a long step
    agree: Callable[[str], bool] | None = None  # called with an estimate before code is sent to a service
    ask: Ask | None = None
    enter: Callable[[str], None] = lambda stage: None  # called with each stage that follows reading


NO_LISTENER = Listener()


def build_graph(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    source: str | None = None,
    encoder: str | None = None,
    field: str | None = None,
    jobs: int = 1,
    max_file_size: int | None = None,
    follow_links: bool = False,
    text: bool = True,
    listener: Listener = NO_LISTENER,
) -> BuildReport:
    """Build or incrementally update the graph of a repository, archive, git revision or corpus.

    store: an address such as sqlite:///graph.db; default: PKG_STORE, else the user's own store.
    jobs: worker processes, 0 for one per processor; a script with more than one needs the
    ``if __name__ == "__main__"`` guard of multiprocessing.
    encoder: such as minilm; default: that of the store. Another encoder encodes the whole graph again.
    follow_links: follow links out of the folder to targets inside the user's home.
    text: include the text files of a repository, such as README.md.
    Raises pkg.errors.PkgError; the store is then unchanged.
    """
    options = _build_options(encoder, jobs, listener)
    with closing(_open_target(store, listener)) as target:
        return build(
            os.fspath(path),
            target,
            options,
            source=source,
            field=field,
            max_file_size=max_file_size,
            follow_links=follow_links,
            text=text,
        )


def watch_graph(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    source: str | None = None,
    encoder: str | None = None,
    field: str | None = None,
    jobs: int = 1,
    max_file_size: int | None = None,
    follow_links: bool = False,
    text: bool = True,
    poll: bool = False,
    on_fault: Callable[[PkgError], None] = lambda fault: None,
    listener: Listener = NO_LISTENER,
) -> Iterator[BuildReport]:
    """Build now and after each change on disk; yield a report of each round that changed anything.

    poll: check every second, where the system reports no changes. on_fault: called for a later round that failed, which
    is retried. The first build raises the errors of build_graph; raises PathError when the folder is deleted.
    """
    from pkg.indexing.watch import watch

    return watch(
        os.fspath(path),
        find_address(store),
        _build_options(encoder, jobs, listener),
        source=source,
        field=field,
        max_file_size=max_file_size,
        follow_links=follow_links,
        text=text,
        poll=poll,
        say=on_fault,
        open_target=partial(_open_target, listener=listener),
    )


def restore_graph(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    encoder: str | None = None,
    jobs: int = 1,
    listener: Listener = NO_LISTENER,
) -> list[BuildReport]:
    """Build the sources of an export, with one report each; the resulting graph is byte-equal."""
    with closing(_open_target(store, listener)) as target:
        return build_export(os.fspath(path), target, _build_options(encoder, jobs, listener))


def remove_source(name: str, *, store: str | None = None, ask: Ask | None = None) -> BuildReport:
    """Remove a source with everything in it; raise UsageError for an unknown one."""
    with closing(open_store(find_address(store), ask=ask)) as target:
        return drop_source(target, name)


def enhance_graph(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    form: str | None = None,
    comments: bool = False,
    limit: int | None = None,
    minutes: float | None = None,
    max_cost: float | None = None,
    price: str | None = None,
    retry_failed: bool = False,
    is_stored: bool = True,
    listen: api_types.EnhancementListen | None = None,
    listener: Listener = NO_LISTENER,
) -> list[api_types.EnhanceReport]:
    """Generate and store docstrings for functions without one, the most called first (P-07); one report per source.

    model: such as gguf:FILE, openai:NAME@URL or template. form: the prompt template; default: the best for the model.
    comments: write comments before blocks too (P-08), which takes several times as long.
    limit, minutes, max_cost: budgets; max_cost needs price, of a million tokens: IN/OUT.
    retry_failed: retry functions that failed before. is_stored: if false, docstrings are only cached.
    listen: called for each function. Docstrings in the code and files are never changed.
    Raises pkg.errors.PkgError; docstrings generated before are stored.
    """
    from pkg.indexing.enhancement_session import run_enhancement

    options = _enhance_options(model, form, limit, minutes, max_cost, price, listener)
    options = replace(options, comments=comments, retry_failed=retry_failed, is_stored=is_stored)
    options = options if listen is None else replace(options, listen=listen)
    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return list(run_enhancement(target, source, options))


def estimate_enhancement(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    form: str | None = None,
    limit: int | None = None,
    price: str | None = None,
    listener: Listener = NO_LISTENER,
) -> api_types.EnhanceEstimate:
    """Estimate time and cost of enhance_graph from docstrings of twenty functions, which stay in the cache.

    Without agreement to send them to another machine, the estimate uses the sizes of functions only.
    Raises pkg.errors.PkgError.
    """
    from pkg.indexing.enhancement_session import estimate_enhancement

    options = _enhance_options(model, form, limit, None, None, price, listener)
    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return estimate_enhancement(target, source, options)


def list_failures(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    form: str | None = None,
    ask: Ask | None = None,
) -> list[tuple[str, str, str]]:
    """Return the functions for which a model failed: path, qualified name and reason; the model is not called."""
    from pkg.indexing.enhancement_session import EnhanceOptions, list_known_failures

    with closing(open_store(find_address(store), ask=ask)) as target:
        found = list_known_failures(target, source, EnhanceOptions(model, form))
        return [(target.path, target.qualname, reason) for target, reason in found]


def remove_docstrings(
    model: str, *, store: str | None = None, source: str | None = None, listener: Listener = NO_LISTENER
) -> dict[str, int]:
    """Remove all traces of the docstrings of a model from a graph; return their number by source.

    Raises UsageError for an unknown model, or if code would be sent to an encoder without agreement.
    """
    from pkg.indexing.enhancement_session import undo_enhancement

    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return undo_enhancement(target, source, model, listener.agree)


def open_graph(store: str | None = None, *, ask: Ask | None = None) -> Graph:
    """Open the graph at an address; default: PKG_STORE, else the user's own store."""
    return Graph(open_store(find_address(store), ask=ask))


def verify_stores(a: str, b: str, *, vectors: bool = False, ask: Ask | None = None) -> api_types.Verification:
    """Compare the graphs at two addresses node by node and relationship by relationship, optionally with vectors."""
    from pkg.graph.verify import compare_stores

    first_address, second_address = find_address(a), find_address(b)
    with closing(open_store(first_address, ask=ask)) as first, closing(open_store(second_address, ask=ask)) as second:
        return compare_stores(first, second, vectors)


def diff_graphs(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    source: tuple[str | None, str | None] = (None, None),
    listener: Listener = NO_LISTENER,
) -> api_types.CodeDiff:
    """Compare the definitions and links of two graphs or two states of code.

    a, b: store addresses, or paths for build_graph, such as FOLDER@REVISION, of which temporary graphs are built.
    source: the names of the sources in a and b, required where a store has several. Raises QueryError for a missing or
    unknown source, and the errors of build_graph and open_graph.
    """
    from pkg.graph.code_diff import compare_code_graphs

    check_sequence("source", source, 'two names, such as ("shop", None)')
    a, b = os.fspath(a), os.fspath(b)
    with TemporaryDirectory(prefix="pkg-diff-") as folder, ExitStack() as opened:
        first = opened.enter_context(_open_side(a, f"{folder}/a.db", listener))
        second = opened.enter_context(_open_side(b, f"{folder}/b.db", listener))
        found = compare_code_graphs(first, second, *source)
    return replace(found, a=found.a if "://" in a else a, b=found.b if "://" in b else b)


@contextmanager
def _open_side(side: str, place: str, listener: Listener) -> Iterator[api_types.GraphStore]:
    """Open a store by its address; for a path, build and open a graph at `place`."""
    address = side if "://" in side else f"sqlite:///{place}"
    if "://" not in side:
        build_graph(side, store=address, listener=listener)
    with closing(open_store(address, ask=listener.ask)) as store:
        yield store


def rank_candidates(
    query: str,
    candidates: Sequence[str | Mapping[str, Any] | api_types.Candidate],
    *,
    examples: Sequence[Any] = (),
    stages: Sequence[api_types.StageName] = STAGES,
    weights: Mapping[str, float] | None = None,
    compare: api_types.Comparison = "stripped",
    sandbox: api_types.BackendName | None = None,
    jobs: int = 0,
    inputs: int = INPUTS,
    cpu_seconds: float = CPU_SECONDS,
    seed: int = 0,
    encoder: str = "static",
) -> Ranking:
    """Choose the best of several answers to a query, with reasons (P-23 to P-25, A-08); needs no graph.

    candidates: at least one text, or object with a text and optionally an id.
    examples: input and output examples such as "f(2) == 4" or {"call": "f(2)", "expected": 4}.
    The other options are those of pkg.RerankOptions. For many queries use rank_tasks, which keeps one sandbox.
    Raises InputError without candidates, TypeError for a text or mapping instead of a sequence.
    """
    from pkg.rerank.reranker import Reranker

    check_text("query", query, "a text, such as the task in words")
    check_sequence("candidates", candidates, 'texts, or of objects with the field text, such as [{"text": "x = 1"}]')
    check_sequence("examples", examples, 'texts or objects, such as ["f(2) == 4"]')
    check_sequence("stages", stages, f"names: {', '.join(STAGES)}")
    options = RerankOptions(
        stages=tuple(stages),
        weights=weights or {},
        compare=compare,
        sandbox=sandbox,
        jobs=jobs,
        inputs=inputs,
        cpu_seconds=cpu_seconds,
        seed=seed,
        encoder=encoder,
    )
    with Reranker(options) as reranker:
        return reranker.rerank(query, candidates, examples=examples)


def rank_tasks(
    tasks: Iterable[api_types.Task | api_types.Skip],
    *,
    options: RerankOptions | None = None,
    oracle: Mapping[api_types.Name, Any] | None = None,
) -> Iterator[Ranking | api_types.Skip]:
    """Rank tasks concurrently and yield the rankings in their order; a Skip for a task that cannot be ranked.

    oracle: hidden tests by task id, for research; their choice is no valid measurement.
    """
    from pkg.rerank.reranker import Reranker
    from pkg.rerank.tasks import rank_all

    check_sequence("tasks", tasks, "pkg.Task")
    with Reranker(options) as reranker:
        yield from rank_all(reranker, tasks, oracle)


def rank_stream(
    tasks: AsyncIterable[api_types.Task | api_types.Skip] | Iterable[api_types.Task | api_types.Skip],
    *,
    options: RerankOptions | None = None,
) -> AsyncIterator[Ranking | api_types.Skip]:
    """Rank tasks one by one as they arrive; yield a Skip for a task that cannot be ranked."""
    from pkg.rerank.reranker import Reranker
    from pkg.rerank.tasks import rank_one_by_one

    return rank_one_by_one(lambda: Reranker(options), tasks)


def generate_answer(
    text: str,
    model: str | api_types.TextModel,
    options: api_types.GenerateOptions | None = None,
    *,
    listen: api_types.Listen | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> api_types.WrittenAnswer:
    """Generate an answer to a question without a graph; Graph.generate adds context from the graph."""
    from pkg.generation.sample_writer import Context

    return _generate(text, model, Context(), options, listen, say)


def _generate(
    text: str,
    model: str | api_types.TextModel,
    context: api_types.Context,
    options: api_types.GenerateOptions | None,
    listen: api_types.Listen | None,
    say: Callable[[str], None],
) -> api_types.WrittenAnswer:
    from pkg.generation.cascade import write_answer
    from pkg.generation.generate_options import GenerateOptions
    from pkg.generation.prompt_templates.template_choice import check_template
    from pkg.models.registry import use_model
    from pkg.rerank.reranker import Reranker

    options = options or GenerateOptions()
    check_template(options.form)  # before the model is loaded
    with use_model(model) as opened, Reranker() as reranker:
        return write_answer(text, opened, context, options, reranker, listen=listen, say=say)


def write_corpus(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    docstrings: bool = True,
    documented: bool = False,
    any_licence: bool = False,
    licence: str | None = None,
) -> api_types.CorpusReport:
    """Write rows and the functions of packages into one corpus for build_graph, each with its source and licence.

    paths: files of rows, wheels, source distributions, folders, names of installed packages. docstrings: keep those of
    packages in the code. documented: only functions with a docstring. any_licence: include packages of any licence.
    licence: of rows without one. Raises PathError, UsageError if the output is also an input, InputError if no row is
    left.
    """
    from pkg.extract.recipe.corpus_recipe import RecipeOptions, make_corpus

    check_sequence("paths", paths, 'files, folders or names of packages, such as ["rows.jsonl"]')
    options = RecipeOptions(docstrings, documented, any_licence, licence)
    return make_corpus([os.fspath(path) for path in paths], os.fspath(output), options)


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
    ) -> list[BuildReport | api_types.Skip]:
        """Update all sources, or one, incrementally from their input, with the options of their last build.

        A Skip is the reason why a source cannot be updated, such as a deleted folder; its graph is kept. Raises
        UsageError for an unknown source, StoreError for a store that cannot be written.
        """
        from pkg.indexing.build import refresh

        return refresh(self.store, source, _build_options(None, 1, listener))

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

        return self._answer_encoded(
            lambda encoder: run_query(self.store, encoder, text, options), fresh, options.source
        )

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
    ) -> api_types.WrittenAnswer:
        """Generate an answer to a question with the code found for it; generated code runs in the sandbox.

        model: a name such as gguf:FILE, or an open model. query: options of the search. listen: called with parts of
        the text if no other answer can replace it. say: called with each decision. Raises ModelError and the errors of
        query; a query without known words is answered without context, and with the context ``auto`` so is one that
        nothing fits.
        """
        from pkg.generation.sample_writer import Context

        if options is not None and options.context == "none":
            return generate_answer(text, model, options, listen=listen, say=say)
        try:
            is_open = options is None or options.context == "auto"  # context chosen by the caller is always used
            result, context = self._find_context(text, query, is_open)
        except QueryError as fault:
            result, context = None, Context(notes=(f"answered without context: {fault}",))
        return replace(_generate(text, model, context, options, listen, say), result=result)

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
        from pkg.indexing.docstring_counts import count_docstrings
        from pkg.indexing.enhancement_session import list_sources

        def count() -> list[api_types.DocstringCount]:
            with self.store.snapshot():
                names = list_sources(self.store, source)
                return [each for name in names for each in count_docstrings(self.store, name)]

        return _retry_read(count)

    def patches(
        self, source: str | None = None, fresh: Mapping[str, api_types.Docstring] | None = None
    ) -> Iterator[api_types.FilePatch | api_types.Skip]:
        """Yield a unified diff of each file with its generated docstrings, or a Skip with the reason for none.

        fresh: docstrings by content hash that are not stored yet; if given, only these are included.
        """
        from pkg.indexing.code_patch import list_all_patches

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
        from pkg.encode.registry import load_encoder
        from pkg.errors import StoreMissingError

        name, _ = self.store.encoder()
        if not name:
            raise StoreMissingError(f"no graph in {self.store.address} yet; run: pkg build PATH")
        if self._encoder is None or self._encoder[0] != name:
            from pkg.indexing.store_encoder import choose_query_encoder

            self._encoder = name, load_encoder(choose_query_encoder(self.store))
        return self._encoder[1]


def _retry_read(read: Callable[[], Result]) -> Result:
    """Read; retry if a write ended meanwhile, and raise StoreChangedError after RETRIES."""
    for _ in range(RETRIES):
        with suppress(StoreChangedError):
            return read()
    return read()


def _build_options(encoder: str | None, jobs: int, listener: Listener) -> BuildOptions:
    return BuildOptions(encoder, jobs, listener.progress, listener.say, listener.agree, listener.enter)


def _enhance_options(
    model: str,
    form: str | None,
    limit: int | None,
    minutes: float | None,
    max_cost: float | None,
    price: str | None,
    listener: Listener,
) -> api_types.EnhanceOptions:
    from pkg.indexing.enhancement_budget import Budget
    from pkg.indexing.enhancement_session import EnhanceOptions
    from pkg.models.usage import parse_price

    seconds = None if minutes is None else minutes * 60
    budget = Budget(limit, seconds, max_cost, None if price is None else parse_price(price))
    return EnhanceOptions(model, form, budget=budget, agree=listener.agree)


def _open_target(store: str | None, listener: Listener) -> api_types.GraphStore:
    return open_store(find_address(store), create=True, ask=listener.ask, watch=listener.index_progress)


def find_address(store: str | None) -> str:
    """Return the store address: the argument, else PKG_STORE, else the user's own; raise TypeError for a path."""
    if store is not None:
        check_text("store", store, "an address, such as sqlite:///graph.db")
    return store or os.environ.get("PKG_STORE") or default_store()
