"""A killed or interrupted run of `pkg enhance` loses no text of the model."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.model import Label

FUNCTIONS = 40
PATIENCE = 60  # seconds for a process to do what takes one
SECONDS_A_FUNCTION = 0.05  # slow enough to be killed in between

RUN = f"""
import sys, time
from scripted_model import ScriptedModel
import pkg.enhance.enhancement_session as session
import pkg.enhance.enhancement as enhancement

def answer(asked):
    time.sleep({SECONDS_A_FUNCTION})
    with open(sys.argv[1], "a") as log:
        log.write(asked[-1].content.rpartition("def ")[2].partition("(")[0] + "\\n")
    return "How do I get a value back?"

enhancement.STORE_SECONDS = 0.5
session.open_model = lambda name: ScriptedModel(answer, name)
from pkg.cli import main
main(["enhance", "--model", "gguf:slow", "--json", *sys.argv[2:]])
"""
SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Build a graph of undocumented functions."""
    code = "".join(f"def give_{number}(value):\n    return value + {number}\n\n\n" for number in range(FUNCTIONS))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "many.py").write_text(code)
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        build(str(tmp_path / "code"), store)
    return tmp_path


def start(scene: Path, *options: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PKG_STORE": f"sqlite:///{scene / 'graph.db'}",
        "XDG_CACHE_HOME": str(scene / "cache"),
        "PYTHONPATH": str(SUPPORT),
    }
    words = [sys.executable, "-c", RUN, str(scene / "asked.log"), *options]
    return subprocess.Popen(
        words, cwd=scene, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def read_asked(scene: Path) -> list[str]:
    log = scene / "asked.log"
    return log.read_text().split() if log.exists() else []


def wait_for(scene: Path, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while len(read_asked(scene)) < count:
        assert time.monotonic() < end, f"{len(read_asked(scene))} functions were written in {PATIENCE} seconds"
        time.sleep(0.01)


def count_cached(scene: Path) -> int:
    with closing(sqlite3.connect(next(scene.glob("cache/**/docstrings.db")))) as connection:
        return int(connection.execute("SELECT count(*) FROM docstring").fetchone()[0])


def count_stored(scene: Path, name: str = "docstring_model") -> int:
    with closing(EmbeddedStore(scene / "graph.db")) as store:
        assert store.check() == []
        return sum(name in node.properties for node in store.nodes([Label.FUNCTION]))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like that here")
@pytest.mark.parametrize(
    ("options", "name"),
    [((), "docstring_model"), (("--questions",), "questions_model")],
    ids=["docstrings", "questions"],
)
def test_after_a_kill_the_next_run_repeats_no_answered_request(
    scene: Path, options: tuple[str, ...], name: str
) -> None:
    first = start(scene, *options)
    wait_for(scene, FUNCTIONS // 2)
    first.kill()
    first.communicate()
    kept, stored = count_cached(scene), count_stored(scene, name)
    assert FUNCTIONS // 2 - 1 <= kept < FUNCTIONS
    assert 0 < stored <= kept
    answered = read_asked(scene)
    second = start(scene, *options)
    output, errors = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, errors
    again = read_asked(scene)[len(answered) :]
    assert len(again) == FUNCTIONS - kept
    assert len(set(again) & set(answered)) <= 1  # answers between the last check and the kill are lost
    report = json.loads(output.splitlines()[-1])
    assert (report["written"], report["asked"]) == (FUNCTIONS - stored, FUNCTIONS - kept)
    assert count_stored(scene, name) == FUNCTIONS


def test_an_interrupt_stores_the_written_docstrings_and_says_so(scene: Path) -> None:
    first = start(scene)
    wait_for(scene, 10)
    first.send_signal(signal.SIGINT)
    _, errors = first.communicate(timeout=PATIENCE)
    assert first.returncode == 130
    assert "the same command goes on where it stopped" in errors
    stored = count_stored(scene)
    assert 5 <= stored < FUNCTIONS  # the last answers are in the cache
    second = start(scene)
    second.communicate(timeout=PATIENCE)
    assert count_stored(scene) == FUNCTIONS
    assert sorted(set(read_asked(scene))) == sorted(read_asked(scene))
