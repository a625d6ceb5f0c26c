"""The papers' prompt templates in our own words: one for each model family, and what they have in common (P-20).

Earlier attempts take the place of the helpers, which only the first prompt shows (U-07).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.generation.prompt_templates.helper_text import list_helpers
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.template_lines import (
    HELPERS_END,
    HELPERS_START,
    PROBLEM_END,
    PROBLEM_START,
    choose_task_fence,
    list_attempt_comments,
    list_attempt_lines,
    list_helper_comments,
    list_helper_lines,
    quote,
)
from pkg.model import QueryResult
from pkg.models.text_model import Message
from pkg.retrieval.query_options import check_shows_code

ROLE = "You are an experienced Python programmer."
TASK = "Write Python code that solves the following problem."
TAGS = "Put the whole solution between [PYTHON] and [/PYTHON]; it has to run as it stands there."
FENCE = "Put the whole solution in one Python code block; it has to run as it stands there."
ADVICE = (
    "Where the logic of the helper code is useful, integrate it in the body of your main function"
    " instead of calling it; otherwise ignore the helper section."
)
NO_CALLS = "Do NOT call the helper functions."
PRIMER = "Here is the Python code that solves the problem."
OPEN, CLOSE = "[PYTHON]\n", "\n[/PYTHON]"


def write_generic(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write one user message with the parts common to all families, without the tags of any."""
    lines = ROLE, *_list_body(task, helpers, attempts)
    return Prompt("generic/1", (Message("user", "\n".join(lines)),))


def write_codellama(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text with the tags that the family's chat template would write; it asks for solution tags too."""
    lines = ROLE, *_list_body(task, helpers, attempts, TAGS)
    return Prompt("codellama/1", text="[INST] " + "\n".join(lines) + "\n[/INST]")


def write_deepseek(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text with instruction tags, as in the papers' template; their example has the headings of StarCoder2."""
    lines = ROLE, *_list_body(task, helpers, attempts)
    return Prompt("deepseek/1", text="[INST] " + "\n".join(lines) + "\n[/INST]")


def write_llama31(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write the role as system message and the rest, with CodeLlama's solution tags, as user message.

    The papers use the model but do not print its prompt.
    """
    lines = _list_body(task, helpers, attempts, TAGS)
    return Prompt("llama31/1", (Message("system", ROLE), Message("user", "\n".join(lines))))


def write_qwen(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write the messages of Llama 3.1, but ask for a code block; the papers do not use Qwen."""
    lines = _list_body(task, helpers, attempts, FENCE)
    return Prompt("qwen/1", (Message("system", ROLE), Message("user", "\n".join(lines))))


def write_starcoder2(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Prompt:
    """Write a text with headings and helpers as comments; it ends inside the answer, after the opening tag."""
    begun = f"{PRIMER}\n{OPEN}"
    lines = ["### Instruction", ROLE, *_list_problem(task, TAGS)]
    lines += [*list_attempt_comments(attempts), *list_helper_comments(helpers)]
    lines += [*([ADVICE, NO_CALLS] if helpers else []), "", "### Response", begun]
    return Prompt("starcoder2/1", text="\n".join(lines), stop=(CLOSE, "\n### "), begun=begun, close=CLOSE)


def _list_body(
    task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt], rules: str = ""
) -> Iterator[str]:
    """Write the problem, the attempts and the helper section, with code in fences."""
    fence = choose_task_fence(task, helpers, attempts)
    yield from _list_problem(task, rules)
    yield from list_attempt_lines(attempts, fence)
    if helpers:
        yield from (HELPERS_START, *list_helper_lines(helpers, fence), HELPERS_END, ADVICE)


def _list_problem(task: PromptTask, rules: str) -> Iterator[str]:
    """Write the task line, with the rules of a family, and the problem."""
    yield f"{TASK} {rules}".rstrip()
    yield from (PROBLEM_START, quote(task.text.strip("\r\n")), PROBLEM_END)


def render_prompt(result: QueryResult) -> str:
    """Render the augmented prompt of a query as text (P-19); without hits, the plain problem.

    Each helper is in a fence, headed by a comment with its place, and quoted, so that it cannot imitate the template
    (pkg.generation.prompt_templates.template_lines). Raises UsageError for hits without code.
    """
    check_shows_code(result.mode)
    (message,) = write_generic(PromptTask(result.text), list_helpers(result), ()).messages
    return f"{message.content}\n"
