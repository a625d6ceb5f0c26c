"""Measure how well questions find their answers: BM25, lexical, dense and fused search, on four kinds of questions.

    python benchmarks/retrieval.py --data FOLDER [--cache FOLDER] [--sets a,bare,b,c,d,plain] [--beside minilm]

Questions: (a) docstrings, of 20,000 functions of 13 packages and the standard library, and (bare) the same without
class and path; (b) CoSQA's, typed by people; (c) SpyderCodeQA's on the repository of spyder; (d) comments above blocks;
and plain questions on three packages. Sets a to d are halved: the development half is for tuning, the test half is what
counts. Every system except plain BM25 is the product itself: a graph built by pkg build and the search of pkg query.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import cast

from beside_vectors import BesideStore, encode_functions
from comment_questions import read_comment_questions
from cosqa_questions import read_cosqa_questions
from docstring_questions import read_bare_questions, read_docstring_questions
from evaluation_code import STANDARD_LIBRARY
from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from plain_questions import read_plain_questions
from question_sets import DEVELOPMENT, TEST, Question, QuestionSet
from spyder_questions import read_spyder_questions

from pkg.api import Graph, open_graph
from pkg.encode.encoder import Encoder
from pkg.encode.headings import Headings
from pkg.encode.registry import load_encoder
from pkg.errors import QueryError
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.retrieval.rank_scores import DEPTH, Answered, find_rank, summarise_ranks
from pkg.lab.evaluation.retrieval.rankings import PlainBM25
from pkg.model import BLOCK_KINDS, Label, Match, Node, NodeFilter
from pkg.retrieval.long.long_search import encode_parts
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question
from pkg.retrieval.search import find_nodes
from pkg.terms.term_weights import weigh_terms

RANKINGS = {"static alone": "dense", "fused by reciprocal rank": "rrf", "fused": "linear"}
NAMED_BELOW = 50  # the number of questions up to which misses are listed by name
INNER = frozenset(BLOCK_KINDS[1:])
"""Kinds that `--blocks inner` searches: a comment is above such a block, never above a body."""

FEW = 10  # answers that a user requests; their cost is measured separately from that of all judged answers
Rank = Callable[[str, int], list[str]]  # question and k -> ids of k nodes, best first


def read_sets(names: Sequence[str], data: Path, cache: Path) -> Iterator[QuestionSet]:
    """Read the requested sets, in that order."""
    readers: dict[str, Callable[[], Iterable[QuestionSet]]] = {
        "a": lambda: [read_docstring_questions(cache)],
        "bare": lambda: [read_bare_questions(cache)],
        "b": lambda: [read_cosqa_questions(data)],
        "c": lambda: [read_spyder_questions(data, cache)],
        "d": lambda: [read_comment_questions(cache)],
        "plain": lambda: read_plain_questions(cache),
    }
    for name in names:
        yield from readers[name]()


def list_systems(
    graph: Graph, chosen: QuestionSet, nodes: dict[str, Node], where: NodeFilter
) -> Iterator[tuple[str, Rank]]:
    """Yield the systems that need no other encoder, each with its search among the nodes that pass a filter."""
    plain = PlainBM25(list(nodes), [node.content for node in nodes.values()])
    yield "BM25 (rank-bm25)", plain.rank
    if chosen.mode == "function":  # blocks have no terms of their own: their ranking derives from that of functions
        yield "lexical alone", lambda text, k: _list_ids(_search_words(graph, text, k))
    loaded = load_encoder(graph.store.encoder()[0])
    for name, ranking in RANKINGS.items():
        yield name, _make_search(graph, loaded, chosen.mode, ranking, where)


def list_beside(graph: Graph, chosen: QuestionSet, name: str, cache: Path) -> Iterator[tuple[str, Rank]]:
    """Yield the systems with another encoder's vectors of functions, and everything else from the graph."""
    loaded = load_encoder(name)
    nodes = sorted(graph.store.nodes([Label.FUNCTION]), key=lambda node: node.id)
    kept = cache / f"vectors-{chosen.name}-{name.partition(':')[0]}-{len(nodes)}.npy"
    vectors = encode_functions(nodes, loaded, Headings(graph.store.sources()), kept)
    beside = Graph(cast(GraphStore, BesideStore(graph.store, [node.id for node in nodes], vectors, name)))
    for system, ranking in (("alone", "dense"), ("fused", "linear")):
        yield f"{name.partition(':')[0]} {system}", _make_search(beside, loaded, chosen.mode, ranking, NodeFilter())


def _search_words(graph: Graph, text: str, k: int) -> Sequence[Match]:
    return graph.store.text_search(Label.FUNCTION, weigh_terms(text), k).matches


def _list_ids(matches: Sequence[Match]) -> list[str]:
    return [match.id for match in matches]


def _make_search(graph: Graph, encoder: Encoder, mode: str, ranking: str, where: NodeFilter) -> Rank:
    def search(text: str, k: int) -> list[str]:
        try:
            question = parse_question(text)
            query, parts = encode_question(encoder, question.text), encode_parts(encoder, question)
        except QueryError:
            return []
        with graph.store.snapshot():
            found = find_nodes(graph.store, question, query, mode, k, where, ranking, parts)
        return [each.id for each in found.ranked]

    return search


def read_nodes(graph: Graph, mode: str) -> dict[str, Node]:
    """Read every node that may be an answer."""
    label = Label.FUNCTION if mode == "function" else Label.BLOCK
    return {node.id: node for node in sorted(graph.store.nodes([label]), key=lambda node: node.id)}


def name_place(node: Node, chosen: QuestionSet) -> str:
    """Return the place of a node as the answers of a set spell it."""
    if chosen.is_of_units:
        return node.path
    place = f"{node.path}::{node.qualname}"
    return f"{place}::{node.name}" if node.label is Label.BLOCK else place


def ask_all(rank: Rank, chosen: QuestionSet, k: int) -> tuple[list[list[str]], float]:
    """Run all questions of a set for k answers; return their ids, and the median CPU milliseconds per question."""
    answers, took = [], []
    for question in chosen.questions:
        start = time.process_time()
        answers.append(rank(question.text, k))
        took.append((time.process_time() - start) * 1000)
    return answers, statistics.median(took)


def judge(answers: list[list[str]], chosen: QuestionSet, nodes: dict[str, Node]) -> list[Answered]:
    """Find the right one among the answers to each question; for a file, the first of its functions counts."""
    places = {node_id: name_place(node, chosen) for node_id, node in nodes.items()}
    wanted = min(DEPTH, len({node.content_hash for node in nodes.values()}))
    return [
        find_rank(list(dict.fromkeys(places[each] for each in ids)), question.gold, len(ids), wanted)
        for question, ids in zip(chosen.questions, answers, strict=True)
    ]


def describe(chosen: QuestionSet, answers: list[list[str]], nodes: dict[str, Node]) -> Figures:
    """Return the figures of each half, and of all; with the share of covered lines if the set has lines."""
    judged = judge(answers, chosen, nodes)
    rows = list(zip(chosen.questions, answers, judged, strict=True))
    figures: Figures = {"all": summarise_ranks(judged)}
    for half in (DEVELOPMENT, TEST):
        figures[half] = summarise_ranks([found for question, _, found in rows if question.half == half])
    if len(rows) <= NAMED_BELOW:
        figures["not_among_the_first_5"] = [asked.text for asked, _, found in rows if (found.rank or DEPTH) > 5]
    covered = {k: [_cover_lines(q, ids[:k], nodes) for q, ids, _ in rows if q.lines] for k in (1, 5)}
    if covered[1]:
        figures["lines_covered"] = {f"of the first {k}": round(statistics.mean(each), 4) for k, each in covered.items()}
    return figures


def _cover_lines(question: Question, ids: list[str], nodes: dict[str, Node]) -> float:
    """Return the share of the right answer's lines that the answers contain."""
    first, last = question.lines or (1, 0)
    wanted = set(range(first, last + 1))
    found = [nodes[each] for each in ids if nodes[each].path in question.gold]
    held = {line for node in found for line in range(node.start_line, node.end_line + 1)}
    return len(wanted & held) / len(wanted)


def measure_set(chosen: QuestionSet, other: str | None, cache: Path, work: Path) -> Iterator[tuple[str, Figures]]:
    """Build the graph of a set, and ask every system its questions."""
    address = f"sqlite:///{work / chosen.name}.db"
    built = run_pkg(["build", str(chosen.code), "--store", address, "--json"], work)
    with open_graph(address) as graph:
        nodes = read_nodes(graph, chosen.mode)
        print(f"{chosen.name}: {len(nodes):,} nodes in {built.cpu:.1f} CPU-seconds", file=sys.stderr)
        beside = list_beside(graph, chosen, other, cache) if other and chosen.mode == "function" else ()
        for system, rank in chain(list_systems(graph, chosen, nodes, NodeFilter()), beside):
            yield system, measure_system(system, rank, chosen, nodes)
        inner = (
            {node_id: node for node_id, node in nodes.items() if node.kind in INNER} if chosen.mode == "block" else {}
        )
        for system, rank in list_systems(graph, chosen, inner, NodeFilter(kinds=INNER)) if inner else ():
            yield f"{system}, inner blocks", measure_system(f"{system}, inner blocks", rank, chosen, inner)


def measure_system(system: str, rank: Rank, chosen: QuestionSet, nodes: dict[str, Node]) -> Figures:
    """Run all questions of a set on one system."""
    answers, milliseconds = ask_all(rank, chosen, DEPTH)
    _, milliseconds_of_few = ask_all(rank, chosen, FEW)
    costs = {"cpu_ms": round(milliseconds, 2), f"cpu_ms_of_{FEW}_answers": round(milliseconds_of_few, 2)}
    figures = {**costs, **describe(chosen, answers, nodes)}
    shown = {half: figures[half]["mrr@10"] for half in ("all", DEVELOPMENT, TEST)}
    print(f"{chosen.name}: {system}: {shown}, {costs}", file=sys.stderr)
    return figures


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--sets", default="a,bare,b,c,d,plain", help="which of the sets, with commas between")
    parser.add_argument("--beside", metavar="ENCODER", help="also rank functions by another encoder, such as minilm")
    parser.add_argument("--result", default="retrieval", help="name of the file of results")
    options = read_options(parser)
    figures: Figures = {"standard_library": STANDARD_LIBRARY, "sets": {}}
    with open_folder(options.cache) as (cache, work):
        for chosen in read_sets(options.sets.split(","), options.data, cache):
            figures["sets"][chosen.name] = dict(measure_set(chosen, options.beside, cache, work))
            write_result(options.result, figures)  # after each set, because all of them take a quarter of an hour


if __name__ == "__main__":
    main()
