"""What one build did."""

from __future__ import annotations

from dataclasses import dataclass, field

from pkg.model import Skip


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What one build did: units by outcome, what was left out, and CPU seconds by stage (P-36)."""

    source: str
    store: str
    generation: int
    written: int = 0  # files or rows that were read and stored
    unchanged: int = 0
    removed: int = 0
    partial: int = 0  # of the written, those that did not parse as a whole
    skipped: tuple[Skip, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    reencoded: int = 0  # nodes of the whole graph that got a vector of another encoder

    @property
    def changed(self) -> bool:
        """Tell whether any file or row was written or removed, or the graph encoded anew."""
        return bool(self.written or self.removed or self.reencoded)
