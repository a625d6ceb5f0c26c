"""Options of the HTTP service: address, token and limits of a request."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.resources import count_cores
from pkg.service.web.web_server import LOOPBACK

PORT = 8720  # fixed, so that addresses in the settings of other programs stay valid


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits of a request; a request that exceeds one is refused with the reason."""

    body_bytes: int = 4_000_000  # the hundred candidates of a rerank request are smaller
    body_seconds: float = 20.0  # to receive the whole body
    seconds: float = 60.0  # to answer
    stream_seconds: float = 600.0  # to answer as server-sent events
    at_once: int = 2 * count_cores()  # concurrent requests; more would only take turns on the processors
    waiting: int = 500  # queued requests
    waiting_seconds: float = 20.0  # in the queue


DEFAULT_LIMITS = HttpLimits()


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Address, token and limits of the service."""

    host: str = LOOPBACK
    port: int = PORT
    token: str | None = None  # None: every caller that can reach the address; on loopback only
    limits: HttpLimits = DEFAULT_LIMITS
