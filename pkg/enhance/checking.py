"""Clean the docstring of a model, and check it against its function (P-07).

The text must be complete, be prose and not code, and mention only existing parameters, return values and exceptions. A
false line is dropped; a text without a remaining line is refused with the reason.
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
CHANGES_CODE = "it would change the code"
_QUOTES = re.compile(r'(?<!\\)(?:"""|\'\'\')')
_REPEATED = re.compile(r"(.{12,200}?)\1{2,}", re.DOTALL)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")  # not every store accepts them
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 2  # of a summary
_LONG_LINE = 12  # least characters of a line of code that is recognized in prose


class RefusedError(Exception):
    """A text is no valid docstring of its function."""


def check_docstring(text: str, is_whole: bool, function: FunctionText, facts: FunctionFacts) -> str:
    """Return a text as docstring, without false claims; raises RefusedError for an invalid one."""
    kept = clean_text(text, is_whole)
    kept = _cut_code(kept, function)
    if not kept:
        raise RefusedError("empty")
    true = drop_false_claims(kept, facts)
    summary = true.partition("\n\n")[0]
    if len(_WORD.findall(summary)) < _FEWEST_WORDS:
        raise RefusedError("no claim of it is true" if true != kept else "it is too short")
    if len(true) > MOST_CHARACTERS:
        raise RefusedError(f"it has {len(true):,} characters; expected at most {MOST_CHARACTERS:,}")
    if break_tokens(true) != true:
        raise RefusedError("it has a special token")
    if not fits(true, function.content):
        raise RefusedError(CHANGES_CODE)
    return true


def fits(text: str, content: str) -> bool:
    """Return whether the function is unchanged for Python by inserting this docstring (P-07)."""
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
    """Dump the syntax tree of a function without the first statements of its body."""
    kept = copy(function)  # the tree is cached and must not be changed
    kept.body = function.body[skipped:]
    return ast.dump(kept)


def clean_text(text: str, is_whole: bool = True) -> str:
    """Cut a text at closing quotes, special tokens and endless repetition, and remove its indentation.

    A truncated text also loses its last line or sentence, which may be incomplete.
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
    """Remove quotes around a text, or a single one at its end, but not those of a word in it."""
    for quote in "\"'":
        if len(text) > 1 and text[0] == text[-1] == quote:
            return text[1:-1].strip()
        if text.endswith(quote) and text.count(quote) == 1:
            return text[:-1].rstrip()
    return text


def _drop_half(text: str) -> str:
    """Drop the last sentence or line of a truncated text."""
    if text.endswith("."):
        return text
    end = max(text.rfind("\n"), text.rfind(". ") + 1)
    return text[:end].rstrip() if end > 0 else ""


def _cut_code(text: str, function: FunctionText) -> str:
    """Cut a text at the first line of the function's own code."""
    code = {line for each in function.content.split("\n") if len(line := each.strip()) >= _LONG_LINE}
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if line.strip() in code), len(lines))
    return "\n".join(lines[:end]).rstrip()
