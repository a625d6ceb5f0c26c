"""Estimate the number of tokens of a text for a language model."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_TOKEN = re.compile(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]|_")
_LETTERS, _DIGITS = string.ascii_letters.encode(), string.digits.encode()
_NO_SYMBOL = _LETTERS + _DIGITS + string.whitespace.encode() + b"\x1c\x1d\x1e\x1f"
_RUNS = [
    (bytes(byte if byte in kept else 32 for byte in range(256)), size) for kept, size in ((_LETTERS, 8), (_DIGITS, 3))
]
"""For letters and for digits: a table that replaces all other bytes by spaces, and the length of a token."""


@lru_cache(maxsize=200)  # a hit is measured again with its helpers
def count_tokens(text: str) -> int:
    """Estimate the number of tokens of a text: words of up to 8 letters, up to 3 digits, and symbols.

    It needs no vocabulary, counts no white space, and is right in size for Python code, not exact. Text without spaces
    between words is underestimated.
    """
    if not text.isascii():
        return len(_TOKEN.findall(text))
    data = text.encode("ascii")  # counted without a match for each token: the budget measures every text
    symbols = len(data.translate(None, _NO_SYMBOL))
    return symbols + sum(_count_runs(data.translate(table).split(), size) for table, size in _RUNS)


def _count_runs(runs: Iterable[bytes], size: int) -> int:
    lengths = Counter(map(len, runs))
    return sum(-(-length // size) * count for length, count in lengths.items())
