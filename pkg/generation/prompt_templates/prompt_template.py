"""The data of prompts: a task, helper code, earlier attempts, the prompt written of them, and a prompt template."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pkg.generation.generate_options import TaskType
from pkg.models.text_model import Finish, Message
from pkg.rerank.parsed_question import parse_question


@dataclass(frozen=True, slots=True)
class PromptTask:
    """A question as a prompt states it, without helpers and attempts."""

    text: str
    stub: str | None = None  # the whole text, where it is incomplete code such as a header with its docstring
    entry: str | None = None  # the wanted function or class, where the text names it
    type: TaskType = "code"

    @property
    def kind(self) -> str:
        """Return "class" where the text calls the entry a class, else "function"."""
        is_class = self.entry and re.search(rf"\bclass\b[^.\n]{{0,30}}?\b{re.escape(self.entry)}\b", self.text)
        return "class" if is_class else "function"


def make_task(text: str, task_type: TaskType = "code") -> PromptTask:
    """Parse a question into a task; incomplete code is completed in tasks of type `code` alone (U-08)."""
    question = parse_question(text)
    return PromptTask(text, question.stub if task_type == "code" else None, question.entry, task_type)


class HelperText(NamedTuple):
    """A piece of code that may help, as a prompt shows it."""

    place: str  # path, lines and name
    code: str


class Attempt(NamedTuple):
    """A failed answer and the feedback on it (U-07)."""

    code: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The input of a model: a conversation, or a text to complete."""

    template: str  # name and version, such as brief/1
    messages: tuple[Message, ...] = ()
    text: str | None = None  # for a completion; there are no messages then
    stop: tuple[str, ...] = ()
    begun: str = ""  # the beginning of the answer, unquoted; the prompt ends with it
    close: str = ""  # ends a whole answer whose end was a stop string

    def join(self, written: str, finish: Finish = "stop") -> str:
        """Return the whole answer: its beginning, the model's text, and the end that a stop string removed."""
        whole = self.begun + written
        if not self.close or finish != "stop" or self.close in written:
            return whole
        return whole.rstrip() + self.close


Write = Callable[[PromptTask, Sequence[HelperText], Sequence[Attempt]], Prompt]


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A named way to write prompts, for tasks that ask for a program and for the other task types."""

    name: str
    write: Write
    write_other: Write

    def render(self, task: PromptTask, helpers: Sequence[HelperText] = (), attempts: Sequence[Attempt] = ()) -> Prompt:
        """Write the prompt of a task with helpers and earlier attempts, the oldest first."""
        write = self.write if task.type == "code" else self.write_other
        return write(task, helpers, attempts)
