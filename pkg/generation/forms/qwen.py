"""The papers' structure for Qwen, which they do not use: a conversation, answered in a fence as it learnt to (P-20)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.papers import ROLE, list_fenced_lines, list_problem_lines
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.models.text_model import Message

VERSION = "qwen/1"
FENCE = "Put the whole solution in one Python code block; it has to run as it stands there."


def write_qwen(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write the role as the system's message and the rest as the user's."""
    lines = *list_problem_lines(task, FENCE), *list_fenced_lines(task, helpers, attempts)
    return Prompt(VERSION, (Message("system", ROLE), Message("user", "\n".join(lines))))
