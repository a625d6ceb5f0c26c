"""A build keeps the generated docstrings of functions whose code is unchanged, wherever it is now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pkg.encode.registry import load_encoder
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.graph.verify import compare_stores
from pkg.indexing.build import build, build_export
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.generated_storage import GeneratedStorage, remove_generated
from pkg.indexing.store_encoder import reencode
from pkg.model import Docstring, Generated, Label

LOOK = Docstring("Look for configuration.", "fim", "gguf:coder", "hole/1", "2026-01-31")
CODE = '''class Shop:
    def find(self, name):
        return [each for each in self.items if each.name == name]

    def count(self):
        """Count the items."""
        return len(self.items)
'''
CALLER = "from shop import Shop\n\n\ndef ask(shop: Shop):\n    return shop.find('tea')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "shop.py").write_text(CODE)
    (folder / "ask.py").write_text(CALLER)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        yield store


def document(store: GraphStore, name: str, docstring: Docstring | None = LOOK, source: str = "project") -> None:
    """Set the docstring of all functions of a name, which have equal code."""
    nodes = [node for node in store.nodes([Label.FUNCTION], source) if node.name == name]
    (hashed,) = {int(node.content_hash, 16) for node in nodes}
    storage = GeneratedStorage(store, source, load_encoder(store.encoder()[0]))
    storage.put({hashed: Generated(docstring)}, [node.id for node in nodes])


def export(store: GraphStore) -> list[str]:
    return [json.dumps(line) for line in store.export(vectors=True)]


def docstrings_of(store: GraphStore) -> dict[str, object]:
    """Return the place and the text of each generated docstring."""
    found = store.nodes([Label.FUNCTION])
    return {
        f"{node.path} {node.qualname}": node.properties["docstring"]
        for node in found
        if "docstring_model" in node.properties
    }


def test_an_edit_elsewhere_in_the_file_keeps_the_docstring(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    document(store, "find")
    (project / "shop.py").write_text("import os\n\n\n" + CODE)
    build(str(project), store)
    assert docstrings_of(store) == {"shop.py Shop.find": LOOK.text}
    edited = export(store)
    document(store, "find", None)
    document(store, "find")
    assert export(store) == edited


def test_a_function_that_moves_into_another_file_takes_its_docstring_along(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    document(store, "find")
    (project / "shop.py").rename(project / "market.py")
    build(str(project), store)
    assert docstrings_of(store) == {"market.py Shop.find": LOOK.text}


def test_a_function_whose_code_changes_loses_its_docstring(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    document(store, "find")
    (project / "shop.py").write_text(CODE.replace("each.name == name", "each.name is name"))
    build(str(project), store)
    assert docstrings_of(store) == {}
    fresh = EmbeddedStore(project.parent / "fresh.db", create=True)
    with closing(fresh):
        build(str(project), fresh)
        assert compare_stores(store, fresh, vectors=True).is_equal


def test_a_copy_of_a_function_gets_the_docstring_too(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    document(store, "find")
    (project / "copy.py").write_text(CODE)
    build(str(project), store)
    assert docstrings_of(store) == {"copy.py Shop.find": LOOK.text, "shop.py Shop.find": LOOK.text}


def test_a_docstring_in_the_code_has_precedence(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    document(store, "find")
    (project / "shop.py").write_text(CODE.replace("        return [each", '        """Mine."""\n        return [each'))
    build(str(project), store)
    assert docstrings_of(store) == {}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_graph_with_docstrings_comes_back_from_its_export(
    store: EmbeddedStore, project: Path, tmp_path: Path, jobs: int
) -> None:
    build(str(project), store)
    document(store, "find")
    file = tmp_path / "graph.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in store.export()))
    with closing(EmbeddedStore(tmp_path / "other.db", create=True)) as other:
        build_export(str(file), other, BuildOptions(jobs=jobs))
        assert export(other) == export(store)
        assert compare_stores(store, other, vectors=True).is_equal


def test_an_export_adds_its_docstrings_to_a_graph_with_the_same_code(
    store: EmbeddedStore, project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "graph.jsonl"
    build(str(project), store)
    bare = export(store)
    document(store, "find")
    written = export(store)
    file.write_text("".join(json.dumps(line) + "\n" for line in store.export()))
    document(store, "find", None)
    assert export(store) == bare
    build_export(str(file), store)
    assert export(store) == written
    file.write_text("".join(line + "\n" for line in bare))
    build_export(str(file), store)
    assert export(store) == bare


def test_another_encoder_encodes_functions_with_their_docstrings(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    document(store, "find")
    before = export(store)
    reencode(store, store.encoder()[0], lambda text: None)
    assert export(store) == before


def test_verify_reports_a_docstring_of_only_one_graph(store: EmbeddedStore, project: Path, tmp_path: Path) -> None:
    build(str(project), store)
    with closing(EmbeddedStore(tmp_path / "other.db", create=True)) as other:
        build(str(project), other)
        document(other, "find")
        found = compare_stores(store, other)
        assert [(each.qualname, each.where) for each in found.differences] == [("Shop.find", "both")]
        assert "docstring" in found.differences[0].properties


def test_rows_of_a_corpus_keep_the_docstrings_of_their_code(store: EmbeddedStore, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    code = "def take(item):\n    return item.value\n"
    rows.write_text(json.dumps({"id": "one", "output": code}) + "\n")
    build(str(rows), store)
    document(store, "take", source="rows")
    lines = [{"id": "two", "output": f"```python\n{code}```"}, {"id": "one", "output": "def other():\n    return 1\n"}]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    build(str(rows), store)
    assert docstrings_of(store) == {"two take": LOOK.text}


def test_undo_removes_only_the_docstrings_of_one_model(store: EmbeddedStore, project: Path) -> None:
    build(str(project), store)
    before = export(store)
    document(store, "ask", Docstring("Ask for tea.", "template", "template", "template/1", "2026-01-31"))
    asked = export(store)
    document(store, "find")
    encoder = load_encoder(store.encoder()[0])
    assert remove_generated(store, "project", "gguf:coder", encoder) == 1
    assert export(store) == asked
    assert remove_generated(store, "project", "template", encoder) == 1
    assert export(store) == before
    assert remove_generated(store, "project", "template", encoder) == 0
