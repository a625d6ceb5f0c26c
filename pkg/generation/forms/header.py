"""The form of the third paper: the code that breaks off, with helpers or attempts in its docstring (U-06, U-07, U-08).

For models that were not taught to chat: the prompt ends where the body of the function begins.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from pkg.extract.syntax import parse_code
from pkg.generation.forms.form_lines import quote
from pkg.generation.forms.primed import begin_answer
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.forms.raw import STOP, write_raw
from pkg.generation.forms.sections import list_attempt_comments, list_helper_comments

VERSION = "header/1"
QUOTES = ('"""', "'''")


def write_header(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text; without a docstring of three quotes it is the raw form."""
    begun = begin_answer(task.stub or "")
    place = _find_docstring_end(begun)
    if place is None:
        return write_raw(task, helpers, attempts)
    section = [*list_helper_comments(helpers, place.margin), *list_attempt_comments(attempts, place.margin)]
    text = quote(begun)
    if section:
        above, below = begun[: place.end], begun[place.end :]
        text = f"{quote(above.rstrip())}\n\n{_fit_into(below[:3], section)}\n{place.margin}{quote(below)}"
    return Prompt(VERSION, text=text, stop=STOP, begun=begun)


def _fit_into(quotes: str, lines: Sequence[str]) -> str:
    """Write lines so that they can stand in a docstring and do not end it."""
    other = QUOTES[1 - QUOTES.index(quotes)]
    return "\n".join(lines).replace("\\", "\\\\").replace(quotes, other)


class _Place(NamedTuple):
    """Where a docstring ends: the offset of its closing quotes, and the white space that it stands behind."""

    end: int
    margin: str


def _find_docstring_end(code: str) -> _Place | None:
    """Find the closing quotes of the last definition's docstring, if they are three."""
    tree = parse_code(code)
    definition = tree.body[-1] if tree is not None and tree.body else None
    if not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef) or ast.get_docstring(definition) is None:
        return None
    literal = definition.body[0]
    lines = code.encode("utf-8", "replace").splitlines(keepends=True)
    last = (literal.end_lineno or literal.lineno) - 1
    above = b"".join((*lines[:last], lines[last][: literal.end_col_offset])).decode("utf-8", "replace")
    margin = lines[literal.lineno - 1][: literal.col_offset].decode("utf-8", "replace")
    if margin.strip() or not above.endswith(QUOTES):
        return None
    return _Place(len(above) - 3, margin)
