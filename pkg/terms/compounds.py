"""Split words that are written together: ``getrowview`` -> get, row, view.

Old names in lower case have no word boundaries, and a question about the view of a row would not match them. A word is
split where it consists of words that many projects use, and these together are likelier than the word itself: so
``filename``, which is a word of its own, stays whole. A few letters at one end may be no word (``ksstat`` -> ks, stat).
The likelihood of a word follows from its rank in a list by frequency (Zipf); training/ makes the list, from
documentation and from names with underscores, and marks the few words of it that are themselves split.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, log

from pkg.trained import WEIGHTS, read_weights

FILE = "compounds.txt"
SHORTEST, LONGEST = 5, 40  # letters of a word that is split
LONGEST_PIECE = 20
SHORTEST_PIECE, SHORTEST_BESIDE_REST = 2, 3  # known words beside a rest must be longer: short ones occur everywhere
LONGEST_REST, REST_COST = 4, 3.0  # letters that may be no word, and the cost of each: higher than in any word
SHORTEST_LAST = 2  # letters of a rest at the end: a single one is an ending, as of plurals
UNSEEN = 22.0  # cost of a word that is not in the list: a split with a rest must be likelier
TABLE_LIMIT = 50_000  # cached words, about 6 MB
MADE = "+"  # suffix in the list of a word that is itself split, such as setdefault


class Compounds(dict[str, tuple[str, ...]]):
    """Cache of words and their parts, by a list of words, the commonest first.

    The cost of a word is the negative logarithm of its likelihood; costs of adjacent words add up. Words of the list
    without a mark stay whole.
    """

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        logarithm = log(len(words) + 1)
        self._costs = {word.removesuffix(MADE): log((rank + 1) * logarithm) for rank, word in enumerate(words)}
        self._whole = frozenset(words)

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) > TABLE_LIMIT:
            self.clear()
        is_split = SHORTEST <= len(word) <= LONGEST and word.isascii() and word.lower() not in self._whole
        pieces = self[word] = self._split(word) if is_split else (word,)
        return pieces

    def _split(self, word: str) -> tuple[str, ...]:
        """Return the likeliest sequence of words in a word, in its own case; it may be the word itself."""
        small, size = word.lower(), len(word)
        costs, starts = self._find_rows(small, [0.0], SHORTEST_PIECE)
        if costs[size] < inf:
            return _cut(word, size, starts)
        costs, starts = self._find_rows(small, [0.0], SHORTEST_BESIDE_REST)
        rests = range(1, min(LONGEST_REST, size - SHORTEST_BESIDE_REST) + 1)
        last = min(rests[SHORTEST_LAST - 1 :], key=lambda rest: costs[size - rest] + rest * REST_COST)
        last_cost = costs[size - last] + last * REST_COST
        first = [inf, *(rest * REST_COST for rest in rests)]
        costs_after, starts_after = self._find_rows(small, first, SHORTEST_BESIDE_REST)
        if min(last_cost, costs_after[size]) >= UNSEEN:
            return (word,)
        if last_cost <= costs_after[size]:
            return *_cut(word, size - last, starts), word[size - last :]
        return _cut(word, size, starts_after)

    def _find_rows(self, small: str, first: list[float], shortest: int) -> tuple[list[float], list[int]]:
        """Return for each position the lowest cost of known words ending there, and the start of the last of them.

        `first` are the costs of beginnings of the word that are kept as they are.
        """
        find, size = self._costs.get, len(small)
        costs, starts = first + [inf] * (size + 1 - len(first)), [0] * (size + 1)
        for start in range(size - shortest + 1):
            cost = costs[start]
            if cost < inf:
                for end in range(start + shortest, min(size, start + LONGEST_PIECE) + 1):
                    whole = cost + find(small[start:end], inf)
                    if whole < costs[end]:
                        costs[end], starts[end] = whole, start
        return costs, starts


def _cut(word: str, end: int, starts: list[int]) -> tuple[str, ...]:
    """Return the parts of word[:end]; `starts` has for each position the start of the last part before it."""
    pieces = []
    while end:
        pieces.append(word[starts[end] : end])
        end = starts[end]
    return tuple(reversed(pieces))


@lru_cache(maxsize=1)
def load_compounds() -> Compounds:
    """Load the list of the wheel."""
    return Compounds(read_weights(WEIGHTS, FILE).decode().split())
