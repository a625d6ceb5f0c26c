"""Ask Python itself whether it takes a text as code; nothing is run."""

from __future__ import annotations

import ast
from functools import lru_cache

from pkg.quiet import silence_warnings

MAX_CODE = 200_000  # characters; a longer answer is no answer, and the compiler's memory grows with it

_MOST_CUTS = 100  # tries to find the break; an answer that was cut off needs one for each open block, a few in all
_MOST_COMPILED = 2_000_000  # characters, in all tries together

_REFUSED = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@lru_cache(maxsize=64)
def find_fault(code: str) -> tuple[str, int] | None:
    """Say why Python does not take a text, and on which line; None when it does (P-23).

    Remembered for a while: several stages ask of the same code.
    """
    if len(code) > MAX_CODE:
        return f"{len(code):,} characters; an answer may have {MAX_CODE:,}", 1
    try:
        with silence_warnings():  # an escape that Python dislikes is no fault
            compile(code, "<candidate>", "exec", dont_inherit=True)
    except _REFUSED as fault:
        line = getattr(fault, "lineno", None) or 1
        return f"{type(fault).__name__}: {getattr(fault, 'msg', fault)}", int(line)
    return None


def parse_code(code: str) -> ast.Module | None:
    """Parse code; None where Python does not take it."""
    if find_fault(code) is not None:
        return None
    with silence_warnings():
        return ast.parse(code)


def cut_tail(code: str) -> str:
    """Give the longest run of lines from the start that Python takes, as of an answer that was cut off; maybe none."""
    lines = code[:MAX_CODE].split("\n")
    count, left = len(lines), _MOST_COMPILED
    while left > 0:
        kept = "\n".join(lines[:count])
        fault = find_fault(kept)
        if fault is None:
            return kept
        left -= len(kept) + _MOST_COMPILED // _MOST_CUTS
        count = min(count - 1, max(fault[1] - 1, 0))
    return ""
