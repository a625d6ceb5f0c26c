from __future__ import annotations

import ast
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

import pytest
from linked import make_linked_store

from pkg.model import Label, Node
from pkg.retrieval.class_heads import LONG_STATEMENT, MAX_LINES, fold_definitions, fold_helper
from pkg.retrieval.context import Lines

METHODS = "".join(f"\n    def method_{i}(self):\n        x = {i}\n        return x\n" for i in range(20))


def make_class(tmp_path: Path, text: str) -> Node:
    with closing(make_linked_store(tmp_path / "graph.db", {"a.py": text})) as store:
        return next(node for node in store.find_name("Thing") if node.label is Label.CLASS)


def test_a_short_class_is_shown_whole_as_a_helper(tmp_path: Path) -> None:
    node = make_class(tmp_path, "class Thing:\n    def go(self):\n        a = 1\n        return a\n")

    assert fold_helper(node).node == node


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        ("class Thing(Base):\n    '''Do it.\n\n    def no(self):\n    '''\n\n    size: int = 1\n", 8),
        ("@dataclass\nclass Thing:\n    a: int\n", 4),
        ("class Thing:\n    # why\n    a = 1\n    def first(self):\n        return 1\n    # and\n\n    @mark\n", 4),
    ],
)
def test_a_long_class_is_shown_without_its_methods_as_a_helper(tmp_path: Path, head: str, shown: int) -> None:
    text = head + METHODS.lstrip("\n")

    folded = fold_helper(make_class(tmp_path, text))

    *lines, fold = folded.node.content.split("\n")
    assert lines == text.split("\n")[: len(lines)]
    assert (len(lines) + 1, len(folded.folds)) == (shown, 1)
    assert fold.strip() == f"# ... lines {shown}-{text.count(chr(10))} folded"
    assert ast.parse(folded.node.content)


def test_a_long_class_of_methods_alone_is_a_header_and_a_fold(tmp_path: Path) -> None:
    assert fold_helper(make_class(tmp_path, "class Thing:" + METHODS)).node.content == (
        "class Thing:\n    pass  # ... lines 2-80 folded"
    )


def test_a_class_is_its_header_docstring_and_fields_and_the_headers_of_its_methods(tmp_path: Path) -> None:
    text = '''
    @dataclass
    class Thing(Base):
        """Hold a thing."""

        size: int = 1

        @property
        def area(self) -> int:
            """Give it."""
            return self.size

        def go(self): return 1

        def short(self):
            return 2

        @cached
        def long(
            self,
            first,
        ):
            # why
            @inner
            def helper():
                return 1

            return helper

        class Meta:
            def deep(self):
                a = 1
                return a
    '''
    folded = fold_definitions(make_class(tmp_path, dedent(text).lstrip()))

    assert (
        folded.node.content
        == dedent(
            '''
        @dataclass
        class Thing(Base):
            """Hold a thing."""

            size: int = 1

            @property
            def area(self) -> int:
                pass  # ... lines 9-10 folded

            def go(self): return 1

            def short(self):
                return 2

            @cached
            def long(
                self,
                first,
            ):
                # why
                pass  # ... lines 23-27 folded

            class Meta:
                def deep(self):
                    pass  # ... lines 31-32 folded
        '''
        ).strip()
    )
    assert ast.parse(folded.node.content)
    assert folded.folds == (Lines(9, 10), Lines(23, 27), Lines(31, 32))


def test_a_class_inside_a_class_is_folded_as_well(tmp_path: Path) -> None:
    node = make_class(tmp_path, f"class Outer:\n{indent('class Thing:' + METHODS, '    ')}")

    folded = fold_definitions(node)

    assert folded.node.content.startswith(
        "class Thing:\n        def method_0(self):\n            pass  # ... lines 4-5 folded\n"
    )
    assert len(folded.folds) == 20


def test_a_long_table_shows_its_first_lines(tmp_path: Path) -> None:
    table = "".join(f"        {i},\n" for i in range(LONG_STATEMENT + 1))
    node = make_class(tmp_path, f"class Thing:\n    table = [\n{table}    ]\n")

    content = fold_definitions(node).node.content

    assert "        6,\n        # ... lines 10-23 folded\n    ]" in content
    assert ast.parse(content)


def test_lines_beyond_the_limit_are_one_fold(tmp_path: Path) -> None:
    node = make_class(tmp_path, "class Thing:" + METHODS * 4)

    folded = fold_definitions(node)

    assert folded.node.content.count("\n") == MAX_LINES
    assert folded.node.content.rpartition("\n")[2].strip() == "# ... lines 134-320 folded"
    assert folded.folds[-1] == Lines(134, 320)


def test_statements_of_a_module_are_shown_and_its_definitions_folded(tmp_path: Path) -> None:
    text = "'''Sell.'''\nRATE = 2\nif RATE:\n    def tax(x):\n        y = x\n        return y\nelse:\n    tax = None\n"
    node = replace(make_class(tmp_path, "class Thing: pass\n"), label=Label.FILE, content=text, start_line=0)

    assert fold_definitions(node).node.content == text.replace(
        "        y = x\n        return y\n", "        pass  # ... lines 5-6 folded\n"
    )


@pytest.mark.parametrize("body", ["    print 'old'\n", "    x = 1\n"])
def test_a_long_class_without_methods_or_of_python_2_is_shown_up_to_a_number_of_lines(
    tmp_path: Path, body: str
) -> None:
    folded = fold_definitions(make_class(tmp_path, "class Thing:\n" + body * 150))

    assert folded.node.content.count("\n") == MAX_LINES
    assert folded.folds == (Lines(MAX_LINES + 1, 151),)
