"""Exports that are built again are byte-equal for any source (docs/schema.md)."""

from __future__ import annotations

import io
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import FEW_EXAMPLES, SHOP, export_lines, open_graph_at, write_rows, write_tree

from pkg.errors import CorpusError, PathError
from pkg.indexing.build import build, build_export

AWKWARD: dict[str, str | bytes] = {
    "a/latin.py": b"# \xe9t\xe9\ndef f():\n    return '\xe9'\n",
    "a/mark.py": b"\xef\xbb\xbfdef g():\r\n    return 1\r\n",
    "a/wide.py": "def h():\n    return 'ü'\n".encode("utf-16"),
    "a/broken.py": b"import os\n\ndef sound(): pass\n\ndef bad():\n    x = = 1\n",
    "a/binary.py": b"\0\1\2",
    "a/empty.py": b"",
    "a/minified.py": b"x=[" + b"1," * 40_000 + b"]\n",
    "a/no_newline.py": b"def i(): return 1",
    "a/twice.py": b"def j(): return 1\ndef j(): return 2\nimport os, sys; import os\n",
}

ROWS = (
    "@dec()\ndef f(): return 1",
    "if x:\n    @a\n    def g():\n        return 1\nelse:\n    import b; import c\n    def g():\n        return 2\n",
    "import c; import d as e, f\nfrom x import (y,\n z); import w\nclass A:\n    def m(self): return f()\n",
    "def bad():\n    x = = 1\n    def inner(): return 1\n    import q\n",
    "Here:\n```python\ndef f(x):\n    if x:\n        return g(x)\n```\nand\n```python\nimport os\n```\n",
    "def inner(): return 1\n",
    "try:\n    from a import b\nexcept E:\n    b = None\n\n\n"
    "class B(A):\n    '''doc'''\n    @p\n    def n(self):\n        '''d'''\n",
    "é = 'ü'\ndef été(): return 'ü'\n",
    "no code at all",
    "print 'a'\ndef py2():\n    print 'b'\n",
    "import os; import os\nimport os\n",
    ">>> def k(a):\n...     return a\n>>> k(1)\n1\n",
)


def rebuild(lines: list[str], folder: Path) -> list[str]:
    """Build an export into an empty store; return the export of that."""
    folder.mkdir(exist_ok=True)
    (folder / "export.jsonl").write_text("".join(lines))
    with closing(open_graph_at(folder / "restored.db")) as store:
        build_export(str(folder / "export.jsonl"), store)
        assert store.check() == []
        return export_lines(store)


def test_a_repository_comes_out_byte_equal(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", {**SHOP, **AWKWARD})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        exported = export_lines(store)
    assert rebuild(exported, tmp_path / "again") == exported


def test_a_corpus_comes_out_byte_equal(tmp_path: Path) -> None:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_rows(tmp_path / "c.jsonl", *ROWS, *reversed(ROWS))), store)
        exported = export_lines(store)
    assert rebuild(exported, tmp_path / "again") == exported


@FEW_EXAMPLES
@given(rows=st.lists(st.lists(st.sampled_from(ROWS), max_size=3).map("\n".join), min_size=1, max_size=5))
def test_rows_joined_at_random_come_out_byte_equal(tmp_path_factory: pytest.TempPathFactory, rows: list[str]) -> None:
    folder = tmp_path_factory.mktemp("joined")
    with closing(open_graph_at(folder / "graph.db")) as store:
        build(str(write_rows(folder / "c.jsonl", *rows)), store)
        exported = export_lines(store)
    assert rebuild(exported, folder / "again") == exported


def test_all_sources_of_an_export_are_built_and_then_follow_their_roots(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    rows = write_rows(tmp_path / "c.jsonl", *ROWS)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        build(str(rows), store)
        (tmp_path / "export.jsonl").write_text("".join(export_lines(store)))
    with closing(open_graph_at(tmp_path / "restored.db")) as restored:
        reports = build_export(str(tmp_path / "export.jsonl"), restored)
        assert sorted((report.source, report.written) for report in reports) == [("c", len(ROWS)), ("repo", len(SHOP))]
        report = build(str(tree), restored)
        assert (report.written, report.unchanged, report.removed) == (0, len(SHOP), 0)


def test_building_an_export_twice_changes_nothing(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        (tmp_path / "export.jsonl").write_text("".join(export_lines(store)))
        (report,) = build_export(str(tmp_path / "export.jsonl"), store)
        assert (report.written, report.unchanged, report.generation) == (0, len(SHOP), 1)


def test_a_source_that_lost_its_last_file_comes_out_byte_equal(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": "x = 1\n"})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        (tree / "a.py").unlink()
        build(str(tree), store)
        exported = export_lines(store)
    assert rebuild(exported, tmp_path / "again") == exported


def test_an_export_is_read_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree), store)
        exported = export_lines(store)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(exported).encode())))
    with closing(open_graph_at(tmp_path / "restored.db")) as restored:
        build_export("-", restored)
        assert export_lines(restored) == exported


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json\n", "line 1 is not a line of an export"),
        ("[1]\n", "line 1 is not a line of an export"),
        ('{"type": "node"}\n', "does not begin with the header of an export"),
        ('{"type": "graph", "version": 2}\n', "does not begin with the header of an export"),
    ],
)
def test_a_file_that_is_no_export_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "export.jsonl").write_text(text)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        with pytest.raises(CorpusError, match=message):
            build_export(str(tmp_path / "export.jsonl"), store)
        assert store.sources() == ()


def test_a_missing_export_is_refused(tmp_path: Path) -> None:
    with (
        closing(open_graph_at(tmp_path / "graph.db")) as store,
        pytest.raises(PathError, match=r"no such file: .*; expected a file that pkg export wrote"),
    ):
        build_export(str(tmp_path / "nowhere.jsonl"), store)
