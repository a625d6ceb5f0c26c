"""Reads of a constant follow Python's scoping rules; an attribute of an unknown object is only possible."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from pkg.retrieval.deps.readers import Handle, ReadQuestion, find_reads, find_words

MODULE = ReadQuestion("LIMIT", (Handle("LIMIT"),))
FIELD = ReadQuestion("limit", (Handle("Cart.limit"), Handle("limit", None, "Cart")), frozenset({"Cart"}))


def read(text: str, question: ReadQuestion = MODULE) -> list[tuple[int, str]] | None:
    return find_reads(dedent(text).encode(), question)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("LIMIT = 3\nprint(LIMIT)", [2]),
        ("LIMIT = 3\ndef f(a=LIMIT): return a", [2]),
        ("LIMIT = 3\ndef f(LIMIT): return LIMIT", []),
        ("LIMIT = 3\ndef f():\n    LIMIT = 2\n    return LIMIT", []),
        ("LIMIT = 3\ndef f():\n    global LIMIT\n    LIMIT = 2\n    return LIMIT", [5]),
        ("LIMIT = 3\ndef f():\n    def g(): return LIMIT\n    LIMIT = 2", []),
        ("LIMIT = 3\nclass A:\n    LIMIT = 2\n    x = LIMIT\n    def f(self): return LIMIT", [5]),
        ("LIMIT = 3\nx = [LIMIT for LIMIT in range(3)]", []),
        ("LIMIT = 3\nx = [LIMIT for y in range(LIMIT)]", [2, 2]),
        ("LIMIT = 3\ndef f(): return [y for x in z if (LIMIT := x)] + [LIMIT]", []),
        ("LIMIT = 3\nLIMIT += 1", [2]),
        ("LIMIT = 3\nf = lambda LIMIT: LIMIT\ng = lambda: LIMIT", [3]),
        ("LIMIT = 3\ntry: pass\nexcept E as LIMIT: pass\nprint(f'{LIMIT}')", [4]),
        ("LIMIT = 3\ndef f():\n    import x as LIMIT\n    return LIMIT", []),
        ("LIMIT = 3\ndef f(x):\n    match x:\n        case [*LIMIT]: return LIMIT", []),
        ("LIMIT = 3\ndef f():\n    LIMIT = 1\n    def g():\n        nonlocal LIMIT\n        return LIMIT", []),
    ],
)
def test_a_name_belongs_to_the_innermost_scope_that_binds_it(text: str, lines: list[int]) -> None:
    assert read(text) == [(line, "certain") for line in lines]


def test_a_field_is_read_through_self_cls_its_class_and_in_its_body() -> None:
    text = """\
        class Cart:
            limit = 3
            double = limit * 2
            def add(self):
                return self.limit
            @classmethod
            def make(cls):
                return cls.limit, limit
            @staticmethod
            def of(cart):
                return cart.limit
        class Other:
            limit = 4
            def add(self):
                return self.limit + Cart.limit
        class Unknown:
            def add(self):
                return self.limit
        """
    certain, possible = [3, 5, 8, 15], [11, 18]
    expected = sorted([(line, "certain") for line in certain] + [(line, "possible") for line in possible])
    assert read(text, FIELD) == expected


def test_attributes_of_other_modules_are_no_reads_and_of_unknown_objects_possible() -> None:
    question = ReadQuestion("LIMIT", (Handle("conf.LIMIT", 1), Handle("a.b.LIMIT", 2)))
    text = """\
        import conf
        import a.b
        import os
        conf.LIMIT, a.b.LIMIT
        os.LIMIT
        x.LIMIT, f().LIMIT
        getattr(x, "LIMIT")
        def f(conf): return conf.LIMIT
        x.LIMIT = 3
        """
    certain, possible = [(4, "certain")] * 2, [(6, "possible")] * 2 + [(7, "possible"), (8, "possible")]
    assert read(text, question) == [*certain, *possible]


def test_a_star_import_provides_names_that_the_module_does_not_bind() -> None:
    question = ReadQuestion("LIMIT", (Handle("LIMIT", is_star=True),))
    assert read("from conf import *\nprint(LIMIT)", question) == [(2, "certain")]
    assert read("from conf import *\nLIMIT = 2\nprint(LIMIT)", question) == []


def test_an_import_that_leads_nowhere_is_possible_by_the_name_of_its_module() -> None:
    question = ReadQuestion("LIMIT", module="shop.conf", first="LIMIT")
    assert read("from my.shop.conf import LIMIT as L\nprint(L)", question) == [(2, "possible")]
    assert read("from conf import LIMIT\nprint(LIMIT)", question) == [(2, "possible")]
    assert read("from other import LIMIT\nprint(LIMIT)", question) == []


def test_an_attribute_over_several_lines_is_read_on_its_last() -> None:
    assert read("x = (conf\n    .LIMIT)", ReadQuestion("LIMIT")) == [(2, "possible")]


def test_a_text_that_python_refuses_is_searched_for_the_word() -> None:
    text = b"print LIMIT\nLIMITS = 3\nx = LIMIT\n"
    assert find_reads(text, MODULE) is None
    assert find_words(text, "LIMIT") == [(1, "possible"), (3, "possible")]


def test_deep_expressions_are_read() -> None:
    depth = min(900, sys.getrecursionlimit() // 2)
    assert read("LIMIT = 1\nx = " + " + ".join(["y"] * depth) + " + LIMIT") == [(2, "certain")]
