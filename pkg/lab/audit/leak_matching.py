"""Tell which functions equal or nearly equal the solutions of a benchmark (A-16).

Three questions, of which the first that is answered with yes counts: is the code the same but for names of its own, has
it the same name and as many arguments, are most of its tokens those of the solution.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from pkg.lab.audit.code_shape import CodeShape
from pkg.lab.audit.solutions import Solution
from pkg.model import Leak, LeakKind

SIMILAR = 0.6
"""Share of the shingles of two functions that both have: above it 7 of 8 pairs of the corpora solve one task, from 0.5
to 0.6 3 of 13 do (benchmarks/results/leak_audit.json)."""

CONTAINED = 0.85
"""Share of the shingles of a solution that a longer function has, as where it stands in a larger one."""

FEWEST_TOKENS = 25
"""Of both, to be nearly equal: below it functions of a loop and a sum are alike whatever they are for."""

FEWEST_CONTAINED = 40
"""Of a solution that is looked for inside of longer functions."""

LIKE_NAMESAKE = 0.2
"""Share of the shingles that namesakes of one word must have in common: check, add or solve name anything."""

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
        """List the tasks whose solution a function gives away, the most similar first."""
        shared = Counter(place for each in shape.shingles for place in self._by_shingle.get(each, ()))
        places = {*self._by_key.get(shape.key, ()), *self._by_name.get((shape.name, shape.arguments), ())}
        if shape.tokens >= FEWEST_TOKENS:  # nearly equal is only what has as much in common with the solution
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
        similarity >= LIKE_NAMESAKE or len(_WORD_END.split(shape.name.strip("_"))) > 1
    ):
        return "same_name"
    is_long = min(shape.tokens, other.tokens) >= FEWEST_TOKENS
    if is_long and (similarity >= SIMILAR or (contained >= CONTAINED and other.tokens >= FEWEST_CONTAINED)):
        return "similar"
    return None
