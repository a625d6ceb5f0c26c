"""What a set holds whose rule failed unexpectedly, and where in the repository that was.

The set says that something is unknown, with the reason, so that everything that reads it stays true.
"""

from __future__ import annotations

from collections.abc import Iterable

from pkg.model import POSSIBLE
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import EMPTY, UNKNOWN, Key, Values, unknown
from pkg.resolve.facts.scope_model import Scope, Site, Store
from pkg.resolve.outcomes import Callee, Unbound

_OF_OUTCOMES = (q.SITE, q.CALLED_OF_MANY)
_OF_NO_VALUES = (q.BASES, q.PATCHES, q.QUIET_SITES, q.STORE, q.REGISTERED, q.RECEIVERS, q.DELEGATES, q.KEYS)


def describe_unknown(key: Key) -> Values:
    """Return what stands for the values of a set that could not be computed."""
    if key[0] in _OF_OUTCOMES:
        return frozenset({Unbound(Reason.FAULT)})
    if key[0] is q.CALLEES_OF_MANY:
        return frozenset({Callee((UNKNOWN, Reason.FAULT), "value", POSSIBLE)})
    return EMPTY if key[0] in _OF_NO_VALUES else unknown(Reason.FAULT)


def find_place(parts: Iterable[object], default: str) -> tuple[str, int]:
    """Return the path and line of the first site, assignment or scope that a key names; else a path and no line."""
    for part in parts:
        if isinstance(part, Site | Store):
            return part.scope.module.path, _count_line(part.scope, part.start)
        if isinstance(part, Scope):
            return part.module.path, _count_line(part, part.head[0])
        if isinstance(part, tuple):
            found = find_place(part, "")
            if found[0]:
                return found
    return default, 0


def _count_line(scope: Scope, position: int) -> int:
    return scope.module.text.count(b"\n", 0, position) + 1
