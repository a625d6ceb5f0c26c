"""Our own prompt templates: brief and primed for chat models, raw and header for base models (U-06, U-07, U-08).

Helpers come before the task, because a small model copies what directly precedes the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pkg.extract.syntax import parse_code
from pkg.generation.generate_options import TaskType
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.template_lines import (
    CODE_NOTE,
    HELPERS_NOTE,
    choose_task_fence,
    comment,
    list_attempt_comments,
    list_attempt_lines,
    list_helper_comments,
    list_helper_lines,
    list_similar_comments,
    quote,
)
from pkg.models.text_model import Message

COMPLETE = "Complete this Python {kind}. Answer with one Python code block that holds the whole {kind}."
DRIVERS = ("\nif __name__", "\nprint(", "\nassert ", "\n# Test", "\n# Example")
"""Stop strings: the code after them uses the answer and is not part of it."""
STOP = ("\ndef ", "\nasync def ", "\nclass ", "\n@", "\n#", "\n```", *DRIVERS[:3])
"""Stop strings: unindented lines that end a function; without them a base model writes file after file."""
QUOTES = ('"""', "'''")


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


ListHelpers = Callable[[Sequence[HelperText], str], Iterator[str]]
"""Lists the lines of helpers, with a mark before each."""


def write_brief(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write one user message: a line of instruction that asks for one Python code block."""
    return Prompt("brief/1", (Message("user", write_message(task, helpers, attempts)),))


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


def write_primed(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a user message and the beginning of the answer, an open fence and the stub; without one, the brief prompt.

    The model continues inside the function, so no tokens go to repeating its header or to an introduction.
    """
    if task.stub is None:
        return write_brief(task, helpers, attempts)
    fence = choose_task_fence(task, helpers, attempts)
    message, begun = write_message(task, helpers, attempts), begin_answer(task.stub)
    messages = Message("user", message), Message("assistant", f"{fence}python\n{quote(begun)}")
    return Prompt("primed/1", messages, None, (f"\n{fence}", *DRIVERS), f"{fence}python\n{begun}", f"\n{fence}")


def begin_answer(stub: str) -> str:
    """Return the code that the answer continues, ending in a line break."""
    return stub.strip("\r\n").rstrip() + "\n"


def write_raw(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text that a base model continues; a task in words becomes a comment above the wanted definition.

    Helpers and attempts come before it as comments, which a model does not take for the answer.
    """
    return _write_raw(list_helper_comments, task, helpers, attempts)


def _write_raw(
    list_helpers: ListHelpers, task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]
) -> Prompt:
    lines = [*list_helpers(helpers, "# "), *list_attempt_comments(attempts)]
    lines += [""] if lines else []
    if task.stub is None:
        lines += [comment(task.text.strip("\r\n"))]
        begun = _begin_definition(task)
    else:
        begun = begin_answer(task.stub)
    return Prompt("raw/1", text="\n".join((*lines, quote(begun))), stop=STOP, begun=begun)


def _begin_definition(task: PromptTask) -> str:
    """Begin the definition that a task in words names; the model chooses a name where the task has none."""
    if task.kind == "class":
        return f"class {task.entry}"
    return f"def {task.entry}(" if task.entry else "def "


def write_header(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write the stub with helpers or attempts in its docstring; without a triple-quoted one, the raw prompt.

    The prompt ends where the body of the function begins.
    """
    return _write_header(list_helper_comments, task, helpers, attempts)


def write_similar(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write the prompt of write_header with the helpers as similar questions and their solutions (U-06)."""
    return replace(_write_header(list_similar_comments, task, helpers, attempts), template="similar/1")


def _write_header(
    list_helpers: ListHelpers, task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]
) -> Prompt:
    begun = begin_answer(task.stub or "")
    end = _find_docstring_end(begun)
    if end is None:
        return _write_raw(list_helpers, task, helpers, attempts)
    section = [*list_helpers(helpers, end.margin), *list_attempt_comments(attempts, end.margin)]
    text = quote(begun)
    if section:
        above, below = begun[: end.offset], begun[end.offset :]
        text = f"{quote(above.rstrip())}\n\n{_fit_into(below[:3], section)}\n{end.margin}{quote(below)}"
    return Prompt("header/1", text=text, stop=STOP, begun=begun)


def _fit_into(quotes: str, lines: Sequence[str]) -> str:
    """Escape lines so that they do not end the docstring that contains them."""
    other = QUOTES[1 - QUOTES.index(quotes)]
    return "\n".join(lines).replace("\\", "\\\\").replace(quotes, other)


class _DocstringEnd(NamedTuple):
    """The offset of a docstring's closing quotes, and its indentation."""

    offset: int
    margin: str


def _find_docstring_end(code: str) -> _DocstringEnd | None:
    """Find the closing triple quotes of the last function's docstring."""
    tree = parse_code(code)
    definition = tree.body[-1] if tree is not None and tree.body else None
    if not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef) or ast.get_docstring(definition) is None:
        return None
    literal = definition.body[0]
    lines = code.encode("utf-8", "replace").splitlines(keepends=True)
    last = (literal.end_lineno or literal.lineno) - 1
    above = b"".join((*lines[:last], lines[last][: literal.end_col_offset])).decode("utf-8", "replace")
    margin = lines[literal.lineno - 1][: literal.col_offset].decode("utf-8", "replace")
    if margin.strip() or not above.endswith(QUOTES):
        return None
    return _DocstringEnd(len(above) - 3, margin)
