"""Commands that run a model continue after a kill, and repeat no answered request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import pkg

COUNT = 24  # inputs of each command
PARALLEL = 3
SECONDS_A_TEXT = 0.05  # slow enough to be killed in between
SECONDS_OF_THE_FIRST = 1.5  # a request that outlasts the others before a kill
PATIENCE = 60  # seconds for a process to do what takes a few

RUN = f"""
import json, sys, threading, time
from scripted_model import ScriptedModel
import pkg.lab.judge.judging as judging
import pkg.models.registry as registry

lock, seen = threading.Lock(), []

def answer(asked):
    text = asked[-1].content
    with lock:
        seen.append(text)
        is_first = len(seen) == 1
    time.sleep({SECONDS_OF_THE_FIRST} if is_first and "query" not in sys.argv else {SECONDS_A_TEXT})
    with lock, open("asked.log", "a") as log:
        log.write(json.dumps([message.content for message in asked]) + "\\n")
    return "Question: Why?\\nAnswer: So.\\n[[A]]\\nRating: 3\\n    return 0\\nscore 4"

def open_model(name, options=None):
    return ScriptedModel(answer, name, f"identity of {{name}}", parallel={PARALLEL}, window=100_000)

registry.open_model = judging.open_model = open_model
from pkg.cli import main
main(sys.argv[1:])
"""
SUPPORT = Path(__file__).parents[1] / "support"
MODEL = ("--model", "gguf:scripted.gguf")
STUB = 'def double(n):\n    """Double a number.\n\n    >>> double(2)\n    4\n    """\n'


def write_inputs(folder: Path) -> None:
    """Write the inputs of all commands."""
    tasks = [
        {
            "task_id": f"HumanEval/{number}",
            "prompt": f'def add_{number}(value):\n    """Add {number}."""\n',
            "entry_point": f"add_{number}",
            "canonical_solution": f"    return value + {number}\n",
            "test": f"def check(candidate):\n    assert candidate(1) == {number + 1}\n",
        }
        for number in range(COUNT)
    ]
    (folder / "HumanEval.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    rows = [{"id": str(number), "instruction": f"Add {number}.", "question": f"Why {number}?", "answers": {"a": "x"}}
            for number in range(COUNT)]  # fmt: skip
    (folder / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    questions = [{"id": str(number), "question": f"What does add_{number} return?", "answer": "x", "type": "syntax"}
                 for number in range(COUNT)]  # fmt: skip
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions))
    bench = [{"id": str(number), "instruction": f"Add {number}.", "preference": "style", "reference": "x"}
             for number in range(COUNT)]  # fmt: skip
    (folder / "bench.jsonl").write_text("".join(json.dumps(each) + "\n" for each in bench))
    (folder / "task.py").write_text(STUB)
    (folder / "code").mkdir()
    code = "".join(f"def add_{number}(value):\n    return value + {number}\n\n\n" for number in range(COUNT))
    (folder / "code" / "many.py").write_text(code)
    for number in range(COUNT):
        (folder / "code" / f"note_{number}.md").write_text(f"# Part {number}\n\nIt adds.\n\nTwice.\n")
    pkg.build_graph(folder / "code", store=f"sqlite:///{folder / 'graph.db'}")


def start(folder: Path, words: tuple[str, ...]) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PKG_STORE": f"sqlite:///{folder / 'graph.db'}",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": str(SUPPORT),
    }
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def read_asked(folder: Path) -> list[str]:
    log = folder / "asked.log"
    return log.read_text().splitlines() if log.exists() else []


def kill_after(folder: Path, words: tuple[str, ...], count: int) -> None:
    """Run a command, and kill it after some answers of its model."""
    started, before = start(folder, words), len(read_asked(folder))
    end = time.monotonic() + PATIENCE
    while len(read_asked(folder)) - before < count:
        assert started.poll() is None, started.communicate()[1]
        assert time.monotonic() < end, f"{len(read_asked(folder)) - before} answers in {PATIENCE} seconds"
        time.sleep(0.005)
    started.kill()
    started.communicate()
    assert started.returncode == -signal.SIGKILL


def finish(folder: Path, words: tuple[str, ...]) -> str:
    done = start(folder, words)
    output, errors = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0, errors
    return output


COLUMNS = ("--columns", "none")
COMMANDS = {
    "eval": ("eval", "humaneval", "--data", "HumanEval.jsonl", "--any-data", "--out", "run", *COLUMNS, *MODEL),
    "eval qa": ("eval", "qa", "questions.jsonl", "--out", "qa", *MODEL),
    "eval preferences": ("eval", "preferences", "bench.jsonl", *MODEL, "--judge", "none", "--out", "graded"),
    "data references": ("data", "references", "bench.jsonl", *MODEL, "-o", "references.jsonl"),
    "data responses": ("data", "responses", "tasks.jsonl", *MODEL, "-o", "responses.jsonl"),
    "data meta": ("data", "meta", *MODEL, "-o", "meta.jsonl"),
    "judge grade": ("judge", "grade", "tasks.jsonl", *MODEL, "--out", "judged.jsonl"),
    "judge annotate": ("judge", "annotate", "tasks.jsonl", *MODEL, "--out", "judged.jsonl"),
}  # fmt: skip

QUICK, SLOW = ("eval", "judge grade"), pytest.mark.slow  # the others store texts by the same code, or are rarer

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like that here")


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=SLOW) for name in COMMANDS])
def test_a_killed_command_repeats_only_the_requests_in_transit(name: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    for _ in range(2):
        kill_after(tmp_path, COMMANDS[name], 2 * PARALLEL)
    answered = len(read_asked(tmp_path))
    finish(tmp_path, COMMANDS[name])
    asked = Counter(read_asked(tmp_path))
    assert answered < asked.total()
    assert len(asked) >= COUNT
    assert asked.total() - len(asked) <= 2 * PARALLEL  # answers between the model and the disk at each kill
    finish(tmp_path, COMMANDS[name])
    assert len(read_asked(tmp_path)) == asked.total()


@pytest.mark.parametrize("words", [("-n", "6"), ("--attempts", "4")])
def test_a_killed_generation_continues_and_a_complete_one_begins_again(words: tuple[str, ...], tmp_path: Path) -> None:
    write_inputs(tmp_path)
    command = ("query", STUB, "--generate", "--json", "--form", "brief", "--context", "none", *MODEL, *words)
    kill_after(tmp_path, command, 3)
    answered = len(read_asked(tmp_path))
    resumed = finish(tmp_path, command)
    requests = len(read_asked(tmp_path))
    whole = finish(tmp_path, command)
    in_one_run = len(read_asked(tmp_path)) - requests
    assert answered < in_one_run
    assert requests - in_one_run in (0, 1)  # an answer between the model and the disk at the kill
    first, second = (json.loads(output.splitlines()[-1]) for output in (resumed, whole))
    assert first["code"] == second["code"]
