"""The primed template: the brief one, with the answer begun by an open fence and the incomplete code (U-08).

The model continues inside the function, so no tokens go to repeating its header or to an introduction.
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.prompt_templates.brief import write_brief, write_message
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.sections import choose_task_fence
from pkg.generation.prompt_templates.template_lines import quote
from pkg.models.text_model import Message

VERSION = "primed/1"
DRIVERS = ("\nif __name__", "\nprint(", "\nassert ", "\n# Test", "\n# Example")
"""Stop strings: the code after them uses the answer and is not part of it."""


def write_primed(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a user message and the beginning of the answer; without a stub, the brief prompt."""
    if task.stub is None:
        return write_brief(task, helpers, attempts)
    fence = choose_task_fence(task, helpers, attempts)
    message, begun = write_message(task, helpers, attempts), begin_answer(task.stub)
    messages = Message("user", message), Message("assistant", f"{fence}python\n{quote(begun)}")
    return Prompt(VERSION, messages, None, (f"\n{fence}", *DRIVERS), f"{fence}python\n{begun}", f"\n{fence}")


def begin_answer(stub: str) -> str:
    """Return the code that the answer continues, ending in a line break."""
    return stub.strip("\r\n").rstrip() + "\n"
