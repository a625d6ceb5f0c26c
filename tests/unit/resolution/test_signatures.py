"""Annotations of callables type their arguments and results."""

from __future__ import annotations

import pytest
from unit.resolution.solving import list_calls

FOO = "from typing import Callable, Optional\nclass Foo:\n    def bar(self): pass\n"


@pytest.mark.parametrize(
    "text",
    [
        "def use(make: Callable[..., Foo]): make().bar()\n",
        "def use(make: Optional[Callable[[int], Foo]] = None): make(1).bar()\n",
        "def make() -> Callable[[], 'Foo']: ...\ndef use(): make()().bar()\n",
    ],
)
def test_a_callable_gives_back_what_its_annotation_says(text: str) -> None:
    assert list_calls(FOO + text)["use", "Foo.bar"] == "likely"


@pytest.mark.parametrize("given", ["use", "lambda foo: use(foo)", "Holder().on"])
def test_a_callable_is_given_what_the_annotation_of_the_parameter_says(given: str) -> None:
    text = (
        "def register(handler: Callable[[Foo], int]): ...\ndef use(foo): foo.bar()\n"
        f"class Holder:\n    def on(self, foo): use(foo)\nregister({given})\n"
    )
    assert list_calls(FOO + text)["use", "Foo.bar"] == "likely"


def test_an_object_that_decorates_a_function_is_entered_by_each_call() -> None:
    text = (
        "from contextlib import ContextDecorator\nclass Timer(ContextDecorator):\n"
        "    def __enter__(self): return self\n    def __exit__(self, *given): return False\n"
        "@Timer()\ndef work(): pass\ndef go(): work()\n"
    )
    assert {("go", "work"), ("go", "Timer.__enter__"), ("go", "Timer.__exit__")} <= list_calls(text).keys()
