"""Call sites: the called expression, its line, and the function around it."""

from __future__ import annotations

import pytest
from pieces import extract

from pkg.model import Call


def list_owners(text: str) -> list[tuple[str, str | None]]:
    """List the calls of a text with the qualified name of their function."""
    code = extract(text)
    return [
        (call.expression, None if call.function is None else code.definitions[call.function].qualname)
        for call in code.calls
    ]


def test_a_call_has_the_line_where_its_expression_begins() -> None:
    assert extract("def f():\n    x = (\n        g(\n        )\n    )\n").calls == (Call("g", 3, 0),)


def test_a_call_belongs_to_the_innermost_function() -> None:
    owners = list_owners("def f():\n    a()\n    def g():\n        if x: b()\n    c()\n\nd()\n")
    assert owners == [("a", "f"), ("b", "f.g"), ("c", "f"), ("d", None)]


def test_calls_in_comprehensions_and_lambdas_belong_to_the_function_around_them() -> None:
    assert list_owners("def f():\n    return [a() for b in c()], lambda: d()\n") == [("a", "f"), ("c", "f"), ("d", "f")]


def test_calls_in_decorators_defaults_and_annotations_belong_to_the_enclosing_scope() -> None:
    text = "@a()\ndef f(x=b(), y: c() = 1) -> d():\n    e()\n"
    assert list_owners(text) == [("a", None), ("b", None), ("c", None), ("d", None), ("e", "f")]
    inside = "def g():\n" + "".join(f"    {line}\n" for line in text.splitlines())
    assert list_owners(inside) == [("a", "g"), ("b", "g"), ("c", "g"), ("d", "g"), ("e", "g.f")]


def test_calls_in_a_class_belong_to_no_function_and_those_in_its_bases_to_the_enclosing_scope() -> None:
    assert list_owners("def f():\n    class A(b()):\n        c = d()\n") == [("b", "f"), ("d", None)]


@pytest.mark.parametrize(
    ("call", "expressions"),
    [
        ("f(1)", ["f"]),
        ("a.b.c(1)", ["a.b.c"]),
        ("a . b(1)", ["a.b"]),
        ("(x\n .a()\n .b())", ["(...).b", "x.a"]),
        ("super().m(1)", ["(...).m", "super"]),
        ("a[0].b(1)", ["(...).b"]),
        ("a[0](1)", ["(...)"]),
        ("f(1)(2)", ["(...)", "f"]),
        ("(lambda: 0)()", ["(...)"]),
        ("'a'.join(b)", ["(...).join"]),
        ("größe.été()", ["größe.été"]),
        ("await f()", ["f"]),
        ("f(g(h()))", ["f", "g", "h"]),
    ],
)
def test_the_called_expression_is_a_dotted_name_or_a_placeholder(call: str, expressions: list[str]) -> None:
    assert [site.expression for site in extract(f"{call}\n").calls] == expressions
