"""A killed run is resumed with the same curve, and leaves no result before it is complete."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_model import call, read_lines, run

pytestmark = pytest.mark.tuning

SECONDS = 300  # for the packages to load, on a busy machine


def kill_after_checkpoint(words: list[str], part: Path) -> None:
    """Start a run and kill it once its second checkpoint is complete; meanwhile no second run is possible."""
    process = subprocess.Popen([sys.executable, "-m", "pkg.cli", *words], stdout=subprocess.DEVNULL)
    end = time.monotonic() + SECONDS
    try:
        while len([*part.glob("checkpoint-*/complete.json")]) < 2:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)  # so that it does not end before the second run has tried
        second = call(*words)
        assert (second.exit_code, "is in use by another run of pkg tune" in second.output) == (2, True)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def test_a_killed_run_is_resumed_with_the_same_curve(place: Path, base: Path, tmp_path: Path) -> None:
    rows = str(place / "rows.jsonl")
    words = ["tune", "sft", rows, "--model", f"hf:{base}", "--set", "epochs=8", "--set", "dropout=0.1"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run(*words, "--out", str(whole))
    part = tmp_path / ".cut.part"
    kill_after_checkpoint([*words, "--out", str(cut)], part)
    assert not cut.exists()

    other = call(*words, "--out", str(cut), "--seed", "5")
    assert (other.exit_code, "holds another run, which was interrupted (other recipe)" in other.output) == (2, True)
    newest = max(part.glob("checkpoint-*/complete.json"), key=lambda path: path.stat().st_mtime).parent
    state = newest / "trainer_state.json"
    content = state.read_bytes()
    state.write_bytes(content[:100])
    broken = call(*words, "--out", str(cut))
    assert (broken.exit_code, "is damaged (trainer_state.json)" in broken.output) == (1, True)
    state.write_bytes(content)

    *_, tuned = run(*words, "--out", str(cut))
    assert tuned["resumed"]
    assert read_lines(cut / "curves.jsonl") == read_lines(whole / "curves.jsonl")
    assert (cut / "adapter_model.safetensors").read_bytes() == (whole / "adapter_model.safetensors").read_bytes()
    assert not part.exists()

    *_, again = run(*words, "--out", str(cut))  # which trains nothing
    assert again == tuned
    another = call(*words, "--out", str(cut), "--seed", "5")
    assert (another.exit_code, "is another run (other recipe)" in another.output) == (2, True)
