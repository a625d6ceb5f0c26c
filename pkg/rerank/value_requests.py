"""Request the values of many expressions from many candidates with few runs.

Each run of the sandbox is a new process, so all requests of a candidate share one run, each in its own `try` with its
own timer. If the run fails as a whole (a request ignores its timer, ends the process or fills the memory), the requests
run one by one with less time. Either way a candidate is given up after its second hang.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pkg.sandbox.claims import clean_line
from pkg.sandbox.protocol import Kind, Limits, Program, Result, Sandbox, Step, Verdict

CHUNK = 2  # requests of a candidate that run one by one between checks for hangs
MAX_HANGS = 2  # of one candidate
MAX_LINES = 1_000_000  # of code; larger line numbers are not plausible
MAX_BASES = 20  # of the class of an exception
NOT_TRIED = "not tried, because earlier calls hung"
_AWAITS = re.compile(r"\b(?:await|async)\b")
_HANGS = (Kind.TIMEOUT, Kind.MEMORY)
_SHARE = 0.1  # share of the time of a run that each of its calls may take

_KINDS = {
    "NameError": Kind.NAME,
    "UnboundLocalError": Kind.NAME,
    "TypeError": Kind.TYPE,
    "AssertionError": Kind.ASSERTION,
    "MemoryError": Kind.MEMORY,
    "SystemExit": Kind.EXIT,
    "PermissionError": Kind.FORBIDDEN,
}


class RequestKind(str, Enum):
    """Kind of a request."""

    VALUE = "eval"  # value of an expression, or its output if the value is None
    STATEMENTS = "exec"  # success of statements, and their output
    PROGRAM = "program"  # output of the candidate as a program that reads the source from standard input


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a candidate, with the lines of its script that run before it."""

    source: str
    kind: RequestKind = RequestKind.VALUE
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """All requests to one candidate, with its code."""

    code: str
    requests: tuple[Request, ...]


@dataclass(slots=True)
class _Script:
    """Lines that run in one namespace, in order, each with the index of its request."""

    lines: list[tuple[RequestKind, str]] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)  # -1 for a line without a request

    def follows(self, request: Request) -> bool:
        """Return whether the lines before a request begin with this script."""
        return len(self.lines) <= len(request.before) and all(
            line == other for (_, line), other in zip(self.lines, request.before, strict=False)
        )

    def add(self, request: Request, index: int) -> None:
        """Add the lines before a request, and the request itself."""
        more = [(RequestKind.STATEMENTS, line) for line in request.before[len(self.lines) :]]
        self.lines += [*more, (request.kind, request.source)]
        self.indices += [*(-1 for _ in more), index]


def run_requests(sandbox: Sandbox, batches: Sequence[RequestBatch], limits: Limits) -> list[Result]:
    """Run all candidates, and return for each the verdicts on its load and on its requests."""
    plans = [_plan(each.requests) for each in batches]
    seconds = _SHARE * limits.cpu_seconds
    programs = [_write_program(each.code, plan, seconds) for each, plan in zip(batches, plans, strict=True)]
    results = list(sandbox.run_all(programs, limits))
    found = [_read_result(*each) for each in zip(batches, plans, results, strict=True)]
    failed = [index for index, each in enumerate(found) if each is None]
    singly = _run_singly(sandbox, [batches[index] for index in failed], limits)
    for index, verdicts in zip(failed, singly, strict=True):
        found[index] = Result(results[index].load, verdicts)
    return [each for each in found if each is not None]


def _plan(requests: Iterable[Request]) -> list[_Script]:
    """Group requests into scripts: one that continues an earlier script is added to it."""
    scripts: list[_Script] = []
    for index, request in enumerate(requests):
        script = next((each for each in reversed(scripts) if each.follows(request)), None) if request.before else None
        if script is None:
            script = _Script()
            scripts.append(script)
        script.add(request, index)
    return scripts


def _write_program(code: str, scripts: Sequence[_Script], seconds: float) -> Program:
    """Write one step that runs all requests; a PROGRAM request runs the code itself, so it is not loaded before."""
    if not scripts:
        return Program(code)
    calls = ", ".join(_write_calls(code, scripts))
    runs = any(each.lines[0][0] is RequestKind.PROGRAM for each in scripts)
    source = f"_pkg_run_calls({seconds!r}, {MAX_HANGS}, {calls})"
    return Program("" if runs else code, (Step(source, is_expression=True),))


def _write_calls(code: str, scripts: Sequence[_Script]) -> Iterator[str]:
    """Yield the source of the calls of scripts; a single expression is a lambda, which is cheapest."""
    inputs = [source for each in scripts for kind, source in each.lines if kind is RequestKind.PROGRAM]
    if inputs:
        yield f"*_pkg_runs({code!r}, {', '.join(map(repr, inputs))})"
        return
    for each in scripts:
        if len(each.lines) == 1 and each.lines[0][0] is RequestKind.VALUE and not _AWAITS.search(each.lines[0][1]):
            yield f"lambda: ({each.lines[0][1]})"
        else:
            yield f"*_pkg_lines(globals(), {', '.join(f'({kind.value!r}, {source!r})' for kind, source in each.lines)})"


def _read_result(batch: RequestBatch, scripts: Sequence[_Script], result: Result) -> Result | None:
    """Return the result with a verdict for each request; None if the step failed as a whole."""
    if not scripts:
        return result
    if result.load.kind is not Kind.OK:
        return replace(result, steps=(replace(result.load, value=None, output="", seconds=0.0),) * len(batch.requests))
    indices = [index for each in scripts for index in each.indices]
    answers = _parse_answers(result.steps[0], len(indices))
    if answers is None:
        return None
    by_place = dict(zip(indices, answers, strict=True))
    return Result(result.load, tuple(by_place[index] for index in range(len(batch.requests))))


def _parse_answers(joined: Verdict, count: int) -> list[Verdict] | None:
    """Parse the list of answers of a joint step; None if it is malformed."""
    try:
        answers: Any = json.loads(joined.value or "") if joined.kind is Kind.OK else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(answers, list) or len(answers) != count:
        return None
    verdicts = [_parse_answer(each, joined.seconds / count) for each in answers]
    return [each for each in verdicts if each is not None] if None not in verdicts else None


def _parse_answer(answer: Any, seconds: float) -> Verdict | None:
    if isinstance(answer, str) and answer in ("hung", "not tried"):
        return Verdict(Kind.TIMEOUT, "ran too long" if answer == "hung" else NOT_TRIED, seconds)
    if not isinstance(answer, list) or not answer:
        return None
    if answer[0] is True and len(answer) in (2, 3):
        output = answer[2] if len(answer) == 3 else ""
        if not isinstance(output, str):
            return None
        return Verdict(Kind.OK, "", seconds, json.dumps(answer[1], separators=(",", ":")), output)
    if answer[0] is not False or len(answer) != 5:
        return None
    _, name, message, line, bases = answer
    if not isinstance(name, str) or not isinstance(message, str) or not isinstance(line, int):
        return None
    if not isinstance(bases, list) or not all(isinstance(each, str) for each in bases):
        return None
    index = f" (line {line})" if 0 < line < MAX_LINES else ""
    detail = clean_line(f"{name}: {message}" if message.strip() else name) + index
    return Verdict(_KINDS.get(name, Kind.OTHER), detail, seconds, bases=tuple(bases[:MAX_BASES]))


def _run_singly(sandbox: Sandbox, batches: Sequence[RequestBatch], limits: Limits) -> list[tuple[Verdict, ...]]:
    """Run requests one by one, a few of each candidate at a time, until it has hung too often."""
    limits = replace(limits, cpu_seconds=limits.cpu_seconds / 4, wall_seconds=limits.wall_seconds / 2)
    found: list[list[Verdict]] = [[] for _ in batches]
    while waiting := [index for index, each in enumerate(batches) if len(found[index]) < len(each.requests)]:
        chunk = [
            (index, request) for index in waiting for request in batches[index].requests[len(found[index]) :][:CHUNK]
        ]
        programs = [_write_single(batches[index].code, request, limits.cpu_seconds) for index, request in chunk]
        for (index, request), result in zip(chunk, sandbox.run_all(programs, limits), strict=True):
            found[index].append(_read_single(request, result))
        for index in waiting:
            hung = [each for each in found[index] if each.kind in _HANGS]
            if len(hung) >= MAX_HANGS:
                rest = len(batches[index].requests) - len(found[index])
                found[index] += [Verdict(hung[-1].kind, NOT_TRIED)] * rest
    return [tuple(each) for each in found]


def _write_single(code: str, request: Request, seconds: float) -> Program:
    """Write the program for one request; one without lines before it is a step of its own."""
    if _needs_lines(request):
        return _write_program(code, _plan([request]), seconds)
    return Program(code, (Step(request.source, request.kind is RequestKind.VALUE),))


def _needs_lines(request: Request) -> bool:
    return bool(request.before) or request.kind is RequestKind.PROGRAM or _AWAITS.search(request.source) is not None


def _read_single(request: Request, result: Result) -> Verdict:
    """Return the verdict on a request that had its own run."""
    if result.load.kind is not Kind.OK:
        return result.load
    (end,) = result.steps
    if not _needs_lines(request) or end.kind is not Kind.OK:
        return end
    answers = _parse_answers(end, len(request.before) + 1)
    if answers is not None:
        return answers[-1]
    is_long = end.value is not None and end.value.startswith('{"long"')
    return end if is_long else Verdict(Kind.OTHER, "malformed answer", end.seconds)
