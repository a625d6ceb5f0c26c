"""What comes out at a call site: definitions of the repository, libraries, or why it could not be bound (A-12)."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from pkg.model import CERTAIN, LIKELY, POSSIBLE, rank_confidence
from pkg.resolution.reasons import Reason
from pkg.resolve.abstract_values import Group, Value, Values
from pkg.resolve.facts.scope_model import Scope
from pkg.units import Code

MADE_DECORATOR = "result of a decorator's call"
DESCRIPTOR = "descriptor"
FEW = 4  # targets of one site that are each still likely


class Target(NamedTuple):
    """One function or class that a site calls."""

    scope: Scope
    rule: str
    confidence: str
    group: str = ""  # of those of which one is called: by what is written


class Library(NamedTuple):
    """Something outside of the repository that a site calls."""

    name: str


class Unbound(NamedTuple):
    """Why a site, or one of the values that it may call, could not be bound."""

    reason: Reason


Outcome = Target | Library | Unbound


class Callees(NamedTuple):
    """Values that a site may call, all found by one rule; beside them the functions of properties that it reads."""

    values: Values
    rule: str
    confidence: str
    properties: tuple[Target, ...] = ()
    group: Group | None = None  # in the place of values: of what is in a large set, whose callees are found together


class Callee(NamedTuple):
    """One of the values that an attribute of a large set may be, or a property that reading it calls."""

    value: Value | None
    rule: str
    confidence: str
    property: Target | None = None


class Run(NamedTuple):
    """Something that is called by a library, and how many of its parameters come before the first argument.

    None where it is given other arguments.
    """

    value: Value
    shift: int | None
    rule: str
    confidence: str


def settle(outcomes: Values, code: Code = Code.CALL) -> list[Outcome]:
    """Settle how sure each target of a site is: many targets, or values that are not known, make all less sure.

    What is around a definition is several sites in one, so that its targets say nothing of one another; but a call that
    makes a decorator makes one: of several, the others are for other arguments.
    """
    others = [each for each in outcomes if isinstance(each, Library | Unbound)]
    targets = [each for each in outcomes if isinstance(each, Target)] if len(others) < len(outcomes) else []
    best = _pick_best(_share_groups(targets) if code == Code.DEFINITION else targets)
    if code == Code.DEFINITION:
        made = [target for target in best if target.rule == MADE_DECORATOR]
        best = [target for target in best if target.rule != MADE_DECORATOR]
        best += [_doubt(target, len(made)) for target in made]
    if Unbound(Reason.CHOSEN) in others:
        best = [target if target.rule == "argument" else target._replace(confidence=POSSIBLE) for target in best]
    sure = sum(target.confidence != POSSIBLE and target.rule != "constructor" for target in best)
    if code in (Code.DEFINITION, Code.REQUEST):  # one decorator may have two definitions of its name
        names = Counter(target.scope.name for target in best if target.rule != "constructor")
        settled: list[Outcome] = [_lower(target, names[target.scope.name], bool(others)) for target in best]
    else:
        settled = [_lower(target, sure, bool(others)) for target in best]
    return [*settled, *others] or ([Unbound(Reason.NOTHING)] if code == Code.CALL else [])


def _pick_best(targets: list[Target]) -> list[Target]:
    """Give each definition once, by the rule that is surest."""
    best: dict[Scope, Target] = {}
    for target in sorted(targets, key=lambda each: (rank_confidence(each.confidence), each.rule)):
        best.setdefault(target.scope, target)
    return list(best.values())


def _share_groups(targets: list[Target]) -> list[Target]:
    """Make targets less sure of which one is called; what several groups have is as sure as the surest of them."""
    counts = Counter(target.group for target in targets)
    return [_share(target, counts[target.group]) if target.group else target for target in targets]


def _share(target: Target, count: int) -> Target:
    sure = target.confidence if count == 1 else LIKELY if count <= FEW else POSSIBLE
    return target._replace(confidence=sure, group="")


def _doubt(target: Target, count: int) -> Target:
    return target if count == 1 else target._replace(confidence=POSSIBLE)


def _lower(target: Target, sure: int, has_more: bool) -> Target:
    """Make one of several targets less sure."""
    confidence = target.confidence
    if confidence == CERTAIN and (has_more or sure > 1):
        confidence = LIKELY
    if confidence == LIKELY and sure > FEW:
        confidence = POSSIBLE
    return target._replace(confidence=confidence) if confidence != target.confidence else target
