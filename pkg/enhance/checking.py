"""Make a docstring of what a model wrote, and hold it against the function that it describes (P-07).

What can be checked is checked: that the text ends, is prose and not the code again, names only parameters that exist,
promises a value only where one is returned, and only exceptions that are raised. A line that claims what is false is
dropped; where nothing is left, the text is refused with the reason.
"""

from __future__ import annotations

import ast
import re
from copy import copy
from inspect import cleandoc

from pkg.enhance.docstring_claims import drop_false_claims
from pkg.enhance.function_facts import Definition, FunctionFacts, FunctionText, parse_function
from pkg.errors import InputError
from pkg.extract.docstrings import insert_docstring
from pkg.quoting.special_tokens import break_tokens, find_token

MOST_CHARACTERS = 4000  # a docstring of 256 tokens has about 1,000
CHANGES_CODE = "with it the code would not be what it was"
_QUOTES = re.compile(r'(?<!\\)(?:"""|\'\'\')')
_REPEATED = re.compile(r"(.{12,200}?)\1{2,}", re.DOTALL)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")  # nor can every store keep them
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 2  # of a summary: one says no more than the name
_LONG_LINE = 12  # characters of a line of code that prose does not have by chance


class RefusedError(Exception):
    """Say why a text is no docstring of a function."""


def check_docstring(text: str, is_whole: bool, function: FunctionText, facts: FunctionFacts) -> str:
    """Give the docstring that a text is, without what is false; raises RefusedError where it is none."""
    kept = clean_text(text, is_whole)
    kept = _cut_code(kept, function)
    if not kept:
        raise RefusedError("empty")
    mended = drop_false_claims(kept, facts)
    summary = mended.partition("\n\n")[0]
    if len(_WORD.findall(summary)) < _FEWEST_WORDS:
        raise RefusedError("it says nothing that is true" if mended != kept else "it says too little")
    if len(mended) > MOST_CHARACTERS:
        raise RefusedError(f"{len(mended):,} characters; a docstring may have {MOST_CHARACTERS:,}")
    if break_tokens(mended) != mended:
        raise RefusedError("it holds a special token")
    if not fits(mended, function.content):
        raise RefusedError(CHANGES_CODE)
    return mended


def fits(text: str, content: str) -> bool:
    """Tell whether the function with this docstring is, but for it, the same to Python (P-07)."""
    before = parse_function(content)
    if before is None or ast.get_docstring(before, clean=False) is not None:
        return False
    try:
        after = parse_function(insert_docstring(content, text))
    except InputError:
        return False
    if after is None or ast.get_docstring(after) != text:
        return False
    return dump_function(after, 1) == dump_function(before)


def dump_function(function: Definition, skipped: int = 0) -> str:
    """Write out all that a function is to Python, but for the first statements of its body."""
    kept = copy(function)  # what was parsed is remembered, so it may not change
    kept.body = function.body[skipped:]
    return ast.dump(kept)


def clean_text(text: str, is_whole: bool = True) -> str:
    """Cut a text at closing quotes, special tokens and endless repetition, and take its indentation away.

    Of one that ran out of tokens the last line or sentence goes, which may say half of something.
    """
    text = _UNPRINTABLE.sub("", text)
    found = _QUOTES.search(text)
    if found:
        text, is_whole = text[: found.start()], True
    text = text[: find_token(text)]
    repeated = next((found for found in _REPEATED.finditer(text) if _WORD.search(found.group(1))), None)
    if repeated:
        text, is_whole = text[: repeated.end(1)], False
    cleaned = cleandoc(text.replace('\\"', '"')).strip()
    cleaned = "\n".join(line.rstrip() for line in _strip_quotes(cleaned).split("\n"))
    return cleaned if is_whole else _drop_half(cleaned)


def _strip_quotes(text: str) -> str:
    """Take away quotes around a text, or one that is left at its end; those of a word in it stay."""
    for quote in "\"'":
        if len(text) > 1 and text[0] == text[-1] == quote:
            return text[1:-1].strip()
        if text.endswith(quote) and text.count(quote) == 1:
            return text[:-1].rstrip()
    return text


def _drop_half(text: str) -> str:
    """Drop the last sentence or line of a text that breaks off."""
    if text.endswith("."):
        return text
    end = max(text.rfind("\n"), text.rfind(". ") + 1)
    return text[:end].rstrip() if end > 0 else ""


def _cut_code(text: str, function: FunctionText) -> str:
    """Cut a text where it goes on with the code of the function itself."""
    code = {line for each in function.content.split("\n") if len(line := each.strip()) >= _LONG_LINE}
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if line.strip() in code), len(lines))
    return "\n".join(lines[:end]).rstrip()
