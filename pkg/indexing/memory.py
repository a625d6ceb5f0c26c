"""Give memory that is free again back to the system, before a stage that needs much of its own."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def return_free_memory() -> None:
    """Return the pages that hold nothing: the C library keeps them where something behind them is still in use.

    Only the GNU C library can be asked to; elsewhere nothing happens.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
