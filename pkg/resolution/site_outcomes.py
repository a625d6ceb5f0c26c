"""Outcomes of a call site: definitions, libraries, or the reason why it is unbound (A-12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from pkg.model import CERTAIN, LIKELY, POSSIBLE, rank_confidence
from pkg.resolution.program import Code
from pkg.resolution.reasons import Reason

MADE_DECORATOR = "result of a decorator's call"
DESCRIPTOR = "descriptor"
FALLBACK = "__getattr__"
DUCK_TYPE = "only class with these attributes"
GETATTR = "getattr"
OVERRIDE = "override"
OVERRIDE_OF_SELF = "override of self"
FEW = 4  # targets of one site that are each likely
_ASKED = (FALLBACK, DESCRIPTOR)


class Grade(NamedTuple):
    """Highest confidence of a rule for one of several targets; beside an unknown value it is likely at most."""

    name: str
    of_few_beside_unknown: str  # one of up to FEW targets, beside an unknown or library callee
    of_many: str  # one of more than FEW


_FIRM = Grade("firm", LIKELY, LIKELY)
_PLAIN = Grade("plain", LIKELY, POSSIBLE)
_LOOSE = Grade("loose", POSSIBLE, POSSIBLE)
GRADES = {
    "argument": _FIRM, "constructor": _FIRM, "annotated type": _FIRM, "narrowed type": _FIRM, "self": _FIRM,
    "cls": _FIRM, "super": _FIRM, "class attribute": _FIRM, "import": _FIRM, "same module": _FIRM,
    OVERRIDE_OF_SELF: _FIRM, DUCK_TYPE: _FIRM, GETATTR: _FIRM,
    "special method": _LOOSE, "property": _LOOSE, "__call__": _LOOSE, DESCRIPTOR: _LOOSE, FALLBACK: _LOOSE,
    "callback": _LOOSE,
}  # fmt: skip
"""Grades of rules other than `_PLAIN`, from the shares of their edges that were observed at run time, which
are in docs/resolution.md (benchmarks/results/dynamic_edges.json)."""


class Target(NamedTuple):
    """A function or class that a site calls."""

    code: Code
    rule: str
    confidence: str
    group: int = -1  # number of alternative targets, such as decorators made by one expression


class External(NamedTuple):
    """A callee outside of the repository."""

    name: str


class Unbound(NamedTuple):
    """Reason why a site, or one of its possible callees, is unbound."""

    reason: Reason


class Overriding(NamedTuple):
    """Overriding methods of a target."""

    codes: tuple[Code, ...]


Outcome = Target | External | Unbound | Overriding


def settle(outcomes: Iterable[Outcome], is_definition: bool) -> tuple[list[Target], list[Reason]]:
    """Lower the confidence of targets of a site with several targets or unknown values.

    A definition is several sites in one (decorators, bases), whose targets are independent; but a call that
    makes a decorator makes one: several are alternatives.
    """
    found = [part for each in outcomes for part in _list_parts(each)]
    if len(found) < 2 and not (found and isinstance(found[0], Target)):  # the common case
        return [], [each.reason for each in found if isinstance(each, Unbound)]
    targets = [each for each in found if isinstance(each, Target)]
    reasons = {each.reason for each in found if isinstance(each, Unbound)}
    has_others = bool(reasons) or any(isinstance(each, External) for each in found)
    best = _pick_best(_share_groups(targets) if is_definition else targets)
    if is_definition and sum(target.rule == MADE_DECORATOR for target in best) > 1:
        best = [each._replace(confidence=POSSIBLE) if each.rule == MADE_DECORATOR else each for each in best]
    if Reason.CHOSEN in reasons:
        best = [_choose(target) for target in best]
    counted = [target for target in best if _is_counted(target, is_definition)]
    names = Counter(target.code.name for target in counted)
    settled = [
        _lower(target, names[target.code.name], is_definition or len(counted) <= 1, has_others)
        if is_definition or find_grade(target.rule) is _LOOSE  # called in addition to targets of other names
        else _lower(target, len(counted), True, has_others)
        for target in best
    ]
    return settled, sorted(reasons, key=lambda each: each.value)


def _is_counted(target: Target, is_definition: bool) -> bool:
    """Return whether a target lowers others: neither a possible one, nor a constructor beside its class."""
    return target.rule != "constructor" and (is_definition or target.confidence != POSSIBLE)


def find_grade(rule: str) -> Grade:
    """Return the grade of a rule."""
    return GRADES.get(rule, _PLAIN)


def _choose(target: Target) -> Target:
    """Lower the confidence of a target beside a computed attribute, unless it may be the attribute itself."""
    if target.rule == "result":
        return target._replace(rule=GETATTR, confidence=LIKELY)
    return target if target.rule == "argument" else target._replace(confidence=POSSIBLE)


def _list_parts(outcome: Outcome) -> Iterable[Outcome]:
    if isinstance(outcome, Overriding):
        return [Target(code, OVERRIDE, LIKELY) for code in outcome.codes]
    return (outcome,)


def is_bound(targets: Iterable[Target]) -> bool:
    """Return whether a target is the callee of a site, and not an implicit call."""
    return any(target.rule not in _ASKED for target in targets)


def _pick_best(targets: list[Target]) -> list[Target]:
    """Return each definition once, by its surest rule."""
    best: dict[Code, Target] = {}
    for target in sorted(targets, key=lambda each: (rank_confidence(each.confidence), each.rule)):
        best.setdefault(target.code, target)
    return list(best.values())


def _share_groups(targets: list[Target]) -> list[Target]:
    """Lower the confidence within groups of alternatives; a target of several groups keeps the highest."""
    counts = Counter(target.group for target in targets)
    return [_share(target, counts[target.group]) if target.group >= 0 else target for target in targets]


def _share(target: Target, count: int) -> Target:
    sure = target.confidence if count == 1 else LIKELY if count <= FEW else POSSIBLE
    return target._replace(confidence=sure, group=-1)


def _lower(target: Target, count: int, is_only: bool, has_more: bool) -> Target:
    """Lower the confidence of one of several targets to the grade of its rule."""
    grade = find_grade(target.rule)
    if count > FEW:
        most = grade.of_many
    elif count > 1 and has_more:
        most = grade.of_few_beside_unknown
    else:
        most = CERTAIN if count <= 1 and is_only and not has_more else LIKELY
    return target if rank_confidence(target.confidence) >= rank_confidence(most) else target._replace(confidence=most)
