"""The filter of changes accepts those of files that discovery reads, and of the rules that it applies."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from trees import write_tree

from pkg.extract.discovery import discover
from pkg.extract.files import DEFAULT_MAX_FILE_SIZE
from pkg.indexing.watch_filter import WatchFilter

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
def test_what_was_found_or_left_out_by_name_counts_when_it_is_deleted(tree: Path, path: str) -> None:
    relevance = judge_discovered(tree)
    shutil.rmtree(tree)
    assert relevance.keeps(str(tree / path))


@pytest.mark.parametrize("path", ["notes.txt", "ignored/a.py", "ignored", ".git/index.lock", "new.py", "env/x.py"])
def test_what_was_never_read_does_not_count_when_it_is_deleted(tree: Path, path: str) -> None:
    relevance = judge_discovered(tree)
    shutil.rmtree(tree)
    assert not relevance.keeps(str(tree / path))


@pytest.mark.parametrize("path", [".gitignore", "shop/.pkgignore", "pyproject.toml", "shop/pyvenv.cfg", "setup.py"])
def test_a_rule_counts_whether_it_came_or_went(tree: Path, path: str) -> None:
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
def test_what_editors_leave_beside_a_file_does_not_count(tree: Path, name: str) -> None:
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
    deep = "/".join(["d"] * 1500) + "/x.py"
    assert not judge(tmp_path).keeps(f"{tmp_path}/{deep}")
    assert not judge(tmp_path).keeps(f"{tmp_path}/{deep.removesuffix('x.py')}.gitignore/none")
    assert judge(tmp_path).keeps(f"{tmp_path}/{deep.removesuffix('x.py')}.gitignore")
