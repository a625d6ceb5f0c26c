"""Start a worker process of a build that ends with its parent, however that ends.

Heavy modules are imported afterwards: the imports of a worker take a second, during which its parent may end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib import import_module
from multiprocessing import parent_process

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def start_worker(module: str = "", function: str = "", *arguments: object) -> None:
    """Set up a worker that ends with its parent, then import and call a function by name, if one is named."""
    end_with_parent()
    if module:
        getattr(import_module(module), function)(*arguments)


def end_with_parent() -> None:
    """End this process when its parent ends, even by SIGKILL.

    Linux sends a signal, which interrupts any code. Elsewhere a thread waits for the end of the pipe that the parent
    holds, which is noticed as soon as Python code runs again.
    """
    parent = parent_process()
    if parent is None:
        return
    threading.Thread(target=_exit_after_parent, daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent.pid:  # the parent ended before the signal was set up
            os._exit(1)


def _exit_after_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
