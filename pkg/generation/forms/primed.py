"""The primed form: the brief one, with the answer begun by an opened fence and the code that breaks off (U-08).

The model goes on inside of the function: nothing is spent on saying its head again, and no words come before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.brief import write_brief, write_message
from pkg.generation.forms.form_lines import quote
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.forms.sections import choose_task_fence
from pkg.models.text_model import Message

VERSION = "primed/1"
DRIVERS = ("\nif __name__", "\nprint(", "\nassert ", "\n# Test", "\n# Example")
"""What follows these is no answer but what the model does with it."""


def write_primed(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a message of the user and the beginning of the answer; without a stub it is the brief form."""
    if task.stub is None:
        return write_brief(task, helpers, attempts)
    fence = choose_task_fence(task, helpers, attempts)
    message, begun = write_message(task, helpers, attempts), begin_answer(task.stub)
    messages = Message("user", message), Message("assistant", f"{fence}python\n{quote(begun)}")
    return Prompt(VERSION, messages, None, (f"\n{fence}", *DRIVERS), f"{fence}python\n{begun}", f"\n{fence}")


def begin_answer(stub: str) -> str:
    """Give the code that the answer goes on with: it ends at the end of a line."""
    return stub.strip("\r\n").rstrip() + "\n"
