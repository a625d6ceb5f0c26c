"""The intended one of several versions of an answer is judged, and wins against a wrong answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_sandbox import FakeSandbox

from pkg.rerank.candidates import Ranking
from pkg.rerank.extraction import extract_code, list_versions
from pkg.rerank.parsed_question import parse_question
from pkg.rerank.reranker import Reranker

QUERY = "Write a function area(w, h) that gives the area of a rectangle. area(2, 3) == 6 and area(4, 5) == 20."
WRONG = "def area(w, h):\n    return w + h + 1"  # holds for the first example alone
DRAFT = "def area(w, h):\n    return 2 * (w + h)"
GOOD = "def area(w, h):\n    return w * h"
HOLLOW = [
    "def area(w, h):\n    pass",
    "def area(w, h):\n    ...",
    "def area(w, h):\n    # TODO: multiply\n    pass",
    'def area(w, h):\n    """Give the area."""',
    'def area(w, h):\n    """Give the area."""\n    raise NotImplementedError("to be written")',
    "def area(w, h):\n    result = ...\n    return None",
]


def fence(code: str, label: str = "python") -> str:
    return f"```{label}\n{code}\n```"


@pytest.fixture
def reranker() -> Iterator[Reranker]:
    with Reranker(sandbox=FakeSandbox()) as opened:
        yield opened


def rank(reranker: Reranker, text: str, query: str = QUERY) -> Ranking:
    ranking = reranker.rerank(query, [WRONG, text])
    assert ranking.chosen == 1, ranking.candidates[1].reason
    return ranking


THOUGHTS = [
    "<think>\nLet me try.\n{draft}\nNo.\n</think>\n\n{good}",
    "Let me try.\n{draft}\nNo.\n</think>\n\n{good}",  # the prompt has opened it
    "<think>one</think><think>\n{draft}\n</think>{good}",
    "<think>\n<think>\n{draft}\n</think>\n{draft}\n</think>\n{good}",
    "<thinking>\n{draft}\n</thinking>\n<answer>\n{good}\n</answer>",
    "<reasoning>{draft}</reasoning>\n{good}",
    "[THINK]{draft}[/THINK]\n{good}",
    "◁think▷{draft}◁/think▷{good}",
    "<|begin_of_thought|>\n{draft}\n<|end_of_thought|>\n<|begin_of_solution|>\n{good}\n<|end_of_solution|>",
    "<|channel|>analysis<|message|>{draft}<|end|><|start|>assistant<|channel|>final<|message|>{good}<|return|>",
    "<|channel|>analysis<|message|>\n{draft}\n<|end|><|start|>assistant<|channel|>final<|message|>\n{good}",
    "Thinking...\n{draft}\n...done thinking.\n\n{good}",
    "Here is my thought process: {draft}\n\nHere is my response:\n\n{good}",
    "<think>\n{draft}\n</think>\n{good}<|im_end|>",
    "{good}</s>",
    "{good}\n<think>\nIs it right? Or rather\n{draft}\n",  # its tokens ran out
]


@pytest.mark.parametrize("form", THOUGHTS)
@pytest.mark.parametrize("show", [fence, str], ids=["fenced", "bare"])
@pytest.mark.parametrize("query", [QUERY, "Write a function area(w, h)."])
def test_what_was_thought_is_no_answer(form: str, show: object, query: str) -> None:
    assert callable(show)
    text = form.format(draft=show(DRAFT), good=show(GOOD))
    found = extract_code(text, parse_question(query))
    assert found.code == GOOD
    assert found.is_cut == text.endswith(f"{show(DRAFT)}\n")


@pytest.mark.parametrize(
    "text", ["<think>\n{good}\n</think>", "<think>\nSo:\n{good}\n", "{good}\n</think>\nThat is all."]
)
def test_where_nothing_follows_the_thoughts_their_code_counts(reranker: Reranker, text: str) -> None:
    ranking = rank(reranker, text.format(good=fence(GOOD)))
    assert ranking.code == GOOD
    assert "taken from its reasoning" in ranking.candidates[1].reason


def test_code_that_speaks_of_a_mark_is_not_cut_at_it() -> None:
    code = "def area(text):\n    return text.split('</think>')[-1] + \"<think>\""
    assert extract_code(fence(code), parse_question(QUERY)).code == code
    assert extract_code(code, parse_question(QUERY)).code == code


CORRECTIONS = [
    "{draft}\nWait, that is the length around it. Corrected:\n{good}",
    "{draft}\n{draft}\n{good}\nThis multiplies.",
    "1. First:\n   {draft}\n2. Better:\n{good}",
    "{draft}\nA test:\n```python\nassert area(1, 1) == 1\n```\nIt fails, so:\n{good}",
    "{good}\nDo not write this instead:\n{draft}",
    "{draft}\n{good}\nUse it so:\n```python\nprint(area(1, 2))\n```",
    "{draft}\n{good}\nOutput:\n```\n2\n```\n```bash\npython area.py\n```",
]


@pytest.mark.parametrize("form", CORRECTIONS)
@pytest.mark.parametrize("label", ["python", "", "py", "Python3", "text"])
def test_the_version_for_which_the_examples_hold_wins(reranker: Reranker, form: str, label: str) -> None:
    ranking = rank(reranker, form.format(draft=fence(DRAFT, label), good=fence(GOOD, label)))
    assert ranking.code == GOOD
    assert "versions" in ranking.candidates[1].reason


def test_without_examples_the_last_version_is_taken() -> None:
    text = f"{fence(GOOD)}\nNo:\n{fence(DRAFT)}"
    assert extract_code(text, parse_question("Write a function area(w, h).")).code == DRAFT
    assert extract_code(text, parse_question("Write a function for the area.")).code == DRAFT


@pytest.mark.parametrize("query", [QUERY, "Write a function area(w, h)."])
@pytest.mark.parametrize("stubs", HOLLOW)
@pytest.mark.parametrize("form", ["Plan:\n{stubs}\nDone:\n{good}", "{good}\nIt follows your outline:\n{stubs}"])
def test_a_skeleton_is_no_answer_while_a_fuller_version_is_there(query: str, stubs: str, form: str) -> None:
    text = form.format(stubs=fence(stubs), good=fence(GOOD))
    assert extract_code(text, parse_question(query)).code == GOOD


@pytest.mark.parametrize("stubs", HOLLOW)
@pytest.mark.parametrize("form", ["{stubs}\n\n{good}", "{good}\n\n{stubs}"])
def test_a_skeleton_in_the_same_piece_is_none_either(reranker: Reranker, stubs: str, form: str) -> None:
    assert GOOD in rank(reranker, form.format(stubs=stubs, good=GOOD)).code
    assert GOOD in rank(reranker, fence(form.format(stubs=stubs, good=GOOD))).code


@pytest.mark.parametrize("form", ["{task}\n{good}", "{good}\nYou gave me:\n{task}"])
def test_code_of_the_query_that_is_quoted_is_no_answer(form: str) -> None:
    query = parse_question(f"Mend this function:\n{fence(DRAFT)}\nIt is to give the area.")
    assert extract_code(form.format(task=fence(DRAFT), good=fence(GOOD)), query).code == GOOD
    assert extract_code(fence(DRAFT), query).code == DRAFT


def test_drafts_and_their_correction_in_prose_without_fences(reranker: Reranker) -> None:
    assert GOOD in rank(reranker, f"{DRAFT}\n\nWait, that is wrong. Here is the right one:\n\n{GOOD}\n").code
    assert GOOD in rank(reranker, f"{DRAFT}\n\n# wait, that is wrong\n{GOOD}\n").code
    assert GOOD in rank(reranker, f"{GOOD}\n\n# slower, and wrong\n{DRAFT}\n").code
    todo = DRAFT.split("\n", maxsplit=1)[0] + "\n    # to do"
    assert GOOD in rank(reranker, f"{todo}\n\nFilled in:\n\n{GOOD}\n").code
    indented = GOOD.replace("def", "    def").replace("    return", "        return")
    assert GOOD in rank(reranker, f"The answer:\n\n{indented}\n\nIt multiplies.\n").code
    assert GOOD in rank(reranker, f"My first try:\n\n{DRAFT}\n\nBut no:\n{fence(GOOD)}").code


def test_tagged_spans_come_before_fences_and_the_last_of_them_first(reranker: Reranker) -> None:
    tags = "[PYTHON]\n{}\n[/PYTHON]"
    question = parse_question("Write a function area(w, h).")
    text = f"{tags.format(DRAFT)}\nBetter:\n{tags.format(GOOD)}\n{fence(DRAFT)}"
    assert extract_code(text, question).code == GOOD
    assert rank(reranker, f"{tags.format(GOOD)}\nNot so:\n{tags.format(DRAFT)}").code == GOOD
    assert extract_code(tags.format(fence(GOOD)), question).code == GOOD


HELPED = "def area(w, h):\n    return times(w, h)"
TIMES = "def times(a, b):\n    return a * b"
BAD_TIMES = "def times(a, b):\n    return a + b"


@pytest.mark.parametrize(
    "parts",
    [
        (TIMES, HELPED),
        (HELPED, TIMES),
        (f"{BAD_TIMES}\n\n{HELPED}", TIMES),  # only the helper is corrected
        (BAD_TIMES, HELPED, TIMES),
        (f"{TIMES}\n\n{DRAFT}", HELPED),  # only the main one is corrected
        ("import operator", "def area(w, h):\n    return operator.mul(w, h)"),
        ("SIGN = 1", "def area(w, h):\n    return SIGN * w * h", "print(area(1, 2))"),
        (DRAFT, TIMES, HELPED),
    ],
)
def test_pieces_that_need_each_other_are_put_together(reranker: Reranker, parts: tuple[str, ...]) -> None:
    text = "\nand\n".join(map(fence, parts))
    rank(reranker, text)
    names = {"__name__": "m"}
    exec(extract_code(text, parse_question("Write a function area(w, h).")).code, names)
    assert eval("area(4, 5)", names) == 20


def test_a_helper_after_the_answer_does_not_replace_it(reranker: Reranker) -> None:
    text = f"{fence(GOOD)}\nA variant for squares:\n{fence('def square(n):' + chr(10) + '    return n * n')}"
    assert rank(reranker, text).code == GOOD


STACK = """class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop({})"""
STACK_QUERY = "Write a class Stack.\n\ns = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\n"


@pytest.mark.parametrize(
    "correction",
    [
        STACK.format(""),
        "class Stack:\n    def pop(self):\n        return self.items.pop()",
        "class Stack:\n    def push(self, item):\n        ...\n\n    def pop(self):\n        return self.items.pop()",
        "    def pop(self):\n        return self.items.pop()",
        "def pop(self):\n    return self.items.pop()",
    ],
)
def test_a_class_may_be_corrected_in_a_method_alone(reranker: Reranker, correction: str) -> None:
    text = f"{fence(STACK.format(0))}\nThe last one has to come first:\n{fence(correction)}"
    ranking = reranker.rerank(STACK_QUERY, [STACK.format(0), text])
    assert ranking.chosen == 1


def test_a_body_that_is_corrected_alone_is_put_under_its_header(reranker: Reranker) -> None:
    body = "# width times height\nreturn w * h"
    text = f"{fence(DRAFT)}\nThe body has to be:\n{fence(body)}"
    assert "return w * h" in rank(reranker, text).code
    explained = f"{fence(GOOD)}\nThe line\n{fence('return w * h')}\nmultiplies."
    assert extract_code(explained, parse_question("Write a function area(w, h).")).code == GOOD


def test_a_helper_is_corrected_and_the_main_function_left_open(reranker: Reranker) -> None:
    correction = f"{TIMES}\n\ndef area(w, h):\n    ...  # as before"
    text = f"{fence(BAD_TIMES + chr(10) * 2 + HELPED)}\nThe helper was wrong:\n{fence(correction)}"
    rank(reranker, text)


def test_a_skeleton_of_a_class_is_no_answer() -> None:
    stubs = "class Stack:\n    def push(self, item): ...\n\n    def pop(self):\n        raise NotImplementedError"
    question = parse_question("Write a class Stack.")
    assert extract_code(f"{fence(STACK.format(''))}\nof the form\n{fence(stubs)}", question).code == STACK.format("")


def test_a_broken_last_version_is_marked_and_a_whole_one_is_taken_before_it() -> None:
    found = extract_code(
        f"{fence(GOOD)}\nFaster:\n```python\ndef area(w, h):\n    total = 0\n    for each in range(",
        parse_question(QUERY),
    )
    assert (found.code, found.is_cut) == (GOOD, True)


def test_several_versions_of_equal_code_are_one_candidate_with_one_that_shows_it_alone(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, [GOOD, f"{fence(DRAFT)}\nno:\n{fence(GOOD)}", WRONG])
    assert [each.same_as for each in ranking.candidates] == [None, 0, None]
    assert ranking.candidates[0].votes == 2


def test_many_pieces_are_bounded_and_the_last_are_looked_at() -> None:
    text = "\n".join(fence(f"def area(w, h):\n    return {each}") for each in range(100)) + f"\n{fence(GOOD)}"
    versions = list_versions(text, parse_question(QUERY))
    assert versions[0].code == GOOD
    assert 1 < len(versions) < 10
