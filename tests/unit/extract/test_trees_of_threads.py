"""Python code is parsed safely in several threads at once."""

from __future__ import annotations

import ast
import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pkg.extract.syntax import parse_tree, read_literal


def test_trees_are_made_by_several_threads_at_once() -> None:
    """Python 3.11 shares a depth counter between parsers, and fails if garbage collection switches threads."""
    text = "\n".join(f"x{number} = [{number}, (1, {{2: f(3 + 4)}})]" for number in range(400))
    literal = repr([[[number, "a", {"b": (1, 2)}]] for number in range(300)])

    def make(number: int) -> str:
        return ast.dump(parse_tree(text)) if number % 2 else repr(read_literal(literal))

    def let_others_in(*_: object) -> None:
        time.sleep(0)

    before, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(let_others_in)
    try:
        with ThreadPoolExecutor(8) as pool:
            made = set(pool.map(make, range(64)))
    finally:
        gc.callbacks.remove(let_others_in)
        gc.set_threshold(*threshold)
        sys.setswitchinterval(before)
    assert made == {ast.dump(ast.parse(text)), literal}
