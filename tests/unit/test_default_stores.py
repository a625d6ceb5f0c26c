from __future__ import annotations

from pathlib import Path

import pytest

from pkg.default_stores import (
    default_store,
    delete_own_store,
    find_own_store,
    keep_own_store,
    name_own_store,
    read_own_stores,
)
from pkg.errors import PathError


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "pkg"


def _keep(root: Path) -> str:
    root.mkdir(parents=True, exist_ok=True)
    address = name_own_store(str(root))
    keep_own_store(str(root), address)
    return address


def test_the_shared_store_lies_in_the_data_folder_of_the_user(data: Path) -> None:
    assert default_store() == f"sqlite:///{data}/graph.db"


def test_inside_a_folder_the_innermost_own_store_is_the_default(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer, inner = _keep(tmp_path / "shop"), _keep(tmp_path / "shop/libs/tax")
    assert (outer, inner) == (f"sqlite:///{data}/stores/shop/graph.db", f"sqlite:///{data}/stores/tax/graph.db")
    (tmp_path / "shop/libs/tax/src").mkdir()
    for folder, expected in (("shop", outer), ("shop/libs", outer), ("shop/libs/tax/src", inner)):
        monkeypatch.chdir(tmp_path / folder)
        assert default_store() == expected
    monkeypatch.chdir(tmp_path)
    assert default_store() == f"sqlite:///{data}/graph.db"


def test_two_folders_of_one_name_have_different_stores(data: Path, tmp_path: Path) -> None:
    first, second, third = (_keep(tmp_path / place) for place in ("a/shop", "b/shop", "c/Shop"))
    assert (first, second) == (f"sqlite:///{data}/stores/shop/graph.db", f"sqlite:///{data}/stores/shop-2/graph.db")
    assert third.casefold() not in (first, second)
    assert name_own_store(str(tmp_path / "a/shop")) == first
    assert name_own_store("/") == f"sqlite:///{data}/stores/root/graph.db"
    assert name_own_store(str(tmp_path / "../..")) == f"sqlite:///{data}/stores/root/graph.db"


def test_a_deleted_store_is_the_default_no_more(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "shop"
    _keep(root)
    (data / "stores/shop").mkdir(parents=True)
    (data / "stores/shop/graph.db").write_bytes(b"")
    delete_own_store(str(root))
    monkeypatch.chdir(root)
    assert default_store() == f"sqlite:///{data}/graph.db"
    assert find_own_store(str(root)) is None
    assert not (data / "stores/shop").exists()


@pytest.mark.parametrize("text", ["[]", "{", '{"/shop": 3}'])
def test_a_damaged_record_is_named(data: Path, text: str) -> None:
    data.mkdir(parents=True)
    (data / "stores.json").write_text(text)
    with pytest.raises(PathError, match=r"stores\.json is no record of stores"):
        read_own_stores()
