"""The hook for pre-commit: its entry as a shell runs it, in a repository with a planted cycle."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from git_trees import make_repository, run_git
from trees import write_tree

ROOT = Path(__file__).resolve().parents[3]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
FILES = {"shop/cart.py": "import shop.prices\n", "shop/prices.py": "RATE = 2\n"}
CYCLE = {"shop/prices.py": "import shop.cart\n"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "code", FILES)


@pytest.fixture
def run(tmp_path: Path, repository: Path) -> Run:
    """Return a function that runs the hook with its arguments."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "pkg"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pkg.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache dir")}

    def invoke(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*shlex.split(HOOK["entry"]), *words]
        return subprocess.run(command, cwd=repository, env=env, capture_output=True, text=True)

    return invoke


def test_a_new_cycle_stops_a_commit_and_is_named(run: Run, repository: Path) -> None:
    assert run().returncode == 0
    write_tree(repository, CYCLE)
    stopped = run()
    assert stopped.returncode == 1
    assert "pkg: cycle of imports: shop/" in stopped.stderr
    assert "import cycle of 2" in stopped.stdout
    assert run_git(repository, "status", "--porcelain").split() == ["M", "shop/prices.py"]


def test_a_known_cycle_lets_a_commit_pass(run: Run, repository: Path, tmp_path: Path) -> None:
    write_tree(repository, CYCLE)
    assert run().returncode == 1
    (store,) = (tmp_path / "cache dir" / "pkg" / "hooks").glob("*.db")
    asked = [sys.executable, "-m", "pkg.cli", "deps", "--cycles", "--limit", "0", "--json", "--store"]
    listed = subprocess.run([*asked, f"sqlite:///{store}"], capture_output=True, text=True, check=True, cwd=ROOT)
    (repository / "cycles.jsonl").write_text(listed.stdout, encoding="utf-8")
    assert run("--known", "cycles.jsonl").returncode == 0


def test_it_runs_once_for_all_python_files() -> None:
    assert (HOOK["pass_filenames"], HOOK["require_serial"], HOOK["types"]) == (False, True, ["python"])
