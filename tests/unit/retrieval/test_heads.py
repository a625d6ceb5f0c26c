from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from linked import make_linked_store

from pkg.model import Label, Node
from pkg.retrieval.helpers import SHORT_CLASS, show_head

METHODS = "".join(f"\n    def method_{i}(self):\n        return {i}\n" for i in range(20))


def make_class(tmp_path: Path, text: str) -> Node:
    with closing(make_linked_store(tmp_path / "graph.db", {"a.py": text})) as store:
        return next(node for node in store.find_name("Thing") if node.label is Label.CLASS)


def test_a_short_class_is_shown_whole(tmp_path: Path) -> None:
    node = make_class(tmp_path, "class Thing:\n    def go(self):\n        pass\n")

    assert show_head(node) == node


@pytest.mark.parametrize(
    "head",
    [
        "class Thing(Base):\n    '''Do it.\n\n    def no(self):\n    '''\n\n    size: int = 1",
        "@dataclass\nclass Thing:\n    a: int",
        "class Thing:",
        "@mark(\n    1,\n)\nclass Thing(\n    Base\n):\n    if mark:\n        def no(self):\n            1\n    a = 1",
    ],
)
@pytest.mark.parametrize("mark", ["", "\n    @property"])
def test_a_long_class_is_shown_up_to_its_first_method(tmp_path: Path, head: str, mark: str) -> None:
    node = show_head(make_class(tmp_path, f"x = 1\n{head}\n{mark}{METHODS}"))

    assert node.content == head
    assert (node.start_line, node.end_line) == (2, 2 + head.count("\n"))


def test_a_long_class_inside_a_class_is_cut_as_well(tmp_path: Path) -> None:
    inner = f"@mark\nclass Thing:\n    a = 1\n{METHODS}".replace("\n", "\n    ")

    node = show_head(make_class(tmp_path, f"class Outer:\n    {inner}"))

    assert node.content == "@mark\n    class Thing:\n        a = 1"


@pytest.mark.parametrize("body", ["    print 'old'\n", "    x = 1\n"])
def test_a_long_class_without_a_method_that_is_found_is_cut_at_a_number_of_lines(tmp_path: Path, body: str) -> None:
    node = show_head(make_class(tmp_path, "class Thing:\n" + body * 99))

    assert node.content.count("\n") + 1 == node.end_line == SHORT_CLASS
