"""Assignment of items to raters, and of answers to sides, reproducible by a seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from pkg.errors import UsageError


def assign_items(ids: Sequence[str], raters: Sequence[str], overlap: int, seed: int = 0) -> dict[str, list[str]]:
    """Return the items of each rater in the given order; each item has `overlap` raters.

    An item goes to the rater with the fewest items, then to the one who shares the fewest with its other raters, so
    that loads differ by at most one and every two raters share items. Appended items do not change the assignment of
    earlier ones. Raises UsageError for an overlap below 1 or above the number of raters.
    """
    if not 1 <= overlap <= len(raters):
        raise UsageError(f"an overlap of {overlap} with {len(raters)} raters; expected from 1 to {len(raters)}")
    assigned: dict[str, list[str]] = {rater: [] for rater in raters}
    shared: Counter[frozenset[str]] = Counter()
    draw = random.Random(seed)
    for item in ids:
        free, chosen = draw.sample(raters, len(raters)), list[str]()
        while len(chosen) < overlap:
            rater = min(free, key=lambda each: (len(assigned[each]), sum(shared[frozenset((each, o))] for o in chosen)))
            free.remove(rater)
            shared.update(frozenset((rater, other)) for other in chosen)
            assigned[rater].append(item)
            chosen.append(rater)
    return assigned


def draw_order(names: Sequence[str], seed: int, *occasion: str) -> list[str]:
    """Return names in an order drawn from the seed and the occasion, such as the sides of two answers for a rater."""
    return random.Random("\0".join((str(seed), *occasion))).sample(names, len(names))
