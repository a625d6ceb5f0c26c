"""What comes out at a call site: definitions of the repository, libraries, or why it could not be bound (A-12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from pkg.model import CERTAIN, LIKELY, POSSIBLE, rank_confidence
from pkg.resolution.program import Code
from pkg.resolve.abstract_values import Reason

MADE_DECORATOR = "result of a decorator's call"
DESCRIPTOR = "descriptor"
FALLBACK = "__getattr__"
DUCK_TYPE = "only class with these attributes"
FEW = 4  # targets of one site that are each still likely
_ASKED = (FALLBACK, DESCRIPTOR)


class Target(NamedTuple):
    """One function or class that a site calls."""

    code: Code
    rule: str
    confidence: str
    group: int = -1  # of those of which one is called: the decorators that one expression may be


class External(NamedTuple):
    """Something outside of the repository that a site calls."""

    name: str


class Unbound(NamedTuple):
    """Why a site, or one of the values that it may call, could not be bound."""

    reason: Reason


class Overriding(NamedTuple):
    """The methods of derived classes that may run in the place of one."""

    codes: tuple[Code, ...]
    confidence: str


Outcome = Target | External | Unbound | Overriding


def settle(outcomes: Iterable[Outcome], is_definition: bool) -> tuple[list[Target], list[Reason]]:
    """Settle how sure each target of a site is: many targets, or values that are not known, make all less sure.

    What is around a definition is several sites in one, so that its targets say nothing of one another; but a call that
    makes a decorator makes one: of several, the others are for other arguments.
    """
    found = [part for each in outcomes for part in _list_parts(each)]
    targets = [each for each in found if isinstance(each, Target)]
    reasons = {each.reason for each in found if isinstance(each, Unbound)}
    has_others = bool(reasons) or any(isinstance(each, External) for each in found)
    best = _pick_best(_share_groups(targets) if is_definition else targets)
    if is_definition:
        made = sum(target.rule == MADE_DECORATOR for target in best)
        if made > 1:
            best = [each._replace(confidence=POSSIBLE) if each.rule == MADE_DECORATOR else each for each in best]
    if Reason.CHOSEN in reasons:
        best = [target if target.rule == "argument" else target._replace(confidence=POSSIBLE) for target in best]
    if is_definition:
        names = Counter(target.code.name for target in best if target.rule != "constructor")
        settled = [_lower(target, names[target.code.name], has_others) for target in best]
    else:
        sure = sum(target.confidence != POSSIBLE and target.rule != "constructor" for target in best)
        settled = [_lower(target, sure, has_others) for target in best]
    return settled, sorted(reasons, key=lambda each: each.value)


def _list_parts(outcome: Outcome) -> Iterable[Outcome]:
    if isinstance(outcome, Overriding):
        return [Target(code, "override", outcome.confidence) for code in outcome.codes]
    return (outcome,)


def is_bound(targets: Iterable[Target]) -> bool:
    """Tell whether a target is what a site calls: others are only asked for that."""
    return any(target.rule not in _ASKED for target in targets)


def _pick_best(targets: list[Target]) -> list[Target]:
    """Give each definition once, by the rule that is surest."""
    best: dict[Code, Target] = {}
    for target in sorted(targets, key=lambda each: (rank_confidence(each.confidence), each.rule)):
        best.setdefault(target.code, target)
    return list(best.values())


def _share_groups(targets: list[Target]) -> list[Target]:
    """Make targets less sure of which one is called; what several groups have is as sure as the surest of them."""
    counts = Counter(target.group for target in targets)
    return [_share(target, counts[target.group]) if target.group >= 0 else target for target in targets]


def _share(target: Target, count: int) -> Target:
    sure = target.confidence if count == 1 else LIKELY if count <= FEW else POSSIBLE
    return target._replace(confidence=sure, group=-1)


def _lower(target: Target, sure: int, has_more: bool) -> Target:
    """Make one of several targets less sure."""
    confidence = target.confidence
    if confidence == CERTAIN and (has_more or sure > 1):
        confidence = LIKELY
    if confidence == LIKELY and sure > FEW:
        confidence = POSSIBLE
    return target._replace(confidence=confidence) if confidence != target.confidence else target
