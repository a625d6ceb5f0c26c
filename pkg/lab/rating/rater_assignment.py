"""Deal items out to raters, and sides to answers: by a seed, so that the same call deals the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from pkg.errors import UsageError


def assign_items(ids: Sequence[str], raters: Sequence[str], overlap: int, seed: int = 0) -> dict[str, list[str]]:
    """Give each rater the items to rate, in the order given; each item has as many raters as the overlap says.

    An item goes to who has the fewest, then to who shares the fewest with those who have it already, so that loads
    differ by one at most and every two raters meet. What stands earlier is dealt first: items that are added behind
    it change nothing. Raises UsageError for an overlap that no raters can have.
    """
    if not 1 <= overlap <= len(raters):
        raise UsageError(f"an overlap of {overlap} with {len(raters)} raters; expected from 1 to {len(raters)}")
    dealt: dict[str, list[str]] = {rater: [] for rater in raters}
    shared: Counter[frozenset[str]] = Counter()
    draw = random.Random(seed)
    for item in ids:
        free, chosen = draw.sample(raters, len(raters)), list[str]()
        while len(chosen) < overlap:
            rater = min(free, key=lambda each: (len(dealt[each]), sum(shared[frozenset((each, o))] for o in chosen)))
            free.remove(rater)
            shared.update(frozenset((rater, other)) for other in chosen)
            dealt[rater].append(item)
            chosen.append(rater)
    return dealt


def draw_order(names: Sequence[str], seed: int, *occasion: str) -> list[str]:
    """Draw an order of names for one occasion, such as which answer of an item a rater sees on the left."""
    return random.Random("\0".join((str(seed), *occasion))).sample(names, len(names))
