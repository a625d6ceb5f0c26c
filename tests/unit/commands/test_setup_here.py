"""`pkg setup --here` keeps a graph in a store of its own, which commands inside the folder use by default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from trees import write_tree

from pkg.cli import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "PKG_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for place in ("a", "b"):
        write_tree(tmp_path / place / "shop", {"cart.py": f"def total_{place}(prices):\n    return sum(prices)\n"})
    write_tree(tmp_path, {".gemini/settings.json": "{}"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def _set_up(*words: str) -> list[dict[str, Any]]:
    done = _run("setup", *words, "--json")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def _list_sources(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    monkeypatch.chdir(folder)
    return [each["root"] for each in json.loads(_run("stats", "--json").stdout)["sources"]]


def test_each_repository_has_a_graph_of_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = _set_up("a/shop", "--here", "--agent", "none")
    second, *_ = _set_up("b/shop", "--here", "--agent", "none")
    assert first["store"] != second["store"]
    for place in ("a", "b"):
        assert _list_sources(monkeypatch, home / place / "shop") == [str(home / place / "shop")]
        asked = _run("query", "total", "--json").stdout
        assert f"total_{place}" in asked
        assert f"total_{'b' if place == 'a' else 'a'}" not in asked
    monkeypatch.chdir(home)
    assert "no graph at" in _run("stats").stderr  # the shared store is not written


def test_the_shared_store_stays_possible(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _set_up("a/shop", "--here", "--agent", "none")
    _set_up("a/shop", "--agent", "none")
    monkeypatch.chdir(home / "a/shop")
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{home}/other.db")
    assert "no graph at" in _run("stats").stderr
    again = _run("setup", "--here")
    assert (again.exit_code, "names another" in again.stderr) == (2, True)


def test_the_entry_of_an_agent_names_no_store(home: Path) -> None:
    *_, agent = _set_up("a/shop", "--here", "--yes")
    assert (agent["agent"], agent["written"]) == ("gemini", True)
    assert "--store" not in agent["server"]["args"]


def test_all_of_it_is_taken_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, *_ = _set_up("a/shop", "--here", "--yes")
    done = [str(each["done"]) for each in _set_up("a/shop", "--undo")]
    assert done[-1].endswith("use the shared store")
    assert not Path(built["store"].removeprefix("sqlite:///")).parent.exists()
    assert (home / ".gemini/settings.json").read_text() == "{}"
    monkeypatch.chdir(home / "a/shop")
    assert "no graph at" in _run("stats").stderr
    again = _run("setup", "--undo")
    assert (again.exit_code, "has written nothing for" in again.stderr) == (2, True)


def test_a_store_with_other_sources_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _set_up("a/shop", "--here", "--agent", "none")
    monkeypatch.chdir(home / "a/shop")
    assert _run("build", str(home / "b/shop"), "--source", "other").exit_code == 0
    refused = _run("setup", "--undo")
    assert (refused.exit_code, "has other sources: other" in refused.stderr) == (2, True)
    assert _list_sources(monkeypatch, home / "a/shop") == [str(home / "b/shop")]


def test_a_file_has_no_commands_inside_it(home: Path) -> None:
    refused = _run("setup", "a/shop/cart.py", "--here")
    assert (refused.exit_code, "is not a folder" in refused.stderr) == (2, True)
