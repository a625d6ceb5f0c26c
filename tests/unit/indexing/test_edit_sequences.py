"""After any sequence of edits, renames, moves and deletions, the graph equals that of a build from nothing."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from trees import export_lines

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build

PLACES = ("shop/__init__.py", "shop/cart.py", "shop/prices.py", "shop/tax/__init__.py", "shop/tax/rates.py", "main.py")
IMPORTER = "from shop.prices import total, Price\n\n\ndef check(cart):\n    return total(cart) + Price(1).net()\n"
SUBCLASS = """from .prices import *
from . import tax


class Cart(Price):
    def net(self):
        return super().net()
"""
BASE = """class Price:
    def __init__(self, value):
        self.value = value

    def net(self):
        return self.value


def total(items):
    return sum(item.net() for item in items)
"""
THROUGH_OTHERS = """from shop.tax.rates import rate
from shop import cart


def gross(value):
    return cart.check(value) * rate(value)
"""
LISTED = """__all__ = ['total', 'rate']


def total(cart):
    return rate(cart)


def rate(value):
    return hook(value)
"""
HOOKED = """import shop.prices as prices


def rate(value, hook=prices.total):
    return hook(value)


rate([], hook=rate)
"""
DECORATED = """def decorate(function):
    def inner(*values):
        return function(*values)
    return inner


@decorate
def total(items):
    return len(items)
"""
CONDITIONAL = """try:
    from fast import total
except ImportError:
    from shop.prices import total

total([])
"""
TEXTS = ("", IMPORTER, SUBCLASS, BASE, THROUGH_OTHERS, LISTED, HOOKED, DECORATED, CONDITIONAL)
BROKEN = "\n\ndef broken(:\n    pass\n"


class Edits(RuleBasedStateMachine):
    """A tree under edits, and a store that is updated after each."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.tree = self.folder / "tree"
        self.tree.mkdir()
        self.store = EmbeddedStore(self.folder / "graph.db", create=True)
        self.edit("main.py", IMPORTER)

    def edit(self, place: str, text: str) -> None:
        """Write a file; its size may stay the same."""
        path = self.tree / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def list_files(self) -> list[Path]:
        """List the present files."""
        return sorted(self.tree.rglob("*.py"))

    @rule(place=st.sampled_from(PLACES), text=st.sampled_from(TEXTS))
    def write_a_file(self, place: str, text: str) -> None:
        self.edit(place, text)

    @rule(number=st.integers(0, 9), line=st.sampled_from(("", "# moved\n", "import os\n", "x = 1\n")))
    def put_a_line_on_top(self, number: int, line: str) -> None:
        path = self.list_files()[number % len(self.list_files())]
        path.write_text(line + path.read_text(encoding="utf-8"), encoding="utf-8")

    @rule(number=st.integers(0, 9), names=st.sampled_from((("total", "whole"), ("rate", "total"), ("Price", "Cost"))))
    def rename_a_definition(self, number: int, names: tuple[str, str]) -> None:
        path = self.list_files()[number % len(self.list_files())]
        path.write_text(path.read_text(encoding="utf-8").replace(f" {names[0]}(", f" {names[1]}("), encoding="utf-8")

    @rule(number=st.integers(0, 9), place=st.sampled_from(PLACES))
    def move_a_file(self, number: int, place: str) -> None:
        path = self.list_files()[number % len(self.list_files())]
        text = path.read_text(encoding="utf-8")
        path.unlink()
        self.edit(place, text)

    @precondition(lambda self: len(self.list_files()) > 1)
    @rule(number=st.integers(0, 9))
    def delete_a_file(self, number: int) -> None:
        self.list_files()[number % len(self.list_files())].unlink()

    @rule(number=st.integers(0, 9))
    def break_a_file(self, number: int) -> None:
        path = self.list_files()[number % len(self.list_files())]
        path.write_text(path.read_text(encoding="utf-8") + BROKEN, encoding="utf-8")

    @rule(number=st.integers(0, 9))
    def mend_a_file(self, number: int) -> None:
        path = self.list_files()[number % len(self.list_files())]
        path.write_text(path.read_text(encoding="utf-8").replace(BROKEN, ""), encoding="utf-8")

    @invariant()
    def the_graph_is_that_of_a_build_from_nothing(self) -> None:
        build(str(self.tree), self.store)
        fresh = self.folder / "fresh.db"
        with closing(EmbeddedStore(fresh, create=True)) as store:
            build(str(self.tree), store)
            assert export_lines(self.store) == export_lines(store)
        assert self.store.check() == []
        for path in self.folder.glob("fresh.db*"):
            path.unlink()

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=min(10, settings().max_examples // 5), stateful_step_count=20, deadline=None)
