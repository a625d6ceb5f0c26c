"""The entry of the server is added to the file and format of an agent, without changing any other byte."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from trees import write_tree

from pkg.cli import main
from pkg.errors import InputError, PathError, UsageError
from pkg.service.mcp.agent_configs import (
    AGENTS,
    find_command,
    install,
    is_installed,
    list_installed,
    list_words,
    plan_installation,
    uninstall,
)
from pkg.service.mcp.settings_edits import cut_member, cut_table, put_member, put_table, read_commented, read_toml

COMMENTED = """\
// settings of the editor
{
  "inputs": [], /* none yet */
  "servers": {
    "other": {"command": "other" /* old */, "args": ["a", "b"],},  // stays
  },
}
"""
TOML = """\
# how codex works here
model = "large"

[mcp_servers.other]  # stays
command = "other"

[profiles.fast]
model = "small"
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA", "PKG_STORE", "CLINE_MCP_SETTINGS_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("agent", "project", "user"),
    [
        ("claude-code", ".mcp.json", ".claude.json"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json", None),
        ("codex", ".codex/config.toml", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
        ("windsurf", None, ".codeium/windsurf/mcp_config.json"),
        ("zed", ".zed/settings.json", None),
        ("cline", None, ".cline/data/settings/cline_mcp_settings.json"),
        ("opencode", "opencode.json", ".config/opencode/opencode.json"),
    ],
)
def test_each_agent_has_its_own_file(tmp_path: Path, agent: str, project: str | None, user: str | None) -> None:
    if project is None:
        with pytest.raises(UsageError, match=f"{agent} reads no file of a project; add --scope user"):
            plan_installation(agent, "project", [])
    else:
        assert plan_installation(agent, "project", []).path == tmp_path / "project" / project
    if user is not None:
        assert plan_installation(agent, "user", []).path == tmp_path / user


def test_an_agent_may_move_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINE_MCP_SETTINGS_PATH", str(tmp_path / "servers.json"))
    assert plan_installation("cline", "user", []).path == tmp_path / "servers.json"


def test_agents_are_found_by_their_program_or_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert list_installed() == []
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".claude.json").write_text("{}")
    write_tree(tmp_path / "bin", {"zed": "#!/bin/sh\n"})
    (tmp_path / "bin/zed").chmod(0o755)
    assert list_installed() == ["claude-code", "cursor", "zed"]


@pytest.mark.skipif(sys.platform != "linux", reason="each system has its own folder")
def test_the_settings_of_an_editor_are_found(tmp_path: Path) -> None:
    assert plan_installation("vscode", "user", []).path == tmp_path / ".config/Code/User/mcp.json"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_missing_file_is_created_with_its_folder(agent: str) -> None:
    plan = plan_installation(agent, "user", ["--source", 'it\'s "x"'])
    assert not is_installed(plan)
    install(plan)
    assert is_installed(plan)
    text = plan.path.read_text()
    assert text == plan.snippet
    entry = read_toml(text) if agent == "codex" else json.loads(text)
    for name in (*AGENTS[agent].table, "pkg"):
        entry = entry[name]
    words = entry["command"] if agent == "opencode" else [entry["command"], *entry["args"]]
    assert words[-3:] == ["mcp", "--source", 'it\'s "x"']
    assert entry.get("type") == {"cursor": "stdio", "vscode": "stdio", "opencode": "local"}.get(agent)


def test_other_entries_are_kept_and_installing_is_idempotent(tmp_path: Path) -> None:
    for agent, before in (("vscode", COMMENTED), ("codex", TOML)):
        plan = plan_installation(agent, "project", [])
        plan.path.parent.mkdir()
        plan.path.write_text(before)
        install(plan)
        once = plan.path.read_text()
        install(plan)
        assert plan.path.read_text() == once
        lines = once.split("\n")
        assert [line for line in before.split("\n") if line not in lines] == []
        install(plan_installation(agent, "project", ["--source", "shop"]))
        assert '"shop"' in plan.path.read_text()
        install(plan)
        assert plan.path.read_text() == once


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("agent", "before"),
    [
        ("vscode", COMMENTED),
        ("codex", TOML),
        ("cursor", "{}\n"),
        ("cursor", '{"a": 1}\n'),
        ("gemini", '{\n  "a": {}\n}\n'),
    ],
)
def test_line_ends_and_byte_order_mark_are_kept(agent: str, before: str, mark: str) -> None:
    plan = plan_installation(agent, "project", ["--source", "shop"])
    plan.path.parent.mkdir(exist_ok=True)
    written = list[bytes]()
    for end in ("\n", "\r\n"):
        plan.path.write_bytes((mark + before.replace("\n", end)).encode())
        install(plan)
        install(plan_installation(agent, "project", []))  # replaces the older entry
        install(plan)
        written.append(plan.path.read_bytes())
    assert written[0].startswith((mark + before[0]).encode())
    assert written[1] == written[0].replace(b"\n", b"\r\n")
    assert (b'"shop"' in written[0], written[0].count(b'"--source"')) == (True, 1)


def test_mixed_line_ends_are_kept() -> None:
    plan = plan_installation("codex", "project", [])
    plan.path.parent.mkdir()
    plan.path.write_bytes(b'model = "large"\r\n# mixed\nslow = true\r\n[zzz]\r\na = 1\r\n')
    install(plan)
    assert plan.path.read_bytes().startswith(b'model = "large"\r\n# mixed\nslow = true\r\n[zzz]\r\na = 1\r\n\r\n[mcp_')


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    plan = plan_installation("claude-code", "project", [])
    plan.path.symlink_to(outside)
    with pytest.raises(PathError, match=r"\.mcp\.json links outside of the project, to .*outside\.json"):
        install(plan)
    assert not outside.exists()


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    kept.chmod(0o600)
    plan = plan_installation("claude-code", "user", [])
    plan.path.symlink_to(kept)
    install(plan)
    assert plan.path.is_symlink()
    assert "pkg" in json.loads(kept.read_text())["mcpServers"]
    assert os.name != "posix" or stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == [".claude.json", "kept.json", "project"]


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("claude-code", "not JSON"),
        ("claude-code", '{"mcpServers": 7}'),
        ("claude-code", '["a list"]'),
        ("claude-code", '{"a": 1 "b": 2}'),
        ("claude-code", "[" * 5_000),
        ("codex", "not TOML"),
        ("codex", 'mcp_servers = {other = {command = "x"}}'),
        ("codex", "mcp_servers = 7"),
        ("codex", '[mcp_servers.pkg]\ncommand = "x"\nnotes = """\n[a]\n"""'),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_not_changed(agent: str, text: str) -> None:
    plan = plan_installation(agent, "project", [])
    plan.path.parent.mkdir(exist_ok=True)
    plan.path.write_text(text)
    with pytest.raises(PathError, match=r"was not changed: .*; add this to it:"):
        install(plan)
    assert plan.path.read_text() == text


def test_a_store_path_is_absolute_and_passwords_are_refused(tmp_path: Path) -> None:
    words = list_words("sqlite:///graph.db", {"--source": None}, {"--watch": True, "--allow-build": True}, "user")
    assert words == ["--store", f"sqlite:///{tmp_path / 'project' / 'graph.db'}", "--watch", "--allow-build"]
    with pytest.raises(Exception, match="holds a password"):
        list_words("neo4j://me:secret@host", {}, {})


def test_a_user_entry_leaves_the_source_to_its_working_directory() -> None:
    shown = CliRunner().invoke(main, ["mcp", "--install", "codex", "--scope", "user", "--json"])
    assert json.loads(shown.stdout)["server"]["args"][-1] == "mcp"


@pytest.mark.skipif(os.name != "posix", reason="scripts have other names elsewhere")
def test_the_command_is_a_name_in_a_project_and_a_path_for_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "pkg"
    write_tree(tmp_path / "bin", {"pkg": "#!/bin/sh\n"})
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    assert find_command("project") == ["pkg"]  # independent of this machine
    assert Path(find_command("user")[0]).parent == Path(sys.executable).parent  # another program of that name
    assert plan_installation("cursor", "project", []).advice.startswith("put pkg on the PATH of the agent")
    monkeypatch.setattr(sys, "executable", str(script.parent / "python"))
    assert find_command("user") == [str(script)]
    assert plan_installation("cursor", "project", []).advice.startswith("restart Cursor")
    script.unlink()
    assert find_command("user") == [str(script.parent / "python"), "-m", "pkg.cli"]


def test_a_project_entry_holds_no_local_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(*words: str) -> Result:
        return CliRunner().invoke(main, ["mcp", "--install", "cursor", "--json", *words])

    inside = plan("--store", f"sqlite:///{Path.cwd()}/graphs/graph.db", "--model", f"gguf:{Path.cwd()}/coder.gguf")
    assert json.loads(inside.stdout)["server"] == {
        "type": "stdio", "command": "pkg",
        "args": ["mcp", "--store", "sqlite:///graphs/graph.db", "--model", "gguf:coder.gguf"],
    }  # fmt: skip
    outside = plan("--store", f"sqlite:///{tmp_path}/graph.db")
    assert outside.exit_code == 2
    assert "is outside of the project" in outside.stderr
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path}/graph.db")
    assert json.loads(plan().stdout)["server"]["args"] == ["mcp"]
    assert json.loads(plan("--scope", "user").stdout)["server"]["args"][2] == f"sqlite:///{tmp_path}/graph.db"


def test_the_command_shows_the_entry_and_writes_it_on_request() -> None:
    shown = CliRunner().invoke(main, ["mcp", "--install", "cursor", "--json"])
    line = json.loads(shown.stdout)
    path = Path(line["path"])
    assert (line["agent"], line["scope"], line["written"]) == ("cursor", "project", False)
    assert not path.exists()
    written = CliRunner().invoke(main, ["mcp", "--install", "cursor", "--write", "--json"])
    assert json.loads(written.stdout)["written"] is True
    assert json.loads(path.read_text())["mcpServers"]["pkg"] == line["server"]


def test_folder_settings_cannot_choose_the_model() -> None:
    Path("pkg.toml").write_text('model = "openai:evil@https://evil.example"\nsource = "shop"\n')
    shown = json.loads(CliRunner().invoke(main, ["mcp", "--install", "cursor", "--json"]).stdout)
    assert shown["server"]["args"] == ["mcp", "--source", "shop"]


@pytest.mark.parametrize(
    ("model", "written"),
    [
        ("gguf:coder.gguf", "gguf:{here}/coder.gguf"),
        ("gguf:~/coder.gguf", "gguf:{home}/coder.gguf"),
        ("gguf:/models/coder.gguf", "gguf:/models/coder.gguf"),
        ("hf:folder", "hf:{here}/folder"),
        ("hf:./none", "hf:{here}/none"),
        ("hf:Qwen/Qwen2.5-Coder-0.5B", "hf:Qwen/Qwen2.5-Coder-0.5B"),
        ("openai:coder@http://localhost:8000/v1", "openai:coder@http://localhost:8000/v1"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="paths are written otherwise elsewhere")
def test_the_path_of_a_model_file_is_absolute(tmp_path: Path, model: str, written: str) -> None:
    Path("folder").mkdir()
    given = ["mcp", "--install", "cursor", "--scope", "user", "--model", model, "--json"]
    args = json.loads(CliRunner().invoke(main, given).stdout)["server"]["args"]
    assert args == ["mcp", "--model", written.format(here=Path.cwd(), home=tmp_path)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--write"], "--write is for --install"),
        (["--scope", "user"], "--scope is for --install"),
        (["--install", "gemini", "--http"], "starts the server itself, without --http"),
        (["--port", "0"], "--host and --port are for --http"),
        (["--here", "--source", "shop"], "--here finds the source"),
        (["--install", "emacs"], "'emacs' is not one of"),
        (["--http", "--host", "0.0.0.0"], "means every address"),
    ],
)
def test_conflicting_options_are_refused(words: list[str], said: str) -> None:
    run = CliRunner().invoke(main, ["mcp", *words])
    assert run.exit_code == 2
    assert said in run.stderr


NAMES = st.text('abé" \\/', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_a_member_is_inserted_and_the_rest_is_unchanged(data: dict[str, Any], indent: int | str | None) -> None:
    data.pop("mcpServers", None)
    text = json.dumps(data, indent=indent)
    assert read_commented(text) == data
    once = put_member(text, ["mcpServers", "pkg"], {"command": "x"})
    assert json.loads(once) == data | {"mcpServers": {"pkg": {"command": "x"}}}
    twice = put_member(once, ["mcpServers", "pkg"], {"command": "y", "args": []})
    assert json.loads(twice) == data | {"mcpServers": {"pkg": {"command": "y", "args": []}}}


@pytest.mark.parametrize(
    "text", ["{,}", '{"a"}', '{"a": }', "{} {}", '{"a": "x}', "{'a': 1}", '{"a": 1, /* }', '{"a": -}']
)
def test_invalid_json_is_reported_with_its_line(text: str) -> None:
    with pytest.raises(InputError, match="invalid JSON: line 1: expected"):
        read_commented(text)


def test_a_table_is_appended_or_replaced() -> None:
    once = put_table(TOML, ["mcp_servers", "pkg"], {"command": "x", "args": ["mcp"]})
    assert once == f'{TOML}\n[mcp_servers.pkg]\ncommand = "x"\nargs = ["mcp"]\n'
    moved = once.replace("[profiles.fast]", "[zzz]")
    assert read_toml(put_table(moved, ["mcp_servers", "other"], {"command": "y"})) == read_toml(
        moved.replace('command = "other"', 'command = "y"')
    )


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_a_member_is_cut_and_the_rest_is_unchanged(data: dict[str, Any], indent: int | str | None) -> None:
    for place in range(len(data) + 1):
        members = list(data.items())
        members.insert(place, ("mcpServers", {"a": 1, "pkg": {"command": "x"}, "z": [2]}))
        text = json.dumps(dict(members), indent=indent)
        assert json.loads(cut_member(text, ["mcpServers", "pkg"])) == dict(members) | {"mcpServers": {"a": 1, "z": [2]}}
        assert json.loads(cut_member(text, ["mcpServers"])) == {
            name: value for name, value in members if name != "mcpServers"
        }
    assert cut_member(json.dumps(data), ["mcp", "servers", "pkg"]) == json.dumps(data)


def test_what_is_cut_keeps_comments() -> None:
    cut = cut_member(COMMENTED, ["servers", "other"])
    assert read_commented(cut) == {"inputs": [], "servers": {}}
    assert [part for part in ("// settings of the editor", "/* none yet */", "// stays") if part not in cut] == []
    path = ["mcp_servers", "pkg"]
    assert cut_table(put_table(TOML, path, {"command": "x"}), path) == TOML
    assert cut_table(TOML, path) == TOML
    assert read_toml(cut_table(TOML, ["mcp_servers", "other"])) == {
        "model": "large",
        "profiles": {"fast": {"model": "small"}},
    }
    assert cut_table(put_table("", path, {"command": "x"}), path) == ""


def test_uninstalling_removes_the_entry_alone() -> None:
    for agent, before in (("vscode", COMMENTED), ("codex", TOML), ("gemini", '{"theme": "dark"}\n')):
        plan = plan_installation(agent, "project", [])
        write_tree(plan.path.parent, {plan.path.name: before})
        assert not uninstall(agent, plan.path)
        assert plan.path.read_text() == before
        install(plan)
        assert uninstall(agent, plan.path)
        assert not is_installed(plan)
        read = read_toml if agent == "codex" else read_commented
        after = read(plan.path.read_text())
        assert {name: value for name, value in after.items() if value} == {
            name: value for name, value in read(before).items() if value
        }
    plan.path.write_text("not JSON")
    with pytest.raises(PathError, match="remove the entry pkg from it"):
        uninstall("gemini", plan.path)
