"""Run a command under the tracer, without a shell or changes to the repository, and read its log."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pkg.errors import UsageError

TRACER = Path(__file__).with_name("tracer.py")

Named = tuple[str, int, tuple[str, ...]]  # path and first line of a function, unqualified names of decorators


@dataclass(frozen=True, slots=True)
class Plan:
    """The part of the repository that the tracer needs."""

    root: str
    paths: tuple[str, ...]  # of the files that the graph has
    wrappers: tuple[Named, ...]  # functions that decorators may return, and the decorators
    decorated: tuple[Named, ...]  # functions with their decorators


class Spot(NamedTuple):
    """Code of the repository as in code objects: path, first line including decorators, and name."""

    path: str
    line: int
    name: str


class SeenCall(NamedTuple):
    """A distinct traced call."""

    kind: str  # direct; through: via code outside the repository; wrapped: by the wrapper of a decorator
    caller: Spot
    line: int
    callee: Spot


@dataclass(slots=True)
class TraceLog:
    """The records of the processes of a command."""

    exit_code: int
    processes: int = 0
    versions: set[str] = field(default_factory=set)
    hooks: set[str] = field(default_factory=set)
    calls: set[SeenCall] = field(default_factory=set)
    outside: set[tuple[Spot, int, str]] = field(default_factory=set)  # caller, line, name of the callee
    copies: set[str] = field(default_factory=set)  # other files that ran for modules of the repository


def split_command(command: str) -> list[str]:
    """Split a command as a shell would, without running one; raises UsageError if it is invalid or empty."""
    try:
        words = shlex.split(command)
    except ValueError as fault:
        raise UsageError(f"cannot split the command {command!r}: {fault}; expected balanced quotes") from None
    if not words:
        raise UsageError('the command to trace is empty; write for example: --trace "python -m pytest -q"')
    return words


def run_traced(command: str, plan: Plan, output: int) -> TraceLog:
    """Run a command in the current folder with the tracer in each of its Python processes.

    output: the file descriptor for the standard output of the command. Raises UsageError if there is no such program.
    """
    words = split_command(command)
    with tempfile.TemporaryDirectory(prefix="pkg-trace-", ignore_cleanup_errors=True) as folder:
        shutil.copyfile(TRACER, Path(folder, "sitecustomize.py"))
        Path(folder, "plan.json").write_text(json.dumps(asdict(plan)), encoding="utf-8")
        paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            done = subprocess.run(words, stdout=output, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)})
        except OSError as fault:
            raise UsageError(
                f"cannot run {words[0]!r}: {fault.strerror}; expected a program on PATH, or the path of one"
            ) from None
        return _read_log(Path(folder), done.returncode)


def _read_log(folder: Path, exit_code: int) -> TraceLog:
    log = TraceLog(exit_code)
    for record in _read_records(sorted(folder.glob("*.jsonl"))):
        kind, *rest = record
        if kind == "process":
            log.processes += 1
            log.versions.add(".".join(map(str, rest[0])))
            log.hooks.add(rest[1])
            continue
        if kind == "copy":
            log.copies.add(rest[0])
            continue
        caller, line = Spot(*rest[:3]), rest[3]
        if kind == "outside":
            log.outside.add((caller, line, rest[4]))
        else:
            log.calls.add(SeenCall(kind, caller, line, Spot(*rest[4:])))
    return log


def _read_records(files: Iterable[Path]) -> Iterator[list[Any]]:
    """Yield the records, without an incomplete last line of a killed process."""
    for file in files:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue
