"""The source of an agent is the one that contains its working directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from shop_repository import SHOP
from trees import write_tree

import pkg
from pkg.model import Source
from pkg.service.mcp.served_source import choose_served, choose_source


@pytest.mark.parametrize(
    ("folder", "name"), [("", "all"), ("docs", "all"), ("shop", "shop"), ("shop/admin", "shop"), ("..", None)]
)
def test_the_innermost_source_around_a_folder_is_chosen(tmp_path: Path, folder: str, name: str | None) -> None:
    root = tmp_path / "repo"
    write_tree(root, {"shop/admin/a.py": "", "docs/b.md": ""})
    sources = [
        Source("all", "repository", str(root)),
        Source("shop", "repository", str(root / "shop")),
        Source("other", "repository", str(tmp_path / "re")),
        Source("rows", "corpus", ""),
    ]
    assert choose_source(sources, root / folder) == name


def test_two_sources_of_one_folder_are_ambiguous(tmp_path: Path) -> None:
    sources = [Source(name, "repository", str(tmp_path)) for name in ("one", "two")]
    assert choose_source(sources, tmp_path) is None


def test_the_source_of_the_working_directory_is_chosen(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    assert choose_served(store, None, tmp_path) is None
    pkg.build_graph(write_tree(tmp_path / "repo", SHOP), store=store)
    pkg.build_graph(write_tree(tmp_path / "tea", {"tea.py": "def brew():\n    return 1\n"}), store=store)
    assert choose_served(store, None, tmp_path / "tea") == "tea"
    assert choose_served(store, None, tmp_path) is None
    assert choose_served(store, "repo", tmp_path / "tea") == "repo"
    assert choose_served(store, "all", tmp_path / "tea") is None
    pkg.build_graph(tmp_path / "tea", store=store, source="all")
    assert choose_served(store, "all", tmp_path / "repo") == "all"
