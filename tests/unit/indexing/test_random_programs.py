"""Random programs from a grammar are built and updated without an internal error, and change nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import write_program
from trees import open_graph_at, write_tree

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build

RANDOMS = st.randoms(use_true_random=False)
MAX_EXPRESSIONS = 40  # expressions of a program: few enough to shrink a failing one
KNOWN = "import m\n\ndef known(): helper()\ndef helper(): pass\nm.f()\n"


@contextmanager
def open_place() -> Iterator[tuple[Path, EmbeddedStore]]:
    """Open a folder and a store for one example."""
    with TemporaryDirectory() as folder, closing(open_graph_at(Path(folder, "graph.db"))) as store:
        yield Path(folder, "tree"), store


@settings(max_examples=max(1, settings().max_examples // 4))  # each is two builds, which cost 0.2 seconds
@given(RANDOMS, RANDOMS)
def test_random_programs_are_built_and_updated_without_an_error(one: Random, other: Random) -> None:
    first, second = write_program(one, MAX_EXPRESSIONS), write_program(other, MAX_EXPRESSIONS)
    with open_place() as (tree, store):
        write_tree(tree, {"m.py": first, "known.py": KNOWN})
        report = build(str(tree), store)
        assert (report.errors, report.partial, report.written) == ((), 0, 2)
        write_tree(tree, {"a.py": second, "known.py": f"{KNOWN}\nimport a\na.A()\n"})
        assert build(str(tree), store).errors == ()


def test_random_programs_hold_every_kind_of_statement_and_expression() -> None:
    trees = [ast.parse(write_program(Random(seed))) for seed in range(100)]
    found = {type(node) for tree in trees for node in ast.walk(tree)}
    kinds = {each for base in (ast.stmt, ast.expr, ast.pattern) for each in base.__subclasses__()}
    assert {kind.__name__ for kind in kinds - found} <= {"TypeAlias", "TemplateStr", "Interpolation"}
