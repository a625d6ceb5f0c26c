"""CPU seconds by stage (P-36)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class StageClock:
    """Add up CPU seconds by stage, those of worker processes included."""

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
        """Give the seconds as they are stored and shown."""
        return {stage: round(value, 4) for stage, value in self.seconds.items()}
