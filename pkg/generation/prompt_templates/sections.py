"""Sections that several templates share: numbered helpers and attempts, in fences or as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, PromptTask
from pkg.generation.prompt_templates.template_lines import (
    ATTEMPTS_ADVICE,
    ATTEMPTS_END,
    ATTEMPTS_START,
    HELPERS_END,
    HELPERS_START,
    RESULT,
    comment,
    quote,
    quote_place,
)
from pkg.quoting.chosen_fence import choose_fence


def choose_task_fence(task: PromptTask, helpers: Sequence[HelperText], attempts: Sequence[Attempt]) -> str:
    """Return a fence that no text of the prompt contains."""
    shown = (text for pair in (*helpers, *attempts) for text in pair)
    return choose_fence((task.text, *shown))


def list_helper_lines(helpers: Sequence[HelperText], fence: str) -> Iterator[str]:
    """Yield the lines of numbered helpers in fences, each headed by a comment with its place."""
    for number, helper in enumerate(helpers, 1):
        yield f"helper code {number}:"
        yield f"{fence}python"
        yield f"# {quote_place(helper.place)}"
        yield quote(helper.code)
        yield fence


def list_attempt_lines(attempts: Sequence[Attempt], fence: str) -> Iterator[str]:
    """Yield the lines of attempts in fences, the oldest first, each with its feedback (U-07)."""
    if not attempts:
        return
    yield ATTEMPTS_START
    for number, attempt in enumerate(attempts, 1):
        yield f"attempt {number}:"
        yield f"{fence}python"
        yield quote(attempt.code).strip("\r\n")
        yield fence
        yield RESULT
        yield f"{fence}text"
        yield quote(attempt.feedback).strip("\r\n")
        yield fence
    yield ATTEMPTS_END
    yield ATTEMPTS_ADVICE


def list_helper_comments(helpers: Sequence[HelperText], mark: str = "# ") -> Iterator[str]:
    """Yield the helper section with a comment mark before each line; nothing without helpers."""
    if not helpers:
        return
    yield mark + HELPERS_START
    for number, helper in enumerate(helpers, 1):
        yield f"{mark}helper code {number}:"
        yield mark + quote_place(helper.place)
        yield comment(helper.code.rstrip(), mark)
    yield mark + HELPERS_END


def list_attempt_comments(attempts: Sequence[Attempt], mark: str = "# ") -> Iterator[str]:
    """Yield attempts with a comment mark before each line, the oldest first, each with its feedback (U-07)."""
    if not attempts:
        return
    yield mark + ATTEMPTS_START
    for number, attempt in enumerate(attempts, 1):
        yield f"{mark}attempt {number}:"
        yield comment(attempt.code.strip("\r\n"), mark)
        yield mark + RESULT
        yield comment(attempt.feedback.strip("\r\n"), mark)
    yield mark + ATTEMPTS_END
    yield mark + ATTEMPTS_ADVICE
