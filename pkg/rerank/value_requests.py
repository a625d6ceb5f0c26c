"""Ask many candidates for the values of many expressions with few runs.

Each run of the sandbox is a new process. So everything that a candidate is asked is asked in one run, each under its
own `try` and with a timer of its own; where that fails as a whole (one of the calls hangs where no timer is heard, ends
the process, or fills the memory), they are asked one by one, with less time for each. Either way until a second one has
hung.
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

CHUNK = 2  # calls that are asked one by one before it is seen whether to go on
MOST_HANGS = 2  # of one candidate; code that hangs twice on small values is given up
MOST_LINES = 1_000_000  # of code; no candidate that Python takes has more
MOST_BASES = 20  # of the class of an exception
NOT_TRIED = "not tried, for others before it hung"
_AWAITS = re.compile(r"\b(?:await|async)\b")
_HANGS = (Kind.TIMEOUT, Kind.MEMORY)
_SHARE = 0.1  # of the time of a run, that each of its calls may take

_KINDS = {
    "NameError": Kind.NAME,
    "UnboundLocalError": Kind.NAME,
    "TypeError": Kind.TYPE,
    "AssertionError": Kind.ASSERTION,
    "MemoryError": Kind.MEMORY,
    "SystemExit": Kind.EXIT,
    "PermissionError": Kind.FORBIDDEN,
}


class Form(str, Enum):
    """What a claim runs."""

    VALUE = "eval"  # the value of an expression, or what it prints where it has none
    STATEMENTS = "exec"  # whether statements fail, and what they print
    PROGRAM = "program"  # what the candidate prints as a program that reads the source


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a candidate is asked, after the lines of a script that run before it."""

    source: str
    form: Form = Form.VALUE
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What one candidate is asked."""

    code: str
    asks: tuple[Ask, ...]


@dataclass(slots=True)
class _Script:
    """Calls that share their names, in order; the place of what was asked is kept for those that were."""

    lines: list[tuple[Form, str]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)  # -1 for a line without a claim

    def follows(self, ask: Ask) -> bool:
        """Return whether the lines before an ask begin with this script."""
        return len(self.lines) <= len(ask.before) and all(
            line == other for (_, line), other in zip(self.lines, ask.before, strict=False)
        )

    def add(self, ask: Ask, place: int) -> None:
        """Add what stands before an ask, and the ask itself."""
        more = [(Form.STATEMENTS, line) for line in ask.before[len(self.lines) :]]
        self.lines += [*more, (ask.form, ask.source)]
        self.places += [*(-1 for _ in more), place]


def ask_all(sandbox: Sandbox, inquiries: Sequence[Inquiry], limits: Limits) -> list[Result]:
    """Run every candidate and return, in their order, how its load and each of its asks ended."""
    plans = [_plan(each.asks) for each in inquiries]
    seconds = _SHARE * limits.cpu_seconds
    programs = [_write_program(each.code, plan, seconds) for each, plan in zip(inquiries, plans, strict=True)]
    results = list(sandbox.run_all(programs, limits))
    found = [_read_result(*each) for each in zip(inquiries, plans, results, strict=True)]
    failed = [place for place, each in enumerate(found) if each is None]
    singly = _ask_singly(sandbox, [inquiries[place] for place in failed], limits)
    for place, verdicts in zip(failed, singly, strict=True):
        found[place] = Result(results[place].load, verdicts)
    return [each for each in found if each is not None]


def _plan(asks: Iterable[Ask]) -> list[_Script]:
    """Put asks into scripts: one that goes on where an earlier one has ended is asked in the same."""
    scripts: list[_Script] = []
    for place, ask in enumerate(asks):
        script = next((each for each in reversed(scripts) if each.follows(ask)), None) if ask.before else None
        if script is None:
            script = _Script()
            scripts.append(script)
        script.add(ask, place)
    return scripts


def _write_program(code: str, scripts: Sequence[_Script], seconds: float) -> Program:
    """Write one step that asks everything; a program is run by what asks it, so nothing of it is loaded before."""
    if not scripts:
        return Program(code)
    calls = ", ".join(_write_calls(code, scripts))
    runs = any(each.lines[0][0] is Form.PROGRAM for each in scripts)
    source = f"_pkg_ask_all({seconds!r}, {MOST_HANGS}, {calls})"
    return Program("" if runs else code, (Step(source, is_expression=True),))


def _write_calls(code: str, scripts: Sequence[_Script]) -> Iterator[str]:
    """Write what makes the calls of scripts; one of an expression alone is a lambda, which costs least."""
    inputs = [source for each in scripts for form, source in each.lines if form is Form.PROGRAM]
    if inputs:
        yield f"*_pkg_runs({code!r}, {', '.join(map(repr, inputs))})"
        return
    for each in scripts:
        if len(each.lines) == 1 and each.lines[0][0] is Form.VALUE and not _AWAITS.search(each.lines[0][1]):
            yield f"lambda: ({each.lines[0][1]})"
        else:
            yield f"*_pkg_lines(globals(), {', '.join(f'({form.value!r}, {source!r})' for form, source in each.lines)})"


def _read_result(inquiry: Inquiry, scripts: Sequence[_Script], result: Result) -> Result | None:
    """Return the result with a verdict for each request; None when the step has failed as a whole."""
    if not scripts:
        return result
    if result.load.kind is not Kind.OK:
        return replace(result, steps=(replace(result.load, value=None, output="", seconds=0.0),) * len(inquiry.asks))
    places = [place for each in scripts for place in each.places]
    answers = _parse_answers(result.steps[0], len(places))
    if answers is None:
        return None
    by_place = dict(zip(places, answers, strict=True))
    return Result(result.load, tuple(by_place[place] for place in range(len(inquiry.asks))))


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
    place = f" (line {line})" if 0 < line < MOST_LINES else ""
    detail = clean_line(f"{name}: {message}" if message.strip() else name) + place
    return Verdict(_KINDS.get(name, Kind.OTHER), detail, seconds, bases=tuple(bases[:MOST_BASES]))


def _ask_singly(sandbox: Sandbox, inquiries: Sequence[Inquiry], limits: Limits) -> list[tuple[Verdict, ...]]:
    """Ask one thing after the other, a few of every candidate at a time, until one has hung too often."""
    limits = replace(limits, cpu_seconds=limits.cpu_seconds / 4, wall_seconds=limits.wall_seconds / 2)
    found: list[list[Verdict]] = [[] for _ in inquiries]
    while waiting := [place for place, each in enumerate(inquiries) if len(found[place]) < len(each.asks)]:
        asked = [(place, ask) for place in waiting for ask in inquiries[place].asks[len(found[place]) :][:CHUNK]]
        programs = [_write_single(inquiries[place].code, ask, limits.cpu_seconds) for place, ask in asked]
        for (place, ask), result in zip(asked, sandbox.run_all(programs, limits), strict=True):
            found[place].append(_read_single(ask, result))
        for place in waiting:
            hung = [each for each in found[place] if each.kind in _HANGS]
            if len(hung) >= MOST_HANGS:
                rest = len(inquiries[place].asks) - len(found[place])
                found[place] += [Verdict(hung[-1].kind, NOT_TRIED)] * rest
    return [tuple(each) for each in found]


def _write_single(code: str, ask: Ask, seconds: float) -> Program:
    """Write the program that asks one thing; what needs no line before it is a step as it stands."""
    if _needs_lines(ask):
        return _write_program(code, _plan([ask]), seconds)
    return Program(code, (Step(ask.source, ask.form is Form.VALUE),))


def _needs_lines(ask: Ask) -> bool:
    return bool(ask.before) or ask.form is Form.PROGRAM or _AWAITS.search(ask.source) is not None


def _read_single(ask: Ask, result: Result) -> Verdict:
    """Read how one ask ended that had a run of its own."""
    if result.load.kind is not Kind.OK:
        return result.load
    (end,) = result.steps
    if not _needs_lines(ask) or end.kind is not Kind.OK:
        return end
    answers = _parse_answers(end, len(ask.before) + 1)
    if answers is not None:
        return answers[-1]
    is_long = end.value is not None and end.value.startswith('{"long"')
    return end if is_long else Verdict(Kind.OTHER, "its answer cannot be read", end.seconds)
