"""Ranking features of a candidate: one small function for each, with one number for each candidate.

Features compare candidates of one question, so a value that is the same for all of them has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from pkg.graph.path_filter import is_test
from pkg.model import Label, Outline
from pkg.retrieval.candidate_pool import (
    Pool,
    Scores,
    count_better,
    divide,
    map_owners,
    number_owners,
    rank_reciprocally,
    standardise,
    zeros,
)
from pkg.retrieval.name_features import (
    name_cover,
    name_gain,
    name_gain_mean,
    name_gain_unsaid,
    name_length,
    name_match,
    name_order,
    name_share,
    name_start,
    name_verb,
    qualname_share,
    scope_cover,
)
from pkg.terms.words import stem_word

_EXAMPLE = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc_src|examples?|demos?|samples?|tutorials?|benchmarks?|asv_bench)/"
)
_GENERATED = re.compile(r"_pb2(?:_grpc)?\.py$|(?:^|/)_?generated/|_generated\.py$|(?:^|/)(?:lex|yacc|parse)tab\.py$")
_VENDORED = re.compile(r"(?:^|/)_?(?:vendor|vendored|third_party|thirdparty|extern)/")


@lru_cache(maxsize=10_000)
def is_example(path: str) -> bool:
    """Return whether a file is an example, part of documentation or a benchmark."""
    return _EXAMPLE.search(path) is not None


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


_COMMON = (
    dense, dense_rank, cosine, weaker, lexical, lexical_rank, lexical_top, lexical_share, abbreviated, word_cover,
    words_missing, meant_cover, meant_share, wide_cover, wide_share, class_dense, module_dense, in_class, name_cover,
    name_share, name_match, qualname_share, name_order, name_start, name_verb, name_length, name_gain,
    name_gain_unsaid, name_gain_mean, scope_cover, asked_name, asked_scope, asked_file, in_test, in_foreign,
    is_special, is_private, is_method, length, is_stub, in_example, is_class, is_module, is_constant, class_asked,
    constant_asked, class_headed, constant_headed, error_asked, action_asked,
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
    return f"/{path}".endswith(f"/{name}") or (name.endswith("/") and f"/{name}" in f"/{path}")
