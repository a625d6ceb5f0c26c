"""The result of a call depends on its own arguments."""

from __future__ import annotations

import pytest
from unit.resolution.solving import list_calls

CLASSES = "class A:\n    def go(self): pass\nclass B:\n    def go(self): pass\n"


@pytest.mark.parametrize(
    "body",
    [
        "if given is None:\n        return A()\n    return B()",
        "if given is not None:\n        return B()\n    else:\n        return A()",
        "if not given:\n        return A()\n    return B()",
        "return A() if given is None else B()",
    ],
)
def test_a_value_after_a_test_of_an_argument_is_for_those_that_pass_it(body: str) -> None:
    text = f"{CLASSES}def make(given=None):\n    {body}\ndef none(): make().go()\ndef some(): make(none).go()\n"
    found = list_calls(text)
    assert found["none", "A.go"] == "certain"
    assert ("none", "B.go") not in found
    assert found["some", "B.go"] == "certain"
    assert ("some", "A.go") not in found


def test_an_argument_that_is_not_known_may_pass_every_test() -> None:
    text = f"{CLASSES}def make(given=None):\n    if given is None:\n        return A()\n    return B()\n"
    found = list_calls(f"{text}def any(given): make(given).go()\n")
    assert {("any", "A.go"), ("any", "B.go")} <= found.keys()


def test_a_test_of_a_name_that_was_bound_again_says_nothing_of_the_argument() -> None:
    text = (
        f"{CLASSES}def make(given=None):\n    given = A()\n    if given is None:\n        return A()\n    return B()\n"
    )
    found = list_calls(f"{text}def none(): make().go()\n")
    assert ("none", "B.go") in found


def test_an_argument_that_is_returned_after_a_test_of_another_is_the_result() -> None:
    text = f"{CLASSES}def pick(first, other=None):\n    if other is None:\n        return first\n    return other\n"
    found = list_calls(f"{text}def one(): pick(A()).go()\ndef two(): pick(A(), B()).go()\n")
    assert found["one", "A.go"] == found["two", "B.go"] == "certain"
    assert ("two", "A.go") not in found
