"""The typed door to all that PKG does: the commands and a script go through the same functions.

Whatever takes long or may ask is told to functions that the caller hands over; nothing here prints.
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

RETRIES = 3  # of a read that a write fell into: two writes within one read are rare, four are not to be waited for

Found = TypeVar("Found")

Ask = Callable[[str], str]
"""Asked for the password of a server where PKG_NEO4J_PASSWORD is not set."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Whom a build tells how far it is, and whom it asks; by default nobody, and then nothing is ever sent anywhere."""

    progress: Progress | None = None  # told how many of how many bytes were read
    index_progress: Callable[[str, float], None] | None = None  # told a server's index, and its percent that are filled
    say: Callable[[str], None] = lambda text: None  # told what takes long before it begins
    agree: Callable[[str], bool] | None = None  # asked, with an estimate, before code is sent to a service
    ask: Ask | None = None
    enter: Callable[[str], None] = lambda stage: None  # told what a build does when all is read, as it begins


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
    """Build or update the graph of a repository, archive, git revision or corpus; only what changed is done again.

    store: an address such as sqlite:///graph.db; without one PKG_STORE, else the user's own store.
    jobs: worker processes, 0 for one per processor; a script that asks for more than one needs the
    ``if __name__ == "__main__"`` guard of multiprocessing.
    encoder: such as minilm; without one the store's own. Another one than before encodes the whole graph anew.
    follow_links: read what links lead to outside of the folder too, as long as it lies in the user's home.
    text: read the text files of a repository too, such as README.md.
    Raises pkg.errors.PkgError; the store then holds what it held before.
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
    """Build now and again after each change on disk; give a report of each round that changed anything.

    poll: look every second, where the system tells of no changes. on_fault: told of a later round that failed, which
    is tried again. The first build raises what build_graph raises; a folder that is gone ends it by a PathError.
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
    """Build the sources of an export again, one report each; the graph comes out byte-equal."""
    with closing(_open_target(store, listener)) as target:
        return build_export(os.fspath(path), target, _build_options(encoder, jobs, listener))


def remove_source(name: str, *, store: str | None = None, ask: Ask | None = None) -> BuildReport:
    """Remove a source with everything in it; a UsageError that lists the sources where there is none of the name."""
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
    """Write docstrings for functions that have none, the most called first, and store them (P-07); a report a source.

    model: such as gguf:FILE, openai:NAME@URL or template. form: of the prompt, else the best for the model.
    comments: write comments before the blocks as well (P-08), which takes several times as long.
    limit, minutes, max_cost: what may be spent at most; a cost needs the price of a million tokens, IN/OUT.
    retry_failed: ask again for what failed before. is_stored: else all goes into the cache of docstrings alone.
    listen: told of each function. No docstring of a person is touched, and no file is written.
    Raises pkg.errors.PkgError; what was written until then is stored.
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
    """Estimate what enhance_graph takes, from twenty functions that are written for it and stay in the cache.

    Where nobody agrees that they are sent to another machine, the sizes of the functions alone tell.
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
    """List the functions that a model has failed at: path, qualified name and reason; nothing is asked of it."""
    from pkg.indexing.enhancement_session import EnhanceOptions, list_known_failures

    with closing(open_store(find_address(store), ask=ask)) as target:
        found = list_known_failures(target, source, EnhanceOptions(model, form))
        return [(target.path, target.qualname, reason) for target, reason in found]


def remove_docstrings(
    model: str, *, store: str | None = None, source: str | None = None, listener: Listener = NO_LISTENER
) -> dict[str, int]:
    """Take the docstrings of a model out of a graph, which is then as if they had never been; how many, by source.

    A UsageError names the models where there is none of that name, or says that code would be sent to an encoder.
    """
    from pkg.indexing.enhancement_session import undo_enhancement

    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return undo_enhancement(target, source, model, listener.agree)


def open_graph(store: str | None = None, *, ask: Ask | None = None) -> Graph:
    """Open the graph at an address for questions; without one PKG_STORE, else the user's own store."""
    return Graph(open_store(find_address(store), ask=ask))


def verify_stores(a: str, b: str, *, vectors: bool = False, ask: Ask | None = None) -> api_types.Verification:
    """Compare the graphs at two addresses, node by node and relationship by relationship; vectors when asked to."""
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
    """Compare two graphs, or two states of code, in words of code.

    a, b: store addresses, or what build_graph reads, such as FOLDER@REVISION; that is built for the moment, and nothing
    of it stays. source: the names of the sources in a and in b, where a store has several. Raises QueryError where a
    source is not named that must be, and what build_graph and open_graph raise.
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
    """Open a store by its address; of anything else build a graph at a place, and open that."""
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
    """Choose the best of several answers to a query, and say why (P-23 to P-25, A-08); no graph is needed.

    candidates: texts, or objects with a text and perhaps an id; one is enough, none is an InputError.
    examples: what is known beside the query, as "f(2) == 4" or {"call": "f(2)", "expected": 4}.
    The other options are those of pkg.RerankOptions. For many queries call rank_tasks, which keeps one sandbox.
    Raises TypeError for a single text or a mapping where a sequence is expected.
    """
    from pkg.rerank.reranker import Reranker

    check_text("query", query, "a text, such as the task in words")
    check_sequence("candidates", candidates, 'texts, or of objects with the field text, such as [{"text": "x = 1"}]')
    check_sequence("examples", examples, 'texts or objects, such as ["f(2) == 4"]')
    check_sequence("stages", stages, f"names: {', '.join(STAGES)}")
    options = RerankOptions(tuple(stages), weights or {}, compare, sandbox, jobs, inputs, cpu_seconds, seed, encoder)
    with Reranker(options) as reranker:
        return reranker.rerank(query, candidates, examples=examples)


def rank_tasks(
    tasks: Iterable[api_types.Task | api_types.Skip],
    *,
    options: RerankOptions | None = None,
    oracle: Mapping[api_types.Name, Any] | None = None,
) -> Iterator[Ranking | api_types.Skip]:
    """Rank tasks several at once and give what comes of them in their order; one that cannot be ranked is a Skip.

    oracle: hidden tests by task id, for research; what they choose is worth nothing as a measurement.
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
    """Rank tasks as they come, one after the other; a task that cannot be ranked comes out as a Skip."""
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
    """Have a text model answer a question without any graph; Graph.generate shows it what the graph has."""
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
    check_template(options.form)  # before a model is loaded for nothing
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

    paths: files of rows, wheels, source distributions, folders, names of installed packages. docstrings: leave those of
    packages in their code. documented: take only functions that have one. any_licence: take packages whatever their
    licence. licence: of rows that name none. Raises PathError, UsageError where the output is also read, InputError
    where no row is left.
    """
    from pkg.extract.recipe.corpus_recipe import RecipeOptions, make_corpus

    check_sequence("paths", paths, 'files, folders or names of packages, such as ["rows.jsonl"]')
    options = RecipeOptions(docstrings, documented, any_licence, licence)
    return make_corpus([os.fspath(path) for path in paths], os.fspath(output), options)


class Graph:
    """A graph to ask; use it in a with statement, or call close."""

    def __init__(self, store: api_types.GraphStore) -> None:
        self.store = store
        self._encoder: tuple[str, api_types.Encoder] | None = None  # with the name that the store knows it by

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store."""
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
        """Find what helps with a question: search, prune, add what is called, pack.

        What each option means stands at pkg.QueryOptions; with fresh the graph is brought up to date before, as refresh
        does. Files that have changed since the build stand in coverage.stale. Raises QueryError where nothing can be
        asked, UsageError for options that cannot be meant together.
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
        """Bring all sources up to date with what they were built from, or the one named; only what changed is read.

        Each is read as it was read before. A Skip says why one cannot be, such as a folder that is gone; the graph
        keeps what it holds of it. Raises UsageError for an unknown source, StoreError where nothing can be written.
        """
        from pkg.indexing.refresh import refresh

        return refresh(self.store, source, _build_options(None, 1, listener))

    def _answer(self, read: Callable[[], Found], fresh: bool, source: str | None) -> Found:
        """Read an answer, from a graph that is brought up to date before where that is asked for."""
        if fresh:
            self.refresh(source)
        return _read_again(read)

    def _answer_encoded(self, read: Callable[[api_types.Encoder], Found], fresh: bool, source: str | None) -> Found:
        """Read an answer with the encoder of the graph, both of one generation: a build may change the encoder."""

        def read_whole() -> Found:
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
        """Find the code that matters to a text and how it hangs together, within a budget of tokens (0: no limit).

        What each option means stands at pkg.retrieval.explore_options. fresh: bring the graph up to date before, as
        refresh does. Raises QueryError where nothing can be asked.
        """
        from pkg.retrieval.explore import explore
        from pkg.retrieval.explore_options import ExploreOptions

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
        """Tell what depends on what, or who reads a constant; what each option means stands at pkg.DepsOptions.

        name: path:line, a path, a dotted module, a qualified or a bare name of a function, class, constant or field.
        fresh: bring the graph up to date before, as refresh does; else coverage.stale lists files that have changed.
        Raises QueryError for a name that the graph does not know, UsageError for options that do not fit together.
        """
        from pkg.retrieval.deps.answer import DepsOptions
        from pkg.retrieval.deps.questions import run_deps

        check_sequence("relations", relations, 'kinds of links, such as ("CALLS",)')
        place = None if name is None else os.fspath(name)
        options = DepsOptions(
            question, to, source, depth, direction, limit, relations, diff, staged, entries, doubtful
        )  # fmt: skip
        return self._answer(lambda: run_deps(self.store, place, options), fresh, source)

    def show(
        self, name: str | os.PathLike[str], *, source: str | None = None, limit: int = 10, fresh: bool = False
    ) -> api_types.Shown:
        """Show the source of a function, class, constant or file, with what it says of itself, its callers and callees.

        name: as deps takes it. limit: links of one kind; 0 for no limit. fresh: bring the graph up to date before, as
        refresh does. Raises QueryError for a name that the graph does not know, or that may mean several things.
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
        """Outline a file or a folder by its classes and functions, or a whole source by what is central in it.

        budget: tokens that what is shown may take; 0 for no limit. fresh: bring the graph up to date before, as refresh
        does. Raises QueryError for a path that is not there, and without one where there are several sources.
        """
        from pkg.retrieval.outline import run_outline

        place = None if path is None else os.fspath(path)
        return self._answer(lambda: run_outline(self.store, place, source, budget), fresh, source)

    def map(
        self, path: str | os.PathLike[str] | None = None, *, source: str | None = None, fresh: bool = False
    ) -> api_types.PackageMap:
        """Map a source, or what lies below a path: which folder and which file imports which, and the cycles.

        fresh: bring the graph up to date before, as refresh does. Raises QueryError for a path that is not there, and
        without one where there are several sources.
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
        """Tell what may break when functions, classes, constants or files change, or what a git diff touches.

        names: as for deps. diff: a revision to compare the files with, or REV..REV; staged: compare what is staged.
        entries: find also by which routes, commands and the like frameworks enter that.
        fresh: bring the graph up to date before, as refresh does.
        Raises QueryError for a name that the graph does not know or a diff without Python code, PathError where there
        is no git repository or it lacks a revision, UsageError for options that do not fit together.
        """
        from pkg.retrieval.deps.answer import DepsOptions
        from pkg.retrieval.deps.questions import run_impact

        check_sequence("relations", relations, 'kinds of links, such as ("CALLS",)')
        places = [os.fspath(name) for name in names]
        options = DepsOptions(
            "impact", source=source, depth=depth, limit=limit, relations=relations, diff=diff, staged=staged,
            entries=entries,
        )  # fmt: skip
        return self._answer(lambda: run_impact(self.store, places, options), fresh, source)

    def trace(self, command: str, *, source: str | None = None) -> api_types.TraceReport:
        """Run a command in the current folder, and compare the calls that it makes with those of the graph.

        What the command writes goes to standard error. source: which one; else that of the current folder.
        """
        from pkg.trace import trace_calls

        return trace_calls(self.store, command, source)

    def prompt(self, result: api_types.QueryResult) -> str:
        """Write the augmented prompt of a result (P-19, P-20); where nothing fits, the one without code."""
        from pkg.generation.prompt import render_prompt

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
        """Have a text model answer a question with the code found for it; code that it writes runs in the sandbox.

        model: a name such as gguf:FILE, or a model that stays open. query: how the code is searched for. listen: told
        the text piece by piece, where no other answer can replace it. say: told each decision. Raises ModelError and
        what query raises; a question of which no word is known is answered without context, and with the
        context ``auto`` one that nothing fits.
        """
        from pkg.generation.sample_writer import Context

        if options is not None and options.context == "none":
            return generate_answer(text, model, options, listen=listen, say=say)
        try:
            is_open = options is None or options.context == "auto"  # what is settled by hand is shown
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
        """Answer a question about the code and its documents, with checked citations; without a model, its evidence.

        model: a name such as gguf:FILE, or a model that stays open. fresh: bring the graph up to date before, as
        refresh does. Raises QueryError where nothing can be asked, and ModelError.
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
        """Open a conversation: later questions may go on with earlier ones, and evidence keeps its numbers."""
        from pkg.generation.ask.ask_options import DEFAULT_ASK
        from pkg.generation.ask.question_answer import QuestionAnswerer
        from pkg.retrieval.evidence.evidence_reader import EvidenceReader

        options = options or DEFAULT_ASK
        source, reader = options.evidence.source, EvidenceReader(self.store, options.evidence)

        def gather(text: str) -> api_types.Gathered:
            return self._answer_encoded(lambda encoder: reader.read(encoder, text), False, source)

        repository = source or ", ".join(each.name for each in self.store.sources())
        return QuestionAnswerer(gather, repository, model, options)

    def _find_context(
        self, text: str, query: api_types.QueryOptions | None, judge: bool = True
    ) -> tuple[api_types.QueryResult, api_types.Context]:
        """Search twice, for code and for functions, and read what the answer may use of both.

        judge: give nothing where nothing fits.
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
        return code, _read_again(lambda: read_context(self.store, code, whole))

    def find_name(self, name: str, source: str | None = None) -> list[api_types.Node]:
        """Find the functions, classes and constants of a bare name."""
        return _read_again(lambda: self.store.find_name(name, source))

    def docstrings(self, source: str | None = None) -> list[api_types.DocstringCount]:
        """Count the docstrings that were written for functions, by source, model and prompt (A-13)."""
        from pkg.indexing.docstring_counts import count_docstrings
        from pkg.indexing.enhancement_session import list_sources

        def count() -> list[api_types.DocstringCount]:
            with self.store.snapshot():
                names = list_sources(self.store, source)
                return [each for name in names for each in count_docstrings(self.store, name)]

        return _read_again(count)

    def patches(
        self, source: str | None = None, fresh: Mapping[str, api_types.Docstring] | None = None
    ) -> Iterator[api_types.FilePatch | api_types.Skip]:
        """Give a unified diff of each file that shows its written docstrings; a Skip says why a file has none.

        fresh: docstrings by content hash that the graph does not hold yet; then only these are shown.
        """
        from pkg.indexing.code_patch import list_all_patches

        return list_all_patches(self.store, source, fresh)

    def stats(self, source: str | None = None) -> api_types.StoreStats:
        """Count what the graph, or one of its sources, holds; audits and sizes are those of the whole graph."""

        def read() -> api_types.StoreStats:
            audits = self.store.audits()
            outdated = tuple(each.benchmark for each in audits if not is_current(self.store, each))
            return replace(self.store.stats(source), audits=audits, outdated_audits=outdated)

        return _read_again(read)

    def export(self, *, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Give the whole graph as JSON-ready lines, sorted and byte-stable."""
        return self.store.export(vectors)

    def export_bulk(self, folder: str | os.PathLike[str], *, jobs: int = 1) -> api_types.BulkReport:
        """Write the files of `neo4j-admin database import` into a new or empty folder; one that fails is left empty."""
        from pkg.indexing.bulk_export import export_bulk

        return export_bulk(self.store, folder, jobs)

    def load_encoder(self) -> api_types.Encoder:
        """Return the encoder of the graph, loaded once; raises StoreMissingError where no graph was built yet."""
        from pkg.encode.registry import load_encoder
        from pkg.errors import StoreMissingError

        name, _ = self.store.encoder()
        if not name:
            raise StoreMissingError(f"no graph in {self.store.address} yet; run: pkg build PATH")
        if self._encoder is None or self._encoder[0] != name:
            from pkg.indexing.store_encoder import choose_query_encoder

            self._encoder = name, load_encoder(choose_query_encoder(self.store))
        return self._encoder[1]


def _read_again(read: Callable[[], Found]) -> Found:
    """Read, and read again where a write has ended meanwhile; a StoreChangedError when that goes on and on."""
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
    """Choose the store address: the argument, else PKG_STORE, else the user's own; a TypeError for a path."""
    if store is not None:
        check_text("store", store, "an address, such as sqlite:///graph.db")
    return store or os.environ.get("PKG_STORE") or default_store()
