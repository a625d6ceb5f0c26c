"""Heads of frames can be read without their operations."""

from __future__ import annotations

import pytest

from pkg.extract.parser import parse
from pkg.extract.python import extract_unit
from pkg.extract.summary import operations as o
from pkg.extract.summary.file_summary import FrameSummary, read_summary, summarise

TEXT = """\
from functools import wraps as wrapped
@wrapped(1)
@other.register
class A(Base):
    @property
    def size(self):
        self.kept = other.given = 1
        return self
    def first(item): return item
    first = staticmethod(first)
    def __getattr__(self, name): return getattr(self.inner, name)
def choose(given: Callable[[], int], other=None):
    global made
    made = setattr(given, "x", 1)
    if other is None:
        return given
    return other
def each():
    class Inner: pass
    yield Inner
"""


def read(name: str) -> FrameSummary:
    data = TEXT.encode()
    code = extract_unit(data)
    frames, _ = read_summary(summarise(parse(data).root_node, code.definitions, code.imports))
    return next(frame for frame in frames if frame.name == name)


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("", o.MAKES_CLASSES | o.REGISTERS),
        ("A", 0),
        ("size", o.HAS_RECEIVER),
        ("first", 0),
        ("__getattr__", o.HAS_RECEIVER | o.FORWARDS),
        ("choose", o.TAKES_CALLABLES | o.SETS_ANY),
        ("each", o.IS_GENERATOR | o.MAKES_CLASSES),
    ],
)
def test_flags_describe_the_operations_of_a_frame(name: str, flags: int) -> None:
    assert read(name).flags == flags


def test_decorators_are_listed_by_their_last_names() -> None:
    assert read("A").head.decorators == ["register", "wrapped"]
    assert read("size").head.decorators == ["property"]
    assert read("first").head.decorators == ["staticmethod"]
    assert len(read("A").head.decorated_by) == 2


def test_assigned_names_and_attributes_are_listed() -> None:
    size = read("size").head
    assert (size.own, size.foreign) == (["kept"], ["given"])
    assert read("choose").head.names == ["made"]


def test_returned_parameters_are_listed_with_their_conditions() -> None:
    head = read("choose").head
    guards = ((1, "none", True),)
    assert {(each.place, each.guards) for each in head.passed} == {(0, guards), (1, ((1, "none", False),))}
    assert guards in head.guards
    assert not read("size").head.passed


def test_operations_are_read_on_first_use() -> None:
    frame = read("each")
    assert frame.count == len(frame.nodes)
    assert frame.nodes is frame.nodes
