"""The retrievers of neo4j-graphrag have the results of `pkg query --mode function` on our indexes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest
from neo4j_servers import NEWEST, Server, open_empty_server, open_server
from pages import ROOT

from pkg.indexing.build import build

PACKAGE = Path(hypothesis.__file__).parent / "strategies"
QUESTIONS = (
    "generate lists of unique elements",
    "draw text that matches a regular expression",
    "build datetimes with timezones",
)
IN_CI = os.environ.get("CI") == "true"

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(
        not IN_CI and find_spec("neo4j_graphrag") is None,
        reason="no neo4j-graphrag; run: pip install 'programming-knowledge-graph[graphrag]'",
    ),
]


@pytest.fixture(scope="module", params=NEWEST)
def server(request: pytest.FixtureRequest) -> Server:
    with closing(open_empty_server(request.param)()) as store:
        build(str(PACKAGE), store)
    return open_server(request.param)


def run_example(server: Server, question: str) -> dict[str, str]:
    """Run the example; return the first answer of each: vector, hybrid, pkg -> path and qualified name."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment |= {"PKG_NEO4J_USER": server.user, "PKG_NEO4J_PASSWORD": server.password}
    command = [sys.executable, str(ROOT / "examples" / "graphrag_retrievers.py"), server.uri, question]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    answers: dict[str, str] = {}
    for kind, path, name, *_ in (line.split() for line in done.stdout.splitlines()):
        answers.setdefault(kind, f"{path} {name}")
    return answers


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_retrievers_return_the_first_answer_of_pkg(server: Server, question: str) -> None:
    answers = run_example(server, question)
    assert answers == dict.fromkeys(("vector", "hybrid", "pkg"), answers["pkg"])
