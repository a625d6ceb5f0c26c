from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from linked import make_linked_store

from pkg.model import Hit
from pkg.retrieval.heads import LONGEST_SUMMARY, Head, find_header, list_unshown, read_heads, summarise

SHOP = '''\
class Cart(Base):
    """Hold what is bought."""

    @property
    @cached
    def total(
        self,
        tax: dict[str, int] = {"a": 1},
    ) -> int:
        """Sum the prices. Taxes are

        left out."""
        if tax:
            return 1
        return 0

def free(x): return x
'''


def test_a_block_has_the_head_of_its_function_and_class(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "graph.db", {"shop.py": SHOP})) as store:
        (total,) = store.find_name("total")
        (free,) = store.find_name("free")
        nodes = [total, *store.subtree(total.id), free, *store.subtree(free.id)]

        heads = read_heads(store, nodes)

    signature = '@property\ndef total(\n    self,\n    tax: dict[str, int] = {"a": 1},\n) -> int:'
    expected = Head(signature, "class Cart(Base):", "Sum the prices.")
    assert [node.kind for node in nodes[1:3]] == ["body", "if"]
    assert heads[:3] == [expected] * 3
    assert heads[3:] == [Head("def free(x):")] * 2


def test_a_class_has_its_own_header_and_docstring(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "graph.db", {"shop.py": SHOP})) as store:
        assert read_heads(store, store.find_name("Cart")) == [Head("class Cart(Base):", None, "Hold what is bought.")]


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("def f(a, (b, c)):\n    print a\n", "def f(a, (b, c)):"),
        ("async def f(a=lambda x: x[1:2]) -> 'a:b':\n    pass", "async def f(a=lambda x: x[1:2]) -> 'a:b':"),
        ("@a(\n  'def x():'\n)\n@staticmethod\ndef f():\n    pass", "@staticmethod\ndef f():"),
        ("class A:\n    pass", "class A:"),
        ("def f(a", None),
        ("x = 1", None),
        ("", None),
    ],
)
def test_a_header_is_found_as_it_is_written(content: str, header: str | None) -> None:
    assert find_header(content) == header


@pytest.mark.parametrize(
    ("docstring", "summary"),
    [
        ("Sum it.", "Sum it."),
        ("\n    Sum it. And\n    more.\n", "Sum it."),
        ("Sum it\n    up to 3.5 times, e.g. twice. Then stop.", "Sum it up to 3.5 times, e.g. twice."),
        ("Sum it\n\nMore.", "Sum it"),
        ("", ""),
        ("word " * 100, ("word " * 100)[:LONGEST_SUMMARY].rstrip() + " ..."),
    ],
)
def test_a_summary_is_the_first_sentence(docstring: str, summary: str) -> None:
    assert summarise(docstring) == summary


BLOCK = Hit(1, "Block", "1", "s", "p", "A.f", "if", 1, 2, 0.5, 0.5, "c", "c", signature="def f():", summary="Do.")


@pytest.mark.parametrize(
    ("hit", "unsaid"),
    [
        (BLOCK, ["def f():", "Do."]),
        (replace(BLOCK, class_header="class A:"), ["class A:", "def f():", "Do."]),
        (replace(BLOCK, label="Function", class_header="class A:", docstring_source="human"), ["class A:"]),
        (replace(BLOCK, label="Function", docstring_source="fim"), ["Do."]),
        (replace(BLOCK, label="Function", docstring_source="human", has_code=False), ["def f():", "Do."]),
        (replace(BLOCK, label="Class"), []),
    ],
)
def test_text_in_the_shown_code_is_not_repeated(hit: Hit, unsaid: list[str]) -> None:
    assert list_unshown(hit) == unsaid
