"""Let no Ctrl-C be lost, wherever it comes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PAUSE = 0.01  # seconds, in which the callback ends


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt for each interrupt, where Python or what is cleaned up would make something else of it.

    One that comes during a callback of Python's own, as that of a weak reference, is only reported there, and the
    program goes on: it is sent again. One that comes between the halves of a message leaves a connection on which
    closing fails, and that failure would stand in its place.
    """
    report = sys.unraisablehook

    def repeat(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            threading.Timer(_PAUSE, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            report(unraisable)

    sys.unraisablehook = repeat
    try:
        yield
    except Exception as fault:
        if _was_interrupted(fault):
            raise KeyboardInterrupt from fault
        raise
    finally:
        sys.unraisablehook = report


def _was_interrupted(fault: BaseException) -> bool:
    """Tell whether a fault came of an interrupt, or while one was on its way out."""
    found, waiting = [fault], [fault]
    while waiting:
        each = waiting.pop()
        before = [other for other in (each.__cause__, each.__context__) if other is not None and other not in found]
        found += before
        waiting += before
    return any(isinstance(each, KeyboardInterrupt) for each in found)
