"""The papers' form for DeepSeek-Coder: instruction tags around all, and nothing said of how the solution is to stand.

The papers' template is of this form, while their worked example has the headings of StarCoder2; this is the template
(P-20).
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.papers import ROLE, list_fenced_lines, list_problem_lines
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask

VERSION = "deepseek/1"


def write_deepseek(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text."""
    lines = ROLE, *list_problem_lines(task), *list_fenced_lines(task, helpers, attempts)
    return Prompt(VERSION, text="[INST] " + "\n".join(lines) + "\n[/INST]")
