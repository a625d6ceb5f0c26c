from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

import pkg
from pkg.errors import UsageError
from pkg.lab.evaluation.code.contexts import ShownCode
from pkg.lab.evaluation.code.evaluation_conditions import (
    Finder,
    choose_benchmark_conditions,
    choose_repository_conditions,
    order_conditions,
)
from pkg.lab.evaluation.repository.masked_functions import list_functions
from pkg.lab.evaluation.repository.project_tests import read_project
from pkg.lab.evaluation.repository.repository_contexts import RepositoryFinder
from pkg.lab.evaluation.repository.repository_items import FoundItem, RepositoryItem, make_item

SHAPES = '''"""Shapes."""

UNIT = 1


class Shape:
    def area(self, scale):
        """Return the area."""
        raise NotImplementedError


class Square(Shape):
    """A square."""

    def __init__(self, side):
        """Keep the side."""
        self.side = side
        self.secret_corner = side - UNIT

    def area(self, scale):
        """Return the area of the square."""
        secret = self.side * scale
        return secret * self.side

    def double(self):
        """Return twice the area."""
        total = self.area(1)
        return total + total


class Circle(Shape):
    """A circle."""

    def area(self, scale):
        """Return the area of the circle."""
        radius = self.radius or UNIT
        return 3 * radius * radius + scale - UNIT


def scale_up(value, factor):
    """Return a larger value.

    >>> scale_up(2, 3)
    7
    """
    secret = value * factor
    return scale_up(secret, 0) if factor > 9 else secret + UNIT


def scale_twin(price, share):
    """Return what scale_up returns, by a copy of its body."""
    part = price * share
    return scale_up(part, 0) if share > 9 else part + UNIT


def scale_down(value, factor):
    """Return a smaller value."""
    if not factor:
        raise ZeroDivisionError("no factor")
    return value // factor - UNIT


def near(value):
    """Return a value scaled up.

    A long text that says nothing about the call.
    """
    first = UNIT
    return scale_up(value, first) - first


def call_near(value):
    return near(value) + near(value)


START = scale_up(UNIT, 2)
'''
OTHER = """from shapes import Square, scale_up


def far(value):
    before = [value]
    return scale_up(value, len(before))


def make(side):
    return Square(side).double()
"""
TESTS = """from shapes import scale_up, scale_down


def test_scale_up():
    assert scale_up(1, 2) == 3


def test_scale_down():
    assert scale_down(4, 2) == 1
"""


class Small(NamedTuple):
    """A small repository with its graph: what a condition shows for a function."""

    finder: RepositoryFinder
    items: dict[str, RepositoryItem]

    def show(self, condition: Finder, name: str) -> ShownCode:
        return self.finder.find(condition, self.items[name])

    def read(self, condition: Finder, name: str) -> str:
        return "\n".join(f"# {helper.place}\n{helper.code}" for helper in self.show(condition, name).helpers)

    def list_names(self, condition: Finder, name: str) -> list[str]:
        return [helper.place.rpartition(" ")[2] for helper in self.show(condition, name).helpers]


@pytest.fixture(name="small", scope="module")
def build_small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    root = tmp_path_factory.mktemp("home") / "small"
    for path, text in {"shapes.py": SHAPES, "lib/other.py": OTHER, "tests/test_shapes.py": TESTS}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    project = read_project(root)
    items = {each.qualname: make_item(FoundItem(each, ())) for each in list_functions(project)}
    address = f"sqlite:///{tmp_path_factory.mktemp('graph') / 'graph.db'}"
    pkg.build_graph(root, store=address)
    with pkg.open_graph(address) as graph:
        yield Small(RepositoryFinder(graph.store, graph.load_encoder(), project), items)


def test_usages_are_lines_around_calls_the_nearest_caller_first(small: Small) -> None:
    helpers = small.show("usages", "scale_up").helpers
    assert [helper.place for helper in helpers] == [
        "shapes.py:68-69 near",
        "shapes.py:73-77 module",
        "lib/other.py:4-6 far",
    ]
    assert helpers[0].code == "first = UNIT\nreturn scale_up(value, first) - first"
    assert helpers[2].code.endswith("    return scale_up(value, len(before))")


def test_usages_contain_neither_the_masked_body_nor_a_copy_of_it_nor_a_test(small: Small) -> None:
    code = small.read("usages", "scale_up")
    assert "secret" not in code  # the recursive call is in its body
    assert "part" not in code
    assert "test_" not in code
    assert "secret" not in small.read("usages", "Square.area")
    assert "secret_corner" not in small.read("usages", "Square.__init__")
    assert "secret" not in small.read("func-pkg:usage", "scale_down")


def test_a_constructor_is_used_through_its_class(small: Small) -> None:
    assert small.list_names("usages", "Square.__init__") == ["make"]


def test_a_method_is_used_by_its_callers(small: Small) -> None:
    assert small.list_names("usages", "Square.area") == ["Square.double"]
    assert small.show("usages", "scale_down").helpers == ()  # only a test calls it


def test_the_similar_function_of_an_override_is_one_of_a_sibling_class(small: Small) -> None:
    assert small.list_names("similar", "Square.area") == ["Circle.area"]


def test_the_similar_function_of_others_shares_words_of_name_and_parameters(small: Small) -> None:
    assert small.list_names("similar", "scale_up") == ["scale_down"]  # not its copy scale_twin
    assert small.list_names("similar", "scale_down") == ["scale_up"]


PARTS: tuple[Finder, ...] = ("func-pkg:signature", "func-pkg:docstring", "func-pkg:usage", "func-pkg:body")


def test_each_part_is_of_the_helper_of_func_pkg(small: Small) -> None:
    whole = small.show("func-pkg", "scale_down").helpers
    assert whole[0].place.endswith("scale_up")
    for part in PARTS:
        assert [each.place for each in small.show(part, "scale_down").helpers] == [each.place for each in whole]
    signature, docstring, usage, body = (small.show(part, "scale_down").helpers[0].code for part in PARTS)
    assert signature == "def scale_up(value, factor):\n    ..."
    assert '"""Return a larger value.' in docstring
    assert "secret" not in docstring
    assert usage == f"{signature}\n\nreturn scale_up(value, first) - first"
    assert "secret + UNIT" in body
    assert '"""' not in body


def test_unknown_columns_and_parts_are_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"func-pkg:PART with one of: signature, docstring, usage, body"):
        choose_repository_conditions(["func-pkg:code"])
    with pytest.raises(UsageError, match=r"no column 'bm25' of masked functions; .*usages, similar, func-pkg:sig"):
        choose_repository_conditions(["bm25"])
    with pytest.raises(UsageError, match="no column 'random:body'"):
        choose_repository_conditions(["random:body"])
    with pytest.raises(UsageError, match="the column usages is only for masked functions: pkg eval repository"):
        choose_benchmark_conditions(["none", "usages"])


def test_parts_follow_the_other_columns_in_tables() -> None:
    names = ["none:brief", "func-pkg:body", "usages", "func-pkg:signature", "none", "similar"]
    ordered = ["none", "usages", "similar", "func-pkg:signature", "func-pkg:body", "none:brief"]
    assert order_conditions(names) == ordered
    assert [each.name for each in choose_repository_conditions(ordered)] == ordered
