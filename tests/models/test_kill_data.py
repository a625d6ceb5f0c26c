"""A run of `pkg data` killed twice loses no row, and requests no text twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from text_server import Body, Reply, TextServer, serve_texts, stream
from trees import open_graph_at, write_tree

from pkg.indexing.build import build

pytestmark = pytest.mark.model  # the client of services is installed only for these

FILES = 12  # of one chunk each
REPEAT = 2
REQUESTS = 3 * FILES * REPEAT  # a text for each chunk and repetition in each of three steps
PATIENCE = 60  # seconds for a process to do what takes a few
SECONDS_A_TEXT = 0.05  # slow enough to be killed in between
AT_ONCE = 3
LEAST_TOKENS = 100  # of a text; a test of whether a service continues an answer requests fewer
OUTPUT = ("-o", "kept.jsonl")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Build a graph of small files."""
    tree = {
        f"shop/f{number}.py": f"def give_{number}(value):\n    return value + {number}\n" for number in range(FILES)
    }
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_tree(tmp_path / "shop", tree)), store)
    return tmp_path / "graph.db"


class Teacher:
    """Answers each step well and slowly, and records its completed answers."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answer(self, body: Body) -> Reply:
        if body["max_tokens"] < LEAST_TOKENS:
            return stream(["no"])
        text = self._write(body)
        time.sleep(SECONDS_A_TEXT)
        with self._lock:
            self.answered[json.dumps([body["messages"], body.get("seed")])] += 1
        return stream([text], usage={"prompt_tokens": 10, "completion_tokens": 5})

    def _write(self, body: Body) -> str:
        system, shown = (message["content"] for message in body["messages"][:2])
        if "teach" in system:
            return f"It adds. (seed {body['seed']})"
        if "You judge" in system:
            return "Right.\nScore: 5"
        name, module, lines = (shown.split(f"{word}: ")[1].split("\n")[0] for word in ("File", "Module", "Lines"))
        return f"Question: In {name} of {module}, lines {lines}, seed {body['seed']}?\nAnswer: `return value`"


@pytest.fixture
def service() -> Iterator[tuple[TextServer, Teacher]]:
    with serve_texts() as server:
        teacher = Teacher()
        server.always = teacher.answer
        yield server, teacher


def start(graph: Path, url: str, *words: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PKG_STORE": f"sqlite:///{graph}",
        "PKG_MODEL_PARALLEL": str(AT_ONCE),
        "XDG_CACHE_HOME": str(graph.parent / "cache"),
    }
    command = [
        sys.executable,
        "-m",
        "pkg.cli",
        "data",
        "curate",
        "--model",
        f"openai:toy@{url}",
        "--repeat",
        str(REPEAT),
    ]
    return subprocess.Popen(
        [*command, *words], cwd=graph.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(teacher: Teacher, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while teacher.answered.total() < count:
        assert time.monotonic() < end, f"{teacher.answered.total()} texts were written in {PATIENCE} seconds"
        time.sleep(0.01)


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like that here")
def test_killed_twice_and_run_again_it_has_all_rows_and_one_request_per_text(
    graph: Path, service: tuple[TextServer, Teacher]
) -> None:
    server, teacher = service
    for share in (1, 2):
        killed = start(graph, server.url, *OUTPUT)
        wait_for(teacher, REQUESTS * share // 3)
        killed.kill()
        killed.communicate()
        assert not (graph.parent / "kept.jsonl").exists()
    last = start(graph, server.url, *OUTPUT)
    _, errors = last.communicate(timeout=PATIENCE)
    assert last.returncode == 0, errors
    rows = read_rows(graph.parent / "kept.jsonl")
    assert len(rows) == len({row["id"] for row in rows}) == FILES * REPEAT
    again = teacher.answered.total() - len(teacher.answered)
    assert again <= 2 * AT_ONCE  # answers in transit at a kill are lost
    assert len(teacher.answered) == REQUESTS
    whole = start(graph, server.url, "-o", "whole.jsonl")
    before = teacher.answered.total()
    whole.communicate(timeout=PATIENCE)
    assert teacher.answered.total() == before
    assert (graph.parent / "whole.jsonl").read_bytes() == (graph.parent / "kept.jsonl").read_bytes()
    assert sorted(path.name for path in graph.parent.glob("*.jsonl*")) == ["kept.jsonl", "whole.jsonl"]


def test_an_interrupt_says_that_the_same_command_resumes(graph: Path, service: tuple[TextServer, Teacher]) -> None:
    server, teacher = service
    first = start(graph, server.url)
    wait_for(teacher, REQUESTS // 2)
    first.send_signal(signal.SIGINT)
    written, errors = first.communicate(timeout=PATIENCE)
    assert first.returncode == 130
    assert "what a model has written is kept, and the same command goes on where it stopped" in errors
    done = teacher.answered.total()
    second = start(graph, server.url)
    output, errors = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, errors
    assert output.startswith(written)
    assert len(output.splitlines()) == FILES * REPEAT
    assert teacher.answered.total() <= REQUESTS + AT_ONCE
    assert teacher.answered.total() > done
