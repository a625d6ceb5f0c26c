"""Remove docstrings from code, and read them first: the code must not contain the answer to a question about it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from pkg.extract.syntax import read_literal, silence_warnings
from pkg.model import Class, CodeUnit, Function

MIN_WORDS, MAX_WORDS = 3, 60  # of a question: shorter ones are vague, longer ones are manuals
_WORD = re.compile(r"[^\W\d_]{2,}")


def remove_spans(text: bytes, start: int, end: int, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return text[start:end] without some spans, and without lines that become blank."""
    pieces, done = [], start
    for low, high in sorted(spans):
        line = text.rfind(b"\n", 0, low) + 1
        if not text[line:low].strip() and text[high : high + 1] == b"\n":
            low, high = line, high + 1
        pieces.append(text[done:low])
        done = max(done, high)
    return b"".join((*pieces, text[done:end]))


def summarise_docstring(text: bytes, function: Function) -> str:
    """Return the first paragraph of a docstring on one line; "" without a docstring."""
    if function.docstring is None:
        return ""
    try:
        with silence_warnings():  # of invalid escapes
            docstring = str(read_literal(text[function.docstring.start : function.docstring.end].decode()))
    except (ValueError, SyntaxError):
        return ""
    return " ".join(inspect.cleandoc(docstring).split("\n\n")[0].split())


def is_question(text: str) -> bool:
    """Return whether a text has a number of words suitable for a question."""
    return len(set(_WORD.findall(text.lower()))) >= MIN_WORDS and len(text.split()) <= MAX_WORDS


def is_outermost(code: CodeUnit, function: Function) -> bool:
    """Return whether a function is not nested in another."""
    parent = function.parent
    while parent is not None:
        above = code.definitions[parent]
        if not isinstance(above, Class):
            return False
        parent = above.parent
    return True
