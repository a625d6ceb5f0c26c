"""Builds of repositories end to end: new, changed, touched, renamed and removed files (docs/papers.md, 9.1)."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest
from trees import SHOP, export_lines, list_ids, open_graph_at, write_tree

from pkg.errors import EncoderMismatchError, StoreError, UsageError
from pkg.extract.files import CLOCK_TICK_NS
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build, drop_source
from pkg.indexing.build_plan import BuildOptions
from pkg.model import Label


def build_afresh(tree: Path, place: Path) -> list[str]:
    """Build a tree into an empty store; return the export."""
    with closing(open_graph_at(place)) as fresh:
        build(str(tree), fresh)
        return export_lines(fresh)


def test_the_first_build_stores_every_file(tree: Path, store: EmbeddedStore) -> None:
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.removed, report.partial) == (3, 0, 0, 0)
    assert (report.source, report.generation, report.changed) == ("repo", 1, True)
    stats = store.stats()
    assert stats.nodes == {
        "Source": 1, "File": 3, "Class": 1, "Function": 4, "FunctionName": 3, "Block": 7, "Import": 2, "Library": 1,
        "Call": 1,
    }  # fmt: skip
    structure = {"CONTAINS": 8, "NAMES": 4, "HAS_BODY": 4, "CHILD": 3, "IMPORTS": 2}
    assert stats.relations == structure | {"CALLS": 1, "RESOLVES_TO": 2, "UNRESOLVED": 1}
    assert [(skip.path, skip.reason) for skip in stats.partial] == [
        ("shop/old.py", "Python 2 (print or exec statement)")
    ]
    assert store.check() == []


def test_a_node_can_be_found_by_its_name_with_its_place_and_text(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    first, second = store.find_name("total")
    assert (first.path, first.qualname, first.kind, first.start_line) == ("shop/cart.py", "Cart.total", "method", 14)
    assert first.content.startswith("def total(self):")
    assert (second.path, second.qualname, second.kind) == ("shop/old.py", "total", "function")


def test_an_unchanged_tree_writes_nothing(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    time.sleep(CLOCK_TICK_NS / 1e9)  # newer files are compared again
    build(str(tree), store)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("graph.db*")}
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.removed, report.generation) == (0, 3, 0, 1)
    assert not report.changed
    assert {path.name: path.read_bytes() for path in tmp_path.glob("graph.db*")} == before


def test_a_touched_file_of_equal_content_makes_no_new_generation(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    exported = export_lines(store)
    os.utime(tree / "shop/cart.py", (1, 1))
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.changed, report.generation) == (0, 3, False, 1)
    assert export_lines(store) == exported
    again = build(str(tree), store)
    assert (again.unchanged, again.stages.keys() & {"extract", "encode"}) == (3, set())


def test_a_changed_file_replaces_only_its_own_nodes(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tree), store)
    before = list_ids(store)
    text = (
        SHOP["shop/prices.py"].replace("return price", "return price * 2")
        + "\n\ndef round_price(price): return price\n"
    )
    write_tree(tree, {"shop/prices.py": text})
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.removed, report.generation) == (1, 2, 0, 2)
    assert before < list_ids(store)
    assert {node.name for node in store.get(sorted(list_ids(store) - before))} == {"round_price", "body"}
    assert store.find_name("find_price")[0].content.endswith("return price * 2")
    assert export_lines(store) == build_afresh(tree, tmp_path / "fresh.db")
    assert store.check() == []


def test_editing_a_body_keeps_the_ids_of_its_function_and_blocks(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    before, (function, *_) = list_ids(store, "shop/prices.py"), store.find_name("find_price")
    write_tree(tree, {"shop/prices.py": "# moved down\n\n" + SHOP["shop/prices.py"].replace("TABLE", "LIST")})
    build(str(tree), store)
    (moved,) = store.find_name("find_price")
    assert list_ids(store, "shop/prices.py") == before
    assert (moved.id, moved.start_line) == (function.id, function.start_line + 2)
    assert moved.content_hash != function.content_hash


def test_a_removed_file_takes_its_own_nodes_along(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tree), store)
    (tree / "shop/cart.py").unlink()
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.removed, report.generation) == (0, 2, 1, 2)
    assert store.find_name("Cart") == []
    assert [node.path for node in store.find_name("total")] == ["shop/old.py"]
    assert export_lines(store) == build_afresh(tree, tmp_path / "fresh.db")


def test_a_renamed_file_is_one_removed_and_one_written(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tree), store)
    (tree / "shop/cart.py").rename(tree / "shop/basket.py")
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.removed) == (1, 2, 1)
    assert [node.path for node in store.find_name("Cart")] == ["shop/basket.py"]
    assert export_lines(store) == build_afresh(tree, tmp_path / "fresh.db")


def test_a_new_file_is_added(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tree), store)
    before = list_ids(store)
    write_tree(tree, {"shop/new.py": "def total(): pass\n"})
    report = build(str(tree), store)
    assert (report.written, report.unchanged) == (1, 3)
    assert before < list_ids(store)
    assert export_lines(store) == build_afresh(tree, tmp_path / "fresh.db")


def test_a_tree_that_lost_its_last_file_is_an_empty_source(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    for path in tree.rglob("*.py"):
        path.unlink()
    report = build(str(tree), store)
    assert (report.removed, report.generation) == (3, 2)
    assert store.stats().nodes == {"Source": 1}


def test_equal_names_in_one_file_are_nodes_of_their_own(tmp_path: Path, store: EmbeddedStore) -> None:
    text = "def f(): return 1\n\ndef f(): return 2\n\nclass A: pass\nclass A:\n    def f(self): return 3\n"
    build(str(write_tree(tmp_path / "repo", {"a.py": text})), store)
    functions = store.find_name("f")
    assert [node.content for node in functions] == ["def f(): return 1", "def f(): return 2", "def f(self): return 3"]
    assert len({node.id for node in functions}) == 3
    assert len({node.id for node in store.find_name("A")}) == 2


def test_equal_files_of_a_repository_are_never_merged(tmp_path: Path, store: EmbeddedStore) -> None:
    build(str(write_tree(tmp_path / "repo", {"a.py": "def f(): return 1\n", "b/a.py": "def f(): return 1\n"})), store)
    assert [node.path for node in store.find_name("f")] == ["a.py", "b/a.py"]


def test_the_order_in_which_files_were_made_does_not_matter(tmp_path: Path) -> None:
    exports: list[list[str]] = []
    for names in (sorted(SHOP), sorted(SHOP, reverse=True)):
        tree = write_tree(tmp_path / "repo", {name: SHOP[name] for name in names})
        exports.append(build_afresh(tree, tmp_path / f"{len(exports)}.db"))
        for name in names:
            (tree / name).unlink()
    assert exports[0] == exports[1]


def test_a_source_name_that_belongs_to_another_root_is_refused(
    tree: Path, store: EmbeddedStore, tmp_path: Path
) -> None:
    build(str(tree), store)
    other = write_tree(tmp_path / "other" / "repo", {"a.py": "x = 1\n"})
    with pytest.raises(StoreError, match=rf"source 'repo' .* was built from {tree}, not from {other}; name this one"):
        build(str(other), store)
    build(str(other), store, source="second")
    assert [source.name for source in store.sources()] == ["repo", "second"]


def test_removing_a_source_leaves_the_others(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"a.py": "def total(): return 1\n"})
    build(str(other), store)
    exported = export_lines(store)
    build(str(tree), store)
    report = drop_source(store, "repo")
    assert (report.source, report.removed, report.generation) == ("repo", 3, 3)
    assert export_lines(store) == exported
    assert store.check() == []


def test_removing_an_unknown_source_names_the_known_ones(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    with pytest.raises(UsageError, match=r"no source 'shop' in .*; expected one of: repo"):
        drop_source(store, "shop")


def test_a_store_of_a_missing_encoder_names_the_remedy(tree: Path, store: EmbeddedStore) -> None:
    store.ensure_schema("other", 8)
    with pytest.raises(EncoderMismatchError, match=r"'other' with 8 .* does not have; .* --encoder static"):
        build(str(tree), store)
    assert store.generation() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (BuildOptions(encoder="word2vec"), "no encoder 'word2vec'; expected one of: static"),
        (BuildOptions(jobs=-1), r"jobs is -1; expected 0 \(one for each processor\) or more"),
    ],
)
def test_invalid_options_are_refused(tree: Path, store: EmbeddedStore, options: BuildOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(str(tree), store, options)
    assert store.sources() == ()


def test_progress_counts_the_bytes_that_were_read(tree: Path, store: EmbeddedStore) -> None:
    seen: list[tuple[int, int]] = []
    build(str(tree), store, BuildOptions(progress=lambda done, total: seen.append((done, total))))
    size = sum(len(text) for text in SHOP.values())
    assert len(seen) == len(SHOP)
    assert seen[-1] == (size, size)


def test_stages_after_reading_are_reported_when_they_begin(tree: Path, store: EmbeddedStore) -> None:
    told: list[object] = []
    options = BuildOptions(progress=lambda done, total: told.append(done == total), enter=told.append)
    build(str(tree), store, options)
    assert told[-3:] == [True, "naming functions", "resolving calls and imports"]
    told.clear()
    build(str(tree), store, options)
    assert "resolving calls and imports" not in told


def test_stages_report_their_time(tree: Path, store: EmbeddedStore) -> None:
    report = build(str(tree), store)
    assert set(report.stages) == {"discover", "extract", "encode", "store", "names", "resolve"}
    assert set(store.stats().stages["repo"]) <= set(report.stages)


def test_a_change_to_one_line_of_an_import_is_seen(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    write_tree(tree, {"shop/cart.py": SHOP["shop/cart.py"].replace("import json", "import json as j")})
    build(str(tree), store)
    imports = [line for line in store.export() if line.get("label") == Label.IMPORT.value]
    assert sorted(line["name"] for line in imports) == ["find_price", "json"]
    assert {line.get("alias") for line in imports} == {None, "j"}
