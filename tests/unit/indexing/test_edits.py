"""An updated graph is byte-equal to one built from nothing, after any edits."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import FEW_EXAMPLES, export_lines, open_graph_at, write_rows, write_tree

from pkg.indexing.build import build

PIECES = (
    "import os\n",
    "from .b import f, g as h\n",
    "def f(a):\n    if a:\n        return g(a)\n",
    "def g():\n    'Do.'\n    for x in y:\n        with z: pass\n",
    "class A(B):\n    @p\n    def f(self): return 1\n",
    "def bad():\n    x = = 1\n",
    "# only a comment\n",
    "def f(a): return a\n",
)
PATHS = ("a.py", "b.py", "c/d.py")
CONTENTS = st.one_of(st.none(), st.lists(st.sampled_from(PIECES), max_size=4).map("\n".join))
TREES = st.fixed_dictionaries(dict.fromkeys(PATHS, CONTENTS))
ROWS = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.sampled_from(PIECES), max_size=3).map("\n".join), min_size=1
)


def put_tree(folder: Path, files: dict[str, str | None]) -> Path:
    """Write these files into a folder, and one constant Python file."""
    shutil.rmtree(folder, ignore_errors=True)
    return write_tree(
        folder, {"always.py": "x = 1\n"} | {path: text for path, text in files.items() if text is not None}
    )


def build_afresh(path: Path, place: Path) -> list[str]:
    place.unlink(missing_ok=True)
    with closing(open_graph_at(place)) as fresh:
        build(str(path), fresh)
        return export_lines(fresh)


@FEW_EXAMPLES
@given(states=st.lists(TREES, min_size=2, max_size=4))
def test_a_repository_after_edits_equals_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    with closing(open_graph_at(folder / "graph.db")) as store:
        for state in states:
            build(str(put_tree(folder / "repo", state)), store)
        assert store.check() == []
        assert export_lines(store) == build_afresh(folder / "repo", folder / "fresh.db")


@FEW_EXAMPLES
@given(states=st.lists(ROWS, min_size=2, max_size=4))
def test_a_corpus_after_edits_equals_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    corpus = folder / "c.jsonl"
    with closing(open_graph_at(folder / "graph.db")) as store:
        for state in states:
            build(str(write_rows(corpus, *({"id": key, "output": text} for key, text in state.items()))), store)
        assert store.check() == []
        assert export_lines(store) == build_afresh(corpus, folder / "fresh.db")


@pytest.mark.parametrize("damage", [lambda notes: b"", lambda notes: b"\x01" + notes[1:], lambda notes: notes[:-1]])
def test_files_with_lost_records_are_resolved_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    texts: dict[str, str | None] = {
        "a.py": "from b import f\nf()\n",
        "b.py": "def f(): pass\n",
        "c.py": "import b\nb.f()\n",
    }
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(put_tree(tmp_path / "repo", texts)), store)
        with store.write() as writer:
            writer.put_notes(
                "repo", {path: damage(notes) for path, notes in store.link_notes("repo") if path == "c.py"}
            )
        build(str(put_tree(tmp_path / "repo", texts | {"a.py": "from b import f\nf(f)\n"})), store)
        assert export_lines(store) == build_afresh(tmp_path / "repo", tmp_path / "fresh.db")


def test_a_file_that_loses_all_its_code_counts_as_removed(tmp_path: Path) -> None:
    apart: dict[str, str | None] = {f"part_{letter}.py": f"def lone_{letter}(): pass\n" for letter in "abcdef"}
    texts = apart | {"a.py": "from b import f\nf()\n"}
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        for text in (b"def f(): pass\n", b"\xff\xfe\x00", b"def g(): pass\n"):
            tree = put_tree(tmp_path / "repo", texts)
            (tree / "b.py").write_bytes(text)
            build(str(tree), store)
            assert export_lines(store) == build_afresh(tmp_path / "repo", tmp_path / "fresh.db")
