"""Blocks: the body without its docstring, and each compound statement with its place (P-04, A-02)."""

from __future__ import annotations

import pytest
from pieces import cut, extract, find_function, list_blocks

from pkg.model import Span

EVERY_KIND = """\
def f():
    if a: pass
    for b in c: pass
    while d: pass
    with e: pass
    try: pass
    finally: pass
    match g:
        case 1: pass
"""


def test_each_kind_of_compound_statement_is_a_block_of_the_body() -> None:
    code = extract(EVERY_KIND)
    assert [(block.kind, block.path, block.depth, block.parent) for block in code.blocks] == [
        ("body", "body", 0, None),
        ("if", "body/if[0]", 1, 0),
        ("for", "body/for[0]", 1, 0),
        ("while", "body/while[0]", 1, 0),
        ("with", "body/with[0]", 1, 0),
        ("try", "body/try[0]", 1, 0),
        ("match", "body/match[0]", 1, 0),
    ]


def test_nested_blocks_name_their_way_down_and_count_equals_in_their_parent() -> None:
    code = extract("def f():\n  if a:\n    for b in c: pass\n    for d in e:\n      if g: pass\n  if h: pass\n")
    assert [(block.path, block.depth, block.parent) for block in code.blocks] == [
        ("body", 0, None),
        ("body/if[0]", 1, 0),
        ("body/if[0]/for[0]", 2, 1),
        ("body/if[0]/for[1]", 2, 1),
        ("body/if[0]/for[1]/if[0]", 3, 3),
        ("body/if[1]", 1, 0),
    ]


def test_spans_are_lines_from_1_and_hold_the_bytes_of_the_block() -> None:
    code = extract("def f():\n    x = 1\n    if x:\n        y()\n\n    return x\n")
    body, block = code.blocks
    assert (body.span, block.span) == (Span(13, 54, 2, 6), Span(23, 40, 3, 4))
    assert cut(code, block) == "if x:\n        y()"


def test_an_elif_chain_is_one_block() -> None:
    code = extract("def f():\n    if a: pass\n    elif b: pass\n    elif c: pass\n    else: pass\n")
    assert list(list_blocks(code)) == ["body", "body/if[0]"]
    assert list_blocks(code)["body/if[0]"].endswith("else: pass")


def test_an_if_under_else_is_a_block_of_its_own() -> None:
    code = extract("def f():\n    if a: pass\n    elif b:\n        if c: pass\n    else:\n        if d: pass\n")
    assert list(list_blocks(code)) == ["body", "body/if[0]", "body/if[0]/if[0]", "body/if[0]/if[1]"]


@pytest.mark.parametrize("header", ["for x in y", "async for x in y", "while x"])
def test_the_else_of_a_loop_belongs_to_the_loop(header: str) -> None:
    kind = "while" if header == "while x" else "for"
    code = extract(f"async def f():\n    {header}:\n        pass\n    else:\n        if z: pass\n")
    assert list_blocks(code)[f"body/{kind}[0]"] == f"{header}:\n        pass\n    else:\n        if z: pass"
    assert f"body/{kind}[0]/if[0]" in list_blocks(code)


@pytest.mark.parametrize("handler", ["except E", "except* E as e", "except (A, B)"])
def test_handlers_else_and_finally_belong_to_their_try(handler: str) -> None:
    code = extract(
        f"def f():\n    try:\n        if a: pass\n    {handler}:\n        if b: pass\n"
        "    else:\n        if c: pass\n    finally:\n        if d: pass\n"
    )
    expected = ["body", "body/try[0]", *(f"body/try[0]/if[{number}]" for number in range(4))]
    assert list(list_blocks(code)) == expected
    assert list_blocks(code)["body/try[0]"].endswith("if d: pass")


def test_async_statements_are_blocks_that_begin_with_their_first_keyword() -> None:
    code = extract("async def f():\n    async with a as b, c:\n        async for d in e: pass\n")
    blocks = list_blocks(code)
    assert blocks["body/with[0]"].startswith("async with")
    assert blocks["body/with[0]/for[0]"] == "async for d in e: pass"


def test_a_with_of_several_items_in_parentheses_is_one_block() -> None:
    code = extract("def f():\n    with (\n        a as b,\n        c as d,\n    ):\n        pass\n")
    assert list(list_blocks(code)) == ["body", "body/with[0]"]


def test_a_block_inside_a_case_is_a_child_of_the_match() -> None:
    code = extract(
        "def f():\n    match a:\n        case [b, *_] if b:\n            for c in b: pass\n        case _: pass\n"
    )
    assert list(list_blocks(code)) == ["body", "body/match[0]", "body/match[0]/for[0]"]


def test_match_and_case_may_be_names() -> None:
    assert list(list_blocks(extract("def f(match):\n    match = case = 1\n    match[0]\n"))) == ["body"]


def test_comprehensions_lambdas_and_conditional_expressions_are_no_blocks() -> None:
    code = extract("def f():\n    return [a if b else c for a in d if a], {e: 1 for e in g}, lambda: (h for h in i)\n")
    assert list(list_blocks(code)) == ["body"]


def test_statements_outside_functions_are_no_blocks() -> None:
    code = extract("if a: pass\nclass A:\n    for b in c: pass\n    def f(self): pass\n")
    assert [block.kind for block in code.blocks] == ["body"]


def test_the_docstring_is_not_part_of_the_body() -> None:
    code = extract('def f():\n    # what it does\n    """Do."""\n\n    # first\n    x = 1\n    return x\n')
    assert list_blocks(code) == {"body": "# first\n    x = 1\n    return x"}


def test_a_body_without_a_docstring_begins_with_its_first_statement_or_comment() -> None:
    assert list_blocks(extract("def f():\n    # why\n    return 1\n"))["body"].endswith("return 1")
    assert list_blocks(extract("def f(): return 1; x\n")) == {"body": "return 1; x"}


@pytest.mark.parametrize(
    "text", ['def f():\n    """Do."""\n', 'def f(): "do"\n', 'def f():\n    """Do."""\n    # end\n']
)
def test_a_function_of_a_docstring_alone_has_no_body(text: str) -> None:
    code = extract(text)
    assert [piece.name for piece in code.definitions] == ["f"]
    assert code.blocks == ()


def test_a_body_after_a_docstring_on_the_same_line_is_found() -> None:
    assert list_blocks(extract("def f(): 'do'; return 1\n")) == {"body": "return 1"}


def test_a_nested_function_has_blocks_of_its_own() -> None:
    code = extract("def f():\n    if a:\n        def g():\n            if b: pass\n    if c: pass\n")
    owners = [(code.definitions[block.function].qualname, block.path, block.parent) for block in code.blocks]
    assert owners == [
        ("f", "body", None),
        ("f", "body/if[0]", 0),
        ("f.g", "body", None),
        ("f.g", "body/if[0]", 2),
        ("f", "body/if[1]", 0),
    ]


def test_the_code_of_a_local_class_is_no_block_of_the_function_around_it() -> None:
    code = extract(
        "def f():\n    class A:\n        if a:\n            def m(self):\n                if b: pass\n    if c: pass\n"
    )
    paths = [(code.definitions[block.function].qualname, block.path) for block in code.blocks]
    assert paths == [("f", "body"), ("f.A.m", "body"), ("f.A.m", "body/if[0]"), ("f", "body/if[0]")]


def test_every_block_lies_in_its_function() -> None:
    code = extract("@d\ndef f(a=[b for b in c]):\n    'doc'\n    if a: pass\n")
    outer = find_function(code, "f").span
    assert all(outer.start < block.span.start and block.span.end <= outer.end for block in code.blocks)
