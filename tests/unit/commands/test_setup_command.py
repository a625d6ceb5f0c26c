"""`pkg setup` builds, describes, adds the server to the agents of this machine, and takes all of it back."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from trees import write_tree

from pkg.api import open_graph
from pkg.cli import main
from pkg.service.mcp.agent_configs import AGENTS
from pkg.service.mcp.setup_record import find_record

SHOP = {
    "cart.py": 'def total(prices):\n    """Sum the prices of a cart."""\n    return sum(prices)\n',
    "views.py": "from flask import Flask\nfrom cart import total\n\napp = Flask('shop')\n\n\n@app.get('/total')\n"
    "def show_total():\n    return str(total([1, 2]))\n",
}
GEMINI = '// mine\n{"theme": "dark"}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "PKG_STORE", "CODEX_HOME", "CLINE_MCP_SETTINGS_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    write_tree(tmp_path, {".gemini/settings.json": GEMINI, ".cursor/rules": ""})
    write_tree(tmp_path / "shop", SHOP)
    return tmp_path


def _run(*words: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["setup", *words, "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_folder_is_built_described_and_served(home: Path) -> None:
    before = {path: path.read_bytes() for path in (home / "shop").rglob("*") if path.is_file()}
    built, found, *agents = _run(str(home / "shop"), "--yes")
    assert (built["source"], built["written"]) == ("shop", 2)
    assert found["lines"] == [
        "2 files, 2 functions, 0 classes",
        "1 call between them, 1 certain; 0 unresolved",
        "entered from outside at 1 place: GET /total",
        "most called: total (cart.py:1)",
        "nothing was left out",
    ]
    assert found["commands"] == [
        "pkg query 'sum the prices of a cart'", "pkg deps total --direction in", "pkg explore 'how does total work'",
    ]  # fmt: skip
    assert [(each["agent"], each["written"]) for each in agents] == [("cursor", True), ("gemini", True)]
    for command in found["commands"]:
        asked = CliRunner().invoke(main, shlex.split(command)[1:])
        assert asked.exit_code == 0, asked.output
        assert "total" in asked.stdout
    assert {path: path.read_bytes() for path in (home / "shop").rglob("*") if path.is_file()} == before


def test_all_of_it_is_taken_back(home: Path) -> None:
    _run(str(home / "shop"), "--yes")
    assert (home / ".cursor/mcp.json").exists()
    done = [str(each["done"]) for each in _run(str(home / "shop"), "--undo")]
    assert (home / ".gemini/settings.json").read_text() == GEMINI
    assert not (home / ".cursor/mcp.json").exists()
    assert (home / ".cursor/rules").exists()
    assert len(done) == 3
    with open_graph() as graph:
        assert graph.store.sources() == ()
    again = CliRunner().invoke(main, ["setup", str(home / "shop"), "--undo"])
    assert (again.exit_code, "has written nothing for" in again.stderr) == (2, True)


JSON = '\ufeff// mine\r\n{\r\n\t"theme": "dark", // no\r\n\t"OUTER": {"INNER": {"other": {"command": "x"}, }},\r\n}'
TOML = '# mine\r\nmodel = "large"\r\n\r\n[mcp_servers.other]  # stays\r\ncommand = "x"\r\n'


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_file_of_each_agent_is_byte_equal_after_undo(home: Path, agent: str, is_there: bool) -> None:
    path = AGENTS[agent].find_user_file()
    outer, *inner = AGENTS[agent].table
    text = JSON.replace("OUTER", outer).replace('"INNER": ', f'"{inner[0]}": ' if inner else '"first": ')
    content = (TOML if AGENTS[agent].is_toml else text).encode()
    path.unlink(missing_ok=True)
    if is_there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    find_record().parent.mkdir(parents=True)
    before = _list_folders(home)
    *_, added = _run(str(home / "shop"), "--agent", agent, "--yes")
    assert (added["agent"], added["written"], added["path"]) == (agent, True, str(path))
    assert path.read_bytes() != content
    _run(str(home / "shop"), "--undo")
    assert (path.read_bytes() if path.exists() else None) == (content if is_there else None)
    assert _list_folders(home) == before


def _list_folders(home: Path) -> set[Path]:
    return {each for each in home.rglob("*") if each.is_dir()}


def test_a_file_that_has_changed_since_loses_the_entry_alone(home: Path) -> None:
    _run(str(home / "shop"), "--yes")
    path = home / ".gemini/settings.json"
    path.write_text(path.read_text().replace('"dark"', '"light"'))
    said = [str(each["done"]) for each in _run(str(home / "shop"), "--undo")]
    assert "has changed since: the entry was removed" in " ".join(said)
    assert '"light"' in path.read_text()
    assert "pkg" not in path.read_text()


def test_without_a_terminal_only_yes_writes(home: Path) -> None:
    *_, cursor, gemini = _run(str(home / "shop"))
    assert (cursor["written"], gemini["written"]) == (False, False)
    assert (home / ".gemini/settings.json").read_text() == GEMINI
    assert len(_run(str(home / "shop"), "--agent", "none")) == 2


def test_a_file_that_cannot_be_changed_costs_that_agent_alone(home: Path) -> None:
    (home / ".gemini/settings.json").write_text("not JSON")
    done = CliRunner().invoke(main, ["setup", str(home / "shop"), "--yes", "--json"])
    assert done.exit_code == 0
    assert "settings.json was not changed: invalid JSON: line 1" in done.stderr
    agents = [json.loads(line) for line in done.stdout.splitlines()][2:]
    assert [(each["agent"], each["written"]) for each in agents] == [("cursor", True), ("gemini", False)]


def test_a_damaged_record_is_named(home: Path) -> None:
    find_record().parent.mkdir(parents=True)
    find_record().write_text("[]")
    done = CliRunner().invoke(main, ["setup", str(home / "shop"), "--undo"])
    assert (done.exit_code, "is no record of pkg setup" in done.stderr) == (1, True)


def test_code_without_functions_has_nothing_to_try(home: Path) -> None:
    write_tree(home / "settings", {"settings.py": "LIMIT = 3\n"})
    _, found = _run(str(home / "settings"), "--agent", "none")
    assert found["commands"] == []
    assert str(found["lines"]).startswith("['1 file, 0 functions")
