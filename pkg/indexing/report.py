"""Report of a build: counts, CPU seconds by stage (P-36), and texts that were too long for the encoder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pkg.model import LocalError, Skip


class StageClock:
    """Add up CPU seconds by stage, including those of worker processes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the CPU time of the block for a stage."""
        start = time.process_time()
        try:
            yield
        finally:
            self._last = time.process_time()
            self.seconds[name] = self.seconds.get(name, 0.0) + self._last - start

    def mark(self, name: str) -> None:
        """Count the CPU time since the last stage ended."""
        now = time.process_time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def rounded(self) -> dict[str, float]:
        """Return the seconds as they are stored and shown."""
        return {stage: round(value, 4) for stage, value in self.seconds.items()}


class CutCount:
    """Count the texts that an encoder truncates during a build."""

    def __init__(self, encoder: str) -> None:
        from pkg.encode.registry import find_kind

        self._encoder = encoder
        self._is_counted = find_kind(encoder).is_heavy  # light encoders read texts of any length
        self._cut, self._texts = self._read()

    def _read(self) -> tuple[int, int]:
        if not self._is_counted:
            return 0, 0
        from pkg.encode.batched import BatchedEncoder
        from pkg.encode.registry import load_encoder

        encoder = load_encoder(self._encoder)
        assert isinstance(encoder, BatchedEncoder), "every encoder with a length limit is a BatchedEncoder"
        return encoder.counts.cut, encoder.counts.encoded

    def describe(self, source: str) -> list[Skip]:
        """Report truncated texts of a source, if any."""
        cut, texts = (now - before for now, before in zip(self._read(), (self._cut, self._texts), strict=True))
        reason = f"{cut:,} of {texts:,} texts are longer than '{self._encoder}' reads; their ends were not encoded"
        return [Skip(source, reason)] if cut else []


@dataclass(frozen=True, slots=True)
class BulkReport:
    """The files written for an import into a server: their folder and their counts."""

    folder: str
    nodes: dict[str, int]
    relations: dict[str, int]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """Report of one build: units by outcome, skipped inputs, and CPU seconds by stage (P-36)."""

    source: str
    store: str
    generation: int
    written: int = 0  # files or rows read and stored
    unchanged: int = 0
    removed: int = 0
    partial: int = 0  # written units that did not parse completely
    skipped: tuple[Skip, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    reencoded: int = 0  # nodes of the graph re-encoded with another encoder
    errors: tuple[LocalError, ...] = ()  # unexpected exceptions, each limited to one file or call site

    def describe(self) -> str:
        """Return the counts of files or rows in words, without those that are 0."""
        counts = (
            (self.written, "read"), (self.removed, "removed"), (self.unchanged, "unchanged"),
            (self.partial, "not fully parsed"),
        )  # fmt: skip
        found = [f"{count:,} {outcome}" for count, outcome in counts if count]
        return f"{self.source}: {', '.join(found) or 'nothing to read'}"

    @property
    def changed(self) -> bool:
        """Return whether any file or row was written or removed, or the graph was re-encoded."""
        return bool(self.written or self.removed or self.reencoded)
