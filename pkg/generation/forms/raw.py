"""The raw form: the code itself, which the model goes on with; for models that were not taught to chat.

Helpers and attempts stand before it as comments, where they harm least: what is a comment is not taken for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.forms.form_lines import comment, quote
from pkg.generation.forms.primed import DRIVERS, begin_answer
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.forms.sections import list_attempt_comments, list_helper_comments

VERSION = "raw/1"
STOP = ("\ndef ", "\nasync def ", "\nclass ", "\n@", "\n#", "\n```", *DRIVERS[:3])
"""Lines at the margin that end a function; a base model would write file after file."""


def write_raw(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text; a task in words becomes a comment above the definition that is wanted."""
    lines = [*list_helper_comments(helpers), *list_attempt_comments(attempts)]
    lines += [""] if lines else []
    if task.stub is None:
        lines += [comment(task.text.strip("\r\n"))]
        begun = _begin_definition(task)
    else:
        begun = begin_answer(task.stub)
    return Prompt(VERSION, text="\n".join((*lines, quote(begun))), stop=STOP, begun=begun)


def _begin_definition(task: PromptTask) -> str:
    """Begin the definition that a task in words names; its name where none is told is the model's to find."""
    if task.kind == "class":
        return f"class {task.entry}"
    return f"def {task.entry}(" if task.entry else "def "
