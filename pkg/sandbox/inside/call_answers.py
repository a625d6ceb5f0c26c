"""Make many calls of a candidate's code in one process: functions for steps, by the names in `CALL_FUNCTIONS`.

This runs in the candidate's process and decides nothing. Each call has its own `try` and timer, and its answer is plain
data: the value, the output if the value is None, or the exception.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import ModuleType
from typing import Any

from pkg.sandbox.inside.fault_kinds import CODE

IMPORT_SHARES = 5  # factor on the time of a call with an import: a library such as numpy loads slowly
MAX_MESSAGE = 200  # characters of a message
TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
IS_COROUTINE = 0x80  # inspect.CO_COROUTINE: the code awaits something

Call = Callable[[], Any]


class Hang(BaseException):
    """Raised when a call exceeds its time; `except Exception` does not catch it."""


def _stop(*_: object) -> None:
    raise Hang


def run_calls(seconds: float, most_hangs: int, *calls: Call) -> list[Any]:
    """Make calls one after the other, each with that much CPU time, until most_hangs have hung.

    The answers are [True, value], [True, None, output], [False, name, message, line, names of base classes], "hung" or
    "not tried".
    """
    signal.signal(signal.SIGPROF, _stop)
    answers: list[Any] = []
    kept, raw = sys.stdout, io.BytesIO()
    caught = io.TextIOWrapper(raw, "utf-8", "replace", "", write_through=True)
    hung = 0
    for call in calls:
        if hung == most_hangs:
            answers.append("not tried")
            continue
        raw.seek(0)
        raw.truncate()
        if getattr(call, "begins", True):
            sys.stdout = caught
        try:
            value = _make(call, seconds * IMPORT_SHARES if getattr(call, "imports", False) else seconds)
            answers.append([True, value] if value is not None else [True, None, raw.getvalue().decode()])
        except Hang:
            hung += 1
            answers.append("hung")
        except (Exception, SystemExit) as fault:
            answers.append(_describe(fault))
    sys.stdout = kept
    return answers


def _make(call: Call, seconds: float) -> Any:
    """Make one call; a collection is copied, so that later calls cannot mutate it."""
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
        value = call()
        if type(value).__name__ == "coroutine":
            import asyncio

            value = asyncio.run(value)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return deepcopy(value) if isinstance(value, list | dict | set | tuple) else value


def _describe(fault: BaseException) -> list[Any]:
    trace, line = fault.__traceback__, 0
    if isinstance(fault, MemoryError):  # releases memory
        trace = fault.__traceback__ = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == CODE:
            line = trace.tb_lineno
        trace = trace.tb_next
    bases = [each.__name__ for each in type(fault).__mro__[1:-2]]
    return [False, type(fault).__name__, str(fault)[:MAX_MESSAGE], line, bases]


def make_lines(own: Mapping[str, Any], *lines: tuple[str, str]) -> list[Call]:
    """Return calls that run the lines of a script, each a pair of eval or exec and its source.

    They share a copy of the candidate's namespace, and a line may await.
    """
    names, loops = dict(own), list[Any]()

    def wait(made: Any) -> Any:
        import asyncio

        if not loops:
            loops.append(asyncio.new_event_loop())
        return loops[0].run_until_complete(made)

    def make(place: int, mode: str, source: str) -> Call:
        def run() -> Any:
            code = compile(source, "<step>", mode, TOP_LEVEL_AWAIT, True)
            value = eval(code, names)
            value = wait(value) if code.co_flags & IS_COROUTINE else value
            return wait(value) if type(value).__name__ == "coroutine" else value

        run.begins = place == 0  # type: ignore[attr-defined]
        run.imports = "import " in source  # type: ignore[attr-defined]
        return run

    return [make(place, *each) for place, each in enumerate(lines)]


def make_runs(source: str, *inputs: str) -> list[Call]:
    """Return calls that run a program as the main module, each with another standard input."""
    program = compile(source, CODE, "exec", dont_inherit=True)

    def open_file(file: Any, *given: Any, **named: Any) -> Any:
        return sys.stdin if file in (0, "/dev/stdin") else open(file, *given, **named)

    def make(text: str) -> Call:
        def run() -> None:
            main, kept = ModuleType("__main__"), (sys.stdin, sys.argv, sys.modules.get("__main__"))
            main.open = open_file  # type: ignore[attr-defined]
            sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "replace")), "utf-8")
            sys.argv, sys.modules["__main__"] = ["main.py"], main
            try:
                exec(program, main.__dict__)
            except SystemExit as fault:
                if fault.code not in (None, 0):
                    raise
            finally:
                sys.stdin, sys.argv = kept[:2]
                if kept[2] is not None:
                    sys.modules["__main__"] = kept[2]

        return run

    return [make(each) for each in inputs]


CALL_FUNCTIONS: dict[str, Any] = {"_pkg_run_calls": run_calls, "_pkg_lines": make_lines, "_pkg_runs": make_runs}
"""Functions that a step may call, by name; they are added after the candidate's code is loaded."""
