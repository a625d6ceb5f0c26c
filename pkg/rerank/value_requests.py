"""Ask many candidates for the values of many expressions with few runs.

Each run of the sandbox is a new process. So all expressions of a candidate are asked at once, each under its own
`try` and with a timer of its own; where that fails as a whole (one of them hangs where no timer is heard, ends the
process, or fills the memory), they are asked one by one, with less time for each. Either way until a second one has
hung.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pkg.sandbox.claims import clean_line
from pkg.sandbox.protocol import Kind, Limits, Program, Result, Sandbox, Step, Verdict

CHUNK = 2  # expressions that are asked one by one before it is seen whether to go on
MOST_HANGS = 2  # of one candidate; code that hangs twice on small values is given up
MOST_LINES = 1_000_000  # of code; no candidate that Python takes has more
NOT_TRIED = "not tried, for others before it hung"
_HANGS = (Kind.TIMEOUT, Kind.MEMORY)
_SHARE = 0.1  # of the time of a run, that each of its expressions may take

# What the values of later calls change must not change what an earlier one gave, hence the copies.
_ASK_ALL = """

def _pkg_ask_all(seconds, most_hangs, *calls):
    import signal, sys
    from copy import deepcopy
    class Hang(BaseException):
        pass
    def stop(*_):
        raise Hang
    signal.signal(signal.SIGPROF, stop)
    here, answers = sys._getframe(), []
    for call in calls:
        if answers.count("hung") == most_hangs:
            answers.append("not tried")
            continue
        try:
            try:
                signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
                value = call()
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if isinstance(value, (list, dict, set, tuple)):
                value = deepcopy(value)
            answers.append([True, value])
        except Hang:
            answers.append("hung")
        except (Exception, SystemExit) as fault:
            trace, line = fault.__traceback__, 0
            if isinstance(fault, MemoryError):  # lets go of what fills the memory
                trace = fault.__traceback__ = None
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == "<candidate>" and trace.tb_frame is not here:
                    line = trace.tb_lineno
                trace = trace.tb_next
            answers.append([False, type(fault).__name__, str(fault)[:200], line])
    return answers
"""

_KINDS = {
    "NameError": Kind.NAME,
    "UnboundLocalError": Kind.NAME,
    "TypeError": Kind.TYPE,
    "AssertionError": Kind.ASSERTION,
    "MemoryError": Kind.MEMORY,
    "SystemExit": Kind.EXIT,
    "PermissionError": Kind.FORBIDDEN,
}


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What one candidate is asked: expressions, and steps that are statements."""

    code: str
    steps: tuple[Step, ...]


def ask_all(sandbox: Sandbox, inquiries: Sequence[Inquiry], limits: Limits) -> list[Result]:
    """Run every candidate and give, in their order, how its load and each of its steps ended."""
    results = list(sandbox.run_all([_join(each, _SHARE * limits.cpu_seconds) for each in inquiries], limits))
    found = [_split(each, result) for each, result in zip(inquiries, results, strict=True)]
    failed = [place for place, each in enumerate(found) if each is None]
    singly = _ask_singly(sandbox, [inquiries[place] for place in failed], limits)
    for place, verdicts in zip(failed, singly, strict=True):
        found[place] = Result(results[place].load, verdicts)
    return [each for each in found if each is not None]


def _join(question: Inquiry, seconds: float) -> Program:
    """Put the expressions into one step, each with so much time; statements and what reads its input stay apart."""
    together, others = _sort_steps(question.steps)
    if not together:
        return Program(question.code, question.steps)
    calls = ", ".join(f"lambda: ({each.source})" for each in together)
    source = f"_pkg_ask_all({seconds!r}, {MOST_HANGS}, {calls})"
    return Program(question.code + _ASK_ALL, (Step(source, is_expression=True), *others))


def _sort_steps(steps: Iterable[Step]) -> tuple[list[Step], list[Step]]:
    together = [each for each in steps if each.is_expression and not each.stdin]
    return together, [each for each in steps if not each.is_expression or each.stdin]


def _split(question: Inquiry, result: Result) -> Result | None:
    """Give each step its verdict; None when the joined step has failed as a whole."""
    together, _ = _sort_steps(question.steps)
    if not together or result.load.kind is not Kind.OK:
        return replace(result, steps=_repeat(result, len(question.steps))) if together else result
    joined = result.steps[0]
    answers = _parse_answers(joined, len(together))
    if answers is None:
        return None
    joint, single = iter(answers), iter(result.steps[1:])
    return Result(result.load, tuple(next(joint if each in together else single) for each in question.steps))


def _repeat(result: Result, count: int) -> tuple[Verdict, ...]:
    return (replace(result.load, value=None, output="", seconds=0.0),) * count


def _parse_answers(joined: Verdict, count: int) -> list[Verdict] | None:
    """Read the list that the joined step came to; whatever else stands there is no answer."""
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
    if isinstance(answer, list) and len(answer) == 2 and answer[0] is True:
        return Verdict(Kind.OK, seconds=seconds, value=json.dumps(answer[1], separators=(",", ":")))
    if not isinstance(answer, list) or len(answer) != 4 or answer[0] is not False:
        return None
    _, name, message, line = answer
    if not isinstance(name, str) or not isinstance(message, str) or not isinstance(line, int):
        return None
    place = f" (line {line})" if 0 < line < MOST_LINES else ""
    detail = clean_line(f"{name}: {message}" if message.strip() else name) + place
    return Verdict(_KINDS.get(name, Kind.OTHER), detail, seconds)


def _ask_singly(sandbox: Sandbox, inquiries: Sequence[Inquiry], limits: Limits) -> list[tuple[Verdict, ...]]:
    """Ask one step after the other, a few of every candidate at a time, until one has hung too often."""
    limits = replace(limits, cpu_seconds=limits.cpu_seconds / 4, wall_seconds=limits.wall_seconds / 2)
    found: list[list[Verdict]] = [[] for _ in inquiries]
    while waiting := [place for place, each in enumerate(inquiries) if len(found[place]) < len(each.steps)]:
        programs = []
        for place in waiting:
            first = len(found[place])
            programs.append(Program(inquiries[place].code, inquiries[place].steps[first : first + CHUNK]))
        for place, result in zip(waiting, sandbox.run_all(programs, limits), strict=True):
            found[place] += result.steps
            hung = [each for each in found[place] if each.kind in _HANGS]
            if len(hung) >= MOST_HANGS:
                rest = len(inquiries[place].steps) - len(found[place])
                found[place] += [Verdict(hung[-1].kind, NOT_TRIED)] * rest
    return [tuple(each) for each in found]
