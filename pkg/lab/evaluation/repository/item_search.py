"""Find the items of a project: functions that its tests reach, and whose tests fail without their body."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pkg.errors import InputError
from pkg.lab.evaluation.code.scorer import Score
from pkg.lab.evaluation.repository.answer_body import read_body
from pkg.lab.evaluation.repository.masked_functions import MASK, MaskedFunction, list_functions, put_body
from pkg.lab.evaluation.repository.project_files import Project
from pkg.lab.evaluation.repository.project_tests import Replacement, TracedTests, judge_replacements, trace_tests
from pkg.sandbox.protocol import Sandbox

MOST_TESTS = 10  # per item: enough to detect errors, few enough to run in seconds
MOST_SECONDS = 5.0  # of all tests of an item, as traced; the fastest test is kept even if it takes longer

Count = Callable[[str, int, int], None]
"""Called with the current step, the number of finished parts, and their total."""


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A masked function with the tests that score an answer."""

    function: MaskedFunction
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The items of a project, and counts of the other functions and tests."""

    python: str
    items: tuple[FoundItem, ...]
    tests: int  # number of tests that ran
    failing: tuple[str, ...]  # tests that fail on the unmodified project, and files that cannot be collected
    left_out: dict[str, int]  # number of functions that are not items, by reason


def find_items(
    sandbox: Sandbox,
    project: Project,
    tests: Sequence[str] = (),
    count: Count = lambda what, done, total: None,
) -> FoundItems:
    """Run the tests of a project, choose those that reach each function, and check that they fail without its body.

    Raises InputError if there is no function with a docstring, no test, or no item.
    """
    functions = list_functions(project)
    if not functions:
        raise InputError(
            f"no function in {project.name} has a docstring and a body of more than one simple statement; expected"
            " some outside of its tests"
        )
    count("tracing the tests", 0, 1)
    traced = trace_tests(sandbox, project, tests)
    count("tracing the tests", 1, 1)
    passing = {name: end.seconds for name, end in traced.ends.items() if end.outcome == "passed" and "\n" not in name}
    reasons: Counter[str] = Counter()
    reached: list[FoundItem] = []
    for function in functions:
        names = [name for name in traced.reached.get((function.path, function.line), ()) if name in passing]
        if names:
            reached.append(FoundItem(function, _choose_tests(function, names, passing)))
        else:
            reasons["no passing test reaches it"] += 1
    kept = tuple(_verify(sandbox, project, reached, reasons, count))
    if not kept:
        raise InputError(
            f"no item in {project.name}: of {len(functions)} functions with a docstring"
            f" {', '.join(f'{number}: {reason}' for reason, number in reasons.items())}; expected tests that fail"
            " without them"
        )
    return FoundItems(traced.python, kept, len(traced.ends), _list_failing(traced), dict(reasons))


def _list_failing(traced: TracedTests) -> tuple[str, ...]:
    failing = (f"{name}: {end.detail}" for name, end in sorted(traced.ends.items()) if end.outcome == "failed")
    return (*failing, *traced.broken)


def _choose_tests(function: MaskedFunction, names: Sequence[str], seconds: dict[str, float]) -> tuple[str, ...]:
    """Choose the tests of a function: those with its name first, and the cases of parametrised tests in turn."""
    order: dict[str, int] = defaultdict(int)
    keys = []
    for name in sorted(names, key=lambda name: (seconds[name], name)):
        test = name.partition("[")[0]
        is_named = function.name.strip("_").lower() in test.rpartition("::")[2].lower()
        keys.append((order[test], not is_named, seconds[name], name))
        order[test] += 1
    chosen: list[str] = []
    spent = 0.0
    for _, _, took, name in sorted(keys):
        if len(chosen) < MOST_TESTS and (not chosen or spent + took <= MOST_SECONDS):
            chosen.append(name)
            spent += took
    return tuple(sorted(chosen))


def _verify(
    sandbox: Sandbox, project: Project, found: Sequence[FoundItem], reasons: Counter[str], count: Count
) -> Iterator[FoundItem]:
    """Yield the items whose tests pass with the original body, inserted like an answer, and fail without it."""

    def try_all(bodies: Iterable[str]) -> Iterator[Score]:
        return judge_replacements(
            sandbox,
            project,
            (
                Replacement(each.function.path, put_body(project, each.function, body), each.tests)
                for each, body in zip(found, bodies, strict=True)
            ),
        )

    right = try_all(read_body(each.function.code, each.function).text or MASK for each in found)
    wrong = try_all(MASK for _ in found)
    for place, (each, with_body, without) in enumerate(zip(found, right, wrong, strict=True), 1):
        if not with_body.passed:
            reasons["its tests do not pass by themselves"] += 1
        elif without.passed:
            reasons["its tests pass without its body"] += 1
        else:
            yield each
        count("verifying the items", place, len(found))
