"""A settings file that came with code decides nothing that matters until the user has trusted it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from byte_listener import Listener, listen_locally
from click.testing import CliRunner, Result
from toy_models import LetterModel
from trees import write_tree

from pkg.cli import main
from pkg.config import HARMLESS, SETTINGS, find_settings
from pkg.errors import PathError, TrustError
from pkg.graph.opening import open_store
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.store_encoder import choose_query_encoder
from pkg.trust import find_user_folder, read_trust

RESTRICTED = {
    "attempts", "encoder", "follow_links", "gate", "max_tokens", "model", "price", "store",
}  # fmt: skip
PASSWORD, KEY = "pass-of-the-user", "key-of-the-user"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a repository that somebody else wrote, with a graph of it in the user's own store, and credentials set."""
    folder = write_tree(tmp_path / "clone", {"shop.py": "def add_tax(amount):\n    return amount * 2\n"})
    monkeypatch.chdir(folder)
    assert run("build", ".").exit_code == 0
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", PASSWORD)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return folder


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listen_locally() as found:
        yield found


def test_every_setting_is_harmless_or_needs_trust() -> None:
    """A new setting needs trust by itself; whoever makes one says here, and in HARMLESS, what it is."""
    assert {*SETTINGS} == {*HARMLESS} | RESTRICTED
    assert not {*HARMLESS} & RESTRICTED


HOSTILE = {
    "store neo4j": 'store = "neo4j://127.0.0.1:{port}"',
    "store bolt": 'store = "bolt://127.0.0.1:{port}/neo4j"',
    "store encrypted": 'store = "neo4j+s://127.0.0.1:{port}"',
    "store elsewhere": 'store = "sqlite:///{outside}/graph.db"',
    "store above": 'store = "sqlite:///../outside/graph.db"',
    "store at home": 'store = "sqlite:///~/graph.db"',
    "encoder service": 'encoder = "openai:m@http://127.0.0.1:{port}/v1"',
    "encoder folder": 'encoder = "st:./m"',
    "model service": 'model = "openai:m@http://127.0.0.1:{port}/v1"',
    "model file": 'model = "gguf:./m.gguf"',
    "gate": 'gate = "../outside/gate.json"',
    "price": 'price = "0/0"',
}
USERS = {
    "store": (("stats",), ("query", "tax"), ("build", "."), ("verify", "--trace", "true"), ("mcp",), ("serve",)),
    "encoder": (("build", "."),),
    "model": (("ask", "tax"), ("query", "tax", "--generate"), ("enhance", "--yes"), ("serve", "--port", "0")),
    "gate": (("query", "tax", "--generate", "--model", "gguf:own"),),
    "price": (("build", ".", "--enhance", "--model", "template"), ("enhance", "--model", "template")),
}
STRANGERS = {  # commands that have the option, or not, and do not use it as they are called here
    "store": (("browser", "--export", "guide"),),
    "encoder": (("stats",), ("query", "tax")),
    "model": (("query", "tax"), ("build", "."), ("enhance", "--list", "--undo", "m"), ("enhance", "--diff")),
    "gate": (("query", "tax"), ("stats",)),
    "price": (("build", "."), ("enhance", "--diff"), ("ask", "tax")),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_needs_trust_is_refused_before_anything_is_sent_or_loaded(
    clone: Path, listener: Listener, kind: str
) -> None:
    outside = clone.parent / "outside"
    text = HOSTILE[kind].format(port=listener.port, outside=outside)
    (clone / "pkg.toml").write_text(f"{text}\n")
    name = text.partition(" ")[0]
    for words in USERS[name]:
        refused = run(*words)
        assert refused.exit_code == 1, (words, refused.output)
        assert f"setting '{name}' in {clone / 'pkg.toml'}" in refused.stderr
        assert f"run: pkg trust {clone};" in refused.stderr
    assert (listener.clients, listener.received, outside.exists()) == (0, b"", False)


@pytest.mark.parametrize("name", STRANGERS)
def test_a_command_that_does_not_use_a_setting_is_not_stopped_by_it(clone: Path, name: str, listener: Listener) -> None:
    text = next(text for kind, text in HOSTILE.items() if kind.startswith(name))
    (clone / "pkg.toml").write_text(text.format(port=listener.port, outside=clone.parent) + "\n")
    for words in STRANGERS[name]:
        assert "not trusted" not in run(*words).stderr
    assert listener.clients == 0


def test_what_is_trusted_is_used_until_it_changes(clone: Path, listener: Listener) -> None:
    settings = clone / "pkg.toml"
    settings.write_text(f'store = "bolt://127.0.0.1:{listener.port}"\n')
    trusted = json.loads(run("trust", "--json").stdout)
    assert trusted["settings"] == {"store": f"bolt://127.0.0.1:{listener.port}"}
    assert "trust" not in run("stats").stderr
    seen = listener.clients
    assert listener.received.startswith(b"\x60\x60\xb0\x17")  # the greeting of Bolt
    settings.write_text(f'store = "bolt://127.0.0.1:{listener.port}"\ntop_k = 3\n')
    assert "has changed since you trusted it" in run("stats").stderr
    assert listener.clients == seen
    run("trust", str(clone) + os.sep)
    run("stats")
    assert listener.clients > seen
    run("trust", "--remove", str(clone))
    assert "is not trusted" in run("stats").stderr


def test_a_flag_or_a_variable_wins_without_trust(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "pkg.toml").write_text('store = "neo4j://far.example"\n')
    assert run("stats", "--store", f"sqlite:///{clone.parent}/data.db").exit_code == 1  # there is none; it was asked
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{clone.parent}/own.db")
    assert "own.db" in run("stats").stderr


def test_the_settings_of_the_user_need_no_trust_and_those_of_a_folder_win(clone: Path) -> None:
    own = find_user_folder() / "pkg.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'store = "sqlite:///{clone.parent}/own.db"\ntop_k = 1\nmode = "function"\n')
    assert "own.db" in run("stats").stderr
    (clone / "pyproject.toml").write_text('[tool.pkg]\nstore = "neo4j://far.example"\n')
    assert f"setting 'store' in {clone / 'pyproject.toml'}" in run("stats").stderr


def test_the_hash_of_a_settings_file_can_be_named_by_a_variable(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'store = "sqlite:///{clone.parent}/ci.db"\n'
    (clone / "pkg.toml").write_text(text)
    monkeypatch.setenv("PKG_TRUST", hashlib.sha256(text.encode()).hexdigest())
    assert "ci.db" in run("stats").stderr
    assert "not trusted" not in run("stats").stderr
    (clone / "pkg.toml").write_text(text + "top_k = 2\n")
    assert "not trusted" in run("stats").stderr


def test_a_file_above_the_current_folder_and_a_link_to_a_trusted_one_need_trust_too(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = f'store = "sqlite:///{clone.parent}/own.db"\n'
    write_tree(clone.parent, {"pkg.toml": elsewhere, "mine/pkg.toml": elsewhere})
    assert f"setting 'store' in {clone.parent / 'pkg.toml'}" in run("stats").stderr
    run("trust", str(clone.parent / "mine"))
    (clone / "pkg.toml").symlink_to("../mine/pkg.toml")
    assert f"run: pkg trust {clone};" in run("stats").stderr
    (clone.parent / "copy").symlink_to("mine")  # another way to the same folder
    monkeypatch.chdir(clone.parent / "copy")
    assert "not trusted" not in run("stats").stderr


@pytest.mark.parametrize("path", ["graph.db", "data/graph.db", "data/../graph.db", "odd[1]*.db"])
def test_a_store_inside_of_the_folder_needs_no_trust(clone: Path, path: str) -> None:
    (clone / "pkg.toml").write_text(f'store = "sqlite:///{path}"\n')
    assert run("build", ".").exit_code == 0
    assert Path(path).resolve().exists()


@pytest.mark.parametrize("link", ["graph.db", "graph.db-wal", "graph.db.words"])
def test_a_link_out_of_the_folder_is_not_inside_of_it(clone: Path, link: str) -> None:
    (clone / "pkg.toml").write_text('store = "sqlite:///graph.db"\n')
    (clone / link).symlink_to("../precious")
    assert "not trusted" in run("build", ".").stderr
    assert not (clone.parent / "precious").exists()


def test_the_encoder_of_a_graph_of_others_is_not_used_before_it_is_named(
    clone: Path, models: dict[str, LetterModel], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (clone / "pkg.toml").write_text('store = "sqlite:///graph.db"\n')
    assert run("build", ".", "--encoder", "toy:m").exit_code == 0
    assert run("query", "tax").exit_code == 0
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "of another user"))
    monkeypatch.setattr("pkg.trust._named", set())  # as in another process
    asked = len(models["toy:m"].asked)
    for words in (("query", "tax"), ("build", "."), ("ask", "tax")):
        (clone / "shop.py").write_text(f"x = '{words}'\n")
        refused = run(*words)
        assert refused.exit_code == 1
        assert "run: pkg trust --encoder toy:m" in refused.stderr
    assert len(models["toy:m"].asked) == asked
    assert run("stats").exit_code == 0  # needs no encoder
    assert run("trust", "--encoder", "toy:m").exit_code == 0
    assert run("query", "tax").exit_code == 0
    assert run("trust", "--encoder", "toy:m", "--remove").exit_code == 0
    assert run("query", "tax").exit_code == 1


def test_python_asks_for_trust_of_an_encoder_as_the_command_line_does(
    tree: Path, models: dict[str, LetterModel], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/g.db", create=True)) as store:
        build(str(tree), store, BuildOptions("toy:m"))
        assert choose_query_encoder(store) == "toy:m"
        monkeypatch.setattr("pkg.trust._named", set())
        assert choose_query_encoder(store) == "toy:m"  # recorded
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "of another user"))
        with pytest.raises(TrustError, match="toy:m"):
            choose_query_encoder(store)


def test_a_list_shows_what_is_trusted_and_a_damaged_record_is_told(clone: Path) -> None:
    assert run("trust", "--list", "--no-json").stdout == "nothing is trusted\n"
    assert run("trust").exit_code == 2  # no settings file
    (clone / "pkg.toml").write_text("top_k = 3\n")
    assert "nothing in it needs trust" in run("trust", "--no-json").stdout
    assert run("trust", "--encoder", "openai:m@http://far.example/v1").exit_code == 0
    path, encoder = (json.loads(line) for line in run("trust", "--list", "--json").stdout.splitlines())
    assert (path["path"], encoder["encoder"]) == (str(clone / "pkg.toml"), "openai:m@http://far.example/v1")
    for wrong in (("--list", "."), (".", "--encoder", "static"), ("--remove", "/nowhere")):
        assert run("trust", *wrong).exit_code == 2
    record = find_user_folder() / "trust.json"
    assert record.stat().st_mode & 0o077 == 0
    record.write_text("[]")
    with pytest.raises(PathError, match="delete it"):
        read_trust()


@pytest.mark.parametrize("place", ["../other", "../missing", "sub/../../other"])
def test_trusting_another_folder_does_not_trust_the_current_one(clone: Path, place: str) -> None:
    (clone / "pkg.toml").write_text('store = "neo4j://127.0.0.1:9"\n', encoding="utf-8")
    (clone.parent / "other").mkdir()
    refused = run("trust", place)
    assert refused.exit_code == 2
    assert "settings file" in refused.stderr
    assert read_trust().files == ()


def test_an_archive_does_not_bring_settings_with_it(clone: Path, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "corpus.zip", "w") as archive:
        archive.writestr("pkg.toml", 'store = "neo4j://far.example"\n')
        archive.writestr("a.py", "def a(): pass\n")
    assert run("build", str(tmp_path / "corpus.zip")).exit_code == 0
    assert find_settings(clone) is None


def test_a_process_of_its_own_sends_nothing_either(clone: Path, listener: Listener) -> None:
    (clone / "pkg.toml").write_text(f'store = "neo4j://127.0.0.1:{listener.port}"\n')
    for words in (["mcp"], ["stats"]):
        done = subprocess.run(
            [sys.executable, "-m", "pkg.cli", *words],
            cwd=clone, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"not trusted" in done.stderr
    assert listener.clients == 0
