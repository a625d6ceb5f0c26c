"""The third paper's template: the incomplete code, with helpers or attempts in its docstring (U-06, U-07, U-08).

For base models: the prompt ends where the body of the function begins.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from pkg.extract.syntax import parse_code
from pkg.generation.prompt_templates.primed import begin_answer
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.raw import STOP, write_raw
from pkg.generation.prompt_templates.sections import list_attempt_comments, list_helper_comments
from pkg.generation.prompt_templates.template_lines import quote

VERSION = "header/1"
QUOTES = ('"""', "'''")


def write_header(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text; without a triple-quoted docstring, the raw prompt."""
    begun = begin_answer(task.stub or "")
    end = _find_docstring_end(begun)
    if end is None:
        return write_raw(task, helpers, attempts)
    section = [*list_helper_comments(helpers, end.margin), *list_attempt_comments(attempts, end.margin)]
    text = quote(begun)
    if section:
        above, below = begun[: end.offset], begun[end.offset :]
        text = f"{quote(above.rstrip())}\n\n{_fit_into(below[:3], section)}\n{end.margin}{quote(below)}"
    return Prompt(VERSION, text=text, stop=STOP, begun=begun)


def _fit_into(quotes: str, lines: Sequence[str]) -> str:
    """Escape lines so that they do not end the docstring that contains them."""
    other = QUOTES[1 - QUOTES.index(quotes)]
    return "\n".join(lines).replace("\\", "\\\\").replace(quotes, other)


class _DocstringEnd(NamedTuple):
    """The offset of a docstring's closing quotes, and its indentation."""

    offset: int
    margin: str


def _find_docstring_end(code: str) -> _DocstringEnd | None:
    """Find the closing triple quotes of the last function's docstring."""
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
    return _DocstringEnd(len(above) - 3, margin)
