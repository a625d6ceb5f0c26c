"""The nouns of prompts: a task, the code that may help, earlier attempts, the prompt of them, and a form of prompts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pkg.generation.generate_options import Frame
from pkg.models.text_model import Finish, Message
from pkg.rerank.parsed_question import parse_question


@dataclass(frozen=True, slots=True)
class PromptTask:
    """What is asked, without what may help with it."""

    text: str
    stub: str | None = None  # all of the text, where that is code that breaks off, such as a header with its docstring
    entry: str | None = None  # the function or class that is wanted, where the text names it
    frame: Frame = "code"

    @property
    def kind(self) -> str:
        """Name what is wanted: a class where the text says so of the name, else a function."""
        told = self.entry and re.search(rf"\bclass\b[^.\n]{{0,30}}?\b{re.escape(self.entry)}\b", self.text)
        return "class" if told else "function"


def make_task(text: str, frame: Frame = "code") -> PromptTask:
    """Read what a question wants; what breaks off is completed in the frame `code` alone (U-08)."""
    question = parse_question(text)
    return PromptTask(text, question.stub if frame == "code" else None, question.entry, frame)


class HelperText(NamedTuple):
    """A piece of code that may help, as a prompt shows it."""

    place: str  # path, lines and name
    code: str


class Attempt(NamedTuple):
    """An answer that did not hold, and what was found out about it (U-07)."""

    code: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: a conversation, or a text that it goes on with."""

    form: str  # name and version, such as brief/1
    messages: tuple[Message, ...] = ()
    text: str | None = None  # for a completion; there are no messages then
    stop: tuple[str, ...] = ()
    begun: str = ""  # the beginning of the answer, as the task has it; the prompt ends with it
    close: str = ""  # ends a whole answer whose end was a stop string

    def join(self, written: str, finish: Finish = "stop") -> str:
        """Give the whole answer: its beginning, what the model wrote, and the end that a stop string took away."""
        whole = self.begun + written
        if not self.close or finish != "stop" or self.close in written:
            return whole
        return whole.rstrip() + self.close


Write = Callable[[PromptTask, Sequence[HelperText], Sequence[Attempt]], Prompt]


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write prompts; what it writes for programs, and what for the other frames."""

    name: str
    write: Write
    write_other: Write

    def render(self, task: PromptTask, helpers: Sequence[HelperText] = (), attempts: Sequence[Attempt] = ()) -> Prompt:
        """Write the prompt of a task, with code that may help and earlier attempts, the oldest first."""
        write = self.write if task.frame == "code" else self.write_other
        return write(task, helpers, attempts)
