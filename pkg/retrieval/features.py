"""Ranking features of a candidate: one small function for each, with one number for each candidate.

Features compare candidates of one question, so a value that is the same for all of them has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from pkg.graph.path_filter import is_example, is_test
from pkg.model import Label, Outline
from pkg.retrieval.candidate_pool import (
    Pool,
    Scores,
    count_better,
    divide,
    expand_to_candidates,
    map_owners,
    number_owners,
    rank_reciprocally,
    split,
    standardise,
    zeros,
)
from pkg.terms.question_kinds import measure_constant_odds
from pkg.terms.term_weights import find_name_gains
from pkg.terms.words import hash_term, stem_word

GAIN_SCALE = 7 / 3  # a word of a name comes from the question seven times out of ten, otherwise from anywhere


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of one text for each of n functions, one after another."""

    terms: tuple[str, ...]
    rows: npt.NDArray[np.int64]  # [words]: the function, as an index
    places: npt.NDArray[np.int64]  # [words]: the index among the terms of the question; -1 where it is not one
    counts: npt.NDArray[np.int64]  # [n]

    def add_up(self, values: npt.NDArray[np.bool_] | Scores) -> Scores:
        """Sum values of the words, [words], for each function: [n]."""
        return np.asarray(np.bincount(self.rows, values, len(self.counts)), np.float64)


@lru_cache(maxsize=2)
def name_cover(pool: Pool) -> Scores:
    """Return the share of the question in the name of the function."""
    return _cover_by_names(pool, _read_names(pool))


@lru_cache(maxsize=2)
def name_share(pool: Pool) -> Scores:
    """Return the share of the function's name in the question."""
    return _share(pool, _read_names(pool))


def name_match(pool: Pool) -> Scores:
    """Return the product of both shares."""
    return name_cover(pool) * name_share(pool)


def qualname_share(pool: Pool) -> Scores:
    """Return the share of the names of the function and its classes in the question."""
    return _share(pool, _read_names(pool), _read_scopes(pool))


def name_order(pool: Pool) -> Scores:
    """Count adjacent words of the name that occur in the question in the same order, adjacent or not."""
    names = _read_names(pool)
    before = np.roll(names.places, 1)  # for the first word of a name, the predecessor belongs to another name
    return expand_to_candidates(pool, names.add_up(~_is_first(names) & (before >= 0) & (before < names.places)))


def name_start(pool: Pool) -> Scores:
    """Return whether name and question begin with the same word, mostly a verb."""
    names = _read_names(pool)
    return expand_to_candidates(pool, names.add_up(_is_first(names) & (names.places == 0)))


def name_verb(pool: Pool) -> Scores:
    """Return whether the first word of the name occurs in the question."""
    names = _read_names(pool)
    return expand_to_candidates(pool, names.add_up(_is_first(names) & (names.places >= 0)))


def name_length(pool: Pool) -> Scores:
    """Return the number of words of the name."""
    return expand_to_candidates(pool, _read_names(pool).counts)


@lru_cache(maxsize=2)
def name_gain(pool: Pool) -> Scores:
    """Return how much likelier the question makes the words of the name, in logarithms (term_weights.py)."""
    return expand_to_candidates(pool, _read_names(pool).add_up(_read_gains(pool)))


def name_gain_unsaid(pool: Pool) -> Scores:
    """Return the same for the words of the name that do not occur in the question."""
    names = _read_names(pool)
    return expand_to_candidates(pool, names.add_up(_read_gains(pool) * (names.places < 0)))


def name_gain_mean(pool: Pool) -> Scores:
    """Return how much likelier the question makes a word of the name on average."""
    return name_gain(pool) / np.maximum(name_length(pool), 1)


def scope_cover(pool: Pool) -> Scores:
    """Return the share of the question in class and path."""
    owners, _ = number_owners(pool)
    return _cover_by_names(
        pool, _read_scopes(pool), _read_words(pool, (owner.path.removesuffix(".py") for owner in owners))
    )


def _cover_by_names(pool: Pool, *texts: _Words) -> Scores:
    """Return the share of the question, by term weight, in any of some texts of each function."""
    worth = dict(zip(pool.question.weights, pool.rarities.tolist(), strict=True))
    weights = np.array([worth[term] for term in pool.question.terms], np.float64)
    held = np.zeros((len(number_owners(pool)[0]), len(weights) + 1), bool)  # the last for unknown words
    for text in texts:
        held[text.rows, text.places] = True
    return expand_to_candidates(pool, held[:, :-1] @ weights / (weights.sum() or 1.0))


def _share(pool: Pool, *texts: _Words) -> Scores:
    """Return the share of some texts of each function, taken together, in the question."""
    held, counts = sum(text.add_up(text.places >= 0) for text in texts), sum(text.counts for text in texts)
    return expand_to_candidates(pool, held / np.maximum(counts, 1))


def _is_first(words: _Words) -> npt.NDArray[np.bool_]:
    """Return which words begin the text of a function."""
    return np.asarray(np.diff(words.rows, prepend=-1) != 0, np.bool_)


@lru_cache(maxsize=2)
def _read_names(pool: Pool) -> _Words:
    return _read_words(pool, (owner.name for owner in number_owners(pool)[0]))


@lru_cache(maxsize=2)
def _read_scopes(pool: Pool) -> _Words:
    """Read the words of the classes and functions around each function."""
    return _read_words(pool, (owner.qualname.rpartition(".")[0] for owner in number_owners(pool)[0]))


def _read_words(pool: Pool, texts: Iterable[str]) -> _Words:
    """Read the words of one text of each function of a pool."""
    words = [split(text) for text in texts]
    terms, counts = tuple(chain.from_iterable(words)), np.array([len(each) for each in words], np.int64)
    asked = {term: place for place, term in enumerate(pool.question.terms)}
    places = np.array([asked.get(term, -1) for term in terms], np.int64)
    return _Words(terms, np.repeat(np.arange(len(words)), counts), places, counts)


@lru_cache(maxsize=2)
def _read_gains(pool: Pool) -> Scores:
    """Read the logarithm of the gain of each word of the names: [words]."""
    gains = find_name_gains(pool.question.terms)
    return np.log1p(GAIN_SCALE * np.array([gains.get(hash_term(term), 0.0) for term in _read_names(pool).terms]))


_GENERATED = re.compile(r"_pb2(?:_grpc)?\.py$|(?:^|/)_?generated/|_generated\.py$|(?:^|/)(?:lex|yacc|parse)tab\.py$")
_VENDORED = re.compile(r"(?:^|/)_?(?:vendor|vendored|third_party|thirdparty|extern)/")


@lru_cache(maxsize=10_000)
def is_foreign(path: str) -> bool:
    """Return whether a file is generated or vendored."""
    return _GENERATED.search(path) is not None or _VENDORED.search(path) is not None


def _stem(words: str) -> frozenset[str]:
    return frozenset(map(stem_word, words.split()))


HEAD = 3  # first terms of a question, which mostly say what kind of thing is wanted
_EXAMPLE_TERMS = _stem("example demo sample tutorial benchmark")
_ERROR_TERMS = _stem("error exception warning raised")
_NAMES_ERROR = re.compile(r"(?:Error|Exception|Warning|Exit|Interrupt|Timeout|Failure|NotFound|Exceeded)$")
_CLASS_TERMS = _stem("class error exception type object enum kind dataclass event choice level option way")
_CONSTANT_TERMS = _stem(
    "default setting constant value variable option field attribute flag limit code table list set name key number many"
    " maximum minimum which what regex pattern size kind level choice long old similar large character"
)
_ACTION_TERMS = _stem("how do does make turn when happens")
MOST_ODDS = 3.0  # either way: how sure the way of asking may be
_RANK_OFFSET = 10  # of reciprocal ranks: the first ten places differ much, the others little
_TOP_OFFSET = 3  # the same for the first three


@lru_cache(maxsize=2)
def dense(pool: Pool) -> Scores:
    """Return the cosine with the question, standardised (P-14)."""
    return standardise(pool.dense)


@lru_cache(maxsize=2)
def lexical(pool: Pool) -> Scores:
    """Return the lexical score of the function, standardised."""
    return standardise(pool.lexical)


def cosine(pool: Pool) -> Scores:
    """Return the cosine itself, comparable between questions."""
    return pool.dense


def weaker(pool: Pool) -> Scores:
    """Return the lower of both scores, which measures the agreement of the two searches."""
    return np.minimum(dense(pool), lexical(pool))


def owner_dense(pool: Pool) -> Scores:
    """Return the cosine of a block's function, standardised."""
    return standardise(pool.owner_dense)


def dense_rank(pool: Pool) -> Scores:
    """Return the reciprocal rank by cosine."""
    return rank_reciprocally(pool.dense, _RANK_OFFSET)


def lexical_rank(pool: Pool) -> Scores:
    """Return the reciprocal rank by lexical score."""
    return rank_reciprocally(pool.lexical, _RANK_OFFSET)


def lexical_top(pool: Pool) -> Scores:
    """Return the same with a steeper curve: the first few have nearly all of it."""
    return rank_reciprocally(pool.lexical, _TOP_OFFSET)


def lexical_share(pool: Pool) -> Scores:
    """Return the lexical score as a share of the best."""
    return divide(pool.lexical, pool.lexical.max(initial=0))


def abbreviated(pool: Pool) -> Scores:
    """Return the lexical score of abbreviations of the question's words, as a share of the best."""
    return divide(pool.abbreviated, pool.lexical.max(initial=0))


def word_cover(pool: Pool) -> Scores:
    """Return the share of the question, by rarity, that the function holds."""
    return divide((pool.words > 0) @ pool.rarities, pool.rarities.sum())


def words_missing(pool: Pool) -> Scores:
    """Return the number of the question's words that the function does not hold."""
    return np.asarray((pool.words <= 0).sum(axis=1), np.float64)


@lru_cache(maxsize=2)
def meant_cover(pool: Pool) -> Scores:
    """Return the share of the question that the function covers, by its own words or related ones."""
    return _cover(pool, pool.covered)


def meant_share(pool: Pool) -> Scores:
    """Return the same, standardised."""
    return standardise(meant_cover(pool))


@lru_cache(maxsize=2)
def wide_cover(pool: Pool) -> Scores:
    """Return the share of the question that the function covers together with its class and module."""
    return _cover(pool, np.maximum(pool.covered, pool.covered_around))


def wide_share(pool: Pool) -> Scores:
    """Return the same, standardised."""
    return standardise(wide_cover(pool))


def class_dense(pool: Pool) -> Scores:
    """Return the cosine of the class, or 0 without one."""
    return pool.class_dense


def module_dense(pool: Pool) -> Scores:
    """Return the cosine of the module."""
    return pool.module_dense


def in_class(pool: Pool) -> Scores:
    """Return whether the candidate belongs to a class."""
    return np.asarray(pool.class_dense != 0, np.float64)


def asked_name(pool: Pool) -> Scores:
    """Return whether the question names the function: 1, or .5 where it names it with another class or module."""
    names = [name.split(".") for name in pool.question.names]
    return map_owners(pool, lambda owner: max(_match_name(owner, parts) for parts in names)) if names else zeros(pool)


def asked_scope(pool: Pool) -> Scores:
    """Return whether the question names a class or module around the function."""
    asked = {part for name in pool.question.names for part in name.split(".")}
    return map_owners(pool, lambda owner: float(not asked.isdisjoint(_scope_names(owner)))) if asked else zeros(pool)


def asked_file(pool: Pool) -> Scores:
    """Return whether the question names the file."""
    files = pool.question.files
    if not files:
        return zeros(pool)
    return map_owners(pool, lambda owner: float(any(_is_in_file(owner.path, name) for name in files)))


def asked_line(pool: Pool) -> Scores:
    """Return whether the function or declaration holds a line that the question names: 1, or 2 for its block there."""
    if not pool.on_line:
        return zeros(pool)
    inside = [
        each.id != owner.id and each.id in pool.on_line for each, owner in zip(pool.outlines, pool.owners, strict=True)
    ]
    return map_owners(pool, lambda owner: float(owner.id in pool.on_line)) + np.array(inside, np.float64)


def in_test(pool: Pool) -> Scores:
    """Return whether the file holds tests and the question does not ask for tests."""
    return zeros(pool) if pool.question.asks_tests else map_owners(pool, lambda owner: float(is_test(owner.path)))


def in_foreign(pool: Pool) -> Scores:
    """Return whether the file is generated or vendored."""
    return map_owners(pool, lambda owner: float(is_foreign(owner.path)))


def is_special(pool: Pool) -> Scores:
    """Return whether the function is a special method such as ``__init__``."""
    return map_owners(pool, lambda owner: float(owner.name.startswith("__") and owner.name.endswith("__")))


def is_private(pool: Pool) -> Scores:
    """Return whether the function's name begins with one underscore."""
    return map_owners(pool, lambda owner: float(owner.name.startswith("_") and not owner.name.startswith("__")))


def is_method(pool: Pool) -> Scores:
    """Return whether the function is inside a class or another function."""
    return map_owners(pool, lambda owner: float("." in owner.qualname))


def length(pool: Pool) -> Scores:
    """Return the logarithm of the number of lines."""
    return np.log2([max(1, each.lines) for each in pool.outlines])


def is_stub(pool: Pool) -> Scores:
    """Return whether the file is a stub."""
    return map_owners(pool, lambda owner: float(owner.path.endswith(".pyi")))


def in_example(pool: Pool) -> Scores:
    """Return whether the file is an example and the question does not ask for examples."""
    asked = not _EXAMPLE_TERMS.isdisjoint(pool.question.terms)
    return zeros(pool) if asked else map_owners(pool, lambda owner: float(is_example(owner.path)))


def is_class(pool: Pool) -> Scores:
    """Return whether the candidate is a class."""
    return _is_of(pool, Label.CLASS)


def is_module(pool: Pool) -> Scores:
    """Return whether the candidate is module code."""
    return _is_of(pool, Label.MODULE)


def is_constant(pool: Pool) -> Scores:
    """Return whether the candidate is a constant or field."""
    return _is_of(pool, Label.CONSTANT)


def class_asked(pool: Pool) -> Scores:
    """Return whether the candidate is a class and the question has a word typical of classes."""
    return zeros(pool) if _CLASS_TERMS.isdisjoint(pool.question.terms) else is_class(pool)


def constant_asked(pool: Pool) -> Scores:
    """Return whether the candidate is a constant and the question has a word typical of constants."""
    return zeros(pool) if _CONSTANT_TERMS.isdisjoint(pool.question.terms) else is_constant(pool)


def class_headed(pool: Pool) -> Scores:
    """Return whether the candidate is a class and the question begins with a word typical of classes."""
    return zeros(pool) if _CLASS_TERMS.isdisjoint(pool.question.terms[:HEAD]) else is_class(pool)


def constant_headed(pool: Pool) -> Scores:
    """Return whether the candidate is a constant and the question begins with a word typical of constants."""
    return zeros(pool) if _CONSTANT_TERMS.isdisjoint(pool.question.terms[:HEAD]) else is_constant(pool)


def error_asked(pool: Pool) -> Scores:
    """Return whether the candidate is an error class and the question asks for one."""
    if _ERROR_TERMS.isdisjoint(pool.question.terms):
        return zeros(pool)
    return is_class(pool) * map_owners(pool, lambda owner: float(_NAMES_ERROR.search(owner.name) is not None))


def action_asked(pool: Pool) -> Scores:
    """Return whether the candidate is not a function and the question asks how something is done."""
    if _ACTION_TERMS.isdisjoint(pool.question.terms):
        return zeros(pool)
    return is_class(pool) + is_module(pool) + is_constant(pool)


def _is_of(pool: Pool, label: Label) -> Scores:
    return np.array([float(each.label is label) for each in pool.outlines])


def is_body(pool: Pool) -> Scores:
    """Return whether the block is the body of its function."""
    return np.array([float(each.kind == "body") for each in pool.outlines])


def rank_inside(pool: Pool) -> Scores:
    """Return the reciprocal rank of the block's cosine among the candidates of its function."""
    return 1 / (1 + count_better(pool.dense, number_owners(pool)[1]))


def blocks_inside(pool: Pool) -> Scores:
    """Return the logarithm of the number of candidates of the block's function."""
    _, numbers = number_owners(pool)
    return np.log(np.bincount(numbers))[numbers]


def constant_wanted(pool: Pool) -> Scores:
    """Return for a constant the log odds, by how the question is asked, that it asks for one (question_kinds.py)."""
    odds = measure_constant_odds(pool.question.terms)
    return is_constant(pool) * min(max(odds, -MOST_ODDS), MOST_ODDS)


_COMMON = (
    dense, dense_rank, cosine, weaker, lexical, lexical_rank, lexical_top, lexical_share, abbreviated, word_cover,
    words_missing, meant_cover, meant_share, wide_cover, wide_share, class_dense, module_dense, in_class, name_cover,
    name_share, name_match, qualname_share, name_order, name_start, name_verb, name_length, name_gain,
    name_gain_unsaid, name_gain_mean, scope_cover, asked_name, asked_scope, asked_file, asked_line, in_test, in_foreign,
    is_special, is_private, is_method, length, is_stub, in_example, is_class, is_module, is_constant, class_asked,
    constant_asked, class_headed, constant_headed, error_asked, action_asked, constant_wanted,
)  # fmt: skip
FEATURES: dict[Label, tuple[Callable[[Pool], Scores], ...]] = {
    Label.FUNCTION: _COMMON,
    Label.BLOCK: (*_COMMON, owner_dense, rank_inside, blocks_inside, is_body),
}


def measure_features(pool: Pool, label: Label) -> Scores:
    """Compute every feature of every candidate: float64 [candidates, features of the label], in their order."""
    if not pool.outlines:
        return np.zeros((0, len(FEATURES[label])))
    return np.stack([feature(pool) for feature in FEATURES[label]], axis=1)


def _cover(pool: Pool, covered: Scores) -> Scores:
    """Weigh terms by the square root of their rarity: a question is not only about its rarest word."""
    weights = np.sqrt(pool.rarities)
    return divide(covered @ weights, weights.sum())


def _scope_names(owner: Outline) -> set[str]:
    parts = owner.path.removesuffix(".py").split("/")
    return {*owner.qualname.split(".")[:-1], *parts[-1:]}


def _match_name(owner: Outline, parts: list[str]) -> float:
    if parts[-1] != owner.name:
        return 0.0
    if len(parts) == 1:
        return 1.0
    return 1.0 if parts[-2] in _scope_names(owner) else 0.5


def _is_in_file(path: str, name: str) -> bool:
    module = f"/{name.removesuffix('.py')}/__init__.py"  # a.b names a/b.py or the package a/b
    path = f"/{path}"
    return path.endswith((f"/{name}", module)) or (name.endswith("/") and f"/{name}" in path)
