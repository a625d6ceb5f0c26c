"""The brief form: one line says what to do, and that the answer is one block of Python; for models that chat.

Helpers stand before the task: right before the answer a small model copies them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pkg.generation.forms.form_lines import CODE_NOTE, HELPERS_NOTE, quote
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.forms.sections import choose_task_fence, list_attempt_lines, list_helper_lines
from pkg.generation.generate_options import Frame
from pkg.models.text_model import Message

VERSION = "brief/1"
COMPLETE = "Complete this Python {kind}. Answer with one Python code block that holds the whole {kind}."


class Words(NamedTuple):
    """What a frame says above the helpers and above the task."""

    helpers: str
    task: str


WORDS: dict[Frame, Words] = {
    "code": Words(HELPERS_NOTE, "Write Python code for this task. Answer with one Python code block."),
    "explain": Words(CODE_NOTE, "Answer this question in words, and say what you cannot tell."),
    "edit": Words(CODE_NOTE, "Change the code as asked. Answer with the whole changed code in one Python code block."),
    "plain": Words(CODE_NOTE, ""),
}


def write_brief(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write one message of the user."""
    return Prompt(VERSION, (Message("user", write_message(task, helpers, attempts)),))


def write_message(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> str:
    """Write helpers, attempts and task, in this order."""
    fence = choose_task_fence(task, helpers, attempts)
    words = WORDS[task.frame]
    blocks = ["\n".join((words.helpers, *list_helper_lines(helpers, fence)))] if helpers else []
    blocks += ["\n".join(list_attempt_lines(attempts, fence)), *_list_task_blocks(task, fence, words)]
    return "\n\n".join(filter(None, blocks))


def _list_task_blocks(task: PromptTask, fence: str, words: Words) -> Iterator[str]:
    if task.stub is None:
        yield words.task
        yield quote(task.text.strip("\r\n"))
    else:
        yield COMPLETE.format(kind=task.kind)
        code = quote(task.stub).strip("\r\n")
        yield f"{fence}python\n{code}\n{fence}"
