"""Tell whether a graph that is served can be asked, often and cheaply."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pkg.errors import PkgError
from pkg.service.graph_service import GraphService

KEPT_SECONDS = 1.0  # of what was found: who asks often gets it again
PATIENCE = 5.0  # seconds until a store that does not answer counts as one that cannot


@dataclass(frozen=True, slots=True)
class Health:
    """Whether there is a graph to ask."""

    ready: bool
    generation: int = 0
    note: str = ""


class HealthCheck:
    """Looks at the store beside all other work, at most once in a moment."""

    def __init__(self, service: GraphService) -> None:
        self._service = service
        self._thread = ThreadPoolExecutor(1, "pkg-health")
        self._looking: asyncio.Future[Health] | None = None
        self._found = Health(False)
        self._until = 0.0

    async def look(self) -> Health:
        """Tell how it is, or how it was a moment ago."""
        if time.monotonic() < self._until:
            return self._found
        if self._looking is None or self._looking.done():
            self._looking = asyncio.wrap_future(self._thread.submit(self._look))
        done, _ = await asyncio.wait((self._looking,), timeout=PATIENCE)
        if not done:
            return Health(False, note=f"the store does not answer within {PATIENCE:g} seconds")
        self._found, self._until = self._looking.result(), time.monotonic() + KEPT_SECONDS
        return self._found

    def _look(self) -> Health:
        try:
            answer = self._service.run("status", {})
        except PkgError as fault:
            return Health(False, note=type(fault).__name__)  # everybody may ask; what it says may name files
        except Exception:
            return Health(False, note="Defect")
        return Health(bool(answer.lines[0]["ready"]), answer.freshness.generation, answer.freshness.say())
