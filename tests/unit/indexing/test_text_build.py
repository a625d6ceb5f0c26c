"""Builds of repositories with text files: chunks are added, changed and removed, and code is unaffected."""

from __future__ import annotations

import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from git_trees import commit_all, make_repository
from trees import SHOP, export_lines, list_ids, open_graph_at, write_tree

from pkg.api import Graph
from pkg.errors import PathError
from pkg.graph.embedded import sql
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.graph.verify import compare_stores
from pkg.indexing.build import build, build_export, refresh
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.watch import WatchFilter
from pkg.model import Label
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.outline_answer import format_definition

PROSE = "The cart holds what a customer wants to buy, and it adds up what that costs in the end. " * 4
README = f"# Shop\n\n{PROSE}\n\n## Usage\n\n{PROSE}\n\n## Usage\n\nThe same heading again.\n\n{PROSE}\n"
TEXTS = {
    "README.md": README,
    "docs/guide.rst": f"Guide\n=====\n\n{PROSE}\n\nRetries\n-------\n\n{PROSE}\n",
    "pyproject.toml": '[project]\nname = "shop"\nrequires-python = ">=3.11"\n',
    "LICENSE": "MIT Licence\n\nPermission is hereby granted.\n",
}
CHUNKS = {
    "README.md": ["Shop", "Shop > Usage", "Shop > Usage"], "docs/guide.rst": ["Guide", "Guide > Retries"],
    "pyproject.toml": ["project"], "LICENSE": ["LICENSE"],
}  # fmt: skip
HOSTILE: dict[str, str | bytes] = {
    "binary.md": b"\x89PNG\0\0",
    "line.txt": b"x" * 900_000,
    "huge.md": b"word " * 210_000,
    "fence.md": "# A\n```\n# never closed\n",
    "windows.md": "# Head\r\n\r\nText\r\n",
    "marked.md": "\ufeff# Head\n\nText\n",
    "latin.txt": "Größe\n=====\n\nÄpfel\n".encode("latin-1"),
    "empty.md": "",
    "blank.yml": "\n\n",
    "größe.md": "# Größe\n\nÄpfel\n",
}


@pytest.fixture
def told(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "repo", SHOP | TEXTS)


def list_chunks(store: GraphStore) -> dict[str, list[str]]:
    chunks: dict[str, list[str]] = {}
    for node in sorted(store.nodes([Label.CHUNK]), key=lambda node: (node.path, node.start)):
        chunks.setdefault(node.path, []).append(node.qualname)
    return chunks


def build_afresh(tree: Path, place: Path, text: bool = True) -> list[str]:
    with closing(open_graph_at(place)) as fresh:
        build(str(tree), fresh, source="repo", text=text)
        return export_lines(fresh)


def test_text_files_become_chunks_with_their_headings(told: Path, store: EmbeddedStore) -> None:
    report = build(str(told), store)
    assert (report.written, report.partial, list_chunks(store)) == (7, 0, CHUNKS)
    assert store.check() == []
    languages = {node.path: node.properties["language"] for node in store.nodes([Label.FILE])}
    assert languages["README.md"] == "markdown"
    assert languages["LICENSE"] == "text"


def test_code_is_the_same_with_and_without_text_files(told: Path, tmp_path: Path) -> None:
    with_text = build_afresh(told, tmp_path / "a.db")
    code_alone = build_afresh(told, tmp_path / "b.db", text=False)
    assert len(with_text) - len(code_alone) == 2 * (4 + 7)  # a file or chunk each, and its CONTAINS edge
    assert [line for line in with_text if line in set(code_alone)] == code_alone
    assert not any('"Chunk"' in line for line in code_alone)


def test_answers_about_code_are_the_same_with_text_files(told: Path, tmp_path: Path) -> None:
    answers = []
    for text in (True, False):
        with closing(open_graph_at(tmp_path / f"{text}.db")) as store:
            build(str(told), store, source="repo", text=text)
            graph = Graph(store)
            answers.append([
                [graph.query(question, mode=mode).hits for mode in ("block", "function", "both", "declaration", "file")]
                for question in ("what a customer wants to buy", "usage of the cart", "find_price in README.md")
            ])  # fmt: skip
            answers[-1].append(graph.outline())  # type: ignore[arg-type]
    assert answers[0] == answers[1]


def test_only_a_text_that_changed_is_read_again_and_no_call_is_resolved(told: Path, store: EmbeddedStore) -> None:
    build(str(told), store)
    before = list_ids(store, "README.md")
    write_tree(told, {"README.md": README.replace("The same heading again.", "Another sentence now.")})
    report = build(str(told), store)
    assert (report.written, report.unchanged, report.removed) == (1, 6, 0)
    assert report.stages.get("resolve", 0) < 0.01
    assert list_ids(store, "README.md") == before
    (told / "docs" / "guide.rst").unlink()
    assert build(str(told), store).removed == 1
    assert list_chunks(store) == {path: names for path, names in CHUNKS.items() if path != "docs/guide.rst"}
    assert store.check() == []


def test_edits_of_code_and_text_end_where_a_fresh_build_does(told: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(told), store, source="repo")
    write_tree(told, {
        "README.md": f"# Store\n\n{PROSE}\n", "NEWS": "First.\n",
        "shop/prices.py": SHOP["shop/prices.py"].replace("find_price", "look_up"),
    })  # fmt: skip
    (told / "LICENSE").unlink()
    build(str(told), store, source="repo")
    assert export_lines(store) == build_afresh(told, tmp_path / "fresh.db")


def test_text_files_can_be_excluded_and_included_later(told: Path, store: EmbeddedStore) -> None:
    assert build(str(told), store, text=False).written == 3
    assert list_chunks(store) == {}
    (report,) = refresh(store)
    assert not getattr(report, "changed", True)  # a source is read with the options of its last build
    assert build(str(told), store).written == 4
    assert list_chunks(store) == CHUNKS
    assert build(str(told), store, text=False).removed == 4


def test_a_graph_of_an_older_version_gets_its_chunks_by_the_next_build(told: Path, tmp_path: Path) -> None:
    place = tmp_path / "old.db"
    build_afresh(told, place, text=False)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA user_version = 7")
    with closing(open_graph_at(place)) as store:
        assert Graph(store).query("find the price of an item").hits
        assert store.check() == []
        assert build(str(told), store, source="repo").written == 4
        assert export_lines(store) == build_afresh(told, tmp_path / "fresh.db")
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(sql.MIGRATIONS),)


def test_workers_archives_revisions_and_exports_give_the_same_chunks(told: Path, tmp_path: Path) -> None:
    make_repository(told, {})
    archive, wheel = tmp_path / "repo-1.0.tar.gz", tmp_path / "repo-1.0-py3-none-any.whl"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(told, "repo-1.0", filter=lambda info: None if ".git" in info.name.split("/") else info)
    with zipfile.ZipFile(wheel, "w") as zipped:
        for name, content in (SHOP | TEXTS).items():
            zipped.writestr(name, content)
    contents = set()
    for place in (str(told), str(archive), str(wheel), f"{told}@HEAD"):
        for jobs in (1, 2):
            with closing(open_graph_at(tmp_path / "graph.db")) as store:
                build(place, store, BuildOptions(jobs=jobs), source="repo")
                assert list_chunks(store) == CHUNKS
                contents.add("".join(line for line in export_lines(store) if '"label": "Source"' not in line))
                (tmp_path / "export.jsonl").write_text("".join(export_lines(store)))
            (tmp_path / "graph.db").unlink()
    assert len(contents) == 1
    with closing(open_graph_at(tmp_path / "again.db")) as store:
        build_export(str(tmp_path / "export.jsonl"), store)
        assert "".join(export_lines(store)) == (tmp_path / "export.jsonl").read_text()


def test_a_source_moves_from_one_revision_to_another_with_its_texts(tmp_path: Path, store: EmbeddedStore) -> None:
    folder = make_repository(tmp_path / "repo", SHOP | TEXTS)
    build(f"{folder}@HEAD", store)
    write_tree(folder, {"README.md": f"# Renamed\n\n{PROSE}\n"})
    commit_all(folder)
    assert build(f"{folder}@HEAD", store).written == 1
    assert list_chunks(store)["README.md"] == ["Renamed"]


def test_another_encoder_encodes_chunks_as_a_build_does(told: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(told), store, source="repo")
    before = export_lines(store)
    with closing(sqlite3.connect(tmp_path / "graph.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = 'static@00000000' WHERE key = 'encoder'")
    report = build(str(told), store, source="repo")
    assert (report.written, report.reencoded > 7) == (0, True)
    assert export_lines(store) == before


def test_stores_with_texts_and_calls_compare_equal(told: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(told), store, source="repo")
    labels = [line["label"] for line in store.export() if line["type"] == "node"]
    assert {"Chunk", "Call"} <= set(labels)
    assert labels == sorted(labels, key=[label.value for label in Label].index)
    build_afresh(told, tmp_path / "other.db")
    with closing(open_graph_at(tmp_path / "other.db")) as other:
        assert compare_stores(store, other, vectors=True).is_equal
        write_tree(told, {"README.md": README.replace("same", "very same")})
        build(str(told), other, source="repo")
        found = compare_stores(store, other)
        assert {each.label for each in found.differences} == {"File", "Chunk"}


def test_hostile_texts_are_counted_named_and_harmless(tmp_path: Path, store: EmbeddedStore) -> None:
    report = build(str(write_tree(tmp_path / "repo", SHOP | HOSTILE)), store)
    assert [(skip.path, skip.reason) for skip in report.skipped] == [
        ("huge.md", "larger than 1.0 MB (seen 1.1 MB); raise it with --max-file-size")
    ]
    partial = {skip.path: skip.reason for skip in store.stats().partial}
    assert {path: reason for path, reason in partial.items() if not path.endswith(".py")} == {
        "binary.md": "binary: it holds NUL bytes",
        "line.txt": "minified or generated: very long lines",
        "latin.txt": "not UTF-8: read as Windows-1252; spans count its UTF-8 form",
    }
    assert list_chunks(store) == {
        "fence.md": ["A"], "windows.md": ["Head"], "marked.md": ["Head"], "latin.txt": ["Größe"], "größe.md": ["Größe"],
    }  # fmt: skip
    assert store.check() == []


def test_a_larger_cap_takes_larger_texts(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": "", "huge.md": "some word\n" * 110_000})
    assert build(str(tree), store, max_file_size=2_000_000).skipped == ()
    assert len(list_chunks(store)["huge.md"]) > 700


def test_ignored_texts_are_not_read(tmp_path: Path, store: EmbeddedStore) -> None:
    files = {
        "a.py": "x = 1\n",
        ".pkgignore": "drafts/\n*.yml\n",
        "drafts/x.md": "# X\n",
        "b.yml": "a: 1\n",
        "c.md": "# C\n",
    }
    build(str(write_tree(tmp_path / "repo", files)), store)
    assert list_chunks(store) == {"c.md": ["C"]}


def test_texts_without_code_are_no_repository(tmp_path: Path, store: EmbeddedStore) -> None:
    with pytest.raises(PathError, match="no Python files"):
        build(str(write_tree(tmp_path / "repo", TEXTS)), store)


def test_a_change_of_a_text_starts_a_build_only_if_texts_are_read(told: Path) -> None:
    root = str(told.resolve())
    for text in (True, False):
        relevance = WatchFilter(root, (), text=text)
        assert [relevance.keeps(f"{root}/{path}") for path in ("README.md", "LICENSE", "docs/guide.rst")] == [text] * 3


def test_a_changed_text_is_reported_as_stale(told: Path, store: EmbeddedStore) -> None:
    build(str(told), store)
    assert find_stale(store, [("repo", "README.md")]) == ()
    write_tree(told, {"README.md": "# Other\n"})
    (stale,) = find_stale(store, [("repo", "README.md"), ("repo", "LICENSE")])
    assert (stale.path, stale.state) == ("README.md", "changed")


def test_the_outline_of_a_text_lists_its_headings(told: Path, store: EmbeddedStore) -> None:
    build(str(told), store)
    graph = Graph(store)
    (file,) = graph.outline("README.md").files
    assert [(each.qualname, each.start_line, each.end_line) for each in file.definitions] == [
        ("Shop", 1, 3),
        ("Shop > Usage", 5, 13),
    ]
    assert [format_definition(each) for each in file.definitions] == ["  1: Shop", "    5: Usage"]
    assert graph.outline("README.md", budget=7).left_out_definitions > 0
    assert graph.show("README.md").definitions[0].content == README
    assert "README.md" not in str(graph.outline())


def test_names_in_texts_are_no_uses_of_code(tmp_path: Path, store: EmbeddedStore) -> None:
    files = {"a.py": "def lonely():\n    pass\n", "README.md": "# Use\n\nCall `lonely` at once.\n"}
    build(str(write_tree(tmp_path / "repo", files)), store)
    unused = Graph(store).deps(question="unused")
    assert "lonely" in str(unused)
