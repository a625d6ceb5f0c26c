"""Run tests of a project in the sandbox, on a copy: all of them under a tracer, or some with a replaced file."""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError, shorten
from pkg.lab.evaluation.code.hidden_tests import LONGEST, Score
from pkg.rerank.diagnosis import classify
from pkg.sandbox.protocol import BOX, Kind, Limits, Program, Sandbox, Step

LEFT_OUT = {".git", ".hg", ".svn", "__pycache__", ".tox", ".nox", ".venv", "venv", "env", "node_modules"}
LEFT_OUT |= {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".eggs", "build", "dist"}
"""Names of folders that tests do not need."""
MOST_FILES, MOST_BYTES = 950, 40 << 20  # limits of the folder of a run in the sandbox
LEFT_OUT_SUFFIXES = (".pyc", ".pyo")
TRACE_LIMITS = Limits(cpu_seconds=900.0, wall_seconds=1200.0, memory_bytes=4 << 30, output_bytes=64 << 20, processes=64)
RUN_LIMITS = Limits(cpu_seconds=20.0, wall_seconds=40.0, memory_bytes=2 << 30, output_bytes=1 << 20, processes=64)
"""For at most ten tests, the fastest that reach a function."""

CONTROL = "test_pkg_{}.py"
CONTROL_TEST = "def test_{}():\n    value = 1\n    assert value == 2\n"
"""A test that must fail, to detect answers that make tests pass or change how they are reported."""

RUNNER = Path(__file__).with_name("inside_runner.py")


@dataclass(frozen=True)
class Project:
    """The files of a project by their paths relative to its folder."""

    name: str
    files: Mapping[str, bytes]
    sha256: str

    def read_text(self, path: str) -> str | None:
        """Return a file as text with LF line ends; None if it is not UTF-8."""
        try:
            return self.files[path].decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            return None

    def pack(self, without: str = "") -> str:
        """Pack the files, except for one, into a base64-encoded archive."""
        return _pack(self, without)

    def __hash__(self) -> int:
        return hash(self.sha256)


def read_project(path: Path) -> Project:
    """Read a folder; symbolic links are not followed.

    Raises PathError if it does not exist, InputError if it has no Python file or exceeds the limits of the sandbox.
    """
    if not path.is_dir():
        raise PathError(f"no folder {path}; expected the folder of a project with its tests")
    files: dict[str, bytes] = {}
    size = 0
    for place in _list_files(path):
        files[place.relative_to(path).as_posix()] = data = place.read_bytes()
        size += len(data)
        if len(files) > MOST_FILES or size > MOST_BYTES:
            raise InputError(
                f"{path} holds more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB, which a run in the sandbox"
                " cannot; name a folder inside of it that holds a package with its tests"
            )
    if not any(name.endswith(".py") for name in files):
        raise InputError(f"no Python file in {path}; expected the folder of a project with its tests")
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\n{hashlib.sha256(data).hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return Project(path.resolve().name, files, digest.hexdigest())


def _list_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not Path(folder, name).is_symlink())
        for name in sorted(names):
            place = Path(folder, name)
            if not name.endswith(LEFT_OUT_SUFFIXES) and place.is_file() and not place.is_symlink():
                yield place


@lru_cache(maxsize=4)
def _pack(project: Project, without: str) -> str:
    """Pack files into a reproducible archive; cached, because the same archives are requested again."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, compresslevel=6) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for name, data in sorted(project.files.items()):
            if name != without:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o644
                archive.addfile(entry, io.BytesIO(data))
    return base64.b64encode(packed.getvalue()).decode("ascii")


@dataclass(frozen=True, slots=True)
class TestEnd:
    """The outcome of one test."""

    __test__ = False  # not a test class of pytest

    outcome: str  # passed, failed, skipped or xpassed; started or called if it did not end
    seconds: float
    error: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TracedTests:
    """The outcomes of all tests of a project, and the tests that reach each function."""

    python: str
    ends: dict[str, TestEnd]
    broken: tuple[str, ...]  # files that could not be collected, with the reason
    reached: dict[tuple[str, int], tuple[str, ...]]  # by path and first line of a function, the fastest first


def trace_tests(sandbox: Sandbox, project: Project, tests: Sequence[str]) -> TracedTests:
    """Run the tests of a project once and record the functions that they reach.

    tests: files, folders or names for pytest; if empty, all that it finds. Raises InputError if pytest is missing, if
    there is no test, or if the tests do not end.
    """
    result = sandbox.run(_write_program(project.pack(), {}, tests, is_traced=True), TRACE_LIMITS)
    found = _read_value(result.steps[0].value)
    if found is None:
        verdict = result.load if result.load.kind is not Kind.OK else result.steps[0]
        if "No module named 'pytest'" in verdict.detail:
            raise InputError(
                "the interpreter has no pytest; install it there, or name another interpreter with --python"
            )
        raise InputError(
            f"the tests of {project.name} could not be run in the sandbox: {verdict.detail or verdict.kind.value}"
        )
    ends = {name: TestEnd(end[0], end[1], end[2], end[3]) for name, end in found["ends"].items()}
    if not ends:
        why = f": {'; '.join(found['broken'][:3])}" if found["broken"] else ""
        raise InputError(
            f"pytest runs no test of {project.name} (exit status {found['code']}){why}; expected a folder whose tests"
            " pytest finds, or --tests with their place in it"
        )
    reached = {}
    for place, names in found["reached"].items():
        path, _, line = place.rpartition(":")
        reached[path, int(line)] = tuple(names)
    return TracedTests(found["python"], ends, tuple(found["broken"]), reached)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The text of a file with an answer in it, and the tests that score the answer."""

    path: str
    text: str
    tests: tuple[str, ...]


def judge_replacements(sandbox: Sandbox, project: Project, tried: Iterable[Replacement]) -> Iterator[Score]:
    """Yield the score of each replacement, in order; several run at once.

    An answer passes if pytest has run each test by name, all passed, and the control test failed; exit status and
    printed output are ignored.
    """
    kept: list[Replacement] = []

    def write() -> Iterator[Program]:
        for each in tried:
            kept.append(each)
            control, written = _write_control(each)
            files = {each.path: each.text, **written}
            yield _write_program(project.pack(each.path), files, (*each.tests, control), is_traced=False)

    for place, result in enumerate(sandbox.run_all(write(), RUN_LIMITS)):
        verdict = result.steps[0]
        found = _read_value(verdict.value) if verdict.kind is Kind.OK else None
        if found is None:
            yield Score(False, classify(verdict.kind), shorten(verdict.detail, LONGEST), verdict.seconds)
        else:
            control, _ = _write_control(kept[place])
            yield _judge(found, kept[place].tests, control, verdict.seconds)


def _write_control(tried: Replacement) -> tuple[str, dict[str, str]]:
    """Write the control test of a replacement: its name and its file, which an answer cannot predict."""
    sign = hashlib.sha256(tried.text.encode("utf-8", "replace")).hexdigest()[:12]
    path = CONTROL.format(sign)
    return f"{path}::test_{sign}", {path: CONTROL_TEST.format(sign)}


def _judge(found: dict[str, Any], tests: Sequence[str], control: str, seconds: float) -> Score:
    ends = found["ends"]
    if ends.pop(control, [""])[0] == "passed":
        return Score(False, "Other", "a test that has to fail was reported as passed", seconds)
    if all(ends.get(test, [""])[0] == "passed" for test in tests):
        return Score(True, seconds=seconds)
    failed = next((end for end in ends.values() if end[0] == "failed"), None)
    if failed is not None:
        return Score(False, failed[2] or "Other", shorten(failed[3], LONGEST), seconds)
    if found["broken"]:
        broken = str(found["broken"][0])
        error = next((name for name in ("NameError", "TypeError", "SyntaxError") if name in broken), "Other")
        return Score(False, error, shorten(broken, LONGEST), seconds)
    missing = next(test for test in tests if ends.get(test, [""])[0] != "passed")
    return Score(False, "Other", shorten(f"{missing} did not pass", LONGEST), seconds)


def _write_program(packed: str, files: dict[str, str], tests: Sequence[str], is_traced: bool) -> Program:
    code = f"{RUNNER.read_text(encoding='utf-8')}\nROOT = unpack({packed!r}, {files!r}, {BOX!r})\n"
    return Program(code, (Step(f"run_tests(ROOT, {list(tests)!r}, {is_traced!r})", is_expression=True),))


def _read_value(value: str | None) -> dict[str, Any] | None:
    """Parse the output of the runner; None if it is invalid."""
    try:
        found = json.loads(ast.literal_eval(value or ""))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, dict) and {"ends", "broken", "code"} <= found.keys() else None
