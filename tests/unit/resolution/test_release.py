"""A finished resolution leaves no reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from unit.resolution.solving import solve_tree

from pkg.resolution.classes import ClassInfo
from pkg.resolution.program import Code
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.variables import Variable

FILES = {
    "a.py": "class A:\n    kept = {}\n    def go(self): self.held = [A()]; return self.held[0]\n",
    "b.py": "from a import A\nclass B(A):\n    def go(self): return super().go()\ndef run(x=B()): A.kept[1] = x\n",
}


@contextmanager
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_nothing_is_left_of_what_was_solved() -> None:
    with without_collector():
        before = count()
        machine = solve_tree(FILES)
        writer = LinkWriter("s", machine)
        assert [writer.list_links(path).sites for path in FILES]
        assert count() > before
        machine.release()
        del writer, machine
        assert count() == before


def count() -> int:
    return sum(isinstance(each, Code | ClassInfo | Variable) for each in gc.get_objects())
