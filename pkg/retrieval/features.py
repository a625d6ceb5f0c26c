"""What a ranking knows of a candidate: one small function a feature, each gives one number a candidate.

A feature compares candidates of one question, so what is the same for all of them does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from pkg.graph.path_filter import is_test
from pkg.model import Label, Outline
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
from pkg.retrieval.pool import (
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
from pkg.terms.words import stem_word

_EXAMPLE = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc_src|examples?|demos?|samples?|tutorials?|benchmarks?|asv_bench)/"
)
_GENERATED = re.compile(r"_pb2(?:_grpc)?\.py$|(?:^|/)_?generated/|_generated\.py$|(?:^|/)(?:lex|yacc|parse)tab\.py$")
_VENDORED = re.compile(r"(?:^|/)_?(?:vendor|vendored|third_party|thirdparty|extern)/")


@lru_cache(maxsize=10_000)
def is_example(path: str) -> bool:
    """Tell whether a file is an example, a part of documentation or a measurement."""
    return _EXAMPLE.search(path) is not None


@lru_cache(maxsize=10_000)
def is_foreign(path: str) -> bool:
    """Tell whether a file was written by a program, or is a copy of another project's."""
    return _GENERATED.search(path) is not None or _VENDORED.search(path) is not None


def _stem(words: str) -> frozenset[str]:
    return frozenset(map(stem_word, words.split()))


HEAD = 3  # first terms of a question: mostly they say what kind of thing is wanted
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
    """Measure the cosine with the question (P-14)."""
    return standardise(pool.dense)


@lru_cache(maxsize=2)
def lexical(pool: Pool) -> Scores:
    """Measure the lexical score of the function."""
    return standardise(pool.lexical)


def cosine(pool: Pool) -> Scores:
    """Give the cosine as it is, in the same unit for every question."""
    return pool.dense


def weaker(pool: Pool) -> Scores:
    """Measure the lower one of both scores: beside the two it tells how far one search alone is to be trusted."""
    return np.minimum(dense(pool), lexical(pool))


def owner_dense(pool: Pool) -> Scores:
    """Measure the cosine of a block's function."""
    return standardise(pool.owner_dense)


def dense_rank(pool: Pool) -> Scores:
    """Give the reciprocal rank among the cosines."""
    return rank_reciprocally(pool.dense, _RANK_OFFSET)


def lexical_rank(pool: Pool) -> Scores:
    """Give the reciprocal rank among the lexical scores."""
    return rank_reciprocally(pool.lexical, _RANK_OFFSET)


def lexical_top(pool: Pool) -> Scores:
    """Give the same, of which the first few have nearly all."""
    return rank_reciprocally(pool.lexical, _TOP_OFFSET)


def lexical_share(pool: Pool) -> Scores:
    """Measure the lexical score as a share of the best."""
    return divide(pool.lexical, pool.lexical.max(initial=0))


def abbreviated(pool: Pool) -> Scores:
    """Measure what abbreviations of the question's words add to the lexical score, as a share of the best."""
    return divide(pool.abbreviated, pool.lexical.max(initial=0))


def word_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands anywhere in the function."""
    return divide((pool.words > 0) @ pool.rarities, pool.rarities.sum())


def words_missing(pool: Pool) -> Scores:
    """Count the words of the question that the function does not hold."""
    return np.asarray((pool.words <= 0).sum(axis=1), np.float64)


@lru_cache(maxsize=2)
def meant_cover(pool: Pool) -> Scores:
    """Measure how much of the question the function means, by its own words or by words that are used like them."""
    return _cover(pool, pool.meant)


def meant_share(pool: Pool) -> Scores:
    """Measure the same beside the other candidates."""
    return standardise(meant_cover(pool))


@lru_cache(maxsize=2)
def wide_cover(pool: Pool) -> Scores:
    """Measure how much of the question the function means together with its class and module."""
    return _cover(pool, np.maximum(pool.meant, pool.meant_around))


def wide_share(pool: Pool) -> Scores:
    """Measure the same beside the other candidates."""
    return standardise(wide_cover(pool))


def class_dense(pool: Pool) -> Scores:
    """Give the cosine of the class, or 0 where there is none."""
    return pool.class_dense


def module_dense(pool: Pool) -> Scores:
    """Give the cosine of the module."""
    return pool.module_dense


def in_class(pool: Pool) -> Scores:
    """Tell whether the candidate stands in a class."""
    return np.asarray(pool.class_dense != 0, np.float64)


def asked_name(pool: Pool) -> Scores:
    """Tell whether the question names the function: 1, or .5 where it names another class or module with it."""
    names = [name.split(".") for name in pool.question.names]
    return map_owners(pool, lambda owner: max(_match_name(owner, parts) for parts in names)) if names else zeros(pool)


def asked_scope(pool: Pool) -> Scores:
    """Tell whether the question names a class or module that the function stands in."""
    asked = {part for name in pool.question.names for part in name.split(".")}
    return map_owners(pool, lambda owner: float(not asked.isdisjoint(_scope_names(owner)))) if asked else zeros(pool)


def asked_file(pool: Pool) -> Scores:
    """Tell whether the question names the file."""
    files = pool.question.files
    if not files:
        return zeros(pool)
    return map_owners(pool, lambda owner: float(any(_is_in_file(owner.path, name) for name in files)))


def in_test(pool: Pool) -> Scores:
    """Tell whether the file holds tests, and the question does not ask for any."""
    return zeros(pool) if pool.question.asks_tests else map_owners(pool, lambda owner: float(is_test(owner.path)))


def in_foreign(pool: Pool) -> Scores:
    """Tell whether the file is generated, or a copy of another project's."""
    return map_owners(pool, lambda owner: float(is_foreign(owner.path)))


def is_special(pool: Pool) -> Scores:
    """Tell whether the function is a special method such as ``__init__``."""
    return map_owners(pool, lambda owner: float(owner.name.startswith("__") and owner.name.endswith("__")))


def is_private(pool: Pool) -> Scores:
    """Tell whether the function's name begins with one underscore."""
    return map_owners(pool, lambda owner: float(owner.name.startswith("_") and not owner.name.startswith("__")))


def is_method(pool: Pool) -> Scores:
    """Tell whether the function stands in a class or in another function."""
    return map_owners(pool, lambda owner: float("." in owner.qualname))


def length(pool: Pool) -> Scores:
    """Measure the lines, by their logarithm."""
    return np.log2([max(1, each.lines) for each in pool.outlines])


def is_stub(pool: Pool) -> Scores:
    """Tell whether the file has types alone."""
    return map_owners(pool, lambda owner: float(owner.path.endswith(".pyi")))


def in_example(pool: Pool) -> Scores:
    """Tell whether the file shows how something is used, and the question does not ask for examples."""
    asked = not _EXAMPLE_TERMS.isdisjoint(pool.question.terms)
    return zeros(pool) if asked else map_owners(pool, lambda owner: float(is_example(owner.path)))


def is_class(pool: Pool) -> Scores:
    """Tell whether the candidate is a class."""
    return _is_of(pool, Label.CLASS)


def is_module(pool: Pool) -> Scores:
    """Tell whether the candidate is the code of a module."""
    return _is_of(pool, Label.MODULE)


def is_constant(pool: Pool) -> Scores:
    """Tell whether the candidate is a constant or field."""
    return _is_of(pool, Label.CONSTANT)


def class_asked(pool: Pool) -> Scores:
    """Tell whether the candidate is a class, and the question speaks of what classes are made for."""
    return zeros(pool) if _CLASS_TERMS.isdisjoint(pool.question.terms) else is_class(pool)


def constant_asked(pool: Pool) -> Scores:
    """Tell whether the candidate is a constant, and the question speaks of what constants hold."""
    return zeros(pool) if _CONSTANT_TERMS.isdisjoint(pool.question.terms) else is_constant(pool)


def class_headed(pool: Pool) -> Scores:
    """Tell whether the candidate is a class, and the question begins with what classes are made for."""
    return zeros(pool) if _CLASS_TERMS.isdisjoint(pool.question.terms[:HEAD]) else is_class(pool)


def constant_headed(pool: Pool) -> Scores:
    """Tell whether the candidate is a constant, and the question begins with what constants hold."""
    return zeros(pool) if _CONSTANT_TERMS.isdisjoint(pool.question.terms[:HEAD]) else is_constant(pool)


def error_asked(pool: Pool) -> Scores:
    """Tell whether the candidate is a class of errors, and the question asks for one."""
    if _ERROR_TERMS.isdisjoint(pool.question.terms):
        return zeros(pool)
    return is_class(pool) * map_owners(pool, lambda owner: float(_NAMES_ERROR.search(owner.name) is not None))


def action_asked(pool: Pool) -> Scores:
    """Tell whether the candidate is no function, and the question asks how something is done."""
    if _ACTION_TERMS.isdisjoint(pool.question.terms):
        return zeros(pool)
    return is_class(pool) + is_module(pool) + is_constant(pool)


def _is_of(pool: Pool, label: Label) -> Scores:
    return np.array([float(each.label is label) for each in pool.outlines])


def is_body(pool: Pool) -> Scores:
    """Tell whether the block is the body of its function."""
    return np.array([float(each.kind == "body") for each in pool.outlines])


def rank_inside(pool: Pool) -> Scores:
    """Give the reciprocal rank of the block's cosine among the candidates of its function."""
    return 1 / (1 + count_better(pool.dense, number_owners(pool)[1]))


def blocks_inside(pool: Pool) -> Scores:
    """Count the candidates of the block's function, by the logarithm."""
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
    """Measure every feature of every candidate: float64 [candidates, features of the label], in their order."""
    if not pool.outlines:
        return np.zeros((0, len(FEATURES[label])))
    return np.stack([feature(pool) for feature in FEATURES[label]], axis=1)


def _cover(pool: Pool, meant: Scores) -> Scores:
    """Weigh terms by the root of their rarity: what is rare in a graph is not all that a question is about."""
    weights = np.sqrt(pool.rarities)
    return divide(meant @ weights, weights.sum())


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
