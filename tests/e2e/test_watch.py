"""`pkg build --watch` as a real process, with real edits and Ctrl-C."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from trees import SHOP, write_tree

from pkg.api import open_graph

PATIENCE = 60  # seconds for what takes about one
NEW = "def new_{0}():\n    return {0}\n"


class Watcher:
    """A running pkg build --watch, with its output lines."""

    def __init__(self, *arguments: str, store: Path) -> None:
        command = [sys.executable, "-m", "pkg.cli", "build", "--watch", "--store", f"sqlite:///{store}", *arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def next_report(self) -> dict[str, Any]:
        """Wait for the next line."""
        report: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE))
        return report

    def count_written(self, total: int) -> list[int]:
        """Wait until that many files were written in total; return the counts of each round."""
        rounds: list[int] = []
        while sum(rounds) < total:
            rounds.append(self.next_report()["written"])
        return rounds

    def wait(self) -> tuple[int, str]:
        """Wait for the end; return exit code and messages. No line may remain."""
        assert self.process.stderr is not None
        code = self.process.wait(timeout=PATIENCE)
        said = self.process.stderr.read()
        assert self._lines.empty()
        return code, said

    def end(self) -> tuple[int, str]:
        """Send Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.wait()

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


Start = Callable[..., Watcher]
INTERRUPTED = (130, "pkg: interrupted; the graph is whole, as it was before or as it is after this build\n")


def put(tree: Path, name: str, number: int) -> None:
    """Replace a file atomically, so that a build never sees half of it."""
    beside = tree.parent / "beside"
    beside.write_text(NEW.format(number))
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    os.replace(beside, tree / name)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "repo", {**SHOP, ".gitignore": "ignored/\n"})


@pytest.fixture
def start(tree: Path) -> Iterator[Start]:
    """Return a function that starts watchers of the tree, with the store inside it."""
    with ExitStack() as stack:

        def begin(*arguments: str, path: Path = tree) -> Watcher:
            watcher = Watcher(str(path), *arguments, store=tree / "graph.db")
            stack.callback(watcher.close)
            return watcher

        yield begin


@pytest.mark.parametrize("arguments", [(), ("--poll",)])
def test_each_edit_writes_one_line_and_ignored_files_none(tree: Path, start: Start, arguments: tuple[str, ...]) -> None:
    watcher = start(*arguments)
    assert watcher.next_report()["written"] == 3
    put(tree, "shop/new.py", 1)
    assert watcher.next_report()["written"] == 1
    write_tree(tree, {"ignored/a.py": "", "node_modules/b.py": "", "notes.log": "", ".git/hooks/c.py": ""})
    put(tree, "shop/inner/new.py", 2)
    last = watcher.next_report()
    assert (last["written"], last["unchanged"], last["generation"]) == (1, 4, 3)
    assert watcher.end() == INTERRUPTED
    with open_graph(f"sqlite:///{tree}/graph.db") as graph:
        assert [node.path for node in graph.find_name("new_2")] == ["shop/inner/new.py"]


@pytest.mark.slow
def test_a_burst_of_changes_starts_few_builds(tree: Path, start: Start) -> None:
    watcher = start()
    assert watcher.next_report()["written"] == 3
    for number in range(1000):
        put(tree, f"storm/part_{number % 30}/new_{number}.py", number)
    assert len(watcher.count_written(1000)) <= 5  # one, unless the machine pauses during the burst
    (tree / "storm").rename(tree / "calm")
    report = watcher.next_report()
    assert (report["written"], report["removed"]) == (1000, 1000)
    assert watcher.end() == INTERRUPTED


def test_edits_before_the_start_are_in_the_first_line(tree: Path, start: Start) -> None:
    first = start()
    first.next_report()
    assert first.end() == INTERRUPTED
    put(tree, "shop/new.py", 1)
    second = start()
    assert second.next_report()["written"] == 1
    assert second.end() == INTERRUPTED


def test_a_single_file_is_followed_when_an_editor_replaces_it(tree: Path, start: Start) -> None:
    file = tree / "shop/cart.py"
    watcher = start(path=file)
    assert watcher.next_report()["written"] == 1
    put(tree, "shop/beside.py", 1)
    put(tree, "shop/cart.py", 2)
    assert watcher.next_report()["written"] == 1
    assert watcher.end() == INTERRUPTED


@pytest.mark.parametrize("arguments", [(), ("--poll",)])
def test_a_deleted_folder_ends_it(tmp_path: Path, tree: Path, arguments: tuple[str, ...]) -> None:
    watcher = Watcher(str(tree), *arguments, store=tmp_path / "graph.db")
    try:
        watcher.next_report()
        tree.rename(tmp_path / "moved")
        shutil.rmtree(tmp_path / "moved")
        code, said = watcher.wait()
    finally:
        watcher.close()
    assert code == 1
    assert said == (
        f"pkg: {tree} was deleted, moved or replaced, so there is nothing left to watch;"
        " the graph keeps what it held; run the command again where the folder is now\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("repo@main", "--watch"), "repo@main is a git revision; name a folder, or leave out --watch"),
        (("-", "--watch"), "- is standard input; name a folder, or leave out --watch"),
        (("rows/*.csv", "--watch"), "rows/*.csv is several files of rows; name a folder, or leave out --watch"),
        (("repo", "--poll"), "--poll is a mode of --watch; give both, or neither"),
        (("repo", "--watch", "--remove"), "--watch excludes --remove and --from-export"),
    ],
)
def test_wrong_use_exits_with_code_2(arguments: tuple[str, ...], message: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pkg.cli", "build", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stdout == ""
