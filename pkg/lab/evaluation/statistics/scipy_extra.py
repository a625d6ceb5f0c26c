"""Access to scipy, which is an optional dependency."""

from __future__ import annotations

from typing import Any

from pkg.errors import MissingExtraError


def import_stats() -> Any:
    """Import scipy.stats; raises MissingExtraError if it is not installed."""
    try:
        from scipy import stats
    except ImportError as fault:
        raise MissingExtraError("scipy", "eval", "the tests of an evaluation") from fault
    return stats
