"""Valid programs with odd special methods, decorators and tests resolve like any others."""

from __future__ import annotations

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.extract.python import extract_unit
from pkg.model import RelationType, Status

TESTS = ("isinstance()", "issubclass()", "callable()", "hasattr()", "type() is int", "isinstance(  # of what\n)")
USES = """
class Thing:
    {special} = {value}
    def work(self): pass

def use(a):
    x = Thing(a)
    x(a)(x); x[a].f(); x.lost(); x.lost = 1; del x.lost
    for each in x: each()
    with x as y: y()
    print(f"{{x}}", x + 1, 1 + x, -x, not x, x == x in x, next(iter(x)))
    class Other(Thing): part = x
    Other().part(); Other.part()
    helper()

async def wait(a):
    await Thing(a)
    async for each in Thing(a): each()
    async with Thing(a) as y: y()

def helper(): pass
"""
SPECIAL = (
    "__new__", "__init__", "__call__", "__get__", "__set__", "__delete__", "__set_name__", "__getattr__", "__iter__",
    "__next__", "__enter__", "__exit__", "__getitem__", "__add__", "__radd__", "__eq__", "__hash__", "__contains__",
    "__init_subclass__", "__class_getitem__", "__await__", "__aiter__", "__anext__", "__aenter__", "__bool__",
)  # fmt: skip
VALUES = (
    "object.__new__", "[].append", "{}.get", "staticmethod({}.get)", "classmethod([].append)", "property([].append)",
    "property()", "None", "lambda *a: [].append", "functools.partial([].append)", "len",
)  # fmt: skip


def find_helper_callers(text: str) -> set[str]:
    pairs = resolve_tree({"main.py": text}).pairs(RelationType.CALLS)
    return {start for start, end in pairs if end == "main.helper"}


@pytest.mark.parametrize("test", TESTS)
def test_a_test_without_an_argument_says_nothing(test: str) -> None:
    text = f"def f(x):\n    if {test}:\n        helper(x)\n    assert not {test}\n    helper()\n\ndef helper(): pass\n"
    assert extract_unit(text.encode()).status is Status.OK
    assert find_helper_callers(text) == {"main.f"}


@pytest.mark.parametrize("value", VALUES)
def test_a_special_method_may_be_anything(value: str) -> None:
    for special in SPECIAL:
        assert find_helper_callers(USES.format(special=special, value=value)) == {"main.use"}, special


@pytest.mark.parametrize(
    "decorator", ["x[0 : 1]", "x.y[a: b, c:d]", "(lambda f: f)", "a if b else c", "x['a:b']", "-1"]
)
def test_a_decorator_may_be_any_expression(decorator: str) -> None:
    text = (
        f"class A:\n    @{decorator}\n    def f(self): helper()\n\n@{decorator}\nclass B: pass\n\ndef helper(): pass\n"
    )
    assert find_helper_callers(text) == {"main.A.f"}
