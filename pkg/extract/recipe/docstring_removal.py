"""Take docstrings out of code, and read what they say first: what is asked about a function must not stand in it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from pkg.extract.syntax import read_literal, silence_warnings
from pkg.model import Class, CodeUnit, Function

MIN_WORDS, MAX_WORDS = 3, 60  # of a question: shorter ones name nothing, longer ones are manuals
_WORD = re.compile(r"[^\W\d_]{2,}")


def remove_spans(text: bytes, start: int, end: int, spans: Iterable[tuple[int, int]]) -> bytes:
    """Give text[start:end] without some spans, and without the lines that are blank for lack of them."""
    pieces, done = [], start
    for low, high in sorted(spans):
        line = text.rfind(b"\n", 0, low) + 1
        if not text[line:low].strip() and text[high : high + 1] == b"\n":
            low, high = line, high + 1
        pieces.append(text[done:low])
        done = max(done, high)
    return b"".join((*pieces, text[done:end]))


def summarise_docstring(text: bytes, function: Function) -> str:
    """Give the first paragraph of a docstring on one line; nothing where there is no docstring."""
    if function.docstring is None:
        return ""
    try:
        with silence_warnings():  # of escapes that Python does not know
            docstring = str(read_literal(text[function.docstring.start : function.docstring.end].decode()))
    except (ValueError, SyntaxError):
        return ""
    return " ".join(inspect.cleandoc(docstring).split("\n\n")[0].split())


def is_question(text: str) -> bool:
    """Tell whether a text has enough words to search by, and not too many."""
    return len(set(_WORD.findall(text.lower()))) >= MIN_WORDS and len(text.split()) <= MAX_WORDS


def is_outermost(code: CodeUnit, function: Function) -> bool:
    """Tell whether a function lies in no other one."""
    parent = function.parent
    while parent is not None:
        above = code.definitions[parent]
        if not isinstance(above, Class):
            return False
        parent = above.parent
    return True
