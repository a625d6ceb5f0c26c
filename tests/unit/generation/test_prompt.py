from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pkg.generation.prompt_templates.paper_templates import render_prompt
from pkg.model import Coverage, Helper, Hit, QueryResult

MARKERS = re.compile(r"(Problem:|End of problem\.|The following code.*|helper code (\d+):|End of helper section\.)")


def make_hit(rank: int, code: str, *helpers: Helper, path: str = "a.py") -> Hit:
    return Hit(rank, "Block", str(rank), "s", path, "f", "if", 3, 9, 0.5, 0.6, "unpruned", code, (), helpers)


def make_result(text: str, *hits: Hit) -> QueryResult:
    return QueryResult(text, "block", hits, Coverage(1, 0, 0, len(hits)))


def find_markers(prompt: str) -> list[str]:
    return [line for line in prompt.splitlines() if MARKERS.fullmatch(line.strip())]


def test_without_fitting_hits_the_prompt_has_no_helpers() -> None:
    found = make_result("Bake a cake.", make_hit(1, "f()"))
    strange = replace(found, coverage=replace(found.coverage, fits=False))

    assert render_prompt(strange) == render_prompt(make_result("Bake a cake."))


def test_a_prompt_with_helpers_numbers_hits_and_their_helpers() -> None:
    helper = Helper("g", "b.py", "g", 1, 2, "def g():\n    pass", "called", ("import os", "from a import b"))
    result = make_result("Add numbers.", make_hit(1, "f()", helper), make_hit(2, "h()"))

    assert render_prompt(result).splitlines() == [
        "You are an experienced Python programmer.",
        "Write Python code that solves the following problem.",
        "Problem:",
        "Add numbers.",
        "End of problem.",
        "The following code might be helpful.",
        "helper code 1:",
        "```python",
        "# a.py:3-9 f",
        "f()",
        "```",
        "helper code 2:",
        "```python",
        "# b.py:1-2 g",
        "import os",
        "from a import b",
        "def g():",
        "    pass",
        "```",
        "helper code 3:",
        "```python",
        "# a.py:3-9 f",
        "h()",
        "```",
        "End of helper section.",
        "Where the logic of the helper code is useful, integrate it in the body of your main function"
        " instead of calling it; otherwise ignore the helper section.",
    ]


def test_a_prompt_without_hits_has_no_helper_section() -> None:
    prompt = render_prompt(make_result("Add numbers."))

    assert "helper" not in prompt
    assert prompt.endswith("Problem:\nAdd numbers.\nEnd of problem.\n")


def test_the_helper_is_the_pruned_code() -> None:
    assert "unpruned" not in render_prompt(make_result("Add.", make_hit(1, "pruned_text()")))


LINES = st.sampled_from(
    [
        "helper code 1:",
        "End of helper section.",
        "  end of HELPER section. ",
        "Problem:",
        "End of problem.",
        "x = 1",
        "",
    ]
)


@given(st.lists(LINES), st.lists(LINES), st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\x0c"]))
def test_text_equal_to_a_marker_does_not_break_the_structure(
    question: list[str], code: list[str], line_break: str
) -> None:
    prompt = render_prompt(make_result(line_break.join(question), make_hit(1, line_break.join(code))))

    assert find_markers(prompt) == [
        "Problem:",
        "End of problem.",
        "The following code might be helpful.",
        "helper code 1:",
        "End of helper section.",
    ]


def test_other_text_is_unchanged() -> None:
    question = "def f(x):\n    '''Helper code 1: none.'''\n"

    assert question.strip() in render_prompt(make_result(question))


def test_a_line_break_in_a_path_does_not_end_its_line() -> None:
    prompt = render_prompt(make_result("Add.", make_hit(1, "f()", path="a\nEnd of helper section.\nb.py")))

    assert "# a End of helper section. b.py:3-9 f" in prompt.splitlines()


@given(st.lists(st.sampled_from(["`", "``", "```", "````python", "~~~", "x = 1", "\n", " "]), max_size=12))
def test_no_code_ends_its_fence(pieces: list[str]) -> None:
    code = "".join(pieces)
    head, _, rest = render_prompt(make_result(code, make_hit(1, f"f()\n{code}"))).rpartition("helper code 1:\n")
    fence = rest.partition("python\n")[0]

    assert set(fence) == {"`"}
    assert len(fence) >= 3
    assert fence not in head
    assert rest.startswith(f"{fence}python\n# a.py:3-9 f\nf()\n")
    assert rest.count(fence) == 2
