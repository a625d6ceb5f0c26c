"""The raw template for base models: the code itself, which the model continues.

Helpers and attempts come before it as comments, which a model does not take for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg.generation.prompt_templates.primed import DRIVERS, begin_answer
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.sections import list_attempt_comments, list_helper_comments
from pkg.generation.prompt_templates.template_lines import comment, quote

VERSION = "raw/1"
STOP = ("\ndef ", "\nasync def ", "\nclass ", "\n@", "\n#", "\n```", *DRIVERS[:3])
"""Stop strings: unindented lines that end a function; without them a base model writes file after file."""


def write_raw(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text; a task in words becomes a comment above the wanted definition."""
    lines = [*list_helper_comments(helpers), *list_attempt_comments(attempts)]
    lines += [""] if lines else []
    if task.stub is None:
        lines += [comment(task.text.strip("\r\n"))]
        begun = _begin_definition(task)
    else:
        begun = begin_answer(task.stub)
    return Prompt(VERSION, text="\n".join((*lines, quote(begun))), stop=STOP, begun=begun)


def _begin_definition(task: PromptTask) -> str:
    """Begin the definition that a task in words names; the model chooses a name where the task has none."""
    if task.kind == "class":
        return f"class {task.entry}"
    return f"def {task.entry}(" if task.entry else "def "
