"""Run the tests of a package and write its calls between functions; dynamic_edges.py starts this in its own venv.

    python benchmarks/trace_calls.py FOLDER OUTPUT [ARGUMENT OF PYTEST]...

A function is identified by its file below FOLDER and its first line, decorators included; 0 is the code of the file.
Code of lambdas, comprehensions and classes belongs to the enclosing function, and is never a callee. `pairs` are calls
from one frame directly to the next; a call from C, as of a key function by `sorted`, belongs to the function below.
`distant` are calls through frames of the standard library and of generated code, such as contextlib's. A generator or
coroutine is called once, when it starts, by the function that drives it, and only if that function names it: otherwise
another function created it, for which there is no trace event. `__del__` runs at arbitrary times, and is left out.
"""

from __future__ import annotations

import dis
import inspect
import json
import sys
import sysconfig
import threading
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

Place = tuple[str, int]
"""The file of a function and its first line."""

_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Role(Enum):
    """Role of code in a function: the function itself, a nested function, or a piece such as a lambda."""

    FUNCTION = "function"
    INNER = "inner"
    PIECE = "piece"


class Tracer:
    """Records the calls between functions of a folder, and the lines that run."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder.resolve()) + "/"
        self._library = sysconfig.get_path("stdlib") + "/"
        self._codes: dict[int, tuple[Place | None, Role, CodeType]] = {}  # with the code, so that its id is not reused
        self.lines: set[Place] = set()
        self.resumed: set[Place] = set()  # generators and coroutines
        self.inner: set[Place] = set()  # functions inside others
        self.pairs: dict[tuple[Place, Place], int] = {}  # with the line of the first call
        self.distant: set[tuple[Place, Place]] = set()

    def start(self) -> None:
        """Trace this thread and those started later."""
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def pytest_runtest_setup(self) -> None:
        """Start again before each test, because the previous one may have set its own tracer."""
        self.start()

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        """Record a call; return the line tracer of the frame."""
        code = frame.f_code
        callee, role = self._find(code)
        if callee is None:
            return None
        is_function = role is not Role.PIECE
        if code.co_flags & _RESUMED:
            self.resumed.add(callee)
            is_function = is_function and _starts(frame) and _is_named(code, frame.f_back)
        if role is Role.INNER:
            self.inner.add(callee)
        if is_function and code.co_name != "__del__":
            self._note(callee, frame.f_back)
        lines, path = self.lines, callee[0]

        def trace_line(inner: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                lines.add((path, inner.f_lineno))
            return trace_line

        lines.add((path, frame.f_lineno))
        return trace_line

    def _note(self, callee: Place, frame: FrameType | None) -> None:
        is_direct = True
        while frame is not None:
            caller, _ = self._find(frame.f_code)
            if caller is not None:
                if is_direct:
                    self.pairs.setdefault((caller, callee), frame.f_lineno)
                else:
                    self.distant.add((caller, callee))
                return
            if not self._is_library(frame.f_code.co_filename):
                return
            frame, is_direct = frame.f_back, False

    def _is_library(self, path: str) -> bool:
        return path.startswith((self._library, "<")) and "/site-packages/" not in path

    def _find(self, code: CodeType) -> tuple[Place | None, Role]:
        """Return the function that code belongs to, and its role in it."""
        found = self._codes.get(id(code))
        if found is None:
            place, role = None, Role.PIECE
            if code.co_filename.startswith(self._folder):
                line, role = _read_owners(code.co_filename).get(_name(code), (None, role))
                place = (code.co_filename.removeprefix(self._folder), line) if line is not None else None
            found = self._codes[id(code)] = place, role, code
        return found[:2]


@cache
def _read_owners(path: str) -> dict[tuple[str, int], tuple[int, Role]]:
    """Return for all code of a file the first line of its function, and its role in it."""
    code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
    return {_name(code): (0, Role.PIECE), **dict(_walk(code, 0))}


def _walk(code: CodeType, owner: int) -> Iterator[tuple[tuple[str, int], tuple[int, Role]]]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            is_piece = not each.co_flags & inspect.CO_OPTIMIZED or each.co_name.startswith("<")
            role = Role.PIECE if is_piece else Role.INNER if owner else Role.FUNCTION
            line = owner if is_piece else each.co_firstlineno
            yield _name(each), (line, role)
            yield from _walk(each, line)


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _starts(frame: FrameType) -> bool:
    """Return whether a generator or coroutine starts, rather than resumes."""
    return frame.f_lasti == _find_start(frame.f_code)


@cache
def _find_start(code: CodeType) -> int:
    return next(each.offset for each in dis.get_instructions(code) if each.opname == "RESUME")


def _is_named(code: CodeType, driver: FrameType | None) -> bool:
    """Return whether the code of a driver names a generator; Python itself calls those of special names."""
    if code.co_name.startswith("__"):
        return True
    while driver is not None:
        own = driver.f_code
        if code.co_name in own.co_names + own.co_varnames + own.co_cellvars + own.co_freevars:
            return True
        driver = driver.f_back if own.co_name.startswith("<") else None  # for a comprehension, the enclosing function
    return False


def main() -> None:
    folder, output, *arguments = sys.argv[1:]
    tracer = Tracer(Path(folder))
    tracer.start()
    status = pytest.main(["-q", "-p", "no:cacheprovider", *arguments], plugins=[tracer])
    sys.settrace(None)
    threading.settrace(None)
    found = {
        "status": int(status),
        "pairs": sorted((*caller, *callee, line) for (caller, callee), line in tracer.pairs.items()),
        "distant": sorted((*caller, *callee) for caller, callee in tracer.distant),
        "resumed": sorted(tracer.resumed),
        "inner": sorted(tracer.inner),
        "lines": sorted(tracer.lines),
    }
    Path(output).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
