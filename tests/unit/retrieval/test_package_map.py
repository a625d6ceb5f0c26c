"""The map of a source: imports between folders and between files, and cycles."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import write_tree

from pkg.api import Graph, build_graph, open_graph
from pkg.errors import QueryError
from pkg.model import RelationType
from pkg.retrieval.deps.answer import Cycles
from pkg.retrieval.deps.package_map import MapImport, MapLevel, mark_map

FILES = {
    "app/__init__.py": "",
    "app/main.py": "import json\n\nfrom app.core.model import Model, load\nimport missing_thing\n",
    "app/core/__init__.py": "",
    "app/core/model.py": "from app.core import text\nfrom app.views.page import show\n",
    "app/core/text.py": "",
    "app/views/__init__.py": "",
    "app/views/page.py": "from app.core.model import Model\n\n\ndef show():\n    from app.core import text\n",
    "README.md": "# App\n",
}
FILES["app/core/model.py"] += "\n\nclass Model:\n    pass\n\n\ndef load():\n    pass\n"


@pytest.fixture(name="graph")
def open_app(tmp_path: Path) -> Graph:
    write_tree(tmp_path / "app", FILES)
    build_graph(tmp_path / "app", store=f"sqlite:///{tmp_path}/graph.db")
    return open_graph(f"sqlite:///{tmp_path}/graph.db")


def list_pairs(level: MapLevel) -> list[tuple[str, str, int]]:
    return [(each.start, each.end, each.count) for each in level.imports]


def test_folders_import_what_their_files_import(graph: Graph) -> None:
    found = graph.map()
    assert [(each.path, each.files) for each in found.folders.places] == [("app", 2), ("app/core", 3), ("app/views", 2)]
    assert list_pairs(found.folders) == [
        ("app", "app/core", 2), ("app/core", "app/views", 1), ("app/views", "app/core", 2),
    ]  # fmt: skip
    assert found.libraries == 2


def test_members_of_a_cycle_have_its_number(graph: Graph) -> None:
    found = graph.map()
    assert {each.path: each.cycle for each in found.folders.places} == {"app": None, "app/core": 1, "app/views": 1}
    assert {each.path for each in found.files.places if each.cycle} == {"app/core/model.py", "app/views/page.py"}
    assert {(each.start, each.end) for each in found.files.imports if each.cycle} == {
        ("app/core/model.py", "app/views/page.py"), ("app/views/page.py", "app/core/model.py"),
    }  # fmt: skip
    assert MapImport("app/main.py", "app/core/model.py", 2, 3, None) in found.files.imports


def test_its_cycles_of_files_are_those_of_the_question_for_cycles(graph: Graph) -> None:
    cycles = graph.deps(question="cycles")
    assert isinstance(cycles, Cycles)
    assert graph.map().files.cycles == cycles.imports == 1


def test_a_part_counts_outgoing_imports(graph: Graph) -> None:
    found = graph.map("app/core")
    assert [each.path for each in found.folders.places] == ["app/core"]
    assert found.outside == 1
    assert found.folders.cycles == 0  # the way around leads through another folder


def test_a_changed_file_is_reported(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "app/app/core/text.py").write_text("x = 1\n", encoding="utf-8")
    assert [each.path for each in graph.map().stale] == ["app/core/text.py"]


def test_a_missing_folder_is_refused(graph: Graph) -> None:
    with pytest.raises(QueryError, match="no file or folder 'nowhere'"):
        graph.map("nowhere")


@pytest.mark.parametrize("is_turned", [False, True])
def test_an_import_that_may_lead_to_two_counts_for_the_surest(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, is_turned: bool
) -> None:
    edges = list(graph.store.edges((RelationType.RESOLVES_TO,), None))
    known = {node.id: node for node in graph.store.get(sorted({edge.end for edge in edges}))}
    text = next(edge.end for edge in edges if known[edge.end].path == "app/core/text.py")
    edges += [edge._replace(end=text, confidence="likely") for edge in edges if edge.end != text]
    before = graph.map()
    monkeypatch.setattr(type(graph.store), "edges", lambda *_: iter(edges[::-1] if is_turned else edges))
    assert graph.map() == before


def test_a_cached_map_is_marked_with_later_changes(graph: Graph, tmp_path: Path) -> None:
    kept = graph.map()
    assert kept.stale == ()
    (tmp_path / "app" / "app" / "core" / "text.py").write_text("X = 1\n", encoding="utf-8")
    marked = mark_map(graph.store, kept)
    assert [(each.path, each.state) for each in marked.stale] == [("app/core/text.py", "changed")]
    assert marked == graph.map()
