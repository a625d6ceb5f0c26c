"""One rule for every command: text, unless --json, PKG_JSON or the setting asks for JSON lines, whoever reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from trees import write_tree

from pkg.cli import main
from pkg.console.settings import SettingOption

FILES = {"mail.py": "def send_mail(server, message):\n    server.send(message)\n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small graph of its own."""
    folder = write_tree(tmp_path_factory.mktemp("json"), FILES)
    run(folder, "build", ".", "--source", "mail")
    return folder


def run(folder: Path, *words: str, **variables: str) -> str:
    """Run a command with its output in a pipe, and return the output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PKG_")}
    environment = inherited | {"PKG_STORE": f"sqlite:///{folder / 'graph.db'}"} | variables
    command = [sys.executable, "-m", "pkg.cli", *words]
    return subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_json(output: str) -> bool:
    try:
        return all(isinstance(json.loads(line), dict) for line in output.splitlines())
    except ValueError:
        return False


@pytest.mark.parametrize(
    "words", [("query", "send a mail"), ("stats",), ("deps", "send_mail"), ("show", "send_mail"), ("outline",)]
)
def test_a_pipe_gets_text_unless_json_is_asked_for(folder: Path, words: tuple[str, ...]) -> None:
    assert not is_json(run(folder, *words))
    assert is_json(run(folder, *words, "--json"))
    assert is_json(run(folder, *words, PKG_JSON="1"))
    assert not is_json(run(folder, *words, "--no-json", PKG_JSON="1"))


def test_a_settings_file_may_ask_for_json(folder: Path) -> None:
    settings = folder / "pkg.toml"
    settings.write_text("json = true\n", encoding="utf-8")
    try:
        assert is_json(run(folder, "stats"))
        assert not is_json(run(folder, "stats", "--no-json"))
        assert "mail.py" in run(folder, "deps", "send_mail", "--format", "tree")
    finally:
        settings.unlink()


def list_commands(group: click.Group) -> list[click.Command]:
    commands = [group.commands[name] for name in group.list_commands(click.Context(group))]
    return [each for one in commands for each in (list_commands(one) if isinstance(one, click.Group) else [one])]


def test_every_option_json_is_the_setting() -> None:
    options = [each for one in list_commands(main) for each in one.params if "--json" in each.opts and not one.hidden]
    assert len(options) > 20
    assert [each for each in options if not isinstance(each, SettingOption)] == []
