"""Options of a query, and checks of their values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pkg.argument_types import check_sequence
from pkg.errors import UsageError
from pkg.model import BLOCK_KINDS, BlockKind, NodeFilter

Mode = Literal["block", "function", "both", "declaration", "file", "text", "fact"]
BlockChoice = Literal["all", "inner", "body"]
RankingMethod = Literal["linear", "rrf", "dense"]
PruneChoice = Literal["safe", "paper", "none"]
TestChoice = Literal["auto", "only", "no"]
HelperChoice = Literal["needed", "all", "none"]
MODES: tuple[Mode, ...] = get_args(Mode)
BLOCK_CHOICES: tuple[BlockChoice, ...] = get_args(BlockChoice)
RANKINGS: tuple[RankingMethod, ...] = get_args(RankingMethod)
HELPER_CHOICES: tuple[HelperChoice, ...] = get_args(HelperChoice)
TEST_CHOICES: tuple[TestChoice, ...] = get_args(TestChoice)
PRUNE_CHOICES: tuple[PruneChoice, ...] = get_args(PruneChoice)
DEFAULT_BUDGET = 8000  # tokens; the smallest context windows in use hold 16,000, half of which is left for the rest

Globs: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""Globs of fnmatch: one, several or none; the last match decides, ! excludes."""

OUTLINE_BUDGET = 2000  # tokens: two or three pages, which leave room for a question


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """Settings of one query; the defaults are those of the papers, except for the number of hits, which is 1 there."""

    mode: Mode = "block"  # kind of hits (P-15, P-16); file lists files without code, text and fact find texts
    top_k: int = 3  # P-17, A-10; the papers take one, a person reads several
    blocks: BlockChoice = "all"  # kinds of blocks
    ranking: RankingMethod = "linear"  # the trained ranker, reciprocal rank fusion, or cosine alone (P-17)
    source: str | None = None
    path: Globs = None
    kind: BlockKind | None = None
    budget: int = DEFAULT_BUDGET  # tokens of all code, with helpers; 0 for no limit
    prune: PruneChoice | bool = "safe"  # what may be cut (P-18): branches that nothing depends on, any branch, none
    prune_steps: int = 1
    hops: int = 1  # 0 adds no callees
    callers: bool = False  # Q-23; whether functions that call a hit are added
    rerank_hits: str | None = None  # a cross-encoder or encoder that reorders the best candidates; or questions:MODEL
    helpers: HelperChoice = "needed"  # which callees are added: those that the question needs, all (P-06), or none
    tests: TestChoice = "auto"  # whether tests are hits: if the question asks for them, only tests, or never
    declarations: bool = True  # whether classes, constants and modules are found beside functions and blocks
    floor: bool = True  # whether to judge if anything fits; if nothing does, prompts show no code
    exclude_leaks: bool = False  # A-16; whether leaked solutions of audited benchmarks are excluded


DEFAULT_OPTIONS = QueryOptions()
PROMPT_HITS = 1
"""Default number of hits of a prompt: that of the papers (P-17), as small models copy the code they are shown."""


def check_options(options: QueryOptions) -> None:
    """Raise UsageError for invalid options."""
    check_choice("mode", options.mode, MODES)
    check_choice("ranking", options.ranking, RANKINGS)
    check_choice("blocks", options.blocks, BLOCK_CHOICES)
    check_choice("helpers", options.helpers, HELPER_CHOICES)
    check_choice("tests", options.tests, TEST_CHOICES)
    if options.kind is not None:
        check_choice("kind", options.kind, BLOCK_KINDS)
    check_choice("prune", prune_choice(options), PRUNE_CHOICES)
    for name, value, least in (
        ("top_k", options.top_k, 1),
        ("budget", options.budget, 0),
        ("prune_steps", options.prune_steps, 1),
        ("hops", options.hops, 0),
    ):
        check_minimum(name, value, least)
    if any(not glob.removeprefix("!") for glob in list_globs(options.path)):
        raise UsageError("a path is empty; expected a glob such as 'shop/*', or '!tests/*' to leave files out")
    if options.mode in ("function", "file", "text", "fact") and (options.kind is not None or options.blocks != "all"):
        raise UsageError(f"kind and blocks narrow blocks, and mode is '{options.mode}'; use mode 'block' or 'both'")
    if block_kinds(options) == frozenset():
        raise UsageError(f"no block is both '{options.blocks}' and '{options.kind}'; give one of the two alone")


def check_shows_code(mode: str) -> None:
    """Raise UsageError for a mode without code, of which no prompt can be written."""
    shown = {"file": "lists places", "text": "finds text files", "fact": "finds facts of documents"}.get(mode)
    if shown is not None:
        raise UsageError(f"mode is '{mode}', which {shown} and shows no code; use mode 'block', 'function' or 'both'")


def block_kinds(options: QueryOptions) -> frozenset[str] | None:
    """Return the kinds of block that blocks and kind together allow; None for all (A-02)."""
    allowed = {"all": frozenset(BLOCK_KINDS), "inner": frozenset(BLOCK_KINDS[1:]), "body": frozenset(BLOCK_KINDS[:1])}
    kinds = allowed[options.blocks]
    if options.kind is not None:
        kinds &= {options.kind}
    return None if len(kinds) == len(BLOCK_KINDS) else kinds


def prune_choice(options: QueryOptions) -> PruneChoice:
    """Return the pruning rule; True and False mean the safe one and none."""
    if isinstance(options.prune, bool):
        return "safe" if options.prune else "none"
    return options.prune


def node_filter(options: QueryOptions) -> NodeFilter:
    """Return the filter that a store applies before ranking."""
    tests = {"auto": None, "only": True, "no": False}[options.tests]
    return NodeFilter(options.source, list_globs(options.path), block_kinds(options), tests)


def list_globs(given: Globs) -> tuple[str, ...]:
    """Return globs as texts; raises TypeError for other types."""
    if given is None:
        return ()
    if isinstance(given, str | os.PathLike):
        return (os.fspath(given),)
    check_sequence("path", given, 'globs, such as ["src/*"]')
    return tuple(os.fspath(each) for each in given)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise UsageError for a value that is not among the choices."""
    if value not in choices:
        raise UsageError(f"unknown {name} '{value}'; expected one of: {', '.join(choices)}")


def check_minimum(name: str, value: float, least: float) -> None:
    """Raise UsageError for a number below a minimum."""
    if value < least:
        raise UsageError(f"{name} is {value}; expected {least} or more")


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """Settings of one exploration."""

    budget: int = 1500  # tokens of all of it; 0 for no limit
    source: str | None = None
    path: Globs = None
    tests: TestChoice = "auto"


DEFAULT_EXPLORE = ExploreOptions()
