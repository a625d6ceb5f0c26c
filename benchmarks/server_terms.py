"""Open the lexical index of a graph on a Neo4j server, and rank by it and by the server's full-text index.

    python benchmarks/server_terms.py --data FOLDER [--cache FOLDER] [--version 2026.08.1]

The graph is that of the 20,000 functions with docstring questions (set a of retrieval.py); the second one is of three
packages with plain questions. A first client has no file of the index, a second one of the same user has it; each is a
process of its own. Then threads open the graph at once, as requests to `pkg serve` do, without and with a file; each
begins with a search by words. The full-text index gets the words of a question, any of which may match.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from docstring_questions import read_docstring_questions
from measure import MEGABYTE, ROOT, Figures, make_parser, open_folder, read_options, write_result
from plain_questions import read_plain_questions
from question_sets import TEST, QuestionSet
from server_clock import Clock

from pkg.graph.neo4j import cypher
from pkg.lab.evaluation.retrieval.rank_scores import DEPTH, Answered, find_rank, summarise_ranks
from pkg.model import Label, NodeFilter
from pkg.terms.term_weights import weigh_terms

if TYPE_CHECKING:
    from pkg.graph.neo4j.neo4j_store import Neo4jStore

VERSION = "2026.08.1"
REQUESTS = 8  # threads that open the graph at once
QUESTION = "split the migrations graph by app label"
LOOK = 10 * DEPTH  # hits of the full-text index before those of other sources are left out
SHOWN = ("questions", "mrr@10", "hit@1", "hit@5", "hit@5_95%", "empty")
FULL_TEXT = f"""CALL db.index.fulltext.queryNodes('{cypher.name_text_index(Label.FUNCTION)}', $words, {{limit: $look}})
    YIELD node, score WHERE node.source = $source
    RETURN node.path AS path, node.qualname AS qualname ORDER BY score DESC, node.id LIMIT $k"""


def open_at_once(address: str, pid: int, cache: str, requests: int) -> Figures:
    """Open the graph by some threads of this process, each for one search by words."""
    os.environ["XDG_CACHE_HOME"] = cache
    from pkg.graph.neo4j.neo4j_store import Neo4jStore

    def ask(_: object) -> int:
        with closing(Neo4jStore(address)) as store:
            return len(store.text_search(Label.FUNCTION, weigh_terms(QUESTION), 10).matches)

    with closing(Neo4jStore(address)) as store:
        store.sources()  # so that the driver is imported
    before, clock = read_peak(), Clock(pid)
    with ThreadPoolExecutor(requests) as pool:
        found = list(pool.map(ask, range(requests)))
    return clock.lap().describe() | {"memory_mb_more": round(read_peak() - before, 1), "hits": max(found)}


def read_peak() -> float:
    """Return the peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE


def run_apart(address: str, pid: int, cache: Path, requests: int) -> Figures:
    """Open the graph in a separate process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        return apart.submit(open_at_once, address, pid, str(cache), requests).result()


def measure_opening(address: str, pid: int, work: Path) -> Figures:
    """Measure the first and the second client of a user, and requests at once."""
    run_apart(address, pid, work / "unused", 1)  # so that the server has compiled the statements
    run = partial(run_apart, address, pid)
    return {
        "first_client": run(work / "one", 1),
        "second_client": run(work / "one", 1),
        f"first_{REQUESTS}_requests_at_once": run(work / "two", REQUESTS),
        f"next_{REQUESTS}_requests_at_once": run(work / "two", REQUESTS),
    }


def describe_index(store: Neo4jStore, work: Path) -> Figures:
    """Return the size of the terms, as the server sends them, and of the file."""
    with store.snapshot():
        found = store._reader.run(cypher.LIST_TERMS, ready=[each.name for each in store.sources()])
    files = [*(work / "one" / "pkg").glob("terms-*")]
    return {
        "functions": store.stats().nodes[Label.FUNCTION.value],
        "fragments": len(found),
        "megabytes_from_the_server": round(sum(len(each["terms"]) for each in found) / MEGABYTE, 1),
        "megabytes_of_the_file": round(sum(each.stat().st_size for each in files) / MEGABYTE, 1),
    }


def rank_by_index(store: Neo4jStore, source: str, text: str) -> list[str]:
    """Return the places of the best functions of a source by the lexical index alone."""
    where = NodeFilter(source=source)
    ids = [match.id for match in store.text_search(Label.FUNCTION, weigh_terms(text), DEPTH, where).matches]
    return [f"{node.path}::{node.qualname}" for node in store.get(ids)]


def rank_by_server(store: Neo4jStore, source: str, text: str) -> list[str]:
    """Return the places of the best functions of a source by the server's full-text index."""
    words = " ".join(re.findall(r"[^\W\d_]+", text.lower()))
    found = store._reader.run(FULL_TEXT, words=words, source=source, k=DEPTH, look=LOOK) if words else []
    return [f"{each['path']}::{each['qualname']}" for each in found]


def measure_ranking(store: Neo4jStore, chosen: QuestionSet, half: str | None) -> Figures:
    """Rank for the questions of a set, or of its half, by both indexes."""
    questions = chosen.choose_half(half) if half else chosen.questions
    figures: Figures = {}
    for name, rank in (("index_of_pkg", rank_by_index), ("full_text_index", rank_by_server)):
        answered = list[Answered]()
        for question in questions:
            places = list(dict.fromkeys(rank(store, chosen.name, question.text)))
            answered.append(find_rank(places, question.gold, len(places), DEPTH))
        summary = summarise_ranks(answered)
        figures[name] = {key: summary[key] for key in SHOWN}
    return figures


def load(address: str, sets: Sequence[QuestionSet]) -> None:
    """Build the code of some sets into the server."""
    from pkg.graph.neo4j.neo4j_store import Neo4jStore
    from pkg.indexing.build import build

    with closing(Neo4jStore(address, create=True)) as store:
        for chosen in sets:
            build(str(chosen.code), store, source=chosen.name)


def measure(version: str, folder: Path, sets: Sequence[QuestionSet], half: str | None) -> Figures:
    """Build the code of some sets, open it and ask."""
    from neo4j_process import Sizing, start_server

    from pkg.graph.neo4j.neo4j_store import Neo4jStore

    server = start_server(version, folder / "server", Sizing("2g", "1g", quick=False))
    os.environ.update(PKG_NEO4J_USER=server.user, PKG_NEO4J_PASSWORD=server.password)
    try:
        load(server.uri, sets)
        pid = server.pid or 0
        figures: Figures = {"opening": measure_opening(server.uri, pid, folder)}
        with closing(Neo4jStore(server.uri)) as store:
            figures |= describe_index(store, folder)
            for chosen in sets:
                figures[chosen.name] = measure_ranking(store, chosen, half)
        return figures
    finally:
        server.kill()


def main() -> None:
    """Measure both graphs and write the result."""
    parser = make_parser(__doc__)
    parser.add_argument("--version", default=VERSION, help=f"version of the server; default: {VERSION}")
    options = read_options(parser)
    sys.path.insert(0, str(ROOT / "tests" / "support"))  # for the module that starts servers
    with open_folder(options.cache) as (cache, work):
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        figures: Figures = {"server": options.version}
        figures["docstrings"] = measure(options.version, work / "a", [read_docstring_questions(cache)], TEST)
        figures["plain"] = measure(options.version, work / "plain", list(read_plain_questions(cache)), None)
    write_result("server_terms", figures)


if __name__ == "__main__":
    main()
