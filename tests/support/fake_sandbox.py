"""A sandbox that runs code in this process, for tests that wrote the candidates themselves."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import partial
from typing import Any

from pkg.sandbox.inside.call_answers import CALL_FUNCTIONS
from pkg.sandbox.inside.candidate_calls import answer_calls
from pkg.sandbox.inside.fault_kinds import classify_fault
from pkg.sandbox.protocol import DEFAULT, Kind, Limits, Program, Result, Step, Verdict
from pkg.sandbox.values import render_value


class FakeSandbox:
    """Runs programs at once and records them; a step that calls hang() times out."""

    name = "fake"

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.is_closed = False

    def run(self, program: Program, limits: Limits = DEFAULT) -> Result:
        self.programs.append(program)
        names: dict[str, Any] = {"__name__": "candidate", "hang": _hang}
        load = _attempt(lambda: exec(program.code, names), limits)
        if load.kind is not Kind.OK:
            return Result(load, (load,) * len(program.steps))
        return Result(load, tuple(self._take(program, step, limits) for step in program.steps))

    def run_all(self, programs: Iterable[Program], limits: Limits = DEFAULT) -> Iterator[Result]:
        return (self.run(program, limits) for program in programs)

    def close(self) -> None:
        self.is_closed = True

    def _take(self, program: Program, step: Step, limits: Limits) -> Verdict:
        names: dict[str, Any] = {"__name__": "candidate", "hang": _hang}
        exec(program.code, names)
        if step.calls is not None:
            found = partial(answer_calls, names, step.source, step.calls, limits.cpu_seconds, limits.output_bytes)
            return _attempt(found, limits)
        names |= CALL_FUNCTIONS
        if step.is_expression:
            return _attempt(lambda: render_value(eval(step.source, names), limits.output_bytes), limits)
        return _attempt(lambda: exec(step.source, names), limits)


class _HangError(BaseException):
    """Simulates the end of a process at a limit."""


def _hang() -> None:
    raise _HangError


def _attempt(act: Any, limits: Limits) -> Verdict:
    output = io.StringIO()
    try:
        with redirect_stdout(output):
            value = act()
    except _HangError:
        return Verdict(Kind.TIMEOUT, f"used more than {limits.cpu_seconds:g} s of CPU")
    except BaseException as fault:
        return Verdict(classify_fault(fault), f"{type(fault).__name__}: {fault}")
    return Verdict(Kind.OK, value=value, output=output.getvalue())
