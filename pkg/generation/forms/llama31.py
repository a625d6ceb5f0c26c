"""The form for Llama 3.1, which the papers use but do not print: a conversation with the tags of CodeLlama (P-20)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.papers import ROLE, TAGS, list_fenced_lines, list_problem_lines
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.models.text_model import Message

VERSION = "llama31/1"


def write_llama31(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write the role as the system's message and the rest as the user's."""
    lines = *list_problem_lines(task, TAGS), *list_fenced_lines(task, helpers, attempts)
    return Prompt(VERSION, (Message("system", ROLE), Message("user", "\n".join(lines))))
