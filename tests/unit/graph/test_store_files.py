"""The files of a store: private, without leftovers of killed processes, deleted after a failed first build."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from contract.units import FILES, fill
from trees import SHOP, STORE_FILES, write_tree

from pkg.api import build_graph
from pkg.cli import main
from pkg.encode.batched import VectorCache
from pkg.errors import PkgError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.private_files import make_folder
from pkg.terms.index_cache import TextCache

ROOT = Path(__file__).parents[3]
UMASKS = [0o000, 0o022, 0o077, 0o177, 0o777]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX systems")


@contextmanager
def set_umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def list_modes(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()}


def list_names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("mask", UMASKS)
def test_every_file_of_a_store_is_private(tmp_path: Path, mask: int) -> None:
    pytest.importorskip("usearch")
    place = tmp_path / "new" / "folder"
    with set_umask(mask):
        with closing(EmbeddedStore(place / "graph.db", create=True, approximate_above=0)) as store:
            fill(store, FILES)
            with store.write() as writer:
                writer.put_fingerprint("demo", "pack/reader.py", "touched")
                during = list_modes(place)
        after = list_modes(place)
    copies = {f"graph.db-vectors-{name}" for name in ("block", "function", "declaration")}
    names = {*STORE_FILES, *copies}
    assert (set(after), set(during)) == (names, names | {"graph.db-wal", "graph.db-shm"})
    assert {*after.values(), *during.values()} == {0o600}
    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("mask", UMASKS)
def test_files_in_the_cache_folder_are_private(tmp_path: Path, mask: int) -> None:
    place = tmp_path / "cache" / "pkg"
    with set_umask(mask):
        VectorCache(place / "vectors.db").close()
        TextCache(lambda: place / "terms").write("stamp", lambda: iter(()))
    assert list_modes(place) == {"vectors.db": 0o600, "terms": 0o600}
    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_an_existing_folder_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "inner")
    assert (stat.S_IMODE(tmp_path.stat().st_mode), list_modes(tmp_path)) == (0o755, {"inner": 0o700})


def test_a_store_readable_by_others_is_unchanged_and_reported(tmp_path: Path) -> None:
    tree, path = write_tree(tmp_path / "shop", SHOP), tmp_path / "store" / "graph.db"
    build_graph(tree, store=f"sqlite:///{path}")
    assert "other users of this machine" not in run("doctor", "--store", f"sqlite:///{path}").output
    for each in path.parent.iterdir():
        each.chmod(0o644)
    write_tree(tree, {"shop/new.py": "def new():\n    pass\n"})
    build_graph(tree, store=f"sqlite:///{path}")
    assert set(list_modes(path.parent).values()) == {0o644}
    told = run("doctor", "--store", f"sqlite:///{path}").output
    assert "other users of this machine may read graph.db, graph.db-vectors, graph.db-terms" in told
    assert f"chmod 600 {path}" in told


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


FAILURES = {
    "a source that is not there": ["build", "nowhere"],
    "a source without Python": ["build", "empty"],
    "an encoder that is none": ["build", "shop", "--encoder", "none"],
    "an export that is none": ["build", "shop/shop/cart.py", "--from-export"],
    "a corpus that is not there": ["build", "none.jsonl"],
    "a corpus without code": ["build", "rows.jsonl"],
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tree(tmp_path / "shop", SHOP)
    (tmp_path / "empty").mkdir()
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "store").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", FAILURES.values(), ids=FAILURES)
def test_a_first_build_that_fails_leaves_no_file(place: Path, words: list[str]) -> None:
    assert run(*words, "--store", "sqlite:///store/graph.db").exit_code in (1, 2)
    assert list_names(place / "store") == []


@pytest.mark.parametrize("words", FAILURES.values(), ids=FAILURES)
def test_a_later_failed_build_keeps_the_store(place: Path, words: list[str]) -> None:
    assert run("build", "shop", "--store", "sqlite:///store/graph.db").exit_code == 0
    before = {each.name: each.read_bytes() for each in (place / "store").iterdir()}
    assert run(*words, "--store", "sqlite:///store/graph.db").exit_code in (1, 2)
    assert {each.name: each.read_bytes() for each in (place / "store").iterdir()} == before


def test_an_existing_file_is_kept(place: Path) -> None:
    (place / "store/graph.db").touch()
    assert run("build", "nowhere", "--store", "sqlite:///store/graph.db").exit_code == 1
    assert list_names(place / "store") == ["graph.db"]
    assert run("build", "shop", "--store", "sqlite:///store/graph.db").exit_code == 0


def test_a_write_that_is_interrupted_leaves_no_file(place: Path) -> None:
    path = place / "store/graph.db"
    with closing(EmbeddedStore(path, create=True)) as store:
        store.ensure_schema("static", 192)
        with pytest.raises(KeyboardInterrupt), store.write():
            raise KeyboardInterrupt
    assert list_names(path.parent) == []


def test_a_store_filled_by_another_process_is_not_removed(place: Path) -> None:
    path = place / "store/graph.db"
    failing, filling = EmbeddedStore(path, create=True), EmbeddedStore(path, create=True)
    failing.close()
    fill(filling, FILES)
    filling.close()
    with closing(EmbeddedStore(path)) as store:
        assert (store.generation(), store.check()) == (1, [])


def test_the_last_of_several_failing_builds_removes_the_file(place: Path) -> None:
    path = place / "store/graph.db"
    first, second = EmbeddedStore(path, create=True), EmbeddedStore(path, create=True)
    first.close()
    assert path.exists()
    second.close()
    assert list_names(path.parent) == []


RACE = """
import sys
from contextlib import closing, suppress
from pathlib import Path
from pkg.api import build_graph
from pkg.errors import PkgError
for number in range(int(sys.argv[2])):
    with suppress(PkgError):
        build_graph(sys.argv[1], store="sqlite:///store/graph.db")
"""


def test_failing_builds_beside_a_good_one_lose_nothing(place: Path) -> None:
    def start(path: str, times: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", RACE, path, str(times)]
        return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE)

    failing = [start("nowhere", 60) for _ in range(2)]
    good = start("shop", 3)
    assert [(each.communicate()[1], each.returncode) for each in (*failing, good)] == [(b"", 0)] * 3
    with closing(EmbeddedStore(place / "store/graph.db")) as store:
        assert (store.generation(), store.check()) == (1, [])
    assert list_names(place / "store") == STORE_FILES


KILLED = """
import sys, time
from importlib import import_module
from pathlib import Path
from contract.units import FILES, fill
from pkg.graph.embedded.embedded_store import EmbeddedStore
module = import_module(sys.argv[2])
def stop(*_, **__):
    print("writing", flush=True)
    time.sleep(60)
setattr(module, sys.argv[3], stop)
fill(EmbeddedStore(Path(sys.argv[1]), create=True, approximate_above=0), FILES)
"""


@pytest.mark.parametrize(
    ("module", "name", "left"),
    [
        ("pkg.vectors.vector_file", "pack_header", "graph.db-vectors"),
        ("pkg.terms.index_file", "pack_header", "graph.db-terms"),
        ("pkg.vectors.approximate", "_make_trailer", "graph.db-vectors-function"),
        ("pkg.graph.embedded.database_file", "_migrate", "graph.db"),
    ],
)
def test_what_a_killed_build_left_is_removed_by_the_next_one(tmp_path: Path, module: str, name: str, left: str) -> None:
    if "approximate" in module:
        pytest.importorskip("usearch")
    path = tmp_path / "graph.db"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests", ROOT / "tests/support")))}
    command = [sys.executable, "-c", KILLED, str(path), module, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert f"{left}.{process.pid}.tmp" in list_names(tmp_path)
        assert list_modes(tmp_path)[f"{left}.{process.pid}.tmp"] == 0o600
        with closing(EmbeddedStore(path, create=True)):
            assert f"{left}.{process.pid}.tmp" in list_names(tmp_path)  # still running
        process.send_signal(signal.SIGKILL)
    with closing(EmbeddedStore(path, create=True)) as store:  # like an unchanged build
        assert not [each for each in list_names(tmp_path) if each.endswith(".tmp")]
        fill(store, FILES)
        assert store.check() == []


def test_a_dangling_link_creates_the_store_at_its_target(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "graph.db").symlink_to("far/real.db")
    with pytest.raises(PkgError):
        build_graph(tmp_path / "nowhere", store=f"sqlite:///{tmp_path}/graph.db")
    assert (list_names(tmp_path / "far"), list_names(tmp_path)) == ([], ["far", "graph.db"])
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        fill(store, FILES)
    assert list_modes(tmp_path / "far")["real.db"] == 0o600


def test_a_database_of_another_program_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE invoices (number)")
    before = path.read_bytes()
    with pytest.raises(PkgError):
        build_graph(tmp_path / "nowhere", store=f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_a_store_is_created_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        fill(store, FILES)
        assert store.check() == []
    assert set(list_modes(tmp_path).values()) == {0o600}
