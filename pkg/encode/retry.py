"""Try a call to a service again after it was busy, each time later."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from pkg.errors import EncoderBusyError

TRIES = 7  # with the waits below about two minutes: limits are mostly by the minute
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds

Found = TypeVar("Found")


def call_patiently(call: Callable[[], Found], sleep: Callable[[float], None] = time.sleep) -> Found:
    """Call until it works; wait as long as the service asks for, else twice as long as before."""
    wait = FIRST_WAIT
    for _ in range(TRIES - 1):
        try:
            return call()
        except EncoderBusyError as fault:
            sleep(min(wait if fault.wait is None else max(fault.wait, 0.0), LONGEST_WAIT))
            wait *= 2
    return call()


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Read from the headers of an answer how many seconds a service asks to wait; None where it does not say."""
    lowered = {str(name).lower(): value for name, value in headers.items()}
    try:
        return float(lowered["retry-after"])
    except (KeyError, ValueError):
        return None
