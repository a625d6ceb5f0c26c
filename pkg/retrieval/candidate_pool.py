"""Collect the candidate pool of a ranking: the best of both searches, with scores measured against one another.

Scores of a search are measured in standard deviations of its best ones, which makes them comparable between encoders,
questions and graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.graph.path_filter import is_test
from pkg.model import DECLARATION_LABELS, Label, Match, Matches, Node, NodeFilter, Outline
from pkg.retrieval.question import Question
from pkg.terms.words import split_terms
from pkg.units import format_id, hash_key, name_module

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore


POOL_SIZE = 50
"""Minimum of best matches taken from each search: for ten answers, twice as many bring no better ones to the
development questions, and cost half as much again."""
POOL_PER_HIT = 1.5
"""Best matches of each search for each answer, where these are more: with 1, up to one in a hundred fewer of CoSQA's
development questions have theirs among 100, and with 3 no more have."""
DECLARED = 25  # minimum of best declarations of each search: half as many as functions
MAX_TESTS = 0.2  # maximal share of tests among the candidates, unless the question asks for tests
DEEPER = 3  # factor of the second search after too many tests: a repository has about as many tests as other functions
POOL_IN_FILE = 20  # best functions or blocks of a file that the question names
MAX_FILES = 5  # files of lines that the question names; a name such as __init__.py that more files have means none
POOL_PER_FUNCTION = 10
"""Candidates for each of the best functions of the lexical search whose blocks are added.

With 5, the development questions have theirs no nearer to the top; without such functions a tenth fewer of ten answers
are right.
"""

Scores = npt.NDArray[np.float64]
"""One number for each candidate of a pool, in its order: float64 [candidates], unless documented otherwise."""
NO_ROW = -1  # of a node without terms


@dataclass(frozen=True, eq=False)  # compared by identity, so that features can be cached
class Pool:
    """Candidates of one label for one question; arrays have one value for each candidate unless stated otherwise."""

    question: Question
    outlines: tuple[Outline, ...]
    owners: tuple[Outline, ...]  # the function of a block; a function itself
    words: Scores  # [candidates, terms]: contribution of each term of the question to the lexical score of the function
    rarities: Scores  # [terms]: weight of each term, by its rarity in this graph
    abbreviated: Scores  # contribution of all abbreviations of the question's words
    same_content: tuple[int, ...]  # others of equal content that the searches dropped in favour of the candidate
    searched: int  # nodes of the label
    filtered: int  # excluded by the filter
    covered: Scores  # [candidates, terms]: 1 for a held term, else the similarity of the nearest held word
    covered_around: Scores  # the same for the class and module
    class_dense: Scores  # cosine of the class around a candidate, or 0
    module_dense: Scores  # cosine of the module, or 0
    on_line: frozenset[str] = frozenset()  # ids of the innermost nodes on lines that the question names
    is_approximate: bool = False  # whether the dense search did not examine all nodes

    def holds_all(self, k: int) -> bool:
        """Return whether a pool for k answers contains every node that passes the filter."""
        return choose_search_depth(k) >= self.searched - self.filtered

    @cached_property
    def dense(self) -> Scores:
        """Return the true cosines (P-14)."""
        return np.array([each.cosine for each in self.outlines], np.float64)

    @cached_property
    def owner_dense(self) -> Scores:
        """Return the true cosines of the functions."""
        return np.array([each.cosine for each in self.owners], np.float64)

    @cached_property
    def lexical(self) -> Scores:
        """Return the lexical scores of the functions."""
        return np.asarray(self.words.sum(axis=1), np.float64)


def choose_search_depth(k: int) -> int:
    """Return the number of best matches taken from each search for k answers."""
    return max(int(k * POOL_PER_HIT), POOL_SIZE)


def collect_pool(
    store: GraphStore,
    question: Question,
    query: Vectors,
    label: Label,
    k: int,
    where: NodeFilter,
    with_declarations: bool = False,
) -> Pool:
    """Search with the query, float32 [dimension], and by words, and read both scores of all matches.

    with_declarations: classes, constants and modules are candidates too; with the label of one of these, only these
    three are.
    """
    depth = choose_search_depth(k)
    both: tuple[Matches, ...] = ()
    declared: tuple[Matches, ...] = ()
    named: tuple[tuple[Match, ...], ...] = ()
    on_line = _find_on_lines(store, question, where) if question.lines and not where.paths else []
    if label not in DECLARATION_LABELS:
        both = store.hybrid_search(label, query, question.search_weights, depth, where)
        named = tuple(_search_files(store, question, query, label, where))
    if with_declarations or label in DECLARATION_LABELS:
        count = depth if label in DECLARATION_LABELS else max(k, DECLARED)
        declared = store.search_declarations(query, question.search_weights, count, where)
    labels = {label, *DECLARATION_LABELS} if declared else {label}
    exact = tuple(Match(node.id, 1.0) for node in on_line if node.label in labels)
    read = partial(
        _read_candidates, store, query, label, where, depth, (*named, *(each.matches for each in declared), exact),
        [node.id for node in on_line],
    )  # fmt: skip
    candidates = read(both)
    if both and where.tests is None and not question.asks_tests and _are_tests(candidates.owners):
        candidates = read(_search_deeper(store, question, query, label, depth, where))
    pool = _read_pool(store, question, query, candidates, [each[0] for each in (both, declared) if each])
    return replace(pool, on_line=frozenset(node.id for node in on_line)) if on_line else pool


class _Candidates(NamedTuple):
    outlines: tuple[Outline, ...]
    owners: tuple[Outline, ...]
    same_content: tuple[int, ...]


def _read_candidates(
    store: GraphStore,
    query: Vectors,
    label: Label,
    where: NodeFilter,
    depth: int,
    others: Sequence[tuple[Match, ...]],
    on_line: Sequence[str],
    both: Sequence[Matches],
) -> _Candidates:
    """Read the matches of both searches and of others.

    For blocks, also read those of the best functions by words, and of functions on lines that the question names.
    """
    found = [*(each.matches for each in both[:1]), *others]
    found += [each.matches for each in both[1:] if label is Label.FUNCTION]
    functions: list[str] = []
    if both and label is Label.BLOCK:
        functions = [*on_line, *(match.id for match in both[1].matches[: depth // POOL_PER_FUNCTION])]
    counts = {match.id: match.same_content for matches in reversed(found) for match in matches}
    outlines = store.outlines(list(counts), query, functions)
    picked = tuple(_pick_candidates(outlines, counts, label, where))
    owners = tuple(outlines.get(each.owner, each) for each in picked)  # a block may be outside of functions
    return _Candidates(picked, owners, tuple(counts.get(each.id, 0) for each in picked))


def read_pool(store: GraphStore, question: Question, query: Vectors, found: Matches, counts: Mapping[str, int]) -> Pool:
    """Read both scores of given candidate functions, for a query float32 [dimension].

    `found` has the number of nodes searched; `counts` maps each candidate to the number of its duplicates.
    """
    outlines = store.outlines(list(counts), query)
    read = tuple(outlines[each] for each in counts)
    return _read_pool(store, question, query, _Candidates(read, read, tuple(counts.values())), [found])


def _read_pool(
    store: GraphStore,
    question: Question,
    query: Vectors,
    candidates: _Candidates,
    searches: Sequence[Matches],
) -> Pool:
    """Read the scores and terms of candidates and of the classes and modules around them."""
    owners = candidates.owners
    scopes = list(list_scopes(owners))
    around = store.outlines(sorted({each for pair in scopes for each in pair if each}), query)
    words, rows = read_words(store, (*owners, *around.values()), question)
    own = words.pick([rows.get(each.id, NO_ROW) for each in owners])
    in_class, in_module = (words.pick([rows.get(pair[which], NO_ROW) for pair in scopes]) for which in (0, 1))
    dense = np.array([[around[each].cosine if each in around else 0.0 for each in pair] for pair in scopes])
    class_dense, module_dense = dense.reshape(-1, 2).T
    return Pool(
        question=question,
        outlines=candidates.outlines,
        owners=owners,
        words=own.scores,
        rarities=own.rarities,
        abbreviated=own.abbreviated,
        same_content=candidates.same_content,
        searched=sum(each.searched for each in searches),
        filtered=sum(each.filtered for each in searches),
        covered=own.covered,
        covered_around=np.maximum(in_class.covered, in_module.covered),
        class_dense=class_dense,
        module_dense=module_dense,
        is_approximate=any(each.is_approximate for each in searches),
    )


def _are_tests(owners: Sequence[Outline]) -> bool:
    """Return whether the candidates exceed the share of tests."""
    return sum(is_test(each.path) for each in owners) > len(owners) * MAX_TESTS


def _search_deeper(
    store: GraphStore, question: Question, query: Vectors, label: Label, depth: int, where: NodeFilter
) -> tuple[Matches, Matches]:
    """Search for more by the vector and by words, and remove tests, which crowd out other candidates."""
    near, lexical = store.hybrid_search(label, query, question.search_weights, depth * DEEPER, where)
    outlines = store.outlines(list(dict.fromkeys(match.id for match in (*near.matches, *lexical.matches))), query)
    paths = {each.id: each.path for each in outlines.values()}
    return _limit_tests(near, paths, depth), _limit_tests(lexical, paths, depth)


def _limit_tests(found: Matches, paths: Mapping[str, str], depth: int) -> Matches:
    """Return the best matches, with tests up to their share."""
    tests = [match for match in found.matches if is_test(paths.get(match.id, ""))][: int(depth * MAX_TESTS)]
    others = [match for match in found.matches if not is_test(paths.get(match.id, ""))][: depth - len(tests)]
    return replace(found, matches=tuple(sorted((*tests, *others), key=lambda match: (-match.score, match.id))))


def _pick_candidates(
    outlines: dict[str, Outline], counts: dict[str, int], label: Label, where: NodeFilter
) -> Iterator[Outline]:
    """Yield the candidates, without mere owners of blocks and without added blocks that the filter excludes."""
    for each in outlines.values():
        if each.id in counts or (each.label is label and (where.kinds is None or each.kind in where.kinds)):
            yield each


def _search_files(
    store: GraphStore, question: Question, query: Vectors, label: Label, where: NodeFilter
) -> Iterator[tuple[Match, ...]]:
    """Find the best nodes of the files that the question names, unless the search is restricted to paths."""
    if not where.paths:
        for name in question.files:
            narrowed = replace(where, paths=(f"*{name}*" if name.endswith("/") else f"*{name}",))
            yield store.vector_search(label, query, POOL_IN_FILE, narrowed).matches


def _find_on_lines(store: GraphStore, question: Question, where: NodeFilter) -> list[Node]:
    """Find the innermost definition and the innermost block on each line that the question names."""
    from pkg.retrieval.deps.names import NAMED, find_around
    from pkg.retrieval.deps.paths import find_files, list_sources

    sources = list_sources(store, where.source)
    named = [(file, line) for path, line in question.lines for file in find_files(store, path, sources)]
    kept = [(file, line) for file, line in named if where.tests in (None, is_test(file.path))]
    if len(kept) > MAX_FILES:
        return []
    around = [find_around(store, *place) for place in kept]
    innermost = (
        next((node for node in nodes if node.label in labels), None)
        for nodes in around
        for labels in (NAMED, (Label.BLOCK,))
    )
    return [node for node in innermost if node is not None]


DEVIATION_SAMPLE = 50  # best scores for the deviation: all of a small pool are near, the tail of a large one is not
_SAME = 1e-9  # smaller deviations are rounding errors


def standardise(scores: Scores) -> Scores:
    """Return scores in standard deviations of the best ones, from their mean."""
    best = np.sort(scores)[-DEVIATION_SAMPLE:]
    measured: Scores = (scores - best.mean()) / _measure_deviation(best)
    return np.clip(measured, -5, 10)


def standard_deviation(scores: Scores) -> float:
    """Return one standard deviation of the best scores; infinite where they are all equal."""
    return _measure_deviation(np.sort(scores)[-DEVIATION_SAMPLE:])


def _measure_deviation(best: Scores) -> float:
    deviation = float(best.std()) if len(best) else 0.0
    return deviation if deviation > _SAME else math.inf


def rank_reciprocally(scores: Scores, offset: float) -> Scores:
    """Return 1 for the best and less for each lower one, half after as many as the offset; ties rank alike."""
    ordered = np.sort(scores)
    better = len(scores) - np.searchsorted(ordered, scores, side="right")
    return np.asarray(offset / (offset + better), np.float64)


def count_better(scores: Scores, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count for each candidate those of its own group that score higher: int64 [candidates].

    `groups` are numbers from 0, int64 [candidates].
    """
    order = np.lexsort((-scores, groups))
    is_other_group = np.diff(groups[order], prepend=-1) != 0
    is_lower = is_other_group | (np.diff(scores[order], prepend=np.inf) != 0)
    places = np.arange(len(scores))
    first_of_group, first_of_equals = (
        np.maximum.accumulate(np.where(begins, places, 0)) for begins in (is_other_group, is_lower)
    )
    counts = np.empty(len(scores), np.int64)
    counts[order] = first_of_equals - first_of_group
    return counts


def divide(values: Scores, total: float) -> Scores:
    """Return values as shares of a total, or unchanged if the total is not positive."""
    return np.asarray(values / total if total > 0 else values, np.float64)


def zeros(pool: Pool) -> Scores:
    """Return 0 for every candidate."""
    return np.zeros(len(pool.outlines))


def map_owners(pool: Pool, measure: Callable[[Outline], float]) -> Scores:
    """Compute a value once for each function, however many of its blocks are candidates."""
    return expand_to_candidates(pool, np.array([measure(owner) for owner in number_owners(pool)[0]], np.float64))


def expand_to_candidates(pool: Pool, values: npt.NDArray[np.int64] | Scores) -> Scores:
    """Return for each candidate the value of its function: float64 [candidates].

    `values`, int64 or float64 [functions], are in the order of the distinct functions.
    """
    return np.asarray(values[number_owners(pool)[1]], np.float64)


@lru_cache(maxsize=2)
def number_owners(pool: Pool) -> tuple[list[Outline], npt.NDArray[np.int64]]:
    """Return the distinct functions of a pool, and the index of each candidate's function: int64 [candidates]."""
    owners = {each.id: each for each in pool.owners}
    places = {identity: place for place, identity in enumerate(owners)}
    return list(owners.values()), np.array([places[each.id] for each in pool.owners], np.int64)


@lru_cache(maxsize=30_000)
def split(text: str) -> tuple[str, ...]:
    """Return the terms of a name or path in order."""
    return tuple(split_terms(text.encode("utf-8", "replace")))


@dataclass(frozen=True, slots=True)
class Words:
    """Words of the question in some nodes; a node without terms holds none."""

    scores: Scores  # [nodes, terms]: contribution of each term of the question to the lexical score
    abbreviated: Scores  # [nodes]: contribution of all abbreviations of the question's words
    covered: Scores  # [nodes, terms]: 1 for a held term, else the similarity of the nearest held word
    rarities: Scores  # [terms]: weight of each term, by its rarity among the functions of this graph

    def pick(self, rows: Sequence[int]) -> Words:
        """Return some nodes, by their rows; NO_ROW means a node without terms."""
        chosen = np.array(rows, np.int64)
        scores, abbreviated, covered = (_pad(each)[chosen] for each in (self.scores, self.abbreviated, self.covered))
        return Words(scores, abbreviated, covered, self.rarities)


def _pad(values: Scores) -> Scores:
    """Append a node without words, as the last row."""
    return np.concatenate((values, np.zeros((1, *values.shape[1:]))))


def read_words(store: GraphStore, nodes: Iterable[Outline], question: Question) -> tuple[Words, dict[str, int]]:
    """Read the words of functions and declarations; return the row of each id as well."""
    labels = {each.id: each.label for each in nodes}
    functions = sorted(each for each, label in labels.items() if label is Label.FUNCTION)
    declarations = sorted(each for each, label in labels.items() if label in DECLARATION_LABELS)
    also = {other: 1.0 for related in question.related.values() for other in related}
    search_weights = {**also, **question.search_weights}
    parts = store.text_parts(functions, search_weights)
    rarities, scores = np.asarray(parts.rarities, np.float64), parts.scores
    if declarations:
        others = store.text_parts(declarations, search_weights, DECLARATION_LABELS[0])
        shares = others.scores / np.maximum(others.rarities, 1e-9)
        scores = np.concatenate((scores, shares * rarities))
    columns = {term: column for column, term in enumerate(search_weights)}
    asked, short = ([columns[term] for term in terms] for terms in (question.weights, question.abbreviations))
    words = Words(
        scores[:, asked],
        scores[:, short].sum(axis=1),
        _measure_coverage(scores > 0, columns, question),
        rarities[asked],
    )
    return words, {node_id: row for row, node_id in enumerate((*functions, *declarations))}


def _measure_coverage(held: npt.NDArray[np.bool_], columns: dict[str, int], question: Question) -> Scores:
    """Return for each node and term of the question the similarity of the nearest held word."""
    covered = np.zeros((len(held), len(question.weights)))
    for place, term in enumerate(question.weights):
        likeness = {**question.related.get(term, {}), term: 1.0}
        chosen = [columns[each] for each in likeness]
        covered[:, place] = (held[:, chosen] * np.array(list(likeness.values()))).max(axis=1)
    return covered


def list_scopes(owners: Sequence[Outline]) -> Iterator[tuple[str, str]]:
    """Yield for each node the ids of its class and its module, "" where there is none."""
    for each in owners:
        outer = each.qualname.rpartition(".")[0]
        yield (
            _name_scope(each.source, each.path, Label.CLASS, outer) if outer else "",
            _name_scope(each.source, each.path, Label.MODULE, name_module(each.path)),
        )


@lru_cache(maxsize=20_000)  # the best functions of a question share a few classes and modules
def _name_scope(source: str, path: str, label: Label, name: str) -> str:
    return format_id(hash_key(source, path, label.value, name, "0"))
