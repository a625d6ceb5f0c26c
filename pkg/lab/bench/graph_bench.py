"""The use case of `pkg bench`: query a graph with its own docstrings, and measure quality and cost of answers (P-36).

A function with its docstring in the index would match its own question. So quality is measured on a temporary graph of
the code without docstrings, and cost on the graph itself.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from pkg.encode.encoder import Encoder
from pkg.encode.registry import DEFAULT_ENCODER, check_ready, find_service, forget_revision, load_encoder
from pkg.errors import EncoderError, MissingExtraError, QueryError
from pkg.extract.recipe.docstring_removal import is_question
from pkg.graph.opening import open_store
from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.lab.bench.bare_copy import BareCopy, DocumentedFunction, copy_bare, draw_files
from pkg.lab.evaluation.retrieval.judged_questions import JudgedQuestion, QuestionFile
from pkg.lab.evaluation.retrieval.rankings import BASELINE
from pkg.lab.evaluation.retrieval.retrieval_evaluation import RetrievalReport, evaluate_retrieval
from pkg.lab.lab_options import (
    MIN_QUESTIONS,
    RANKING_NAMES,
    BenchOptions,
    EvaluatedMode,
    EvaluationOptions,
    Listen,
    RankingName,
)
from pkg.model import QueryResult
from pkg.retrieval.deps.paths import list_sources
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import Mode, QueryOptions
from pkg.retrieval.token_count import count_tokens

WARM_UP = 5  # unmeasured questions, which map files and fill caches
PERCENTILES = {"p50": 0.5, "p95": 0.95}
MEGABYTE = 1_000_000
COMPARED = (DEFAULT_ENCODER, "minilm")  # encoders in addition to that of the graph
COMPARED_RANKINGS: tuple[RankingName, ...] = ("dense", "linear")
MODES: tuple[EvaluatedMode, EvaluatedMode] = ("function", "block")


@dataclass(frozen=True, slots=True)
class AnswerCosts:
    """Cost of answers in one mode, with the default options of `pkg query`."""

    mode: str
    questions: int
    wall_ms: Mapping[str, float]  # by percentile
    cpu_ms: Mapping[str, float]
    tokens: Mapping[str, float]  # of the shown code, including helpers
    empty: int  # answers without a hit
    nothing_fits: int  # answers with hits of which none fits into the token budget


@dataclass(frozen=True, slots=True)
class GraphCosts:
    """Size and cost of a graph; `bytes` is empty if a server does not report sizes."""

    nodes: int
    bytes: Mapping[str, int]  # by part
    bytes_a_node: Mapping[str, float]
    disk_bytes: int
    stages: Mapping[str, Mapping[str, float]]  # CPU seconds of the last build, by source and stage
    answers: tuple[AnswerCosts, ...]
    memory_mb: float | None  # peak of this process after the questions; None if the system does not report it


def measure_costs(
    store: GraphStore,
    encoder: Encoder,
    questions: Sequence[str],
    modes: Sequence[Mode],
    source: str | None = None,
    listen: Callable[[int, int], None] = lambda done, total: None,
) -> GraphCosts:
    """Query a warm graph with every question in every mode, and read its size."""
    answers = []
    for number, mode in enumerate(modes):
        asked = QueryOptions(mode, source=source)
        for text in questions[:WARM_UP]:
            _ask(store, encoder, text, asked)
        answers.append(_measure_mode(store, encoder, questions, asked))
        listen(number + 1, len(modes))
    stats = store.stats()
    nodes = sum(stats.nodes.values())
    return GraphCosts(
        nodes,
        stats.parts,
        {name: round(size / nodes, 1) for name, size in stats.parts.items()},
        sum(stats.bytes.values()),
        {name: stages for name, stages in stats.stages.items() if source in (None, name)},
        tuple(answers),
        measure_memory(),
    )


def measure_memory() -> float | None:
    """Return the peak memory of this process in megabytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE, 1)


def find_percentiles(values: Sequence[float], digits: int = 2) -> dict[str, float]:
    """Return the 50th and 95th percentile of values (nearest rank)."""
    ordered = sorted(values)
    return {name: round(ordered[ceil(share * len(ordered)) - 1], digits) for name, share in PERCENTILES.items()}


def count_shown(result: QueryResult) -> int:
    """Count the tokens of the code that an answer shows, including helpers."""
    return sum(
        count_tokens(hit.pruned_content) + sum(count_tokens(helper.content) for helper in hit.helpers)
        for hit in result.hits
    )


def _measure_mode(store: GraphStore, encoder: Encoder, questions: Sequence[str], options: QueryOptions) -> AnswerCosts:
    wall, cpu, results = [], [], []
    for text in questions:
        start, used = time.perf_counter(), time.process_time()
        results.append(_ask(store, encoder, text, options))
        wall.append((time.perf_counter() - start) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    return AnswerCosts(
        options.mode,
        len(questions),
        find_percentiles(wall),
        find_percentiles(cpu),
        find_percentiles([count_shown(each) if each else 0 for each in results], 0),
        sum(each is None or not each.hits for each in results),
        sum(each is not None and each.coverage.fits is False for each in results),
    )


def _ask(store: GraphStore, encoder: Encoder, text: str, options: QueryOptions) -> QueryResult | None:
    """Run one query; returns None if it is refused, such as for unknown words."""
    try:
        return run_query(store, encoder, text, options)
    except QueryError:
        return None


@dataclass(frozen=True, slots=True)
class EncoderFigures:
    """Results of one encoder on the functions of the comparison."""

    encoder: str
    ranking: str
    functions: int
    build_cpu_seconds: float
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BenchReport:
    """Result of measuring a graph."""

    store: str
    encoder: str
    sources: tuple[str, ...]
    functions: int
    documented: int  # outermost functions with a docstring and further code
    left_out: Mapping[str, int]  # unused docstrings, by reason
    seed: int
    retrieval: RetrievalReport
    costs: GraphCosts
    encoders: tuple[EncoderFigures, ...]
    memory_mb: float | None  # peak of the whole measurement
    notes: tuple[str, ...] = ()


def run_bench(
    store: GraphStore,
    encoder: Encoder,
    options: BenchOptions | None = None,
    listen: Listen = lambda what, done, total: None,
) -> BenchReport:
    """Measure a graph with questions from its own docstrings.

    Raises QueryError for an unknown source or too few docstrings, and EncoderError if the encoder is a service.
    """
    options = options or BenchOptions()
    name = forget_revision(store.encoder()[0])
    service = find_service(name)
    if service:
        raise EncoderError(
            f"the encoder of {store.address} sends texts to {service}; expected one of this machine, for `pkg bench`"
            " uses no network; build the code again with --encoder static and another --store, and measure that"
        )
    with TemporaryDirectory(prefix="pkg-bench-") as place:
        folder = Path(place)
        copies = _copy_sources(store, options.source, folder, listen)
        documented = [each for copy in copies for each in copy.documented]
        questions, left_out = choose_questions(documented, options.limit, options.seed)
        if len(questions) < MIN_QUESTIONS:
            raise QueryError(
                f"{len(questions)} functions of {store.address} can be asked for by their docstrings, of"
                f" {len(documented)} that have one; expected at least {MIN_QUESTIONS}; raise --limit, measure a graph"
                " of more code, or pass your own questions to `pkg eval retrieval`"
            )
        texts = [each.text for each in questions]
        tell = partial(listen, "asking the graph")
        costs = measure_costs(store, encoder, texts, MODES, options.source, tell)
        rankings, notes = _choose_rankings()
        evaluate = EvaluationOptions(MODES, rankings)
        found, _ = _evaluate_copies(copies, name, questions, evaluate, folder / "bare.db", listen)
        encoders, more = _compare_encoders(copies, name, options, folder, listen)
    return BenchReport(
        store=store.address,
        encoder=store.encoder()[0],
        sources=tuple(copy.source for copy in copies),
        functions=sum(number for copy in copies for number in copy.functions.values()),
        documented=len(documented),
        left_out=left_out,
        seed=options.seed,
        retrieval=found,
        costs=costs,
        encoders=tuple(encoders),
        memory_mb=measure_memory(),
        notes=(*notes, *more),
    )


def choose_questions(
    documented: Sequence[DocumentedFunction], limit: int, seed: int
) -> tuple[list[JudgedQuestion], dict[str, int]]:
    """Draw the docstrings that become questions, and count the unused ones by reason."""
    same = Counter(each.summary for each in documented)
    fit = [each for each in documented if is_question(each.summary)]
    single = sorted((each for each in fit if same[each.summary] == 1), key=lambda each: (each.place, each.summary))
    drawn = Random(seed).sample(single, min(limit, len(single)))
    left_out = {
        "too short or too long": len(documented) - len(fit),
        "said of several functions": len(fit) - len(single),
        "beyond the limit": len(single) - len(drawn),
    }
    return [JudgedQuestion(str(number), each.summary, {each.place: 1.0}) for number, each in enumerate(drawn)], left_out


def _copy_sources(store: GraphStore, source: str | None, folder: Path, listen: Listen) -> list[BareCopy]:
    """Copy the sources that have functions."""
    copies = []
    with store.snapshot():
        list_sources(store, source)
        chosen = [each for each in store.sources() if source in (None, each.name)]
        for number, each in enumerate(chosen):
            copies.append(copy_bare(store, each, folder / f"source{number}"))
            listen("copying the code without docstrings", number + 1, len(chosen))
    return [copy for copy in copies if any(copy.functions.values())]


def _choose_rankings() -> tuple[tuple[RankingName, ...], list[str]]:
    """Return the rankings, without the BM25 baseline if its package is missing, and a note about that."""
    if find_spec("rank_bm25"):
        return RANKING_NAMES, []
    note = f"not compared with plain BM25: {MissingExtraError('rank-bm25', 'eval', 'the ranking bm25')}"
    return tuple(each for each in RANKING_NAMES if each != BASELINE), [note]


def _evaluate_copies(
    copies: Sequence[BareCopy],
    encoder: str,
    questions: Sequence[JudgedQuestion],
    options: EvaluationOptions,
    database: Path,
    listen: Listen,
) -> tuple[RetrievalReport, float]:
    """Build a graph of copied code and evaluate it; returns the report and the CPU seconds of the build."""
    start = time.process_time()
    with closing(open_store(f"sqlite:///{database}", create=True)) as store:
        for number, copy in enumerate(copies):
            listen(f"building with {encoder}", number, len(copies))
            build(str(copy.root), store, BuildOptions(encoder), source=copy.source)
        seconds = time.process_time() - start
        asked = QuestionFile(tuple(questions), len(questions))

        def tell(mode: str, done: int, total: int) -> None:
            listen(f"asking for {mode}s", done, total)

        return evaluate_retrieval(store, load_encoder(store.encoder()[0]), asked, options, tell), seconds


def _compare_encoders(
    copies: Sequence[BareCopy], own: str, options: BenchOptions, folder: Path, listen: Listen
) -> tuple[list[EncoderFigures], list[str]]:
    """Evaluate encoders on the same questions and files; returns their figures, and notes about missing ones."""
    if not options.sample:
        return [], []
    drawn = draw_files(copies, options.sample, options.seed, folder / "drawn")
    functions = sum(number for copy in drawn for number in copy.functions.values())
    documented = [each for copy in drawn for each in copy.documented]
    questions, _ = choose_questions(documented, options.limit, options.seed)
    if len(questions) < MIN_QUESTIONS:
        return [], [f"no encoders compared: {len(questions)} questions about {functions} functions that were drawn"]
    rows, notes = [], []
    for number, name in enumerate(dict.fromkeys((own, *COMPARED))):
        try:
            check_ready(name)
        except (EncoderError, MissingExtraError) as fault:
            notes.append(f"the encoder {name} was not compared: {fault}")
            continue
        evaluate = EvaluationOptions(("function",), COMPARED_RANKINGS)
        found, seconds = _evaluate_copies(drawn, name, questions, evaluate, folder / f"compared{number}.db", listen)
        rows += [
            EncoderFigures(name, row.ranking, functions, round(seconds, 2), row.figures)
            for row in found.rows
            if not row.without
        ]
    return rows, notes
