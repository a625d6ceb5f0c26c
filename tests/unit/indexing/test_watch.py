"""A watch runs ordinary builds: which rounds yield a report, which only a message, and what ends it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import watchfiles
from trees import SHOP, export_lines, open_graph_at, remove_store, write_rows, write_tree

from pkg.errors import MissingExtraError, PathError, PkgError, UsageError
from pkg.extract.discovery import discover
from pkg.extract.files import DEFAULT_MAX_FILE_SIZE
from pkg.graph.embedded import database_file
from pkg.indexing import watch as watching
from pkg.indexing.build import build
from pkg.indexing.report import BuildReport
from pkg.indexing.watch import WatchFilter, watch

Step = Callable[[], object]


@dataclass
class Scene:
    """A repository, a store, and the failures that a watch reports."""

    tree: Path
    store: Path
    monkeypatch: pytest.MonkeyPatch
    said: list[str] = field(default_factory=list)

    def watch(self, *steps: Step | None, path: Path | None = None) -> list[BuildReport]:
        """Watch while steps are taken, each followed by a wake-up; None is a timeout."""

        def take_steps(look: Callable[[], str]) -> Iterator[bool]:
            for step in steps:
                if step is not None:
                    step()
                yield step is not None

        self.monkeypatch.setattr(watching, "poll_files", take_steps)
        return list(watch(str(path or self.tree), f"sqlite:///{self.store}", poll=True, say=self.note))

    def note(self, fault: PkgError) -> None:
        self.said.append(str(fault))

    def write(self, name: str, text: str = "def new():\n    return 1\n") -> Step:
        return lambda: write_tree(self.tree, {name: text})

    def export(self) -> list[str]:
        with closing(open_graph_at(self.store)) as opened:
            return export_lines(opened)

    def export_afresh(self) -> list[str]:
        with closing(open_graph_at(self.store.with_name("fresh.db"))) as fresh:
            build(str(self.tree), fresh)
            return export_lines(fresh)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(database_file, "LOCK_SECONDS", 0.05)
    return Scene(write_tree(tmp_path / "repo", SHOP), tmp_path / "graph.db", monkeypatch)


def count(reports: list[BuildReport]) -> list[tuple[int, int, int]]:
    return [(report.written, report.removed, report.generation) for report in reports]


def test_each_change_gives_one_report_and_the_graph_of_a_fresh_build(scene: Scene) -> None:
    reports = scene.watch(
        scene.write("shop/new.py"),
        lambda: os.rename(scene.tree / "shop/cart.py", scene.tree / "shop/basket.py"),
        lambda: (scene.tree / "shop/old.py").unlink(),
    )
    assert count(reports) == [(3, 0, 1), (1, 0, 2), (1, 1, 3), (0, 1, 4)]
    assert scene.export() == scene.export_afresh()


def test_edits_before_the_watch_are_in_the_first_report(scene: Scene) -> None:
    scene.watch()
    scene.write("shop/new.py")()
    assert count(scene.watch()) == [(1, 0, 2)]
    assert count(scene.watch()) == [(0, 0, 2)]


def test_an_edit_between_the_first_build_and_the_start_of_the_watch_is_caught(scene: Scene) -> None:
    scene.monkeypatch.setattr(watching, "poll_files", lambda look: iter([False, False]))
    reports = watch(str(scene.tree), f"sqlite:///{scene.store}", poll=True)
    assert next(reports).written == 3
    scene.write("shop/new.py")()
    assert [report.written for report in reports] == [1]


def test_a_round_that_finds_nothing_new_gives_no_report(scene: Scene) -> None:
    assert len(scene.watch(lambda: os.utime(scene.tree / "shop/cart.py", (1, 1)), lambda: None, None)) == 1


def test_newly_skipped_files_are_reported(scene: Scene) -> None:
    reports = scene.watch(lambda: (scene.tree / "shop/broken.py").symlink_to("nowhere"), lambda: None)
    assert [[skip.path for skip in report.skipped] for report in reports] == [[], ["shop/broken.py"]]
    assert not reports[-1].changed


def test_the_lock_file_of_an_editor_is_not_reported(scene: Scene) -> None:
    assert len(scene.watch(lambda: (scene.tree / "shop/.#cart.py").symlink_to("nowhere"))) == 1


def test_a_failing_build_is_reported_once_and_repeated_later(scene: Scene) -> None:
    with closing(sqlite3.connect(scene.store, isolation_level=None)) as writer:
        reports = scene.watch(
            lambda: (scene.write("shop/new.py")(), writer.execute("BEGIN IMMEDIATE")),
            lambda: None,
            lambda: writer.execute("ROLLBACK"),
        )
    assert count(reports) == [(3, 0, 1), (1, 0, 2)]
    assert len(scene.said) == 1
    assert "another process is writing" in scene.said[0]


def test_a_failed_build_is_repeated_without_another_change(scene: Scene) -> None:
    scene.monkeypatch.setattr(watching, "RETRY_SECONDS", 0.0)
    with closing(sqlite3.connect(scene.store, isolation_level=None)) as writer:
        steps = iter([lambda: writer.execute("ROLLBACK")])

        def say(fault: PkgError) -> None:
            next(steps)()

        scene.monkeypatch.setattr(watching, "poll_files", lambda look: iter([False, False]))
        reports = watch(str(scene.tree), f"sqlite:///{scene.store}", poll=True, say=say)
        next(reports)
        scene.write("shop/new.py")()
        writer.execute("BEGIN IMMEDIATE")
        assert [report.written for report in reports] == [1]


def test_a_deleted_store_is_created_again(scene: Scene) -> None:
    def delete() -> None:
        remove_store(scene.store)

    assert count(scene.watch(delete)) == [(3, 0, 1), (3, 0, 1)]
    assert scene.export() == scene.export_afresh()


def test_a_failure_of_the_first_build_is_raised(scene: Scene) -> None:
    with pytest.raises(PathError, match="no such file or folder"):
        scene.watch(path=scene.tree / "nowhere")
    assert scene.said == []


@pytest.mark.parametrize("has_successor", [False, True])
def test_a_deleted_or_replaced_folder_ends_the_watch(scene: Scene, has_successor: bool) -> None:
    def take_away() -> None:
        scene.tree.rename(scene.tree.with_name("moved"))
        if has_successor:
            write_tree(scene.tree, SHOP)

    with pytest.raises(PathError, match=r"repo was deleted, moved or replaced.*run the command again"):
        scene.watch(take_away)
    assert scene.said == []
    assert scene.export()


def test_an_emptied_tree_is_still_watched(scene: Scene) -> None:
    reports = scene.watch(lambda: shutil.rmtree(scene.tree / "shop"), scene.write("shop/new.py"))
    assert count(reports) == [(3, 0, 1), (0, 3, 2), (1, 0, 3)]


def test_a_single_file_may_vanish_for_a_while(scene: Scene) -> None:
    file = scene.tree / "shop/cart.py"
    reports = scene.watch(file.unlink, scene.write("shop/cart.py"), path=file)
    assert count(reports) == [(1, 0, 1), (1, 0, 2)]
    assert len(scene.said) == 1
    assert "no such file" in scene.said[0]


def test_a_corpus_is_built_again_when_rows_are_added(scene: Scene) -> None:
    rows = write_rows(scene.tree / "rows.jsonl", "def a():\n    return 1\n")
    reports = scene.watch(
        lambda: write_rows(rows, "def a():\n    return 1\n", "def b():\n    return 2\n"),
        lambda: rows.write_text("{"),
        path=rows,
    )
    assert count(reports) == [(1, 0, 1), (1, 0, 2)]
    assert len(scene.said) == 1


def test_nothing_is_written_into_the_tree(scene: Scene) -> None:
    before = {path: path.stat().st_mtime_ns for path in scene.tree.rglob("*")}
    scene.watch(lambda: None)
    assert {path: path.stat().st_mtime_ns for path in scene.tree.rglob("*")} == before


@pytest.mark.parametrize("path", ["-", "shop.zip", "repo@main"])
def test_inputs_that_cannot_change_are_refused(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    (tmp_path / "shop.zip").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"--watch follows a folder.* leave out --watch"):
        next(watch(path, f"sqlite:///{scene.store}", poll=True))
    assert not scene.store.exists()


def test_a_store_that_looks_like_a_python_file_is_refused(scene: Scene) -> None:
    with pytest.raises(UsageError, match=r"expected another, such as graph\.db"):
        next(watch(str(scene.tree), f"sqlite:///{scene.tree}/graph.py", poll=True))
    assert not (scene.tree / "graph.py").exists()


def test_a_missing_extra_is_reported_before_the_build(scene: Scene) -> None:
    scene.monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError):
        next(watch(str(scene.tree), f"sqlite:///{scene.store}"))
    assert not scene.store.exists()


def test_files_are_polled_if_the_system_sends_no_notifications(scene: Scene) -> None:
    def refuse(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached.")

    scene.monkeypatch.setattr(watchfiles, "watch", refuse)
    scene.monkeypatch.setattr(watching, "poll_files", lambda look: iter([scene.write("shop/other.py")() is not None]))
    reports = watch(str(scene.tree), f"sqlite:///{scene.store}", say=scene.note)
    next(reports)
    scene.write("shop/new.py")()
    assert [report.written for report in reports] == [1, 1]
    assert len(scene.said) == 1
    assert "limit reached" in scene.said[0]
    assert "as with --poll" in scene.said[0]


def test_polling_sees_changes_and_faults(scene: Scene) -> None:
    looks: list[str] = []

    def look_around(look: Callable[[], str]) -> Iterator[bool]:
        looks.append(look())
        scene.write("shop/new.py")()
        looks.append(look())
        yield True
        shutil.rmtree(scene.tree)
        looks.append(look())

    scene.monkeypatch.setattr(watching, "poll_files", look_around)
    reports = list(watch(str(scene.tree), f"sqlite:///{scene.store}", poll=True))
    assert [report.written for report in reports] == [3, 1]
    assert len(set(looks)) == 3
    assert "no such file or folder" in looks[-1]


TREE = {
    ".gitignore": "ignored/\n*_pb2.py\n!kept_pb2.py\n",
    "pyproject.toml": "",
    "app.py": "",
    "app.pyi": "",
    "notes.txt": "",
    "ignored/a.py": "",
    "api_pb2.py": "",
    "kept_pb2.py": "",
    "shop/.gitignore": "/drafts\n",
    "shop/cart.py": "",
    "shop/drafts/cart.py": "",
    "shop/inner/drafts/cart.py": "",
    "shop/.pkgignore": "inner/secret.py\n",
    "shop/inner/secret.py": "",
    ".hidden/script.py": "",
    ".git/hooks/hook.py": "",
    "node_modules/gyp/gyp.py": "",
    "shop/__pycache__/cart.py": "",
    "shop.egg-info/x.py": "",
    "build/lib/shop/cart.py": "",
    "shop/build/real.py": "",
    "env/pyvenv.cfg": "",
    "env/lib/site-packages/click.py": "",
    "env/lib/click.py": "",
}


def judge(root: Path, *known: str) -> WatchFilter:
    return WatchFilter(os.path.realpath(root), known)


def judge_discovered(root: Path) -> WatchFilter:
    found = discover(str(root), DEFAULT_MAX_FILE_SIZE)
    return judge(root, *[entry.path for entry in found.entries], *[skip.path for skip in found.skipped])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "real").mkdir()
    return write_tree(tmp_path / "real" / "repo", TREE)


def test_a_new_file_counts_exactly_when_discovery_would_read_it(tree: Path) -> None:
    relevance = judge(tree)
    files = [path for path in tree.rglob("*") if path.is_file() and path.suffix in (".py", ".pyi")]
    kept = {path.relative_to(tree).as_posix() for path in files if relevance.keeps(str(path))}
    assert kept == {entry.path for entry in discover(str(tree)).entries}
    assert len(kept) == 7


def test_a_virtual_environment_that_is_the_root_itself_is_watched(tmp_path: Path) -> None:
    env = write_tree(
        tmp_path / "env", {"pyvenv.cfg": "", ".gitignore": "*", "lib/site-packages/click/core.py": "", "README": ""}
    )
    relevance = judge(env)
    assert [entry.path for entry in discover(str(env)).entries] == ["lib/site-packages/click/core.py"]
    assert relevance.keeps(str(env / "lib/site-packages/click/core.py"))
    assert not relevance.keeps(str(env / "README"))


@pytest.mark.parametrize("path", ["shop/cart.py", "shop/inner", "shop", "env", "build"])
def test_deletions_of_files_found_or_skipped_by_name_count(tree: Path, path: str) -> None:
    relevance = judge_discovered(tree)
    shutil.rmtree(tree)
    assert relevance.keeps(str(tree / path))


@pytest.mark.parametrize("path", ["notes.txt", "ignored/a.py", "ignored", ".git/index.lock", "new.py", "env/x.py"])
def test_deletions_of_unread_files_do_not_count(tree: Path, path: str) -> None:
    relevance = judge_discovered(tree)
    shutil.rmtree(tree)
    assert not relevance.keeps(str(tree / path))


@pytest.mark.parametrize("path", [".gitignore", "shop/.pkgignore", "pyproject.toml", "shop/pyvenv.cfg", "setup.py"])
def test_added_and_removed_rules_count(tree: Path, path: str) -> None:
    assert judge(tree).keeps(str(tree / path))
    (tree / path).unlink(missing_ok=True)
    assert judge(tree).keeps(str(tree / path))


def test_a_rule_inside_an_ignored_folder_does_not_count(tree: Path) -> None:
    assert not judge(tree).keeps(str(write_tree(tree, {"ignored/.gitignore": ""}) / "ignored/.gitignore"))


def test_a_folder_that_was_moved_in_counts_unless_a_rule_leaves_it_out(tree: Path) -> None:
    for name in ("fresh/inner", "ignored/inner", "shop/drafts/more", "node_modules/more"):
        (tree / name).mkdir(parents=True)
    relevance = judge(tree)
    assert relevance.keeps(str(tree / "fresh"))
    assert relevance.keeps(str(tree / "fresh/inner"))
    assert not any(relevance.keeps(str(tree / name)) for name in ("ignored/inner", "shop/drafts", "node_modules/more"))


@pytest.mark.parametrize("name", ["graph.db", "graph.db-wal", "graph.db-shm", "graph.db-vectors", "graph.db-journal"])
def test_a_store_inside_the_tree_does_not_count(tree: Path, name: str) -> None:
    write_tree(tree, {name: b"\0"})
    assert not judge_discovered(tree).keeps(str(tree / name))


@pytest.mark.parametrize("name", ["cart.py~", ".cart.py.swp", "#cart.py#", "4913", "cart.py___jb_tmp___"])
def test_temporary_files_of_editors_do_not_count(tree: Path, name: str) -> None:
    write_tree(tree / "shop", {name: ""})
    assert not judge_discovered(tree).keeps(str(tree / "shop" / name))


def test_the_lock_of_emacs_does_not_count(tree: Path) -> None:
    (tree / "shop/.#cart.py").symlink_to("somebody@host.1:2")
    assert not judge(tree).keeps(str(tree / "shop/.#cart.py"))


def test_the_root_and_what_lies_outside_always_count(tree: Path) -> None:
    assert judge(tree).keeps(str(tree))
    assert judge(tree).keeps(str(tree.parent / "elsewhere.txt"))


def test_rules_above_the_root_hold_below_it(tree: Path) -> None:
    inner = tree / "shop"
    (tree / ".git/HEAD").write_text("")
    relevance = judge(inner)
    write_tree(inner, {"api_pb2.py": "", "kept_pb2.py": ""})
    assert not relevance.keeps(str(inner / "api_pb2.py"))
    assert relevance.keeps(str(inner / "kept_pb2.py"))


def test_a_name_that_does_not_print_is_known_by_its_spelling(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", {"a\x1bb/c\\d.py": ""})
    relevance = judge_discovered(tree)
    shutil.rmtree(tree / "a\x1bb")
    assert relevance.keeps(str(tree / "a\x1bb/c\\d.py"))
    assert relevance.keeps(str(tree / "a\x1bb"))


def test_a_very_deep_path_is_judged(tmp_path: Path) -> None:
    folder = f"{tmp_path}/{'d/' * (sys.getrecursionlimit() + 100)}"
    relevance = judge(tmp_path)
    assert not relevance.keeps(f"{folder}x.py")
    assert not relevance.keeps(f"{folder}.gitignore/none")
    assert relevance.keeps(f"{folder}.gitignore")
