"""Solutions that an audit compares functions with, from a benchmark or a file of the user."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError
from pkg.extract.syntax import parse_statements
from pkg.lab.audit.code_shape import CodeShape, find_shape
from pkg.lab.evaluation.code.benchmark_files import BENCHMARKS, hash_rows, read_benchmark, read_rows
from pkg.lab.evaluation.code.benchmark_items import Benchmark

CODE_FIELDS = ("canonical_solution", "solution", "reference", "code")
"""Fields that may hold the solution of a row; the first one counts."""


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
