"""Where a graph is served over HTTP, to whom, and how much one request may take."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.resources import count_cores
from pkg.service.web.web_server import LOOPBACK

PORT = 8720  # always the same, so that addresses in settings of other programs stay right


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What requests may take; whatever is beyond it is refused with the reason."""

    body_bytes: int = 4_000_000  # a hundred answers to choose from have less
    body_seconds: float = 20.0  # for the whole of it to arrive
    seconds: float = 60.0  # of work
    stream_seconds: float = 600.0  # of an answer whose text comes as it is written
    at_once: int = 2 * count_cores()  # requests worked on: more of them only take turns on the processors
    waiting: int = 500  # requests that wait for one of these
    waiting_seconds: float = 20.0


DEFAULT_LIMITS = HttpLimits()


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where a graph is served, and who is let in."""

    host: str = LOOPBACK
    port: int = PORT
    token: str | None = None  # None: whoever can reach the address; on loopback alone
    limits: HttpLimits = DEFAULT_LIMITS
