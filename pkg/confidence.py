"""How sure a link is: three words, and their order."""

from __future__ import annotations

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"
BOUND = (CERTAIN, LIKELY)
"""A call site with such a link counts as bound."""
CONFIDENCES = (*BOUND, POSSIBLE)
"""Surest first."""


def rank_confidence(confidence: str | None) -> int:
    """Order confidences, the surest first; a link that carries none is a fact."""
    return CONFIDENCES.index(confidence or CERTAIN)


def is_bound(confidence: str | None) -> bool:
    """Tell whether a link is certain or likely."""
    return confidence != POSSIBLE
