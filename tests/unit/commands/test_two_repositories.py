"""In a store of two repositories, nothing of one appears in an answer given inside the folder of the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from trees import write_tree

from pkg.api import build_graph
from pkg.cli import main
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.mcp.served_source import choose_served

NAMES = ("shop", "bank")
QUESTIONS = ("find the price", "where is the retry limit", "who calls find_price")
COMMANDS = (
    ["outline"], ["map"], ["map", "--files"], ["stats"], ["stats", "--explain"], ["deps", "find_price"],
    ["deps", "--unused"], ["deps", "--cycles"], ["deps", "--imports"], ["show", "find_price"], ["impact", "find_price"],
    *([command, question] for question in QUESTIONS for command in ("query", "ask", "explore")),
)  # fmt: skip
OPERATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("status", {}), ("stats", {}), ("outline", {}), ("map", {"files": True}), ("deps", {"name": "find_price"}),
    ("show", {"name": "find_price"}), ("impact", {"names": ["find_price"]}),
    *((name, {"text": question}) for question in QUESTIONS for name in ("query", "explore", "prompt")),
    *(("ask", {"question": question}) for question in QUESTIONS),
)  # fmt: skip


def _write_repository(folder: Path, name: str) -> None:
    """Write a repository of common names, in which every path, docstring and class has the name of the repository."""
    write_tree(
        folder / name,
        {
            f"{name}_prices.py": f'"""Prices of the {name}."""\n\n\ndef find_price(item):\n'
            f'    """Find the price of an item of the {name}."""\n    return {name}_total([item])\n\n\n'
            f'def {name}_total(items):\n    """Add up the total of all items."""\n    return sum(items)\n',
            f"{name}_payments.py": f"from {name}_prices import find_price\n\nRETRY_LIMIT = 3\n\n\n"
            f'class {name.title()}Payments:\n    """Sends payments of the {name}."""\n\n'
            f"    def send(self, item):\n        return find_price(item) * RETRY_LIMIT\n",
        },
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    for name in NAMES:
        _write_repository(folder, name)
        build_graph(folder / name, store=f"sqlite:///{folder}/graph.db")
    return folder


@pytest.mark.parametrize(("here", "other"), [NAMES, NAMES[::-1]])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_answers_about_the_repository_around_it(
    folder: Path, here: str, other: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{folder}/graph.db")
    monkeypatch.chdir(folder / here)
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert [line for line in done.output.splitlines() if other in line.casefold()] == []
    if command != ["deps", "--cycles"]:  # there are none
        assert here in done.stdout.casefold()


@pytest.mark.parametrize(("here", "other"), [NAMES, NAMES[::-1]])
def test_a_server_answers_about_the_repository_around_it(folder: Path, here: str, other: str) -> None:
    store = f"sqlite:///{folder}/graph.db"
    service = GraphService(ServiceOptions(store, choose_served(store, None, folder / here)))
    for name, arguments in OPERATIONS:
        answer = service.run(name, arguments)
        assert other not in json.dumps([answer.lines, answer.to_text()]).casefold(), name
