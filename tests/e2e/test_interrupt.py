"""Ctrl-C during a real build: exit code 130, one line of message, and an unchanged graph."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pkg.api import build_graph, open_graph

PATIENCE = 60  # seconds for what takes less than one
ROWS = [{"id": f"row-{n}", "code": f"def area_{n}(width):\n    return width * {n}\n"} for n in range(1500)]


def export(store: str) -> list[dict[str, Any]]:
    with open_graph(store) as graph:
        return list(graph.export(vectors=True))


def wait_for_write(store: Path) -> None:
    """Wait until another process has begun to build a source beside the store."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if any(each.stat().st_size for each in store.parent.glob(f"{store.name}-pending-*-wal")):
            return
        time.sleep(0.01)
    pytest.fail("the build never began to write")


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_the_old_graph(tmp_path: Path, workers: int) -> None:
    file, store = tmp_path / "rows.jsonl", f"sqlite:///{tmp_path}/graph.db"
    file.write_text('{"code": "def old():\\n    return 1\\n"}\n')
    build_graph(file, store=store)
    before = export(store)
    arguments = ["build", "-", "--store", store, "--source", "piped", "--jobs", str(workers)]
    process = subprocess.Popen(
        [sys.executable, "-m", "pkg.cli", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("".join(json.dumps(row) + "\n" for row in ROWS).encode())  # and the pipe stays open
    process.stdin.flush()
    wait_for_write(tmp_path / "graph.db")

    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the workers too

    output, message = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert output == b""
    kept = r"(; [\d,]+ files or rows are prepared, and the same command goes on from there)?"
    assert re.fullmatch(rf"pkg: interrupted; the graph is as it was before{kept}\n", message.decode())
    assert export(store) == before
    with open_graph(store) as graph:
        assert graph.stats().generation == 1
        assert graph.store.check() == []
