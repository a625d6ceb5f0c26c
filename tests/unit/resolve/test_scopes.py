"""Facts come to stand in the scopes that Python gives them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.resolve.reading import find_scope, read_module

from pkg.extract.code_pieces import locate, parse_expression
from pkg.resolve.facts.scope_model import Scope
from pkg.units import Code


def read_function(text: str) -> Scope:
    return find_scope(read_module(text), "f")


@pytest.mark.parametrize(
    ("head", "parameters"),
    [
        ("def f():", []),
        ("def f(a, b):", ["a", "b"]),
        ("def f(a, /, b=(1, 2), *rest, c: int, **more) -> str:", ["a", "b", "*rest", "c", "**more"]),
        ("async def f(\n    a,  # first\n    b: dict[str, int] = {},\n):", ["a", "b"]),
    ],
)
def test_parameters_are_read_from_the_head(head: str, parameters: list[str]) -> None:
    found = read_function(f"{head}\n    pass\n").parameters
    assert [f"{each.kind}{each.name}" for each in found] == parameters


def test_parameters_know_their_annotation_and_default() -> None:
    first, second = read_function("def f(a: int, *, b=2) -> str: pass\n").parameters
    assert first.annotation is not None
    assert ast.unparse(first.annotation) == "int"
    assert second.is_keyword_only
    assert second.default is not None
    assert ast.literal_eval(second.default) == 2


def test_lambdas_have_parameters_even_with_brackets_in_their_defaults() -> None:
    module = read_module("key = lambda a, b=(a, c): a\n")
    assert [each.name for each in module.scopes[1].parameters] == ["a", "b"]


def test_a_head_that_python_does_not_know_has_no_parameters() -> None:
    assert read_function("def f((a, b), c): pass\n").parameters == ()


def test_names_are_bound_in_the_scope_that_they_stand_in() -> None:
    module = read_module(
        "import os\nX = 1\nclass K:\n    y = 2\n    def m(self):\n        z = 3\n        return lambda: z\n"
    )
    assert set(module.root.names) == {"os", "X", "K"}
    assert set(find_scope(module, "K").names) == {"y", "m"}
    assert set(find_scope(module, "K.m").names) == {"z"}


def test_global_and_nonlocal_bind_elsewhere() -> None:
    module = read_module(
        "def f():\n    a = 0\n    def g():\n        nonlocal a\n        global b\n        a = 1\n        b = 2\n"
    )
    assert len(find_scope(module, "f").names["a"]) == 2
    assert "b" in module.root.names
    assert not find_scope(module, "f.g").names


def test_a_comprehension_keeps_its_names_and_belongs_to_its_function() -> None:
    function = read_function("def f(items):\n    return [item.run() for item in items]\n")
    (inner,) = function.module.comprehensions.values()
    assert inner.binds("item")
    assert not function.binds("item")
    assert inner.owner is function


@pytest.mark.parametrize(
    ("target", "paths"),
    [
        ("a, b", {"a": (0,), "b": (1,)}),
        ("a, (b, c)", {"a": (0,), "b": (1, 0), "c": (1, 1)}),
        ("a, *b, c", {"a": (0,), "b": ("1:-1",), "c": (-1,)}),
        ("[a, b]", {"a": (0,), "b": (1,)}),
    ],
)
def test_targets_take_their_parts(target: str, paths: dict[str, tuple[int | str, ...]]) -> None:
    names = read_module(f"{target} = value\n").root.names
    assert {name: bindings[0].path for name, bindings in names.items()} == paths


def test_assignments_to_attributes_and_items_are_kept_apart_from_names() -> None:
    module = read_module("a.x = 1\na.b.y, c = 2, 3\nd['k'] = 4\n")
    receivers = {name: module.text[stores[0].start : stores[0].end] for name, stores in module.stores.items()}
    assert receivers == {"x": b"a", "y": b"a.b"}
    assert len(module.item_stores) == 1
    assert set(module.root.names) == {"c"}


def test_sites_know_what_kind_they_are() -> None:
    module = read_module("with open(p) as f:\n    for line in f:\n        raise Err(line.text)\n")
    assert sorted(site.code for site in module.root.sites) == sorted(
        [Code.CALL, Code.WITH, Code.FOR, Code.RAISE, Code.CALL, Code.READ]
    )


@pytest.mark.parametrize(
    ("method", "receiver"),
    [("def m(self): pass", "self"), ("@staticmethod\n    def m(a): pass", None), ("def m(*args): pass", None)],
)
def test_the_first_parameter_of_a_method_is_its_receiver(method: str, receiver: str | None) -> None:
    module = read_module(f"class K:\n    {method}\n")
    assert find_scope(module, "K.m").receiver == receiver


def test_a_function_has_no_receiver() -> None:
    assert read_function("def f(self): pass\n").receiver is None


@given(
    st.lists(st.sampled_from(["name", "other.name", "'ä'", "(\n1)", "f(\n  x)"]), min_size=1, max_size=5),
    st.text("ab\n ", max_size=8),
)
def test_parts_of_an_expression_are_found_again_in_its_text(parts: list[str], before: str) -> None:
    text = f"[{', '.join(parts)}]".encode()
    tree = parse_expression(text)
    assert isinstance(tree, ast.List)
    whole = before.encode() + text
    for node in tree.elts:
        start, end = locate(node, whole, len(before.encode()))
        again = parse_expression(whole[start:end])
        assert again is not None
        assert ast.dump(again) == ast.dump(node)


def test_an_expression_with_doubtful_escapes_is_parsed_in_silence() -> None:
    assert isinstance(parse_expression(rb"'\d'"), ast.Constant)
    assert isinstance(parse_expression(b"1if x else 2"), ast.IfExp)


def test_what_python_does_not_know_is_no_expression() -> None:
    assert parse_expression(b"print 'x'") is None
    assert parse_expression(b"(" * 300) is None
