"""Check cheaply whether the served graph can be searched."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pkg.errors import PkgError
from pkg.service.graph_service import GraphService

CACHE_SECONDS = 1.0  # for which a result is returned again
TIMEOUT_SECONDS = 5.0  # after which a store counts as unavailable


@dataclass(frozen=True, slots=True)
class Health:
    """The result of a check: whether the graph can be searched, and its generation."""

    ready: bool
    generation: int = 0
    note: str = ""


class HealthCheck:
    """Checks the store in a thread of its own, at most once per CACHE_SECONDS."""

    def __init__(self, service: GraphService) -> None:
        self._service = service
        self._thread = ThreadPoolExecutor(1, "pkg-health")
        self._checking: asyncio.Future[Health] | None = None
        self._found = Health(False)
        self._until = 0.0

    async def check(self) -> Health:
        """Return the health, at most CACHE_SECONDS old."""
        if time.monotonic() < self._until:
            return self._found
        if self._checking is None or self._checking.done():
            self._checking = asyncio.wrap_future(self._thread.submit(self._check))
        done, _ = await asyncio.wait((self._checking,), timeout=TIMEOUT_SECONDS)
        if not done:
            return Health(False, note=f"the store does not answer within {TIMEOUT_SECONDS:g} seconds")
        self._found, self._until = self._checking.result(), time.monotonic() + CACHE_SECONDS
        return self._found

    def _check(self) -> Health:
        try:
            answer = self._service.run("status", {})
        except PkgError as fault:
            return Health(False, note=type(fault).__name__)  # health is public, and the message may name files
        except Exception:
            return Health(False, note="Defect")
        return Health(bool(answer.lines[0]["ready"]), answer.freshness.generation, answer.freshness.describe())
