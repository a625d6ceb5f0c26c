"""Audit: compare the functions of a graph with the solutions of benchmarks, and mark those that leak one (A-16).

Solutions are those of a benchmark, or of a file of the user. The first of three criteria that holds is the kind of
leak: equal code except for local names; equal name and number of arguments; most tokens in common.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError
from pkg.extract.syntax import find_indent, parse_statements
from pkg.graph.audits import is_current
from pkg.graph.store import GraphStore
from pkg.lab.audit.code_shape import CodeShape, find_shape
from pkg.lab.evaluation.code.benchmarks import BENCHMARKS, Benchmark, hash_rows, read_benchmark, read_rows
from pkg.lab.lab_options import Listen
from pkg.model import Audit, Label, Leak, LeakKind, Node, RelationType

CODE_FIELDS = ("canonical_solution", "solution", "reference", "code")
"""Fields that may hold the solution of a row; the first one counts."""

SIMILAR = 0.6
"""Lowest Jaccard similarity of the shingles. Above it 7 of 8 pairs of the corpora solve the same task; from 0.5 to 0.6,
3 of 13 do (benchmarks/results/leak_audit.json)."""

CONTAINED = 0.85
"""Lowest share of the shingles of a solution that a longer function contains."""

MIN_TOKENS = 25
"""Lowest number of tokens of both functions for similarity; shorter ones, such as a loop with a sum, are all alike."""

MIN_CONTAINED_TOKENS = 40
"""Lowest number of tokens of a solution that is searched inside of longer functions."""

MIN_NAMESAKE_SIMILARITY = 0.2
"""Lowest similarity of functions with an equal one-word name, such as check, add or solve."""

_WORD_END = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
HELD = (RelationType.HAS_BODY, RelationType.CHILD, RelationType.CONTAINS)
WHOLE = (Label.FUNCTION, Label.BLOCK)  # nodes whose code includes all nested nodes
MAX_DEPTH = 100  # levels of nesting; Python parses no more

REPORT_INTERVAL = 100  # functions

Marks = Mapping[str, Collection[Leak]]
"""The leaks of nodes, by their ids."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The function that solves a task."""

    task: str
    shape: CodeShape


@dataclass(frozen=True, slots=True)
class SolutionSet:
    """The solutions of one benchmark."""

    name: str  # without white space
    sha256: str  # of the rows or of the file
    solutions: tuple[Solution, ...]
    tasks: int
    unread: tuple[str, ...]  # tasks whose solution has no function that can be compared


def read_solutions(against: str, data: Path) -> SolutionSet:
    """Read the solutions of a benchmark from its official file in the folder `data`, or those of a file.

    against: the name of a benchmark, or a file of JSON lines or Python. Raises PathError if it is neither, and
    InputError for a file without solutions.
    """
    if against in BENCHMARKS:
        return collect_solutions(read_benchmark(against, data))
    path = Path(against)
    if not path.is_file():
        raise PathError(f"no file {against} to audit against; expected it or one of: {', '.join(BENCHMARKS)}")
    if path.suffix == ".py":
        named = list(_read_module(path))
        sha256 = hash_rows([{"code": path.read_text("utf-8", "replace")}])
    else:
        rows = list(read_rows(path))
        named = [_read_row(row, number, path) for number, row in enumerate(rows, 1)]
        sha256 = hash_rows(rows)
    if not named:
        raise InputError(f"{path} holds no solution; expected JSON lines with a solution, or functions")
    return _collect("_".join(path.name.split()), sha256, named)


def collect_solutions(benchmark: Benchmark) -> SolutionSet:
    """Return the reference solutions of the items of a benchmark."""
    return _collect(
        benchmark.name, benchmark.sha256, [(item.id, item.entry, item.reference) for item in benchmark.items]
    )


def _collect(name: str, sha256: str, named: list[tuple[str, str, str]]) -> SolutionSet:
    found = {task: _find_solution(code, entry) for task, entry, code in named}
    solutions = tuple(Solution(task, shape) for task, shape in found.items() if shape)
    return SolutionSet(name, sha256, solutions, len(found), tuple(task for task, shape in found.items() if not shape))


def _find_solution(code: str, entry: str) -> CodeShape | None:
    """Return the shape of the function named `entry`, or of the last one if there is no name."""
    statements = parse_statements(code.encode("utf-8", "replace"))
    functions = [node for node in statements if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = [node for node in functions if node.name == entry] if entry else functions
    return find_shape(named[-1]) if named else None


def _read_row(row: Mapping[str, Any], number: int, path: Path) -> tuple[str, str, str]:
    field = next((name for name in CODE_FIELDS if isinstance(row.get(name), str)), None)
    if field is None:
        raise InputError(
            f"{path}, line {number}: no solution (fields: {', '.join(sorted(row)) or 'none'});"
            f" expected one of: {', '.join(CODE_FIELDS)}"
        )
    task = next((str(row[name]) for name in ("task_id", "id", "_id", "name") if row.get(name) is not None), str(number))
    code, prompt = row[field].replace("\r\n", "\n"), row.get("prompt")
    if isinstance(prompt, str) and not parse_statements(code.encode("utf-8", "replace")):
        code = prompt + code  # the solution is only the body of the function, as in HumanEval
    return task, str(row.get("entry_point") or ""), code


def _read_module(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each function of a file as (task, entry, code)."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {path}: {fault}") from None
    statements = parse_statements(text.encode())
    if not statements:
        raise InputError(f"{path} is not valid Python; expected functions")
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.name, text


class LeakMatcher:
    """Compares functions with the solutions of one benchmark."""

    def __init__(self, benchmark: str, solutions: Sequence[Solution]) -> None:
        self._benchmark, self._solutions = benchmark, solutions
        self._by_key: dict[bytes, list[int]] = defaultdict(list)
        self._by_name: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._by_shingle: dict[int, list[int]] = defaultdict(list)
        self._least = [SIMILAR * len(solution.shape.shingles) for solution in solutions]
        for place, solution in enumerate(solutions):
            shape = solution.shape
            self._by_key[shape.key].append(place)
            self._by_name[shape.name, shape.arguments].append(place)
            for shingle in shape.shingles:
                self._by_shingle[shingle].append(place)

    def match(self, shape: CodeShape) -> tuple[Leak, ...]:
        """Return the leaks of a function, the most similar first."""
        shared = Counter(place for each in shape.shingles for place in self._by_shingle.get(each, ()))
        places = {*self._by_key.get(shape.key, ()), *self._by_name.get((shape.name, shape.arguments), ())}
        if shape.tokens >= MIN_TOKENS:  # fewer shared shingles cannot be similar
            places.update(place for place, count in shared.items() if count >= self._least[place])
        found = (self._compare(place, shape, shared[place]) for place in places)
        return tuple(sorted((each for each in found if each), key=lambda each: (-each.similarity, each.task)))

    def _compare(self, place: int, shape: CodeShape, shared: int) -> Leak | None:
        solution = self._solutions[place]
        other = solution.shape
        similarity = shared / (len(shape.shingles) + len(other.shingles) - shared)
        kind = _judge(shape, other, similarity, shared / len(other.shingles))
        return Leak(self._benchmark, solution.task, kind, round(similarity, 2)) if kind else None


def _judge(shape: CodeShape, other: CodeShape, similarity: float, contained: float) -> LeakKind | None:
    if shape.key == other.key:
        return "same_code"
    if (shape.name, shape.arguments) == (other.name, other.arguments) and (
        similarity >= MIN_NAMESAKE_SIMILARITY or len(_WORD_END.split(shape.name.strip("_"))) > 1
    ):
        return "same_name"
    is_long = min(shape.tokens, other.tokens) >= MIN_TOKENS
    if is_long and (similarity >= SIMILAR or (contained >= CONTAINED and other.tokens >= MIN_CONTAINED_TOKENS)):
        return "similar"
    return None


@dataclass(frozen=True, slots=True)
class LeakedFunction:
    """A function that leaks the solutions of tasks."""

    id: str
    source: str
    path: str
    qualname: str
    start_line: int
    end_line: int
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Result of an audit."""

    audit: Audit
    functions: tuple[LeakedFunction, ...]
    compared: int  # functions of the graph
    unread: int  # functions that the running Python cannot parse
    unread_tasks: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the share of the tasks whose solution leaks."""
        return self.audit.leaked / self.audit.tasks if self.audit.tasks else 0.0

    @property
    def by_source(self) -> Mapping[str, int]:
        """Count the leaking functions of each source."""
        return dict(sorted(Counter(each.source for each in self.functions).items()))

    @property
    def by_kind(self) -> Mapping[str, int]:
        """Count the pairs of function and task by kind of leak."""
        return dict(sorted(Counter(leak.kind for each in self.functions for leak in each.leaks).items()))


def audit_graph(
    store: GraphStore, solutions: Sequence[SolutionSet], listen: Listen = lambda stage, done, total: None
) -> list[AuditReport]:
    """Compare the functions of a graph with the solutions of benchmarks, and mark the leaking ones in the store."""
    with store.snapshot():
        reports = find_leaks(store, solutions, listen)
        marks = [mark_around(store, report.functions) for report in reports]
    with store.write() as writer:
        for report, each in zip(reports, marks, strict=True):
            writer.put_audit(report.audit, each)
    return reports


def find_leaks(
    store: GraphStore, solutions: Sequence[SolutionSet], listen: Listen = lambda stage, done, total: None
) -> list[AuditReport]:
    """Compare the functions of a graph with the solutions of benchmarks, without writing to the store."""
    matchers = [LeakMatcher(each.name, each.solutions) for each in solutions]
    found: list[list[LeakedFunction]] = [[] for _ in solutions]
    known: dict[str, CodeShape | None] = {}  # by content hash
    compared = unread = 0
    total = store.stats().nodes.get(Label.FUNCTION.value, 0)
    for node in store.nodes((Label.FUNCTION,)):
        if node.content_hash not in known:
            known[node.content_hash] = _read_shape(node)
        shape = known[node.content_hash]
        compared, unread = compared + 1, unread + (shape is None)
        if compared % REPORT_INTERVAL == 0:
            listen("comparing functions", compared, total)
        for leaked, matcher in zip(found, matchers, strict=True):
            if shape is not None and (leaks := matcher.match(shape)):
                place = (node.source, node.path, node.qualname, node.start_line, node.end_line)
                leaked.append(LeakedFunction(node.id, *place, leaks))
    sources = {each.name: store.source_fingerprint(each.name) or "" for each in store.sources()}
    return [
        AuditReport(_sum_up(each, leaked, sources), tuple(sorted(leaked, key=_order)), compared, unread, each.unread)
        for each, leaked in zip(solutions, found, strict=True)
    ]


def _read_shape(node: Node) -> CodeShape | None:
    content = node.content.encode("utf-8", "replace")
    statements = parse_statements(content, find_indent(content, node.start_col))
    if not statements or not isinstance(statements[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return find_shape(statements[0])


def _order(each: LeakedFunction) -> tuple[str, str, int, str]:
    return each.source, each.path, each.start_line, each.id


def _sum_up(solutions: SolutionSet, leaked: Sequence[LeakedFunction], sources: Mapping[str, str]) -> Audit:
    tasks = {leak.task for each in leaked for leak in each.leaks}
    return Audit(solutions.name, solutions.sha256, solutions.tasks, len(tasks), len(leaked), sources)


def mark_around(store: GraphStore, functions: Sequence[LeakedFunction]) -> Marks:
    """Return marks for all nodes that show the code of functions: enclosing nodes, and all nodes inside of those.

    Of an enclosing class only the class itself is marked, as its other methods do not show the code.
    """
    marks: dict[str, set[Leak]] = defaultdict(set)
    around = _follow(store, [each.id for each in functions], "in")
    holders = {each.id: set(_reach(around, each.id)) for each in functions}
    labels = {node.id: node.label for node in store.get(sorted(set().union(*holders.values())))}
    roots = {each: [each, *(one for one in above if labels[one] in WHOLE)] for each, above in holders.items()}
    inside = _follow(store, sorted({one for some in roots.values() for one in some}), "out")
    for each in functions:
        shown = {one for one in holders[each.id] if labels[one] in (*WHOLE, Label.CLASS)}
        for root in roots[each.id]:
            shown.update((root, *_reach(inside, root)))
        for identity in shown:
            marks[identity].update(each.leaks)
    for identity, leaks in _list_modules(store, functions):
        marks[identity].update(leaks)
    return {identity: sorted(leaks) for identity, leaks in marks.items()}


def _list_modules(store: GraphStore, functions: Sequence[LeakedFunction]) -> Iterator[tuple[str, tuple[Leak, ...]]]:
    """Yield the module nodes whose lines include a function, with its leaks."""
    places: dict[tuple[str, str], list[LeakedFunction]] = defaultdict(list)
    for each in functions:
        places[each.source, each.path].append(each)
    for node in store.nodes((Label.MODULE,)) if functions else ():
        for each in places.get((node.source, node.path), ()):
            if node.start_line <= each.start_line and each.end_line <= node.end_line:
                yield node.id, each.leaks


def _follow(store: GraphStore, ids: Sequence[str], direction: str) -> dict[str, list[str]]:
    """Return the adjacency lists of the nodes reachable along HELD edges, by direction."""
    steps: dict[str, list[str]] = defaultdict(list)
    for edge in store.neighbours(ids, HELD, direction, MAX_DEPTH) if ids else ():
        first, last = (edge.start, edge.end) if direction == "out" else (edge.end, edge.start)
        steps[first].append(last)
    return steps


def _reach(steps: Mapping[str, Sequence[str]], identity: str) -> Iterator[str]:
    for each in steps.get(identity, ()):
        yield each
        yield from _reach(steps, each)


def read_marks(store: GraphStore, solutions: SolutionSet) -> Marks:
    """Return the leaks of a benchmark by node, from the stored audit if it is current, or from a new comparison."""
    audit = next((each for each in store.audits() if each.benchmark == solutions.name), None)
    if audit is not None and audit.sha256 == solutions.sha256 and is_current(store, audit):
        found = (
            (identity, [leak for leak in leaks if leak.benchmark == solutions.name])
            for identity, leaks in store.leaks()
        )
        return {identity: leaks for identity, leaks in found if leaks}
    (report,) = find_leaks(store, [solutions])
    return mark_around(store, report.functions)
