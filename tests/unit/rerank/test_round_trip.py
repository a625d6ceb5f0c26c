"""The extracted code is the original code, in every format of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import Question, parse_question

TEXTS = some.sampled_from(
    [
        "plain",
        "it's",
        'a "quote"',
        "</think>",
        "[PYTHON]",
        "`x`",
        "```",
        "# no comment",
        "def other():",
        ">>> f(1)",
        "\\n",
    ]
)
LINES = some.one_of(
    some.builds("{} = {!r}".format, some.sampled_from("abc"), TEXTS),
    some.builds("x = x.replace({!r}, {!r})".format, TEXTS, TEXTS),
    some.just("if x:\n        x = x + x\n    else:\n        x = x"),
    some.just("for each in x:\n        x += each"),
    some.just("# say why\n    x = [each for each in x if each]"),
    some.just('"""Say what it does.\n\n    And more.\n    """'),
    some.just("def inner(y):\n        return y\n\n    x = inner(x)"),
)
BODIES = some.builds(lambda lines: "\n    ".join((*lines, "return x")), some.lists(LINES, max_size=4))
HEADS = some.sampled_from(
    [
        "",
        "import re\n\n\n",
        "from math import (\n    pi,\n    e,\n)\n\nLIMIT = pi * e\n\n",
        "def aid(x):\n    return x\n\n\n",
    ]
)
PROSE = some.sampled_from(["", "Here it is:\n", "Sure! This solves it, as asked.\n\n", "1. The code\n"])
AFTER = some.sampled_from(["", "\nHope that helps.", "\n\nIt looks at each item, so it takes linear time.\n"])

STUB = 'def solve(x):\n    """Solve it."""\n'
PROSE_QUESTION = parse_question("Write a function solve(x) that solves it.")
STUB_QUESTION = parse_question(STUB)


def make_code(head: str, body: str) -> str:
    return f"{head}def solve(x):\n    {body}"


CODES = some.builds(make_code, HEADS, BODIES)


def choose_mark(code: str) -> str:
    return "`" * max([3, *(len(each) + 1 for each in re.findall("`+", code) if len(each) > 2)])


def put_in_fence(code: str, label: str = "python") -> str:
    return f"{choose_mark(code)}{label}\n{code}\n{choose_mark(code)}"


def put_in_tags(code: str) -> str:
    return f"[PYTHON]\n{code}\n[/PYTHON]"


WRAPS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in a fence": put_in_fence,
    "in a fence without a language": lambda code: put_in_fence(code, ""),
    "in a fence of another mark": lambda code: f"~~~python\n{code}\n~~~",
    "in tags": put_in_tags,
    "in a fence in tags": lambda code: put_in_tags(put_in_fence(code)),
    "in a fence that the prompt opened": lambda code: f"{code}\n```",
    "in a tag that the prompt opened": lambda code: f"{code}\n[/PYTHON]",
}
SINGLE = ("as it is", "in a fence that the prompt opened", "in a tag that the prompt opened")


def can_hold(wrap: str, code: str) -> bool:
    """Remove marks of the format from the code, which it cannot represent."""
    if "tag" in wrap and "PYTHON" in code:
        return False
    return not ("```" in code and wrap != "in a fence" and wrap != "in a fence of another mark" and wrap != "as it is")


@pytest.mark.parametrize("wrap", WRAPS)
@given(code=CODES, before=PROSE, after=AFTER)
def test_what_was_put_into_an_answer_is_found(wrap: str, code: str, before: str, after: str) -> None:
    if not can_hold(wrap, code):
        return
    text = WRAPS[wrap](code)
    if wrap not in SINGLE:
        text = f"{before}{text}{after}"
    elif wrap != "as it is":
        text = f"{text}{after}"
    assert extract_code(text, PROSE_QUESTION).code == code
    assert not extract_code(text, PROSE_QUESTION).is_cut


@given(code=CODES, wrap=some.sampled_from(["as it is", "in a fence", "in a fence of another mark"]))
def test_reasoning_before_it_changes_nothing(code: str, wrap: str) -> None:
    draft = put_in_fence("def solve(x):\n    return 0")
    text = f"<think>\nPerhaps\n{draft}\n</think>\n\n{WRAPS[wrap](code)}"
    assert extract_code(text, PROSE_QUESTION).code == code


CONTINUED = {
    "raw": "    {}",
    "raw and without its first indentation": "{}",
    "in a fence that the prompt opened": "    {}\n```\nThat is all.",
    "in a fence of its own": "```python\n    {}\n```",
}


@pytest.mark.parametrize("form", CONTINUED)
@given(body=BODIES)
def test_the_rest_of_the_code_of_a_query_is_appended_to_it(form: str, body: str) -> None:
    if "```" in body or body.startswith('"'):
        return
    check_continued(STUB_QUESTION, CONTINUED[form].format(body), f"{STUB}    {body}")


def check_continued(question: Question, text: str, code: str) -> None:
    found = extract_code(text, question)
    assert found.code == code
    assert not found.is_cut
