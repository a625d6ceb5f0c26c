"""Parse strange code without a word: Python warns of escapes and comparisons in it, which concern nobody here."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.RLock()  # the filters of warnings are one for all threads


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Let nothing be warned of in the block."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
