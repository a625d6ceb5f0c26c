"""A build reports a damaged store, whatever it would change, and reads no rows of a sound one."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from trees import FEW_EXAMPLES, SHOP, STORE_FILES, export_lines, write_tree

from pkg.cli import main
from pkg.graph.embedded import embedded_store
from pkg.graph.embedded.checksums import find_damage
from pkg.graph.embedded.embedded_store import EmbeddedStore

PAGE = 4096


def build(tree: Path, path: Path) -> Result:
    return CliRunner().invoke(main, ["build", str(tree), "--store", f"sqlite:///{path}"])


def read_store(path: Path) -> list[str]:
    with closing(EmbeddedStore(path)) as store:
        return export_lines(store)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes], list[str]]:
    """Return a repository, the files of its store, and its export."""
    place = tmp_path_factory.mktemp("shop")
    tree = write_tree(place / "shop", SHOP)
    assert build(tree, place / "store/graph.db").exit_code == 0
    files = {name: (place / "store" / name).read_bytes() for name in STORE_FILES}
    return tree, files, read_store(place / "store/graph.db")


def put_store(folder: Path, files: dict[str, bytes], content: bytes) -> Path:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "graph.db").write_bytes(content)
    return folder / "graph.db"


@FEW_EXAMPLES
@given(st.sampled_from(["flip", "swap", "blank"]), st.integers(0), st.integers(0), st.integers(1, 255), st.booleans())
def test_a_build_without_changes_reports_a_damaged_store(
    shop: tuple[Path, dict[str, bytes], list[str]], how: str, first: int, second: int, byte: int, has_sum: bool
) -> None:
    tree, files, lines = shop
    content = bytearray(files["graph.db"])
    pages = [slice(at, at + PAGE) for at in range(0, len(content), PAGE)]
    one, other = pages[first % len(pages)], pages[second % len(pages)]
    if how == "flip":
        content[first % len(content)] ^= byte
    elif how == "swap":
        content[one], content[other] = content[other], content[one]
    else:
        content[one] = bytes(PAGE)
    with TemporaryDirectory() as folder:
        kept = files if has_sum else {name: data for name, data in files.items() if name != "graph.db-sum"}
        path = put_store(Path(folder), kept, bytes(content))
        result = build(tree, path)
        if result.exit_code == 0:  # unused bytes: the contents are unchanged
            assert read_store(path) == lines
        else:
            assert (result.exit_code, result.stdout) == (1, "")
            assert "is damaged" in result.stderr or "is not a PKG store" in result.stderr or "newer" in result.stderr


def test_a_build_with_changes_reports_it_and_writes_nothing(
    shop: tuple[Path, dict[str, bytes], list[str]], tmp_path: Path
) -> None:
    _, files, _ = shop
    tree = write_tree(tmp_path / "shop", SHOP | {"shop/new.py": "def new():\n    pass\n"})
    at = files["graph.db"].index(b"find_price")
    content = files["graph.db"][:at] + b"F" + files["graph.db"][at + 1 :]
    path = put_store(tmp_path, files, content)
    result = build(tree, path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is damaged or not a PKG store" in result.stderr
    assert "move it away and run pkg build again" in result.stderr
    assert path.read_bytes() == content


def test_a_store_without_settings_and_checksum_is_damaged_and_stays(
    shop: tuple[Path, dict[str, bytes], list[str]], tmp_path: Path
) -> None:
    tree, files, _ = shop
    path = put_store(
        tmp_path, {name: data for name, data in files.items() if name != "graph.db-sum"}, files["graph.db"]
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE key IN ('generation', 'checksum')")
    result = build(tree, path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is damaged" in result.stderr
    assert path.is_file()


def test_a_store_that_another_program_has_written_is_used(
    shop: tuple[Path, dict[str, bytes], list[str]], tmp_path: Path
) -> None:
    tree, files, lines = shop
    path = put_store(tmp_path, files, files["graph.db"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
    assert json.loads(build(tree, path).stdout)["changed"] is False
    assert read_store(path) == lines


def test_rows_are_read_only_if_the_file_differs_from_its_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, looks = write_tree(tmp_path / "shop", SHOP), list[int]()

    def look(connection: sqlite3.Connection) -> list[str]:
        looks.append(1)
        return find_damage(connection)

    monkeypatch.setattr(embedded_store, "find_damage", look)

    def count_looks() -> int:
        looks.clear()
        assert build(tree, tmp_path / "graph.db").exit_code == 0
        return len(looks)

    assert [count_looks(), count_looks()] == [0, 0]
    (tree / "shop/cart.py").touch()  # a fingerprint alone is written
    assert [count_looks(), count_looks()] == [0, 0]
    write_tree(tree, {"shop/new.py": "def new():\n    pass\n"})
    assert [count_looks(), count_looks()] == [0, 0]
    (tmp_path / "graph.db-sum").unlink()
    assert [count_looks(), count_looks()] == [1, 0]
