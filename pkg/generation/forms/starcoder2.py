"""The papers' form for StarCoder2: headings, helpers as comments, and an answer whose first words are given (P-20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.generation.forms.papers import ADVICE, CLOSE, OPEN, ROLE, TAGS, list_problem_lines
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.forms.sections import list_attempt_comments, list_helper_comments

VERSION = "starcoder2/1"
NO_CALLS = "Do NOT call the helper functions."
PRIMER = "Here is the Python code that solves the problem."


def write_starcoder2(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text that ends inside of the answer, behind the opening tag."""
    begun = f"{PRIMER}\n{OPEN}"
    lines = "### Instruction", *_list_lines(task, helpers, attempts), "", "### Response", begun
    return Prompt(VERSION, text="\n".join(lines), stop=(CLOSE, "\n### "), begun=begun, close=CLOSE)


def _list_lines(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Iterator[str]:
    yield ROLE
    yield from list_problem_lines(task, TAGS)
    yield from list_attempt_comments(attempts)
    yield from list_helper_comments(helpers)
    if helpers:
        yield ADVICE
        yield NO_CALLS
