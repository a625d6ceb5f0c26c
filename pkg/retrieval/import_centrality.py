"""Tell how central each file of a source is by which file imports which: PageRank (Page et al. 1999)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DAMPING = 0.85  # as its authors have it
ROUNDS = 40  # the error falls by the damping in each: a thousandth of it is left


class ImportGraph:
    """The files of a source and which of them import which, each pair once."""

    def __init__(self, paths: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
        """Take paths, and pairs of a file and one that it imports; a file that imports itself says nothing."""
        self._targets: dict[str, set[str]] = {path: set() for path in paths}
        self._starts: dict[str, set[str]] = {path: set() for path in paths}
        for start, end in pairs:
            if start != end and start in self._targets and end in self._targets:
                self._targets[start].add(end)
                self._starts[end].add(start)
        self.centrality = self._rank()

    def targets(self, path: str) -> Sequence[str]:
        """List what a file imports, in order."""
        return sorted(self._targets[path])

    def count_importers(self, path: str) -> int:
        """Count the files that import one."""
        return len(self._starts[path])

    def _rank(self) -> dict[str, float]:
        """Give how often one comes to each file who goes on from file to file by imports, and now and then to any."""
        count = len(self._targets)
        ranks = dict.fromkeys(self._targets, 1 / count if count else 0.0)
        order = {path: sorted(starts) for path, starts in self._starts.items()}  # sums come out the same each time
        for _ in range(ROUNDS):
            loose = sum(rank for path, rank in ranks.items() if not self._targets[path])  # those go on to any file
            share = {path: rank / len(self._targets[path]) for path, rank in ranks.items() if self._targets[path]}
            base = (1 - DAMPING + DAMPING * loose) / count if count else 0.0
            ranks = {path: base + DAMPING * sum(share[start] for start in order[path]) for path in ranks}
        return ranks
