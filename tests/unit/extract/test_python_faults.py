"""Texts with faults: sound parts are kept, faults are reported, and any depth is handled (P-02)."""

from __future__ import annotations

import pytest
from pieces import extract, find_class, find_function, list_functions

from pkg.extract.python import MAX_DEPTH, extract_unit
from pkg.model import Class, Status

DEPTH = 5_000


def test_a_function_with_a_fault_is_dropped_and_the_others_are_kept() -> None:
    code = extract("import os\n\ndef a(): return 1\n\ndef b():\n    x = = 1\n\ndef c(): return 2\n")
    assert (code.status, code.reason) == (Status.PARTIAL, "syntax error at line 6")
    assert list_functions(code) == {"a": "def a(): return 1", "c": "def c(): return 2"}
    assert [record.module for record in code.imports] == ["os"]


def test_a_text_without_valid_parts_fails_with_the_line_of_the_fault() -> None:
    code = extract("\n\nx = = 1\n")
    assert (code.status, code.reason) == (Status.FAILED, "syntax error at line 3")


def test_a_class_keeps_its_sound_methods() -> None:
    code = extract("class A:\n    def bad(self): x = = 1\n\n    def good(self): return 1\n")
    assert (code.status, list_functions(code)) == (Status.PARTIAL, {"A.good": "def good(self): return 1"})
    assert find_function(code, "A.good").parent == 0


def test_definitions_inside_a_dropped_method_are_no_methods() -> None:
    code = extract("class A:\n    def bad(self):\n        x = = 1\n        def inner(): return 1\n")
    assert [(piece.qualname, piece.parent) for piece in code.definitions] == [("A", None), ("A.inner", 0)]
    assert not find_function(code, "A.inner").is_method


def test_blocks_of_a_dropped_function_are_dropped_with_it() -> None:
    code = extract("def bad():\n    x = = 1\n    if a: pass\n\ndef good():\n    if b: pass\n")
    assert [code.definitions[block.function].name for block in code.blocks] == ["good", "good"]


def test_a_function_whose_decorator_has_a_fault_is_dropped() -> None:
    code = extract("@a b\ndef f(): pass\n\ndef g(): pass\n")
    assert list(list_functions(code)) == ["g"]


def test_a_class_with_a_fault_in_its_header_keeps_its_methods() -> None:
    code = extract("class A(:\n    def f(self): pass\n    def g(self): pass\n")
    assert [piece.qualname for piece in code.definitions] == ["A", "A.f", "A.g"]


def test_a_class_whose_name_is_a_guess_of_the_parser_is_dropped() -> None:
    code = extract("class, b=1)\n    if options:\n        pass\n\ndef f(): pass\n")
    assert not any(isinstance(piece, Class) for piece in code.definitions)


def test_names_and_bodies_stay_together_when_a_header_swallows_definitions() -> None:
    code = extract("class A(\n    @d\n    class B(C):\n        def f(self): pass\n\nclass D:\n    def g(self): pass\n")
    for piece in code.definitions:
        assert f" {piece.name}" in code.text[piece.span.start : piece.span.end].decode()


def test_a_class_with_a_broken_method_still_has_its_bases() -> None:
    assert find_class(extract("class A(B):\n    def f(self): x = = 1\n"), "A").bases == ("B",)


def test_nul_bytes_are_binary_content() -> None:
    code = extract_unit(b"def f(): pass\n\0\0")
    assert (code.status, code.reason) == (Status.FAILED, "binary content (NUL bytes)")
    assert code.definitions == ()


def nest(header: str, indent: str = " ") -> str:
    """Nest headers, each indented by one more step."""
    lines = (indent * depth + header.format(depth) for depth in range(DEPTH))
    return "\n".join(lines) + "\n" + indent * DEPTH + "pass\n"


@pytest.mark.parametrize("header", ["if x:", "def f{}():", "class A{}:"])
def test_statements_nested_5000_deep_give_a_result_with_a_reason(header: str) -> None:
    code = extract(nest(header))
    assert code.status is not Status.OK
    assert code.reason is not None
    assert len(code.definitions) <= MAX_DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * DEPTH + "1" + ")" * DEPTH,
        "x = " + "[" * DEPTH + "]" * DEPTH,
        "f(" * DEPTH + ")" * DEPTH,
        "f" + ".g()" * DEPTH,
        "x = " + "not " * DEPTH + "1",
        "x = " + "lambda: " * DEPTH + "1",
        "x = 1" + " + 1" * DEPTH,
        "def f():\n    if a: pass\n" + "    elif b: pass\n" * DEPTH,
    ],
    ids=["parentheses", "lists", "calls", "chain", "not", "lambda", "sum", "elif"],
)
def test_expressions_and_chains_of_5000_steps_are_read(text: str) -> None:
    assert extract(text + "\n").status is Status.OK


@pytest.mark.parametrize("opening", ["(", "[", "{", "f(", "f'{"])
def test_brackets_that_are_never_closed_give_a_reason(opening: str) -> None:
    code = extract("x = " + opening * DEPTH + "\n")
    assert (code.status, code.reason) == (Status.FAILED, "syntax error at line 1")


def test_levels_deeper_than_python_accepts_are_left_out_and_reported() -> None:
    depth = MAX_DEPTH + 10
    lines = ["\t" * level + f"def f{level}():" for level in range(depth)]
    code = extract("\n".join(lines) + "\n" + "\t" * depth + "pass\n")
    assert (code.status, code.reason) == (
        Status.PARTIAL,
        f"nested deeper than {MAX_DEPTH} levels at line {MAX_DEPTH + 1}",
    )
    assert len(code.definitions) == MAX_DEPTH


def test_blocks_below_the_deepest_level_are_left_out_and_reported() -> None:
    depth = MAX_DEPTH + 10
    lines = ["\t" * (level + 1) + "if x:" for level in range(depth)]
    code = extract("def f():\n" + "\n".join(lines) + "\n" + "\t" * (depth + 1) + "pass\n")
    assert code.reason == f"nested deeper than {MAX_DEPTH} levels at line {MAX_DEPTH + 1}"
    assert max(block.depth for block in code.blocks) < MAX_DEPTH
