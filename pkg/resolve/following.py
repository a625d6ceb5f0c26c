"""How far arguments and results are followed, and which counts decide that (A-12)."""

from __future__ import annotations

from enum import IntEnum

MAX_USES = 6  # calls of a name up to which arguments are followed, where that is not done for all
MAX_TOLD = 12  # derived classes, and assignments from outside to one attribute, where not all is followed


class Following(IntEnum):
    """How far arguments and results are followed."""

    ALL = 0
    FEW = 1  # arguments only into functions that few call
    NONE = 2  # neither, but for annotations


def rate_uses(count: int, following: Following) -> int:
    """Tell calls of a name that count alike: 0 for none, 1 for those whose arguments are followed, 2 for all others."""
    is_followed = following == Following.ALL or (following == Following.FEW and count <= MAX_USES)
    return min(count, 1) if is_followed else 2
