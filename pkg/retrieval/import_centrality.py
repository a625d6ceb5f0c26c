"""Measure how central each file of a source is by its imports: PageRank (Page et al. 1999)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DAMPING = 0.85  # as in the paper
ROUNDS = 40  # the error falls by the damping in each: a thousandth remains


class ImportGraph:
    """Files of a source and their imports, each pair once."""

    def __init__(self, paths: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
        """Build the graph from paths, and pairs of a file and one that it imports; self-imports are ignored."""
        self._targets: dict[str, set[str]] = {path: set() for path in paths}
        self._starts: dict[str, set[str]] = {path: set() for path in paths}
        for start, end in pairs:
            if start != end and start in self._targets and end in self._targets:
                self._targets[start].add(end)
                self._starts[end].add(start)
        self.centrality = self._rank()

    def targets(self, path: str) -> Sequence[str]:
        """List the files that one imports, in order."""
        return sorted(self._targets[path])

    def count_importers(self, path: str) -> int:
        """Return the number of files that import one."""
        return len(self._starts[path])

    def _rank(self) -> dict[str, float]:
        """Return the share of time that a random walk along imports, with jumps to any file, spends in each file."""
        count = len(self._targets)
        ranks = dict.fromkeys(self._targets, 1 / count if count else 0.0)
        order = {path: sorted(starts) for path, starts in self._starts.items()}  # sums do not depend on hashing
        for _ in range(ROUNDS):
            dangling = sum(rank for path, rank in ranks.items() if not self._targets[path])  # goes on to any file
            share = {path: rank / len(self._targets[path]) for path, rank in ranks.items() if self._targets[path]}
            base = (1 - DAMPING + DAMPING * dangling) / count if count else 0.0
            ranks = {path: base + DAMPING * sum(share[start] for start in order[path]) for path in ranks}
        return ranks
