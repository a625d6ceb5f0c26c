"""Matching of functions with the solutions of a benchmark (A-16).

The first of three criteria that holds is the kind of leak: equal code except for local names; equal name and number of
arguments; most tokens in common.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from pkg.lab.audit.code_shape import CodeShape
from pkg.lab.audit.solutions import Solution
from pkg.model import Leak, LeakKind

SIMILAR = 0.6
"""Lowest Jaccard similarity of the shingles. Above it 7 of 8 pairs of the corpora solve the same task; from 0.5 to 0.6,
3 of 13 do (benchmarks/results/leak_audit.json)."""

CONTAINED = 0.85
"""Lowest share of the shingles of a solution that a longer function contains."""

MIN_TOKENS = 25
"""Lowest number of tokens of both functions for similarity; shorter ones, such as a loop with a sum, are all alike."""

MIN_CONTAINED_TOKENS = 40
"""Lowest number of tokens of a solution that is searched inside of longer functions."""

MIN_NAMESAKE_SIMILARITY = 0.2
"""Lowest similarity of functions with an equal one-word name, such as check, add or solve."""

_WORD_END = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")


class LeakMatcher:
    """Compares functions with the solutions of one benchmark."""

    def __init__(self, benchmark: str, solutions: Sequence[Solution]) -> None:
        self._benchmark, self._solutions = benchmark, solutions
        self._by_key: dict[bytes, list[int]] = defaultdict(list)
        self._by_name: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._by_shingle: dict[int, list[int]] = defaultdict(list)
        self._least = [SIMILAR * len(solution.shape.shingles) for solution in solutions]
        for place, solution in enumerate(solutions):
            shape = solution.shape
            self._by_key[shape.key].append(place)
            self._by_name[shape.name, shape.arguments].append(place)
            for shingle in shape.shingles:
                self._by_shingle[shingle].append(place)

    def match(self, shape: CodeShape) -> tuple[Leak, ...]:
        """Return the leaks of a function, the most similar first."""
        shared = Counter(place for each in shape.shingles for place in self._by_shingle.get(each, ()))
        places = {*self._by_key.get(shape.key, ()), *self._by_name.get((shape.name, shape.arguments), ())}
        if shape.tokens >= MIN_TOKENS:  # fewer shared shingles cannot be similar
            places.update(place for place, count in shared.items() if count >= self._least[place])
        found = (self._compare(place, shape, shared[place]) for place in places)
        return tuple(sorted((each for each in found if each), key=lambda each: (-each.similarity, each.task)))

    def _compare(self, place: int, shape: CodeShape, shared: int) -> Leak | None:
        solution = self._solutions[place]
        other = solution.shape
        similarity = shared / (len(shape.shingles) + len(other.shingles) - shared)
        kind = _judge(shape, other, similarity, shared / len(other.shingles))
        return Leak(self._benchmark, solution.task, kind, round(similarity, 2)) if kind else None


def _judge(shape: CodeShape, other: CodeShape, similarity: float, contained: float) -> LeakKind | None:
    if shape.key == other.key:
        return "same_code"
    if (shape.name, shape.arguments) == (other.name, other.arguments) and (
        similarity >= MIN_NAMESAKE_SIMILARITY or len(_WORD_END.split(shape.name.strip("_"))) > 1
    ):
        return "same_name"
    is_long = min(shape.tokens, other.tokens) >= MIN_TOKENS
    if is_long and (similarity >= SIMILAR or (contained >= CONTAINED and other.tokens >= MIN_CONTAINED_TOKENS)):
        return "similar"
    return None
