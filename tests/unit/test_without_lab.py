"""The product stands without the laboratory: where that cannot be imported, PKG builds, answers and chooses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = "import sys; sys.modules['pkg.lab'] = None"  # then it can neither be found nor imported
USE = f"""{BLOCK}
import pkg
sys.path.append({str(ROOT / "tests" / "support")!r})
from scripted_model import ScriptedModel

store = "sqlite:///graph.db"
pkg.build_graph("shop", store=store)
with pkg.open_graph(store) as graph:
    print([hit.qualname for hit in graph.query("add the tax", mode="function").hits])
    print(graph.generate("Write add(a, b).", ScriptedModel(["def add(a, b):\\n    return a + b\\n"])).text)
answers = ["def add(a, b):\\n    return a", "def add(a, b):\\n    return a + b"]
print(pkg.rank_candidates("add(1, 2) returns 3", answers).order)
print([name for name in sys.modules if name.startswith("pkg.lab.")])
"""
COMMAND = f"""{BLOCK}
from pkg.cli import run
run()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a repository of one file into an empty folder."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "prices.py").write_text("def add_tax(price):\n    return price * 1.2\n")
    return tmp_path


def run(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PKG_STORE": f"sqlite:///{folder / 'graph.db'}"}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_it_builds_answers_generates_and_reranks(folder: Path) -> None:
    done = run(folder, USE)
    assert done.stderr == ""
    found, *code, ranked, lab = done.stdout.splitlines()
    assert found == "['add_tax']"
    assert "    return a + b" in code
    assert ranked == "(1, 0)"
    assert lab == "[]"


def test_the_commands_of_the_laboratory_are_not_there_and_the_others_are(folder: Path) -> None:
    listed = run(folder, COMMAND, "--help")
    assert (listed.returncode, "Start:" in listed.stdout, "bench" in listed.stdout) == (0, True, False)
    assert run(folder, COMMAND, "build", "shop").returncode == 0
    assert "add_tax" in run(folder, COMMAND, "query", "add the tax").stdout
    missing = run(folder, COMMAND, "bench")
    assert (missing.returncode, "No such command 'bench'" in missing.stderr) == (2, True)
