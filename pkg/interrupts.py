"""Let no Ctrl-C be lost: one that comes during a callback of Python's own is only reported, and the program goes on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PAUSE = 0.01  # seconds, in which the callback ends


@contextmanager
def repeat_lost_interrupts() -> Iterator[None]:
    """Send an interrupt again that Python could not raise where it came, as in the callback of a weak reference."""
    report = sys.unraisablehook

    def repeat(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            threading.Timer(_PAUSE, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            report(unraisable)

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = report
