"""Which conditions are known to hold or to fail where a name stands, and for which of its bindings (A-12).

Who comes into the region of a condition has passed its test. What was bound before that was tested; what is bound
inside of the region was not, unless the only way from there leads through the test again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pkg.resolve.facts.scope_model import Binding, Condition, Scope

Applied = tuple[tuple[Scope, int], ...]
"""Conditions by the scopes that they stand in, and their numbers among those of a subject there."""
Part = tuple[tuple[int, ...], Applied]
"""Bindings by their numbers, and the conditions that their values were tested by."""
MAX_CONDITIONS = 50  # of one scope, the last before a position: those before them would narrow hardly anything
WHOLE = (-2,)  # in the place of numbers: whatever the name stands for


def is_told(scope: Scope, name: str) -> bool:
    """Tell whether more may be known of an attribute where it stands than what it is anywhere."""
    return name in scope.runner.stored or name in scope.module.tested_attributes


class Known(NamedTuple):
    """A condition that is decided where something stands."""

    scope: Scope
    number: int
    condition: Condition


def list_known(scope: Scope, owner: Scope, subject: str, at: int) -> list[Known]:
    """Give the conditions on a subject in whose regions a position is, of the scopes from one to that of the name."""
    found: list[Known] = []
    each: Scope | None = scope
    while each is not None:
        found += _list_inside(each, subject, at)
        if each is owner:
            break
        each = each.parent
    return found


def _list_inside(scope: Scope, subject: str, at: int) -> list[Known]:
    """Give the last conditions of a scope on a subject in whose regions a position is."""
    conditions = scope.conditions.get(subject, ())
    found: list[Known] = []
    for number in range(len(conditions) - 1, -1, -1):
        condition = conditions[number]
        if condition.start <= at < condition.end:
            found.append(Known(scope, number, condition))
            if len(found) == MAX_CONDITIONS:
                break
    return found[::-1]


def split_whole(scope: Scope, owner: Scope, bindings: Sequence[Binding], known: Sequence[Known]) -> list[Part]:
    """Give the conditions that whatever a name stands for was tested by, which another scope binds.

    One that stands around the function in question was tested before that is called: it counts where nothing is bound
    later.
    """
    if any(binding.is_foreign(owner) for binding in bindings):
        return []
    counting = (
        (each.scope, each.number) for each in known
        if scope.runs_in(each.scope) or all(_is_before(owner, binding, each.condition.since) for binding in bindings)
    )  # fmt: skip
    return [(WHOLE, tuple(counting))]


def _is_before(owner: Scope, binding: Binding, position: int) -> bool:
    """Tell whether a binding is over before a position is reached, and does not come again."""
    loop = owner.find_loop(position)
    return binding.end_position <= position and not (loop is not None and loop[0] <= binding.at)


def list_tests(owner: Scope, binding: Binding | None, at: int, known: Sequence[Known]) -> Applied:
    """Give the conditions that the value of a binding was tested by which reaches a position; None is an argument."""
    if binding is not None and binding.is_foreign(owner):
        return ()
    return tuple(
        (each.scope, each.number) for each in known
        if binding is None or _was_tested(owner, binding, at, each.condition)
    )  # fmt: skip


def _was_tested(owner: Scope, binding: Binding, at: int, condition: Condition) -> bool:
    if not condition.since <= binding.at < condition.end:
        return True
    if condition.since != condition.start or binding.end_position <= at or binding.at < condition.start:
        return False
    return not any(
        condition.start <= start <= binding.at < end and start <= at < end for start, end in owner.loops
    )  # fmt: skip


def find_conditions(subject: str, applied: Applied) -> Iterator[Known]:
    """Give conditions by their numbers; of an earlier version of a file, there may be fewer."""
    for scope, number in applied:
        conditions = scope.conditions.get(subject, ())
        if number < len(conditions):
            yield Known(scope, number, conditions[number])
