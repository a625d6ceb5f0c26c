"""The parts that the papers' prompts share, in our own words: role, task, problem, helper section, advice (P-20).

Earlier attempts stand where the helpers stand in the first prompt: these are no longer shown then (U-07).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.generation.forms.form_lines import HELPERS_END, HELPERS_START, PROBLEM_END, PROBLEM_START, quote
from pkg.generation.forms.prompt_form import Attempt, HelperText, PromptTask
from pkg.generation.forms.sections import choose_task_fence, list_attempt_lines, list_helper_lines

ROLE = "You are an experienced Python programmer."
TASK = "Write Python code that solves the following problem."
TAGS = "Put the whole solution between [PYTHON] and [/PYTHON]; it has to run as it stands there."
ADVICE = (
    "Where the logic of the helper code is useful, integrate it in the body of your main function"
    " instead of calling it; otherwise ignore the helper section."
)
OPEN, CLOSE = "[PYTHON]\n", "\n[/PYTHON]"


def list_problem_lines(task: PromptTask, rules: str = "") -> Iterator[str]:
    """Write what to do, with the rules of a family, and the problem."""
    yield f"{TASK} {rules}".rstrip()
    yield PROBLEM_START
    yield quote(task.text.strip("\r\n"))
    yield PROBLEM_END


def list_fenced_lines(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> Iterator[str]:
    """Write attempts and the helper section with code in fences; nothing where there are none."""
    fence = choose_task_fence(task, helpers, attempts)
    yield from list_attempt_lines(attempts, fence)
    if helpers:
        yield HELPERS_START
        yield from list_helper_lines(helpers, fence)
        yield HELPERS_END
        yield ADVICE
