"""The generic form: the structure that the papers' prompts share, without the tags of any family (P-20)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.forms.quoting import HELPERS_END, HELPERS_START, PROBLEM_END, PROBLEM_START, quote
from pkg.generation.forms.sections import choose_task_fence, list_attempt_lines, list_helper_lines
from pkg.models.text_model import Message

VERSION = "generic/1"
ROLE = "You are an experienced Python programmer."
TASK = "Write Python code that solves the following problem."
ADVICE = (
    "Where the logic of the helper code is useful, integrate it in the body of your main function"
    " instead of calling it; otherwise ignore the helper section."
)


def write_generic(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write one message of the user."""
    return Prompt(VERSION, (Message("user", "\n".join(list_generic_lines(task, helpers, attempts))),))


def list_generic_lines(
    task: PromptTask, helpers: Sequence[HelperText] = (), attempts: Sequence[Attempt] = ()
) -> list[str]:
    """Write role, task and problem, and below them the attempts and the helper section."""
    fence = choose_task_fence(task, helpers, attempts)
    lines = [ROLE, TASK, PROBLEM_START, quote(task.text.strip("\r\n")), PROBLEM_END]
    lines += list_attempt_lines(attempts, fence)
    if helpers:
        lines += [HELPERS_START, *list_helper_lines(helpers, fence), HELPERS_END, ADVICE]
    return lines
