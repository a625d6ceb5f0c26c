"""Judge code by hidden tests that it cannot see: it evaluates calls, and the tests run in another process (P-32, P-33).

1. The tests of an item run once against its reference, to record their calls. Then the reference is judged like a
   candidate: tests that it fails, or that make no call, are invalid, and every candidate gets that verdict. A call in a
   top-level statement of the tests, such as `f(Pair(1, 2))` in an assert, is recorded as source; of other calls, inside
   functions and loops, the values of the arguments are.
2. The process of a candidate evaluates those calls and returns the results as plain data.
3. The tests run in another process of the sandbox, with a function that returns these results. If tests then make a
   new call, because it depends on earlier results, the candidate runs again for all calls up to it.

So the process of a candidate never holds tests, expected values or comparisons, and none of its objects reach them.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from pkg.errors import shorten
from pkg.generation.linking import Piece, link_pieces
from pkg.generation.prompt_templates.prompt_template import PromptTask, make_task
from pkg.lab.evaluation.code import inside_tests
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.inside_tests import ANSWER
from pkg.rerank.diagnosis import CLASSES, OTHER, check_answer, classify
from pkg.sandbox import values
from pkg.sandbox.claims import clean_line
from pkg.sandbox.protocol import Kind, Limits, Program, Sandbox, Step, Verdict

TOGETHER = 32  # cases whose tests share a process, to save the cost of starting one
AHEAD = 64  # candidates that run before their tests
TRUSTED_OUTPUT = 16 << 20  # bytes: recorded calls may have long arguments; see inside_tests
ROUNDS = 40  # runs of a candidate for calls that depend on its results

_KINDS = {
    "IndentationError": Kind.INDENTATION,
    "SyntaxError": Kind.SYNTAX,
    "NameError": Kind.NAME,
    "TypeError": Kind.TYPE,
    "AssertionError": Kind.ASSERTION,
    "MemoryError": Kind.MEMORY,
    "PermissionError": Kind.FORBIDDEN,
    "SystemExit": Kind.EXIT,
}


_OBJECTS = ('{"repr":[', '{"long":[')  # as rendered by values; quotes inside strings are escaped
_NAMING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar
)  # fmt: skip
LIMITS = Limits(cpu_seconds=10.0, wall_seconds=30.0, memory_bytes=1 << 30, output_bytes=1 << 20)
PLUS_LIMITS = Limits(cpu_seconds=60.0, wall_seconds=120.0, memory_bytes=4 << 30, output_bytes=8 << 20)
"""For the tests of EvalPlus: hundreds of inputs, some of them large."""

ERRORS = (*CLASSES, OTHER)
"""The classes of the paper's table of errors (P-33)."""

LONGEST = 300  # characters of a stored detail


@dataclass(frozen=True, slots=True)
class _Tests:
    """The tests of an item, and their known calls as recorded by inside_tests."""

    item: Item
    tests: str
    calls: tuple[Any, ...] = ()
    fault: Verdict | None = None  # reason why their calls cannot be recorded

    @property
    def words(self) -> list[str]:
        return [self.item.reference, self.item.setup, self.tests, self.item.entry]


@dataclass(frozen=True, slots=True)
class _Case:
    """A candidate with its results."""

    code: str
    tests: _Tests
    answers: tuple[Any, ...] = ()
    end: Verdict | None = None  # of its process; None before it has run

    def to_task(self) -> list[Any]:
        """Return the arguments of judge_all."""
        return [*self.tests.words, list(self.tests.calls), list(self.answers)]


class HiddenTests:
    """Runs hidden tests; caches the calls of the items."""

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._known: dict[tuple[str, str], _Tests] = {}

    def run_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Verdict]:
        """Yield the verdict of the hidden tests for each pair of code and item, in order."""
        waiting = iter(pairs)
        while some := list(islice(waiting, AHEAD)):
            self._learn({(item.id, item.tests): item for _, item in some})
            yield from self._judge([_Case(code, self._known[item.id, item.tests]) for code, item in some])

    def _learn(self, items: dict[tuple[str, str], Item]) -> None:
        """Record the calls that the tests of new items make."""
        new = [
            _Tests(item, rewrite_calls(item.tests, item.entry)) for key, item in items.items() if key not in self._known
        ]
        found = self._run_trusted("record_all", [each.words for each in new])
        learned = [_add_calls(tests, calls) for tests, calls in zip(new, found, strict=True)]
        ends = self._judge([_Case(each.item.reference, each) for each in learned])
        for tests, end in zip(learned, ends, strict=True):
            self._known[tests.item.id, tests.item.tests] = _check_reference(tests, end)

    def _judge(self, cases: Sequence[_Case]) -> list[Verdict]:
        verdicts: list[Verdict | None] = [each.tests.fault for each in cases]
        current = dict(enumerate(cases))
        for _ in range(ROUNDS):
            waiting = [place for place, verdict in enumerate(verdicts) if verdict is None]
            current |= zip(waiting, self._ask([current[place] for place in waiting]), strict=True)
            for place in waiting:
                end = current[place].end
                verdicts[place] = None if end is None or end.kind is Kind.OK else end
            waiting = [place for place in waiting if verdicts[place] is None]
            ended = self._run_trusted("judge_all", [current[place].to_task() for place in waiting])
            for place, end in zip(waiting, ended, strict=True):
                verdicts[place], current[place] = _conclude(current[place], end)
            if None not in verdicts:
                break
        late = Verdict(Kind.OTHER, f"its tests ask for more after each of {ROUNDS} answers")
        return [verdict or late for verdict in verdicts]

    def _ask(self, cases: Sequence[_Case]) -> list[_Case]:
        """Run each candidate on the calls of its tests, in a process that holds nothing else of them."""
        programs = (Program(each.code, (_make_step(each.tests),)) for each in cases)
        ends = (result.steps[0] for result in self._sandbox.run_all(programs, self._limits))
        return [_read_answers(case, end) for case, end in zip(cases, ends, strict=True)]

    def _run_trusted(self, function: str, tasks: Sequence[list[Any]]) -> list[Any]:
        """Run a function of inside_tests on tasks, several in one process; a task that fails runs again alone."""
        parts = [tasks[start : start + TOGETHER] for start in range(0, len(tasks), TOGETHER)]
        found: list[Any] = []
        for part, end in zip(parts, self._run_programs(function, parts), strict=True):
            results = _read_results(end, len(part))
            if results is None and len(part) > 1:
                alone = self._run_programs(function, [[each] for each in part])
                found += [(_read_results(each, 1) or [_refuse(each)])[0] for each in alone]
            else:
                found += [_refuse(end)] if results is None else results
        return found

    def _run_programs(self, function: str, parts: Sequence[Sequence[list[Any]]]) -> list[Verdict]:
        steps = [Step(f"{function}({json.dumps(list(part))!r})", is_expression=True) for part in parts]
        programs = [Program(_read_runner(), (step,)) for step in steps]
        limits = replace(self._limits, output_bytes=max(self._limits.output_bytes, TRUSTED_OUTPUT))
        return [result.steps[0] for result in self._sandbox.run_all(programs, limits)]


def _read_results(end: Verdict, count: int) -> list[Any] | None:
    """Parse the results of a trusted process; None if it failed or its output was too long."""
    found: Any = json.loads(end.value or "null") if end.kind is Kind.OK else None
    return found if isinstance(found, list) and len(found) == count else None


def _refuse(end: Verdict) -> Verdict:
    """Return the verdict for a task whose trusted process returned no result."""
    if end.kind is not Kind.OK:
        return end
    return Verdict(Kind.OTHER, f"its calls take more than {TRUSTED_OUTPUT >> 20} MiB to write down", end.seconds)


@cache
def _read_runner() -> str:
    texts = [Path(str(each.__file__)).read_text(encoding="utf-8") for each in (values, inside_tests)]
    return "\n".join(
        f"exec(compile({text!r}, {name!r}, 'exec'))" for text, name in zip(texts, ("values", "tests"), strict=True)
    )


def _add_calls(tests: _Tests, found: Any) -> _Tests:
    """Add calls to the known ones of tests; a fault if an argument is not plain data."""
    if isinstance(found, Verdict):
        return replace(tests, fault=replace(found, detail=f"the tests cannot be run: {found.detail}", value=None))
    if any(mark in text for call in found if isinstance(call, list) for text in call for mark in _OBJECTS):
        told = "its tests hand over a value that is no plain data, so that they cannot be kept apart from the code"
        return replace(tests, fault=Verdict(Kind.OTHER, told))
    return replace(tests, calls=(*tests.calls, *found))


def _check_reference(tests: _Tests, end: Verdict) -> _Tests:
    """Reject tests that cannot judge code, because the reference fails them or they never call it.

    They may inspect more than the plain data of a result, such as a list that the code changes in place.
    """
    if tests.fault is not None:
        return tests
    if end.kind is not Kind.OK:
        told = f"the tests cannot judge code by the values of its calls, for its reference fails: {end.detail}"
        return replace(tests, fault=Verdict(Kind.OTHER, told))
    if not tests.calls:
        return replace(tests, fault=Verdict(Kind.OTHER, f"the tests cannot judge code: no call of {tests.item.entry}"))
    return tests


def _make_step(tests: _Tests) -> Step:
    """Write the calls for the candidate's process: as source, or as function, arguments and keywords."""
    calls = [
        json.dumps(call) if isinstance(call, str) else f'["{tests.item.entry}",{",".join(call)}]'
        for call in tests.calls
    ]
    return Step(tests.item.setup, is_expression=True, calls=f"[{','.join(calls)}]")


def _read_answers(case: _Case, end: Verdict) -> _Case:
    """Parse the results of a candidate's process, up to the first invalid one."""
    answers: list[Any] = []
    told: Any = json.loads(end.value or "[]") if end.kind is Kind.OK else []
    for each in told if isinstance(told, list) else []:
        if not _is_answer(each):
            break
        answers.append(each)
    return replace(case, answers=tuple(answers), end=end)


def _is_answer(each: Any) -> bool:
    if not isinstance(each, list) or not each or not isinstance(each[0], bool):
        return False
    if each[0]:
        return len(each) == 2
    kinds = tuple(map(type, each[1:]))
    return kinds == (str, str, int)


def _conclude(case: _Case, end: Any) -> tuple[Verdict | None, _Case]:
    """Return the verdict on a candidate, or None if it must evaluate the further calls that the case then holds."""
    assert case.end is not None
    run = replace(case.end, value=None)
    if isinstance(end, Verdict):
        return replace(run, kind=end.kind, detail=end.detail), case
    if end is None or isinstance(end, list):
        return run if end is None else _read_failure(run, end), case
    if len(case.answers) < len(case.tests.calls):
        return replace(run, kind=Kind.TIMEOUT, detail="its calls took too long together"), case
    ((_, call),) = end["dict"]
    tests = _add_calls(case.tests, [call])
    return tests.fault, replace(case, tests=tests)


def _read_failure(run: Verdict, end: list[Any]) -> Verdict:
    names, message, line = end
    kind = next((_KINDS[name] for name in names if name in _KINDS), Kind.OTHER)
    place = f" (line {line})" if line else ""
    return replace(run, kind=kind, detail=clean_line(message) + place)


def rewrite_calls(tests: str, entry: str) -> str:
    """Replace each call of a function in top-level statements of tests by one that requests its result."""
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError):
        return tests
    bound = Counter(_list_bound(tree))
    if "*" in bound:  # a star import
        return tests
    rewriter = _Rewriter(entry, bound)
    tree.body = [rewriter.visit(each) if isinstance(each, ast.Assert | ast.Expr) else each for each in tree.body]
    return ast.unparse(ast.fix_missing_locations(tree)) if rewriter.is_changed else tests


def _list_bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code binds, once for each binding; * for a star import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.MatchMapping):
            yield from filter(None, [node.rest])
        elif isinstance(node, _NAMING) and node.name:
            yield node.name


class _Rewriter(ast.NodeTransformer):
    """Replaces the outermost calls of a function whose arguments use no name that the tests bind."""

    def __init__(self, entry: str, bound: Counter[str]) -> None:
        self._entry, self._bound = entry, bound
        self.is_changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call, or visit its parts."""
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if isinstance(node.func, ast.Name) and node.func.id == self._entry and not used & self._list_outer(node):
            self.is_changed = True
            return ast.Call(ast.Name(ANSWER, ast.Load()), [ast.Constant(ast.unparse(node))], [])
        return self.generic_visit(node)

    def _list_outer(self, call: ast.Call) -> set[str]:
        """Return the names that the tests bind outside the call; a lambda inside it binds its own."""
        leaks = any(isinstance(each, ast.NamedExpr) for each in ast.walk(call))
        return set(self._bound if leaks else self._bound - Counter(_list_bound(call)))


@dataclass(frozen=True, slots=True)
class Score:
    """The result of the hidden tests of an item for some code."""

    passed: bool
    error: str = ""  # one of ERRORS; "" if all pass
    detail: str = ""
    seconds: float = 0.0  # CPU


def score_all(tests: HiddenTests, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
    """Yield the score of each pair of code and item, in order; pairs run in batches."""
    for verdict in tests.run_all(pairs):
        if verdict.kind is Kind.OK:
            yield Score(True, seconds=verdict.seconds)
        else:
            yield Score(False, classify(verdict.kind), shorten(verdict.detail, LONGEST), verdict.seconds)


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The code of an answer, as it is scored."""

    code: str
    linked: tuple[str, ...] = ()  # places of the helpers linked into it
    is_shown_right: bool | None = None  # whether the examples of the task hold; None if it has none
    is_cut: bool = False


class AnswerJudge(Protocol):
    """Makes the tasks of items, reads their answers and scores the code."""

    def make_task(self, item: Item) -> PromptTask:
        """Return the task of the prompt for an item."""

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Return the code of an answer, which may call the helpers in pieces."""

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Yield the score of each pair of code and item, in order."""


class HiddenTestsJudge:
    """Scores whole programs by the hidden tests of HumanEval and MBPP, in another process than the code."""

    def __init__(self, sandbox: Sandbox, limits: Limits = LIMITS) -> None:
        self._sandbox, self._tests = sandbox, HiddenTests(sandbox, limits)

    def make_task(self, item: Item) -> PromptTask:
        """Return the text of an item as its task."""
        return make_task(item.task)

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Return the code of an answer with the helpers that it calls linked in, run on the examples of the task."""
        found = check_answer(text, item.task, (), sandbox=self._sandbox)
        linked = link_pieces(found.code, pieces)
        if linked.code != found.code:
            found = replace(check_answer(linked.code, item.task, (), sandbox=self._sandbox), is_cut=found.is_cut)
        is_right = not found.failures if found.examples else None
        return ReadAnswer(found.code, tuple(each.place for each in linked.added), is_right, found.is_cut)

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Yield the score of each pair of code and item, in order; pairs run in batches."""
        return score_all(self._tests, pairs)
