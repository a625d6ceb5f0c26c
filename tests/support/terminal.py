"""Run the commands of a page in a terminal, as a reader of the page does, and compare their output with the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from pages import ROOT, read_blocks, split_transcript

VARYING = re.compile(r"\d+\.\d (?:CPU-)?seconds|\b[01]\.\d{3}\b")  # times and scores: rounding differs between machines


FILE = re.compile(r"`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # a file whose content a page shows


def make_shell(home: Path) -> dict[str, str]:
    """Return an environment in which `pkg` and `python` are those of this checkout, with an empty home folder."""
    programs = home / "bin"
    programs.mkdir()
    for name, start in (("pkg", "-m pkg.cli "), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n')
        program.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PKG_")}
    path = f"{programs}{os.pathsep}{inherited.get('PATH', '')}"
    own = {"HOME": str(home), "XDG_DATA_HOME": str(home / ".local" / "share"), "XDG_CONFIG_HOME": str(home / ".config")}
    return inherited | own | {"PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def run_in_terminal(command: str, environment: dict[str, str], folder: Path) -> str:
    """Run a command with a terminal as standard output; return its output, with `~` for home and `~/.venv` for ours."""
    ours, theirs = os.openpty()
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(
        command, shell=True, cwd=folder, env=environment, stdin=nothing, stdout=theirs, stderr=pipe
    ) as process:
        os.close(theirs)
        shown = _read_to_end(ours)
        errors = process.stderr.read() if process.stderr else b""
    assert (process.returncode, errors) == (0, b"")
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")
    text = text.replace(environment["HOME"], "~").replace(str(Path(sys.executable).parent), "~/.venv/bin")
    return text.strip("\n")


def _read_to_end(terminal: int) -> bytes:
    pieces = []
    try:
        while piece := os.read(terminal, 65536):
            pieces.append(piece)
    except OSError:  # Linux says that the other side has closed in this way
        pass
    os.close(terminal)
    return b"".join(pieces)


def blur(text: str) -> str:
    """Remove differences between machines, and blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in VARYING.sub("~", text).splitlines())


def write_page_files(page: str, folder: Path) -> None:
    """Write the files that a page shows after their names."""
    for name, content in FILE.findall((ROOT / page).read_text(encoding="utf-8")):
        (folder / name).write_text(content, encoding="utf-8")


def list_commands(page: str) -> list[tuple[str, str]]:
    """Return every command of a page with the output that it shows, in order."""
    return [pair for block in read_blocks(page, "console") for pair in split_transcript(block)]


def run_page(commands: list[tuple[str, str]], shell: dict[str, str], folder: Path) -> None:
    """Run commands of a page and compare what they print; one without output on the page has none."""
    assert commands
    for command, output in commands:
        assert (command, blur(run_in_terminal(command, shell, folder))) == (command, blur(output))
