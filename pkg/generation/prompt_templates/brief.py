"""The brief template for chat models: one line of instruction, which asks for one Python code block.

Helpers come before the task, because a small model copies what directly precedes the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pkg.generation.generate_options import TaskType
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.sections import choose_task_fence, list_attempt_lines, list_helper_lines
from pkg.generation.prompt_templates.template_lines import CODE_NOTE, HELPERS_NOTE, quote
from pkg.models.text_model import Message

VERSION = "brief/1"
COMPLETE = "Complete this Python {kind}. Answer with one Python code block that holds the whole {kind}."


class Instructions(NamedTuple):
    """The lines above the helpers and above the task."""

    helpers: str
    task: str


INSTRUCTIONS: dict[TaskType, Instructions] = {
    "code": Instructions(HELPERS_NOTE, "Write Python code for this task. Answer with one Python code block."),
    "explain": Instructions(CODE_NOTE, "Answer this question in words, and say what you cannot tell."),
    "edit": Instructions(
        CODE_NOTE, "Change the code as asked. Answer with the whole changed code in one Python code block."
    ),
    "plain": Instructions(CODE_NOTE, ""),
}


def write_brief(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write one user message."""
    return Prompt(VERSION, (Message("user", write_message(task, helpers, attempts)),))


def write_message(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> str:
    """Write helpers, attempts and task, in this order."""
    fence = choose_task_fence(task, helpers, attempts)
    instructions = INSTRUCTIONS[task.type]
    blocks = ["\n".join((instructions.helpers, *list_helper_lines(helpers, fence)))] if helpers else []
    blocks += ["\n".join(list_attempt_lines(attempts, fence))]
    if task.stub is None:
        blocks += [instructions.task, quote(task.text.strip("\r\n"))]
    else:
        code = quote(task.stub).strip("\r\n")
        blocks += [COMPLETE.format(kind=task.kind), f"{fence}python\n{code}\n{fence}"]
    return "\n\n".join(filter(None, blocks))
