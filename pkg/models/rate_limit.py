"""Limit the requests and tokens in any minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

MINUTE = 60.0


class RateLimit:
    """A limit of requests and tokens in a minute, shared by threads."""

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._requests, self._tokens = requests, tokens
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()  # time and tokens of each request in the last minute

    def wait(self, tokens: int) -> None:
        """Wait until a request of some tokens may be sent; one above the limit is sent alone in its minute."""
        if self._requests is None and self._tokens is None:
            return
        while True:
            with self._lock:
                now = self._clock()
                while self._sent and self._sent[0][0] <= now - MINUTE:
                    self._sent.popleft()
                delay = self._find_delay(now, tokens)
                if delay <= 0:
                    self._sent.append((now, tokens))
                    return
            self._sleep(delay)

    def _find_delay(self, now: float, tokens: int) -> float:
        """Return the seconds until enough earlier requests are more than a minute old."""
        count, total = len(self._sent), sum(size for _, size in self._sent)
        end = now - MINUTE
        for sent, size in self._sent:
            fits = self._requests is None or count < self._requests
            if fits and (self._tokens is None or total + tokens <= self._tokens):
                break
            count, total, end = count - 1, total - size, sent
        return end + MINUTE - now
