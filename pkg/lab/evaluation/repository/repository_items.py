"""Find the items of a project, and store them in a file: functions whose tests pass, and fail without their body."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from pkg.errors import InputError, UsageError
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.code.benchmarks import Benchmark, Item
from pkg.lab.evaluation.code.hidden_tests import Score
from pkg.lab.evaluation.repository.masked_functions import MASK, MaskedFunction, list_functions, put_body, read_body
from pkg.lab.evaluation.repository.project_tests import (
    Project,
    Replacement,
    TracedTests,
    judge_replacements,
    trace_tests,
)
from pkg.lab.lab_options import Listen
from pkg.model import Label, RelationType, is_bound
from pkg.sandbox.protocol import Sandbox

MOST_TESTS = 10  # per item: enough to detect errors, few enough to run in seconds
MOST_SECONDS = 5.0  # of all tests of an item, as traced; the fastest test is kept even if it takes longer

VERSION = 1  # format version of the file
ITEMS = "items.json"

CALLS, ALONE = "calls the project", "stands alone"
KINDS = (CALLS, ALONE)
"""Whether the original body of an item calls into the project."""


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
    count: Listen = lambda what, done, total: None,
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
    sandbox: Sandbox, project: Project, found: Sequence[FoundItem], reasons: Counter[str], count: Listen
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


@dataclass(frozen=True, slots=True)
class RepositoryItem(Item):
    """A masked function as an item; `tests` has the name of a test on each line."""

    function: MaskedFunction | None = None

    @property
    def masked(self) -> MaskedFunction:
        """Return the masked function."""
        assert self.function is not None
        return self.function


def read_items(
    folder: Path, sandbox: Sandbox, project: Project, tests: tuple[str, ...], count: Listen
) -> tuple[FoundItems, Benchmark]:
    """Read the items of a project from a folder, or find them and store them there.

    Raises UsageError if the folder holds the items of other files or tests, InputError if its file is invalid.
    """
    path = folder / ITEMS
    head = {"version": VERSION, "project": project.name, "sha256": project.sha256, "asked": list(tests)}
    if path.exists():
        found = _load(path, head)
    else:
        found = find_items(sandbox, project, tests, count)
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps({**head, **asdict(found)}, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    items = tuple(map(make_item, found.items))
    return found, Benchmark(f"repository {project.name}", items, project.sha256)


def make_item(found: FoundItem) -> RepositoryItem:
    """Return a found item as one of a benchmark."""
    function = found.function
    return RepositoryItem(
        function.id,
        function.header,
        function.header,
        function.name,
        function.code,
        "\n".join(found.tests),
        function=function,
    )


def _load(path: Path, head: dict[str, Any]) -> FoundItems:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        differing = [name for name, value in head.items() if kept[name] != value]
        items = tuple(FoundItem(MaskedFunction(**each["function"]), tuple(each["tests"])) for each in kept["items"])
        found = FoundItems(kept["python"], items, kept["tests"], tuple(kept["failing"]), kept["left_out"])
    except (ValueError, KeyError, TypeError) as fault:
        raise InputError(f"{path} contains no valid items ({fault}); remove it to search for them again") from None
    if differing:
        told = ", ".join(f"{name} {kept[name]!r}, not {head[name]!r}" for name in differing)
        raise UsageError(f"{path} is of {told}; give another folder with --items or --out, or remove it")
    return found


def read_kinds(store: GraphStore, benchmark: Benchmark) -> dict[str, str]:
    """Return the kind of each item by id; calls between a function and its own parts do not count."""
    definitions = {node.id: node for node in store.nodes((Label.FUNCTION, Label.CLASS))}
    calling: set[tuple[str, int]] = set()
    for edge in store.edges((RelationType.CALLS,)):
        caller, callee = definitions.get(edge.start), definitions.get(edge.end)
        if caller is None or callee is None or not is_bound(edge.confidence):
            continue
        inside = callee.path == caller.path and caller.start <= callee.start and callee.end <= caller.end
        if not inside:
            calling.add((caller.path, caller.start_line))
    functions = {item.id: cast(RepositoryItem, item).masked for item in benchmark.items}
    return {name: CALLS if (function.path, function.line) in calling else ALONE for name, function in functions.items()}
