"""What the README shows is what the command prints, and what `make try` expects is what it gets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, read_transcripts

VARYING = re.compile(r"\d+\.\d CPU-seconds|\b[01]\.\d{3}\b")  # times and scores: rounding differs between machines
QUESTION = re.compile(
    r"^QUESTION_(\d) := (.+)\n^ANSWER_\1 := (\S+), (\S+)$",
    re.MULTILINE,
)
ASKED = re.compile(r"query '\$\(QUESTION_(\d)\)' --source (\w+)")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give an environment in which `pkg` and `python` are those of this checkout, with an empty data folder."""
    programs, data = tmp_path_factory.mktemp("bin"), tmp_path_factory.mktemp("data")
    for name, start in (("pkg", "-m pkg.cli "), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n')
        program.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PKG_")}
    path = f"{programs}{os.pathsep}{inherited.get('PATH', '')}"
    return inherited | {"PATH": path, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(data), "NO_COLOR": "1"}


def run_in_terminal(command: str, environment: dict[str, str], folder: Path) -> str:
    """Run a command as a person does, with a terminal as its standard output; give what it shows."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        command, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        shown = read_to_end(ours)
        errors = process.stderr.read() if process.stderr else b""
    assert (process.returncode, errors) == (0, b"")
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")
    return text.replace(environment["XDG_DATA_HOME"], "~/.local/share").strip("\n")


def read_to_end(terminal: int) -> bytes:
    pieces = []
    try:
        while piece := os.read(terminal, 65536):
            pieces.append(piece)
    except OSError:  # Linux says that the other side has closed in this way
        pass
    os.close(terminal)
    return b"".join(pieces)


def blur(text: str) -> str:
    """Take out what may differ between two machines, and blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in VARYING.sub("~", text).splitlines())


def test_the_transcript_is_what_the_commands_print(shell: dict[str, str], tmp_path: Path) -> None:
    transcript = read_transcripts("README.md")
    assert [command.split()[:2] for command, _ in transcript] == [["pkg", "build"], ["pkg", "query"], ["pkg", "query"]]
    shown = [(command, blur(run_in_terminal(command, shell, tmp_path))) for command, _ in transcript]
    assert shown == [(command, blur(output)) for command, output in transcript]


def test_make_try_asks_for_what_is_there(shell: dict[str, str], tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    sources = dict(ASKED.findall(makefile))
    store = {"PKG_STORE": f"sqlite:///{tmp_path / 'try.db'}"}
    rich = 'pkg build "$(python -c "import rich; print(rich.__path__[0])")" --source rich'
    for build in (rich, f"pkg build '{ROOT / 'pkg'}' --source pkg"):
        subprocess.run(build, shell=True, env=shell | store, check=True, stdout=subprocess.DEVNULL)
    expected, found = [], []
    for number, question, path, qualname in QUESTION.findall(makefile):
        command = ["pkg", "query", question, "--source", sources[number], "--top-k", "1"]
        lines = subprocess.run(command, env=shell | store, check=True, stdout=subprocess.PIPE).stdout.splitlines()
        hit = json.loads(lines[0])
        expected.append((question, path, qualname))
        found.append((question, hit["path"], hit["qualname"]))
    assert len(found) == 3
    assert found == expected
