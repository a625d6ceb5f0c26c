"""A file over the token budget keeps its definitions, is reported with the reason, and is called by other files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from trees import open_graph_at, write_tree

from pkg.extract import long_text
from pkg.graph.embedded import embedded_writing
from pkg.indexing.build import build
from pkg.model import Label, RelationType, Skip

REASON = "over 500 tokens: only its classes, functions and imports are kept"
LONG = (
    "import os\n\n\nclass Table:\n    def read(self):\n        return os\n\n\ndef make():\n    return Table()\n\n\n"
    + "x = 1\n" * 200
)
USER = "from long import Table, make\n\n\ndef use():\n    make()\n    return Table().read()\n"


@pytest.fixture(autouse=True)
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "TOKEN_BUDGET", 500)


def test_it_is_named_by_the_build_and_by_the_store(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {"long.py": LONG, "user.py": USER})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        report = build(str(tree), store)
        assert (report.skipped, report.partial) == ((Skip("long.py", REASON),), 1)
        stats = store.stats()
        assert (stats.partial, stats.skipped) == ((Skip("long.py", REASON),), ())
        assert build(str(tree), store).skipped == ()
        assert store.check() == []


def test_its_definitions_are_found_and_called(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {"long.py": LONG, "user.py": USER})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        names = {node.id: node.qualname for node in store.nodes([Label.CLASS, Label.FUNCTION])}
        calls = [(names[edge.start], names[edge.end]) for edge in store.edges([RelationType.CALLS])]
        (read,) = (node for node in store.find_name("read") if node.path == "long.py")
    assert sorted(names.values()) == ["Table", "Table.read", "make", "use"]
    assert sorted(calls) == [("use", "Table"), ("use", "Table.read"), ("use", "make")]
    assert read.content == "def read(self):\n        return os"


def test_rows_inserted_in_batches_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_writing, "FLUSH_AT", 3)
    many = "".join(f"def f{number}():\n    return {number}\n" for number in range(20))
    tree = write_tree(tmp_path / "tree", {"long.py": LONG, "many.py": many})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        assert store.check() == []
