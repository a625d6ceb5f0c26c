"""The generic form: the structure that the papers' prompts share, without the tags of any family (P-20)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.papers import ROLE, list_fenced_lines, list_problem_lines
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.models.text_model import Message

VERSION = "generic/1"


def write_generic(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write one message of the user."""
    return Prompt(VERSION, (Message("user", "\n".join(list_generic_lines(task, helpers, attempts))),))


def list_generic_lines(
    task: PromptTask, helpers: Sequence[HelperText] = (), attempts: Sequence[Attempt] = ()
) -> list[str]:
    """Write role, task and problem, and below them the attempts and the helper section."""
    return [ROLE, *list_problem_lines(task), *list_fenced_lines(task, helpers, attempts)]
