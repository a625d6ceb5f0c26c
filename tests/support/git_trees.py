"""Git repositories for tests, with their own identity."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from trees import write_tree

IDENTITY = ("-c", "user.name=tester", "-c", "user.email=tester@localhost", "-c", "init.defaultBranch=main")


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return its output."""
    command = ["git", *IDENTITY, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout


def commit_all(folder: Path) -> str:
    """Commit everything in a work tree, including ignored files; return the commit."""
    run_git(folder, "add", "--all", "--force")
    run_git(folder, "commit", "--quiet", "--allow-empty", "--message", "state")
    return run_git(folder, "rev-parse", "HEAD").strip()


def make_repository(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Create a repository with one commit; return its folder."""
    write_tree(folder, files)
    run_git(folder, "init", "--quiet")
    commit_all(folder)
    return folder
