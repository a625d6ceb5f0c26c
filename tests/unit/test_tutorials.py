"""The commands of the tutorials, run in their order, print what the pages show."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from pages import read_blocks
from terminal import list_commands, make_shell, run_page, write_page_files


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    return make_shell(tmp_path)


def test_an_unknown_repository_is_understood(shell: dict[str, str], tmp_path: Path) -> None:
    run_page(list_commands("docs/tutorials/unknown_repository.md"), shell, tmp_path)


def test_an_agent_gets_a_graph_and_loses_it_again(shell: dict[str, str], tmp_path: Path) -> None:
    run_page(list_commands("docs/tutorials/agent.md"), shell, tmp_path)


def test_the_client_on_the_page_of_agents_prints_what_the_page_shows(shell: dict[str, str], tmp_path: Path) -> None:
    page = "docs/tutorials/agent.md"
    (program,), (shown,) = read_blocks(page, "python"), read_blocks(page, "text")
    (tmp_path / "client.py").write_text(program, encoding="utf-8")
    build = list_commands(page)[0][0].replace("setup", "build").partition(" --agent")[0]
    subprocess.run(build, shell=True, env=shell, check=True, stdout=subprocess.DEVNULL)
    run = ["python", "client.py"]
    done = subprocess.run(run, cwd=tmp_path, env=shell, capture_output=True, text=True, check=True)
    assert drop_varying(done.stdout) == drop_varying(shown)


def test_answers_are_chosen_without_a_model(shell: dict[str, str], tmp_path: Path) -> None:
    page = "docs/tutorials/own_model.md"
    write_page_files(page, tmp_path)
    run_page([pair for pair in list_commands(page) if "--generate" not in pair[0]], shell, tmp_path)


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {}
    for cell in read_blocks("docs/tutorials/graph_in_a_notebook.md", "python"):
        exec(compile(cell, "graph_in_a_notebook.md", "exec"), names)
    assert capsys.readouterr().out.startswith("100 files\n912 functions;")
    assert names["result"].hits[0].qualname == "render"
    assert len(names["asked"]) == 50
    assert all(shares[0] > 0.7 for shares in names["found"].values())


def drop_varying(answer: str) -> list[str]:
    """Return the lines of an answer without its tags, which have random names, and without the folder of the code."""
    return [line for line in answer.splitlines() if "data-" not in line and not line.startswith("paths are below")]
