"""Leave out what a search found and is not near enough, the same way in every store."""

from __future__ import annotations

from dataclasses import replace

from pkg.model import Matches


def drop_below(found: Matches, floor: float) -> Matches:
    """Leave out the matches whose score is below a floor, and what was folded into them."""
    kept = tuple(match for match in found.matches if match.score >= floor)
    return replace(found, matches=kept, folded=sum(match.same_content for match in kept))
