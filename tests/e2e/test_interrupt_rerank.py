"""Ctrl-C during ranking: exit code 130, complete lines, and the same command resumes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 60  # seconds for what takes less than one
TASKS = [{"id": name, "query": "def f(x):", "candidates": [f"def f(x): return '{name}'"]} for name in "abcdef"]
RESUMED = "pkg: interrupted; every line that was written is whole; with --resume FILE the same command goes on"


def start_rerank(out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "pkg.cli", "rerank", "-", "--resume", str(out), "--jobs", "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def wait_for_lines(out: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while not (out.exists() and out.read_bytes().count(b"\n")):
        assert process.poll() is None
        assert time.monotonic() < end, "no line came"
        time.sleep(0.02)


def test_ctrl_c_keeps_the_written_lines(tmp_path: Path) -> None:
    out = tmp_path / "ranked.jsonl"
    lines = [json.dumps(task).encode() + b"\n" for task in TASKS]
    process = start_rerank(out)
    assert process.stdin is not None
    process.stdin.write(b"".join(lines))  # and the pipe stays open
    process.stdin.flush()
    wait_for_lines(out, process)

    os.killpg(process.pid, signal.SIGINT)

    _, message = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert message.decode().startswith(RESUMED)
    for line in out.read_text().splitlines():
        assert json.loads(line)["chosen"] == 0
    rest = subprocess.run(
        [sys.executable, "-m", "pkg.cli", "rerank", "-", "--resume", str(out), "--jobs", "1"],
        input=b"".join(lines), capture_output=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert rest.stderr == b""
    assert sorted(json.loads(line)["id"] for line in out.read_text().splitlines()) == list("abcdef")
