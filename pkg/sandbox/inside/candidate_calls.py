"""Make many calls in the process of one candidate, one after another, and collect their answers.

A call is the source of an expression, or a list of the name of a function, its arguments and its keywords, rendered by
pkg.sandbox.values. An answer is [true, value], [false, exception, message, line], or "hung", which is the last one.
"""

from __future__ import annotations

import json
import pickle
import signal
from typing import Any

from pkg.sandbox.inside.fault_kinds import CODE
from pkg.sandbox.values import render_value, restore_value

MAX_MESSAGE = 200  # characters of a message
MAX_OTHER_ANSWER = 2300  # characters of an answer that is a digest or an exception, all of which may be escaped
HUNG = "hung"


class _HungError(BaseException):
    """Raised when the time of the calls is over."""


def answer_calls(names: dict[str, Any], setup: str, calls: str, seconds: float, most: int) -> str:
    """Run the set-up and then the calls in a namespace; return as many answers as CPU seconds allow, as JSON.

    most: characters of all answers; values that exceed it are rendered as digests.
    """
    exec(compile(setup, CODE, "exec", dont_inherit=True), names)
    answers: list[Any] = []
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        for call in json.loads(calls):
            answers.append(_answer(names, call))
    except _HungError:
        answers.append(HUNG)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return _render_answers(answers, most)


def _render_answers(answers: list[Any], most: int) -> str:
    left = most - min(MAX_OTHER_ANSWER * (len(answers) + 1), most // 2)
    texts = []
    for each in answers:
        if isinstance(each, _Frozen):
            value = render_value(_thaw(each), max(left, 0), keeps_order=True)
            left -= len(value)
            texts.append(f"[true,{value}]")
        else:
            texts.append(json.dumps(each))
    return f"[{','.join(texts)}]"


def _stop(*_: object) -> None:
    raise _HungError


def _answer(names: dict[str, Any], call: Any) -> Any:
    try:
        if isinstance(call, str):
            return _freeze(eval(compile(call, "<step>", "eval", dont_inherit=True), names))
        function, arguments, keywords = call
        return _freeze(names[function](*restore_value(arguments), **restore_value(keywords)))
    except KeyError as fault:
        if not isinstance(call, str) and call[0] not in names:
            return [False, "NameError", f"name {call[0]!r} is not defined", 0]
        return _describe(fault)
    except (Exception, SystemExit) as fault:
        return _describe(fault)


def _describe(fault: BaseException) -> list[Any]:
    if isinstance(fault, MemoryError):  # releases memory
        fault.__traceback__ = None
    line, trace = 0, fault.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == CODE else line
        trace = trace.tb_next
    return [False, type(fault).__name__, str(fault)[:MAX_MESSAGE], line]


class _Frozen:
    """A snapshot of a value that later calls cannot mutate."""

    __slots__ = ("data", "value")

    def __init__(self, data: bytes | None, value: Any) -> None:
        self.data, self.value = data, value


def _freeze(value: Any) -> _Frozen:
    if value is None or type(value) in (bool, int, float, str):
        return _Frozen(None, value)
    try:
        return _Frozen(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), None)  # much faster than a copy
    except Exception:  # for example for an iterator
        return _Frozen(None, value)


def _thaw(frozen: _Frozen) -> Any:
    return frozen.value if frozen.data is None else pickle.loads(frozen.data)
