"""Benchmarks and their items, read from the files of HumanEval and MBPP or of EvalPlus (P-32, C-23).

A file is identified by the hash of its rows, not of its bytes, so that it may be compressed again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError, UsageError

Row = Mapping[str, Any]
MBPP_TEST = range(11, 511)  # task ids of the test split
CLOSE = 1e-6  # tolerance of floats where the file has none, as in EvalPlus


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a benchmark, with its query for retrieval, its reference and its hidden tests."""

    id: str
    query: str  # input of retrieval
    task: str  # input of the model and the reranker
    entry: str  # name of the requested function
    reference: str  # whole program with a correct answer
    tests: str  # hidden statements; code passes if they run to the end with its function
    setup: str = ""  # statements run before the tests to make their inputs, also in the process of the code


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The items of a benchmark, in the order of its file."""

    name: str
    items: tuple[Item, ...]
    sha256: str  # of its rows
    shown: int = 0  # number of tests shown in each task


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """Topic and map position of an item, so that reports of topics and maps need no text (P-34, P-35)."""

    item: str
    topic: str
    place: tuple[float, float]  # position on the map of the benchmark


def draw_items(benchmark: Benchmark, limit: int | None, seed: int) -> Benchmark:
    """Return a random sample of the items in order; a smaller sample of the same seed is part of a larger one."""
    if limit is None or limit >= len(benchmark.items):
        return benchmark
    order = list(range(len(benchmark.items)))
    random.Random(seed).shuffle(order)
    return replace(benchmark, items=tuple(benchmark.items[place] for place in sorted(order[:limit])))


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """The file of a benchmark: its possible paths in a folder, the hash of its rows, and the constructor of an item."""

    places: tuple[str, ...]  # relative to the folder given by the user; the first that exists
    sha256: str  # of the rows
    make: Callable[[Row, int], Item]
    takes: Callable[[Row], bool] = lambda row: True


def read_benchmark(name: str, data: Path, shown: int = 1, is_any: bool = False) -> Benchmark:
    """Read a benchmark from its file, or from a folder that holds it.

    shown: number of tests shown in the tasks of MBPP; those of HumanEval have their own examples. is_any: accept rows
    other than the official ones. Raises PathError if there is no file, InputError for an invalid one, UsageError for an
    unknown benchmark.
    """
    if name not in BENCHMARKS:
        raise UsageError(f"no benchmark '{name}'; expected one of: {', '.join(BENCHMARKS)}")
    known = BENCHMARKS[name]
    path = _find_file(data, known.places)
    rows = list(read_rows(path))
    sha256 = hash_rows(rows)
    if sha256 != known.sha256 and not is_any:
        raise InputError(
            f"{path} holds other rows than {name} ({len(rows)} rows of SHA-256 {sha256}; expected {known.sha256});"
            " fetch the official file, or give --any-data to evaluate on these rows"
        )
    try:
        items = tuple(known.make(row, shown) for row in rows if known.takes(row))
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise InputError(f"a row of {path} is none of {name}: {type(fault).__name__} {fault}") from None
    if not items:
        raise InputError(f"{path} holds no item of {name}; expected its official file")
    return Benchmark(name, items, sha256, shown if name.startswith("mbpp") else 0)


def hash_rows(rows: list[Row]) -> str:
    """Return the SHA-256 of rows, independent of the format of their file."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def _find_file(data: Path, places: tuple[str, ...]) -> Path:
    if data.is_file():
        return data
    found = next((data / place for place in places if (data / place).is_file()), None)
    if found is None:
        raise PathError(f"no file of the benchmark in {data}; expected one of: {', '.join(places)}")
    return found


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a JSON Lines file, gzipped or not.

    Raises PathError if it cannot be read, InputError for an invalid line.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {path}: {fault}; expected JSON lines, packed by gzip or not") from None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as fault:
            raise InputError(f"{path}, line {number}: {fault}; expected a JSON object") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: expected a JSON object")
        yield row


def _make_humaneval(row: Row, shown: int) -> Item:
    prompt, entry = row["prompt"], row["entry_point"]
    tests = f"{row['test']}\ncheck({entry})"
    return Item(row["task_id"], prompt, prompt, entry, prompt + row["canonical_solution"], tests)


def _make_humaneval_plus(row: Row, shown: int) -> Item:
    prompt, entry = row["prompt"], row["entry_point"]
    reference = prompt + row["canonical_solution"]
    return Item(row["task_id"], prompt, prompt, entry, reference, _write_plus(row, reference))


def _make_mbpp(row: Row, shown: int) -> Item:
    """Make an item of an MBPP row; its setup code runs after the answer and before the tests."""
    tests = [_unify(each) for each in row["test_list"]]
    text, code = row["text"], _unify(row["code"])
    entry = _find_entry(code, tests)
    task, setup = _write_task(text, tests[:shown], entry), _unify(row["test_setup_code"])
    return Item(f"MBPP/{row['task_id']}", text, task, entry, code, "\n".join(tests), setup)


def _make_mbpp_plus(row: Row, shown: int) -> Item:
    lines = row["prompt"].strip().strip('"').strip().splitlines()
    tests = [line for line in lines if line.startswith("assert")]
    text = "\n".join(line for line in lines if not line.startswith("assert"))
    reference, entry = row["canonical_solution"], row["entry_point"]
    program = _write_plus(row, reference)
    return Item(
        row["task_id"].replace("Mbpp", "MBPP"), text, _write_task(text, tests[:shown], entry), entry, reference, program
    )


def _write_task(text: str, shown: list[str], entry: str) -> str:
    """Write the task; without a test it names the function, which a test would have shown."""
    return "\n".join((text, *shown)) if shown else f"{text}\nThe function is called `{entry}`."


def _find_entry(code: str, tests: list[str]) -> str:
    """Return the name of the function, defined by the code, that the tests call."""
    import ast

    names = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    called = [node.id for node in ast.walk(ast.parse(tests[0])) if isinstance(node, ast.Name)]
    return next((name for name in called if name in names), names[-1])


def _unify(text: str) -> str:
    return text.replace("\r\n", "\n")


_PLUS = """
def _pkg_check():
    import copy, json, math, re

    def same(a, b, close):
        if isinstance(a, float) or isinstance(b, float):
            try:
                return a == b or math.isclose(a, b, rel_tol=close, abs_tol=close) or (a != a and b != b)
            except TypeError:
                return False
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(same(x, y, close) for x, y in zip(a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key], close) for key in a)
        if isinstance(b, re.Match):
            return repr(a) == repr(b)  # of the answer only that came here
        return a == b

    right = {{}}
    exec({reference!r}, right)
    for given in json.loads({inputs!r}):
        try:
            wanted = right[{entry!r}](*copy.deepcopy(given))
        except Exception:
            continue  # JSON has lists where the reference needs tuples
        found = {entry}(*copy.deepcopy(given))
        assert same(found, wanted, {close!r}), repr(given)[:200]

_pkg_check()
"""


def _write_plus(row: Row, reference: str) -> str:
    """Write the tests of EvalPlus, which compare the answer with the reference on all inputs."""
    inputs = json.dumps([*row["base_input"], *row["plus_input"]])
    return _PLUS.format(reference=reference, inputs=inputs, entry=row["entry_point"], close=row["atol"] or CLOSE)


BENCHMARKS = {
    "humaneval": BenchmarkFile(
        ("HumanEval.jsonl.gz", "HumanEval.jsonl", "humaneval.jsonl.gz", "humaneval/humaneval.jsonl.gz"),
        "ec81486c65fb53ea0dd9b6caa04e72a0cdb4eed68f83245ecb0dacf8f1d88b6a",
        _make_humaneval,
    ),
    "humaneval+": BenchmarkFile(
        (
            "HumanEvalPlus.jsonl.gz",
            "HumanEvalPlus.jsonl",
            "humaneval_plus.jsonl.gz",
            "humaneval/humaneval_plus.jsonl.gz",
        ),
        "06a715faed5f80ed6456a13a97feba48e8a34a87e0bc20efeca672a9bcd27596",
        _make_humaneval_plus,
    ),
    "mbpp": BenchmarkFile(
        ("mbpp.jsonl", "mbpp.jsonl.gz", "mbpp/mbpp.jsonl.gz"),
        "5ce6c53a6a0bedd2ac670124617f229db941bd6e169a7d6e5a67ea6f585508ac",
        _make_mbpp,
        lambda row: row["task_id"] in MBPP_TEST,
    ),
    "mbpp+": BenchmarkFile(
        ("MbppPlus.jsonl.gz", "MbppPlus.jsonl", "mbpp_plus.jsonl.gz", "mbpp/mbpp_plus.jsonl.gz"),
        "1f51a0639729834e32601bff86ee4f75a7799c9c3b3c53e0e4de3d192c089890",
        _make_mbpp_plus,
    ),
}
"""Benchmarks by name, with the hash of the rows of their official files."""
