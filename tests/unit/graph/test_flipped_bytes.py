"""A changed byte in a store is either detected or changes no result."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from linked import SHOP as LINKED
from trees import SHOP, export_lines, write_rows, write_tree

from pkg.api import build_graph
from pkg.cli import main
from pkg.errors import PkgError, StoreCorruptError, StoreFullError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.private_files import repair_file

FLIPS = 60  # for each of the seeds
SEEDS = range(4)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[str]]:
    """Return the bytes of a store of a repository and a corpus after changes and deletions, and its export."""
    place = tmp_path_factory.mktemp("sound")
    path = place / "graph.db"
    tree = write_tree(place / "shop", LINKED | SHOP)
    rows = write_rows(
        place / "rows.jsonl", *(f"import os\ndef f{n}(x):\n    return os.path.join(x)\n" for n in range(9))
    )
    address = f"sqlite:///{path}"
    build_graph(tree, store=address)
    build_graph(rows, store=address)
    (tree / "shop/old.py").unlink()
    (tree / "shop/prices.py").write_text("TABLE = {}\n\n\ndef find_price(item):\n    return TABLE[item]\n")
    build_graph(tree, store=address)
    with closing(EmbeddedStore(path)) as store:
        assert store.check() == []
        return path.read_bytes(), export_lines(store)


def flip(content: bytes, draw: random.Random) -> bytes:
    """Change one byte of the pages in use."""
    changed = bytearray(content)
    place = draw.randrange(len(content))
    changed[place] ^= draw.randrange(1, 256)
    return bytes(changed)


def judge(path: Path) -> Iterator[str]:
    """Return the errors of a check of the store, then of an export."""
    for ask in (EmbeddedStore.check, export_lines):
        try:
            with closing(EmbeddedStore(path)) as store:
                yield json.dumps(ask(store))
        except PkgError as fault:
            yield f"fault: {fault}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_flipped_byte_is_detected_or_changes_nothing(
    sound: tuple[bytes, list[str]], tmp_path: Path, seed: int
) -> None:
    content, lines = sound
    draw, path = random.Random(seed), tmp_path / "graph.db"
    told = 0
    for _ in range(FLIPS):
        path.write_bytes(flip(content, draw))
        checked, exported = judge(path)
        is_told = checked != "[]" or exported.startswith("fault: ")
        assert is_told or exported == json.dumps(lines)
        told += is_told
    assert told  # most of a small store is unused space


def find_all(content: bytes, wanted: bytes) -> Iterator[int]:
    at = content.find(wanted)
    while at >= 0:
        yield at
        at = content.find(wanted, at + 1)


@pytest.mark.parametrize(
    "text", [b"find_price", b"shop/cart.py", b"Cart.total", b"same module", b"static", b"repository"]
)
def test_an_export_refuses_a_store_whose_texts_have_changed(
    sound: tuple[bytes, list[str]], tmp_path: Path, text: bytes
) -> None:
    content, lines = sound
    path, refused = tmp_path / "graph.db", 0
    for at in find_all(content, text):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        result = CliRunner().invoke(main, ["export", "--vectors", "--store", f"sqlite:///{path}"])
        refused += result.exit_code
        assert (result.exit_code, result.stdout) in ((1, ""), (0, "".join(export_compactly(lines))))
    assert refused


def export_compactly(lines: list[str]) -> Iterator[str]:
    return (json.dumps(json.loads(line), separators=(",", ":")) + "\n" for line in lines)


def test_the_doctor_names_the_kind_of_damaged_data(sound: tuple[bytes, list[str]], tmp_path: Path) -> None:
    content, _ = sound
    path = tmp_path / "graph.db"
    at = content.find(b"shop/cart.py")
    path.write_bytes(content[:at] + b"S" + content[at + 1 :])
    with closing(EmbeddedStore(path)) as store:
        assert "1 files or rows whose bytes have changed" in store.check()
        with pytest.raises(StoreCorruptError, match="files or rows whose bytes have changed"):
            next(store.export())
    result = CliRunner().invoke(main, ["doctor", "--json", "--store", f"sqlite:///{path}"])
    assert result.exit_code == 1
    assert "1 files or rows whose bytes have changed" in result.stdout


@pytest.mark.parametrize("name", ["graph.db-vectors", "graph.db-terms"])
def test_the_doctor_rewrites_a_damaged_copy(sound: tuple[bytes, list[str]], tmp_path: Path, name: str) -> None:
    path, copy = tmp_path / "graph.db", tmp_path / name
    path.write_bytes(sound[0])
    command = ["doctor", "--json", "--store", f"sqlite:///{path}"]
    CliRunner().invoke(main, ["query", "find a price", "--store", f"sqlite:///{path}"])
    whole = copy.read_bytes()
    assert f"{name} was damaged" not in CliRunner().invoke(main, command).stdout
    at = max(place for place, byte in enumerate(whole) if byte)
    copy.write_bytes(whole[:at] + bytes([whole[at] ^ 8]) + whole[at + 1 :])
    assert (
        f"{name} was damaged or of another version, and was written again" in CliRunner().invoke(main, command).stdout
    )
    assert copy.read_bytes() == whole
    assert f"{name} was damaged" not in CliRunner().invoke(main, command).stdout


def test_a_damaged_copy_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    def write() -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "copy").write_bytes(b"?")
    with pytest.raises(StoreFullError, match=r"copy is damaged .* \(Permission denied\); delete it"):
        repair_file(tmp_path / "copy", lambda path: False, write)
