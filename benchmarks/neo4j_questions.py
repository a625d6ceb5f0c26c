"""Query a server: the latency of answers against a bare search, and whether they are complete (P-15)."""

from __future__ import annotations

import os
import time
from contextlib import closing
from statistics import median
from typing import TYPE_CHECKING

from measure import Figures
from server_clock import Clock, read_cpu

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.neo4j.neo4j_store import Neo4jStore
    from pkg.retrieval.query_options import Mode

MODES: tuple[Mode, ...] = ("block", "function")
TIMED = 250  # questions; all others warm up each mode first, because a long-running server has compiled its code
AT_REST, REST_SECONDS, PATIENCE = 0.05, 3.0, 180.0
"""Most cores used by an idle server, the seconds measured, and the longest wait: work continues after loading."""
K = 10
P50, P95 = 30.0, 100.0  # milliseconds
BARE_SEARCH = """CALL db.index.vector.queryNodes('pkg_block_vector', $k, $vector) YIELD node, score
    RETURN node.id AS id, score"""


def await_rest(pid: int) -> float:
    """Wait until the server is idle, or for three minutes; return the seconds."""
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE:
        before = read_cpu(pid)
        time.sleep(REST_SECONDS)
        if read_cpu(pid) - before < AT_REST * REST_SECONDS:
            break
    return round(time.monotonic() - start, 1)


def warm_up(store: Neo4jStore, encoder: Encoder, questions: list[str]) -> None:
    """Run questions in each mode before any is timed."""
    from pkg.retrieval.query import QueryOptions, run_query

    for mode in MODES:
        for text in questions:
            run_query(store, encoder, text, QueryOptions(mode=mode, top_k=K))


def time_questions(store: Neo4jStore, clock: Clock, encoder: Encoder, questions: list[str], mode: Mode) -> Figures:
    """Run questions in one mode, including pruning and call completion, and return the percentiles."""
    from pkg.retrieval.query import QueryOptions, run_query

    options, taken = QueryOptions(mode=mode, top_k=K), []
    clock.lap()
    for text in questions:
        start = time.perf_counter()
        run_query(store, encoder, text, options)
        taken.append((time.perf_counter() - start) * 1000)
    cost, ranked = clock.lap(), sorted(taken)
    return {
        "wall_ms": {
            "p50": {"value": round(ranked[len(ranked) // 2], 2), "target": P50},
            "p95": {"value": round(ranked[int(len(ranked) * 0.95)], 2), "target": P95},
            "max": round(ranked[-1], 2),
        },
        "client_cpu_ms": round(cost.client / len(taken) * 1000, 2),
        "server_cpu_ms": round(cost.server / len(taken) * 1000, 2),
        "others_cores": round(cost.others, 2),
    }


def count_short(store: Neo4jStore, encoder: Encoder, questions: list[str], mode: Mode, source: str) -> Figures:
    """Count the questions with fewer than k hits from a source; the budget is lifted, pruning does not matter."""
    from pkg.retrieval.query import QueryOptions, run_query

    options = QueryOptions(mode=mode, top_k=K, source=source, budget=0, prune=False, hops=0)
    short = [text for text in questions if len(run_query(store, encoder, text, options).hits) < K]
    return {"fewer_than_k": {"value": len(short), "target": 0}, "questions_with_fewer": short}


def time_bare_searches(address: str, encoder: Encoder, questions: list[str]) -> float:
    """Query the index for the k nearest blocks with the bare driver, as a baseline; return the median milliseconds."""
    from neo4j import GraphDatabase

    access = os.environ["PKG_NEO4J_USER"], os.environ["PKG_NEO4J_PASSWORD"]
    taken: list[float] = []
    with GraphDatabase.driver(address, auth=access) as driver, driver.session() as session:
        for text in questions:
            vector = encoder.encode_query(text).tolist()
            start = time.perf_counter()
            session.run(BARE_SEARCH, k=K, vector=vector).consume()
            taken.append((time.perf_counter() - start) * 1000)
    return round(median(taken), 2)


def ask_all(address: str, pid: int, encoder_name: str, source: str, questions: list[str]) -> Figures:
    """Time some questions over the whole graph, and count the short answers of all questions in one source."""
    from pkg.encode.registry import load_encoder
    from pkg.graph.neo4j.neo4j_store import Neo4jStore

    timed = questions[:: max(len(questions) // TIMED, 1)][:TIMED]
    others, clock, encoder = sorted(set(questions) - set(timed)), Clock(pid), load_encoder(encoder_name)
    with closing(Neo4jStore(address)) as store:
        waited = await_rest(pid)
        warm_up(store, encoder, others)
        return {
            "seconds_to_rest": waited,
            "timed_questions": len(timed),
            "questions_before_in_each_mode": len(others),
            "latency": {mode: time_questions(store, clock, encoder, timed, mode) for mode in MODES},
            "bare_block_search_p50_ms": time_bare_searches(address, encoder, timed),
            "questions": len(questions),
            "short_answers": {mode: count_short(store, encoder, questions, mode, source) for mode in MODES},
        }
