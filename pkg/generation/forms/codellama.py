"""The papers' form for CodeLlama: instruction tags around all, and tags in which the solution is to stand (P-20).

A text and no conversation: the tags are what the family's chat template would write.
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.papers import ROLE, TAGS, list_fenced_lines, list_problem_lines
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask

VERSION = "codellama/1"


def write_codellama(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text; the plain form asks for the tags too."""
    lines = ROLE, *list_problem_lines(task, TAGS), *list_fenced_lines(task, helpers, attempts)
    return Prompt(VERSION, text="[INST] " + "\n".join(lines) + "\n[/INST]")
