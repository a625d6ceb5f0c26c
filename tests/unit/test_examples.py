"""The programs under examples/ run and print the expected results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

import pkg

MAIL = """\
def send_mail(server, customer, message):
    for attempt in range(3):
        if server.connect():
            break
    return deliver(customer, message)


def deliver(customer, message):
    return customer.address, message
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "mail.py").write_text(MAIL, encoding="utf-8")
    return folder


def run_example(name: str, *arguments: str, where: Path, given: str = "") -> list[str]:
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=where, env=environment, input=given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_ask_prints_the_best_function_with_what_it_calls(shop: Path, tmp_path: Path) -> None:
    first, helper, *_ = run_example("ask.py", "shop", "send a mail to a customer", where=tmp_path)
    assert first.startswith("mail.py:1 send_mail, score 0.")
    assert helper == "  calls mail.py:8 deliver"


def test_deepest_functions_lists_the_deepest_first(shop: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(shop, store=store)
    with pkg.open_graph(store) as graph:
        export = "\n".join(map(json.dumps, graph.export()))
    lines = run_example("deepest_functions.py", where=tmp_path, given=export)
    assert lines == ["2 mail.py send_mail", "0 mail.py deliver"]


def test_choose_answer_prints_the_best_answer_first(tmp_path: Path) -> None:
    (tmp_path / "square.py").write_text("def double(n):\n    return n * n\n", encoding="utf-8")
    (tmp_path / "twice.py").write_text("def double(n):\n    return 2 * n\n", encoding="utf-8")
    question = "double(2) returns 4, double(3) returns 6"
    lines = run_example("choose_answer.py", question, "square.py", "twice.py", where=tmp_path)
    assert lines == ["1. twice.py", "2. square.py  examples: 1 of 2 hold; double(3) == 6: got 9"]
