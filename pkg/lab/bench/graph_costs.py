"""Cost of answers of a graph: time, tokens, memory, and bytes of each part (P-36)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from pkg.encode.encoder import Encoder
from pkg.errors import QueryError
from pkg.graph.store import GraphStore
from pkg.model import QueryResult
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import Mode, QueryOptions
from pkg.retrieval.token_count import count_tokens

WARM_UP = 5  # unmeasured questions, which map files and fill caches
PERCENTILES = {"p50": 0.5, "p95": 0.95}
MEGABYTE = 1_000_000


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
