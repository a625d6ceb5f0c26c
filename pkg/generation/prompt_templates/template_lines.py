"""The templates' own lines, and quoting, which keeps a task, helper or feedback from imitating them.

Quoting escapes hidden characters and breaks control tokens (pkg.quoting). A quoted line that equals a template's own
gets ``> `` before its words. Code is put in comments, or in a fence longer than any run of backticks in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, PromptTask
from pkg.quoting.data_marks import choose_fence, quote_data

HELPERS_START, HELPERS_END = "The following code might be helpful.", "End of helper section."
HELPERS_NOTE = "Code that may help:"
CODE_NOTE = "Code of the project:"
ATTEMPTS_START, ATTEMPTS_END = "Earlier attempts failed, the oldest first:", "End of attempts."
PROBLEM_START, PROBLEM_END = "Problem:", "End of problem."
SIMILAR_START, SIMILAR_END = "Similar questions and their solutions:", "End of similar questions."
RESULT = "What happened:"
ATTEMPTS_ADVICE = "Find out why they failed, and write code that does not."

_LINES = (
    *(HELPERS_START, HELPERS_END, HELPERS_NOTE, CODE_NOTE),
    *(ATTEMPTS_START, ATTEMPTS_END, PROBLEM_START, PROBLEM_END, RESULT, SIMILAR_START, SIMILAR_END),
)
MARKER = re.compile(
    rf"(?P<head>\s*(?:#\s*)*)(?:{'|'.join(map(re.escape, _LINES))}|(?:helper code|attempt|question|solution) \d+:)\s*",
    re.IGNORECASE,
)
"""A template's own line, plain or as a comment."""


def quote(text: str) -> str:
    """Quote a text, and mark each line that equals a template's own."""
    return "\n".join(map(_mark_line, quote_data(text).split("\n")))


def _mark_line(line: str) -> str:
    found = MARKER.fullmatch(line)
    if found is None:
        return line
    words = found.end("head")  # after the # of a comment, so that code stays code
    return f"{line[:words]}> {line[words:]}"


def quote_place(place: str) -> str:
    """Quote a place on one line, whatever characters its path has."""
    return quote(" ".join(place.split()))


def comment(text: str, mark: str = "# ") -> str:
    """Quote a text and put a comment mark before each line."""
    return "\n".join(f"{mark}{line}".rstrip() for line in quote(text).splitlines())


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


def list_similar_comments(helpers: Sequence[HelperText], mark: str = "# ") -> Iterator[str]:
    """Yield helpers as questions with their solutions, a comment mark before each line (U-06); nothing without helpers.

    The question is the first line of a helper if it is a comment, else the place.
    """
    if not helpers:
        return
    yield mark + SIMILAR_START
    for number, helper in enumerate(helpers, 1):
        first, _, rest = helper.code.partition("\n")
        has_question = first.startswith("# ")
        question, solution = (first[2:], rest) if has_question else (" ".join(helper.place.split()), helper.code)
        yield f"{mark}question {number}:"
        yield comment(question, mark)
        yield f"{mark}solution {number}:"
        yield comment(solution.rstrip(), mark)
    yield mark + SIMILAR_END


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
