"""Run hidden tests in the sandbox, in a process without candidates, whose results come as plain data.

The text of this file is sent into the sandbox after that of pkg.sandbox.values, so it is one file and imports only the
standard library. Tests run in the namespace of the reference, whose function is replaced: by one that records its calls
(`record_all`), or by one that returns the candidate's results (`judge_all`).
"""

from __future__ import annotations

import builtins
import json
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkg.sandbox.values import render_value, restore_value

ANSWER = "_pkg_answer"  # replaces calls written out in tests; see pkg.lab.evaluation.code.hidden_tests
LONGEST = 400  # characters of a message
MOST = 4 << 20  # characters of an argument, which EvalPlus needs


class _MissingError(BaseException):
    """Ends tests that make a call without a recorded result."""


class _CandidateError(Exception):
    """Stands for an exception of the candidate."""

    origin: tuple[str, str, int]


def record_all(tasks: str) -> list[Any]:
    """Run the tests of each task against its reference; return the calls of each, up to the first failure."""
    return [_record(*task) for task in json.loads(tasks)]


def _record(reference: str, setup: str, tests: str, entry: str) -> list[Any]:
    calls: list[Any] = []

    def call(*arguments: Any, **keywords: Any) -> Any:
        calls.append(_spell(arguments, keywords))
        return own[entry](*arguments, **keywords)

    def answer(source: str) -> Any:
        calls.append(source)
        return eval(source, names)

    own: dict[str, Any] = {"__name__": "candidate"}
    names: dict[str, Any] = own
    _run(lambda: exec(reference, own))
    names = {**own, ANSWER: answer}
    _run(lambda: exec(setup, names))
    seen = {**names, entry: call}
    _run(lambda: exec(tests, seen))
    return calls


def _run(act: Callable[[], object]) -> list[Any] | None:
    """Call a function; return its failure: names of the exception and its bases, message and line of code."""
    random.seed(0)
    try:
        act()
    except _CandidateError as fault:
        name, message, line = fault.origin
        return [_list_names(getattr(builtins, name, Exception)), f"{name}: {message}" if message else name, line]
    except BaseException as fault:
        message = " ".join(str(fault)[:LONGEST].split())
        name = type(fault).__name__
        return [_list_names(type(fault)), f"{name}: {message}" if message else name, 0]
    return None


def _list_names(kind: Any) -> list[str]:
    return [each.__name__ for each in kind.__mro__] if isinstance(kind, type) else ["Exception"]


def _spell(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[str]:
    """Render the arguments and keywords of a call as texts, which identify it."""
    return [render_value(each, MOST, keeps_order=True) for each in (arguments, keywords)]


def judge_all(cases: str) -> list[Any]:
    """Run the tests of each case with the results of its candidate.

    The result of each: null if all pass, [names, message, line] of the failure, or {"missing": call}.
    """
    return [_judge(*case) for case in json.loads(cases)]


def _judge(reference: str, setup: str, tests: str, entry: str, calls: list[Any], answers: list[Any]) -> Any:
    waiting: dict[str, list[Any]] = {}
    missing: list[object] = []  # kept apart from the exception, which tests may catch
    for call, answer in zip(calls, answers):  # noqa: B905  there may be fewer answers
        waiting.setdefault(str(call), []).append(answer)

    def give(call: object) -> Any:
        known = waiting.get(str(call))
        if not known:
            missing.append(call)
            raise _MissingError
        answer = known.pop(0)
        if answer[0]:
            return restore_value(answer[1])
        raise _make_error(*answer[1:])

    def candidate(*arguments: Any, **keywords: Any) -> Any:
        return give(_spell(arguments, keywords))

    names: dict[str, Any] = {"__name__": "candidate"}
    _run(lambda: exec(reference, names))
    names |= {entry: candidate, ANSWER: give}
    _run(lambda: exec(setup, names))
    failure = _run(lambda: exec(tests, names))
    return {"missing": missing[0]} if missing else failure


def _make_error(name: str, message: str, line: int) -> BaseException:
    """Make an exception of the candidate; if it is a builtin one, tests can catch it by its class."""
    kind = getattr(builtins, name, None)
    base = kind if isinstance(kind, type) and issubclass(kind, Exception) else Exception
    try:
        made: Any = type(name, (_CandidateError, base), {})(message)
    except TypeError:  # a class with further required arguments
        made = _CandidateError(message)
    error: BaseException = made
    made.origin = (name, message, line)
    return error
