"""Which bindings of a name put an end to others, as the text alone tells (A-12)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.resolve.facts.scope_model import DEFINITION, IMPORT, Binding, Scope
from pkg.units import Code

NAMELESS = frozenset(("setter", "deleter", "getter", "overload"))
"""Decorators under which a definition gives its name no value."""

_STATEMENTS = frozenset((Code.ASSIGN, Code.AUGMENT, Code.ERASE, DEFINITION, IMPORT))
"""Kinds of bindings that are statements of their own."""


def is_passed(scope: Scope, binding: Binding, name: str, at: int) -> bool:
    """Tell whether whoever comes from a binding to a position behind it has gone through it: it stands in no branch.

    Or the position stands in the same branch; but there, what was before counts on where the new value is made of it:
    mostly it is something of the same kind.
    """
    if stands_alone(scope, binding):
        return True
    if binding.code not in _STATEMENTS or at >= scope.module.find_block_end(binding.at) or not _gives_value(binding):
        return False
    return name.encode("utf-8", "replace") not in scope.module.text[binding.start : binding.end]


def comes_again(scope: Scope, position: int, at: int, last: int) -> bool:
    """Tell whether a loop leads from a position back to one before it, other than through a third that is passed."""
    return any(
        start <= at < end and start <= position < end and not start <= last < end for start, end in scope.loops
    )  # fmt: skip


def list_final(scope: Scope, name: str) -> Sequence[Binding]:
    """Give the bindings of a name that count when the code of its module, class or function has run.

    One that stands in no branch puts an end to those before it.
    """
    found = scope.names.get(name, ())
    if len(found) < 2 or scope.kind not in ("module", "class", "function"):
        return found
    ordered = sorted(found, key=lambda each: each.at)
    last = max((i for i, each in enumerate(ordered) if stands_alone(scope, each)), default=0)
    return ordered[last:]


def stands_alone(scope: Scope, binding: Binding) -> bool:
    """Tell whether a binding stands in no branch: at the margin of its module, class or function."""
    if binding.code == Code.ANNOTATE:
        return False
    if not _gives_value(binding):
        return False
    text = scope.module.text
    return text.rfind(b"\n", 0, binding.at) + 1 + scope.margin >= binding.at


def _gives_value(binding: Binding) -> bool:
    return binding.scope is None or NAMELESS.isdisjoint(binding.scope.decorator_names)
