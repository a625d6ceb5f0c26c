"""Summaries of texts: operations in SSA form, which comments and moved lines leave equal."""

from __future__ import annotations

import sys
from array import array
from typing import Any, TypeAlias

import pytest

from pkg.extract.parser import parse
from pkg.extract.python import extract_unit
from pkg.extract.summary import operations as o
from pkg.extract.summary.compaction import Numbering, compact, list_operands
from pkg.extract.summary.file_summary import (
    FrameSummary,
    Table,
    read_operations,
    read_summary,
    summarise,
    write_operations,
)
from pkg.extract.summary.frame_heads import Passed

Places: TypeAlias = "array[int]"

BODIES: dict[str, list[tuple[Any, ...]]] = {
    "x = a\nx = b\nx()": [(o.GLOBAL, "b"), (o.CALL, 0)],
    "if a: x = b\nelse: x = c\nx()": [(o.PHI, 2, 3), (o.CALL, 4)],
    "if a:\n    x = b\n    return\nelse: x = c\nx()": [(o.GLOBAL, "c"), (o.CALL, 4)],
    "x = a\nfor i in b:\n    x()\n    x = c": [(o.PHI, 0, 5), (o.CALL, 3), (o.GLOBAL, "c")],
    "x = a\nwhile True:\n    x = b\n    break\nx()": [(o.GLOBAL, "b"), (o.CALL, 0)],
    "try: x = a\nexcept E: x = b\nx()": [(o.PHI, 0, 1), (o.CALL, 2)],
    "x = a\ntry: b()\nfinally: x = c\nx()": [(o.GLOBAL, "c"), (o.CALL, 2)],
    "x = a\ndel x\nx()": [(o.PHI,), (o.CALL, 0)],
    "p.x = a\np.x()": [(o.ATTR, 0, "x"), (o.CALL, 1)],
    "p.x = a\nb()\np.x()": [(o.CALL, 3), (o.CALL_ATTR, 0, "x")],
    "p.x = a\nlen(b)\np.x()": [(o.ATTR, 0, "x"), (o.CALL, 1)],
    "p['k'] = a\np['j'] = b\np['k']()": [(o.ITEM, 0, 2), (o.CALL, 1)],
    "p['k'] = a\np[b] = c\np['k']()": [(o.ITEM, 0, 2), (o.CALL, 7)],
    "global x\nx = a\nx()": [(o.CALL, 0), (o.SET_GLOBAL, "x", 0)],
    "global x\nx = a\nb()\nx()": [(o.GLOBAL, "x"), (o.CALL, 3), (o.SET_GLOBAL, "x", 0)],
    "if isinstance(p, a): p()": [(o.NARROW, 0, ("instance", 2), 1), (o.CALL, 5)],
    "if p is None: return\np()": [(o.NARROW, 0, ("none",), 0), (o.CALL, 2)],
    "if False: p()": [(o.CALL, 0)],
    "[*p(), a]": [(o.CALL, 0), (o.PROTOCOL, "items", 1), (o.GLOBAL, "a"), (o.COLLECT, "list", ((1, 1), (0, 3)))],
}
"""By body of a function of a parameter p, the prefixes of the operations that end it."""

EVERYTHING = """
import os as system
from json import *

class Base(object, metaclass=Meta):
    size: int = 1

    @property
    def name(self, *rest, key=os, **more):
        'Documented.'
        self.value, (self.other, *tail) = key or more, rest
        with open(self.path) as file, lock:
            for number, line in enumerate(file):
                if number > 3 and line: continue
                yield from (each for each in line if each)
            else: return -number
        try: del self.value, rest[0]
        except (OSError, ValueError) as fault: raise TypeError(f'{fault!r:>{key}}') from fault
        finally: await system.close()

    def match(self, given: "Base"):
        match given:
            case Base(name=name) | [name, *_]: return name
            case {"key": value, **rest} if value: return lambda x=value: x + rest
            case _: pass
        def inner():
            nonlocal given
            given = given if not given else self[1:2]
        inner()
        return {**given, 'a': [given], **{k: v for k, v in given}}

if system: total = Base().size
else: from other import total
total += 1
while total: total()
"""


def sum_up(text: str) -> tuple[list[FrameSummary], Places]:
    """Summarise a text, and read the summary back."""
    data = text.encode()
    code = extract_unit(data)
    return read_summary(summarise(parse(data).root_node, code.definitions, code.imports))


def find(frames: list[FrameSummary], name: str) -> FrameSummary:
    return next(frame for frame in frames if frame.name == name)


@pytest.mark.parametrize("body", BODIES)
def test_statements_become_operations(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    nodes = find(sum_up(f"def f(p):\n{lines}")[0], "f").nodes
    expected = BODIES[body]
    kept = [node for node in nodes if node[0] != o.RETURN][-len(expected) :]
    assert [node[: len(part)] for node, part in zip(kept, expected, strict=True)] == expected


@pytest.mark.parametrize(
    "change", [("# a comment\n", ""), ("", "\n\n"), ("", "  # after"), ('"""A text."""\n', "\n# and another")]
)
def test_comments_and_moved_lines_leave_operations_equal(change: tuple[str, str]) -> None:
    before, after = change
    line = "        with open(self.path) as file, lock:\n"
    frames, places = sum_up(EVERYTHING)
    moved, moved_places = sum_up(before + EVERYTHING.replace(line, line.rstrip("\n") + after + "\n"))
    assert moved == frames
    assert [each.nodes for each in moved] == [each.nodes for each in frames]
    assert moved_places != places


def test_operations_refer_to_earlier_ones_and_joins_of_loops_to_any() -> None:
    frames, places = sum_up(EVERYTHING)
    assert 2 * sum(len(frame.site_kinds) for frame in frames) == len(places)
    for frame in frames:
        for number, node in enumerate(frame.nodes):
            for operand in list_operands(node):
                assert operand < len(frame.nodes)
                assert operand < number or node[0] == o.PHI


def test_places_are_those_of_the_text() -> None:
    text = "def f(a):\n    a.b(a.c)  # é\n    return a.d()\n"
    frames, places = sum_up(text)
    frame = find(frames, "f")
    first = 2 * frame.first_site
    found = [
        text.encode()[start:end].decode() for start, end in zip(places[first::2], places[first + 1 :: 2], strict=True)
    ]
    assert found == ["a.c", "a.b", "a.d"]
    assert list(frame.site_kinds) == [o.SITE_READ, o.SITE_CALL, o.SITE_CALL]


def test_unreachable_code_is_summarised_and_binds_nothing() -> None:
    frame = find(sum_up("def f(x):\n    return x\n    x = y()\n    x()\n")[0], "f")
    calls = [node for node in frame.nodes if node[0] == o.CALL]
    assert len(calls) == 2
    (result,) = (node for node in frame.nodes if node[0] == o.RETURN)
    assert not result[1]
    assert frame.head.passed == [Passed(0)]


def test_names_that_inner_functions_read_are_stored() -> None:
    frames, _ = sum_up("def f(a, b):\n    b = a\n    def g(): return a, b\n    return g\n")
    outer, inner = find(frames, "f"), find(frames, "g")
    number = frames.index(outer)
    assert [list(node[1:]) for node in inner.nodes if node[0] == o.CELL] == [[number, "a"], [number, "b"]]
    stored = [(node[2], *outer.nodes[node[3]]) for node in outer.nodes if node[0] == o.SET_CELL]
    assert sorted(stored) == [("a", o.PARAM, 0), ("b", o.PARAM, 0), ("b", o.PARAM, 1)]


def test_a_name_that_an_inner_function_binds_is_read_again_after_a_call() -> None:
    frames, _ = sum_up(
        "def f():\n    a = b\n    a()\n    def g():\n        nonlocal a\n        a = c\n    g()\n    a()\n"
    )
    outer = find(frames, "f")
    callees = [outer.nodes[node[1]][0] for node in outer.nodes if node[0] == o.CALL]
    assert callees == [o.GLOBAL, o.FUNC, o.CELL]


def test_reads_of_one_attribute_are_one_operation_with_several_sites() -> None:
    frame = find(sum_up("def f(a):\n    return a.x, a.x, a.x\n")[0], "f")
    assert [list(node) for node in frame.nodes if node[0] == o.ATTR] == [[o.ATTR, 0, "x", 0, 1, 2]]


def test_unused_operations_are_left_out() -> None:
    nodes: list[o.Operation] = [
        (o.CONST, "int", 1),
        (o.GLOBAL, "a"),
        (o.PHI, 1),
        (o.CALL, 2, [], [], 0),
        (o.CONST, "int", 2),
    ]
    assert compact(nodes) == ([-1, 0, 0, 1, -1, -1], [1, 3])


def test_a_join_of_itself_and_another_operation_is_the_other() -> None:
    nodes: list[o.Operation] = [(o.GLOBAL, "a"), (o.PHI, 0, 2), (o.PHI, 1, 2), (o.CALL, 2, [], [], -1)]
    assert compact(nodes) == ([0, 0, 0, 1, -1], [0, 3])


def test_operations_survive_a_round_trip() -> None:
    nodes: list[o.Operation] = [
        (o.CONST, "bool", True),
        (o.CONST, "int", 1),
        (o.CONST, "str", "1"),
        (o.DECLARE, ["s", ["n", "list"], [["n", "int"]]], -1),
        (o.COLLECT, "dict", ((0, 1, 2), (2, -1)), 0),
        (o.CALL_ATTR, 0, "a", ((1, 0), (2, 1)), (("", 3),), 1),
        (o.CLASS, 1, (0, 1), (("metaclass", 2),), 2),
        (o.RETURN, (0, 5), ((0, "none", 1),)),
    ]
    table, flat = Table(), list[int]()
    write_operations(nodes, Numbering([*range(len(nodes)), -1], [*range(len(nodes))]), table, flat)
    assert read_operations(tuple(flat), table.list_values()) == nodes


def test_operations_survive_packing() -> None:
    for frame in sum_up(EVERYTHING)[0]:
        before = list(frame.nodes)
        frame.pack()
        assert frame.nodes == before
        frame.replace(0, (o.UNKNOWN, 3))
        frame.pack()
        assert frame.nodes == [(o.UNKNOWN, 3), *before[1:]]


def test_names_are_those_that_python_knows() -> None:
    frames, _ = sum_up("class A:\n    def __ﬁnd(self): self.__x = ｙ\n")
    method = find(frames, "__find")
    assert method.definition >= 0
    assert [node[2] for node in method.nodes if node[0] == o.SET_ATTR] == ["_A__x"]
    assert (o.GLOBAL, "y") in map(tuple, method.nodes)


DEEP = {
    "terms": "x = " + " + ".join(["a()"] * 1200),
    "parts": "x = " + " and ".join(["a()"] * 1200),
    "calls": "x = a()" + ".b()" * 1199,
    "branches": "if a(): pass\n" + "elif a(): pass\n" * 1199,
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="calls use the stack of C")
@pytest.mark.parametrize("name", DEEP)
def test_each_call_of_deeply_nested_code_is_summarised(name: str) -> None:
    before = sys.getrecursionlimit()
    frames, _ = sum_up(DEEP[name])
    assert frames[0].site_kinds.count(o.SITE_CALL) == 1200
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("text", ["", "def f(:\n  x = (\n", "return 1\nx = 2\nx()", "global x\nx = 1", "raise\nx = 1"])
def test_a_text_with_syntax_errors_is_summarised(text: str) -> None:
    frames, _ = sum_up(text)
    assert frames[0].kind == o.MODULE
