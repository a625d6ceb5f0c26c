"""Every run gives equal links and results, wherever its objects lie in memory."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import _pytest
import hypothesis
import neo4j
import pytest
from unit.resolution.solving import SOURCE, read_unit

from pkg.local_errors import LocalErrors
from pkg.resolution.link_record import pack_links
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.solved_parts import Solution, SolvedFiles, list_results, solve_part
from pkg.resolution.static_facts import list_consulted
from pkg.resolution.value_sets import Interner, Value, make_sort_key

CALLBACKS = (
    """
import signal
from typing import Callable, Union
from outside import Base

class First(Base):
    def unusual_name(self): return self.other
class Second(First):
    def unusual_name(self): return 2
class Third(First):
    def unusual_name(self): return 3
"""
    + "".join(f"def handler_{i}(*args):\n    return handler_{(i + 1) % 12}\n" for i in range(12))
    + """
HANDLERS = [HANDLER_LIST]
def start(key, given):
    signal.signal(key, HANDLERS[key])
    given.unusual_name()
    return apply(HANDLERS[key])
def apply(function: Union[Callable[[First], int], Callable[[Third], str]]):
    pending = []
    pending.append(function)
    for each in pending:
        each(given=function)
    return {function, *pending}
start(0, First())
""".replace("HANDLER_LIST", ", ".join(f"handler_{i}" for i in range(12)))
)


def read_package(package: Any) -> dict[str, str]:
    """Read the files of an installed package."""
    root = Path(package.__file__).parent
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.py"))}


def solve(files: dict[str, str]) -> Solution:
    """Solve files as one part of a source."""
    units = {path: read_unit(path, text) for path, text in files.items()}
    return solve_part(units, "", LocalErrors(), SolvedFiles({}, [], lambda path: {}))


def list_outcomes(files: dict[str, str]) -> dict[str, tuple[object, ...]]:
    """Return the packed links, the digest of the results and the lookups of each file."""
    solution = solve(files)
    results = {path: each.digest() for path, each in list_results(solution, files)}
    links, modules = LinkWriter(SOURCE, solution.machine), solution.machine.program.modules
    return {path: (results[path], pack_links(links.list_links(path)), list_consulted(modules[path])) for path in files}


def scatter(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Create values at random places in memory, by which sets of them are in another order."""
    make, generator, unused = Interner.make, random.Random(seed), list[Value]()

    def make_scattered(self: Interner, kind: type[Value], *parts: Any) -> Value:
        made = make(self, kind, *parts)
        unused.extend(kind.__new__(kind) for _ in range(generator.randrange(4)))
        if generator.random() < 0.05:
            generator.shuffle(unused)
            del unused[: len(unused) // 2]
        return made

    monkeypatch.setattr(Interner, "make", make_scattered)


def check_scattered(monkeypatch: pytest.MonkeyPatch, files: dict[str, str], seeds: int) -> None:
    """Check that values at other places give the same outcomes."""
    expected = list_outcomes(files)
    for seed in range(seeds):
        with monkeypatch.context() as patched:
            scatter(patched, seed)
            assert list_outcomes(files) == expected


def test_places_in_memory_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    check_scattered(monkeypatch, {"main.py": CALLBACKS}, 8)


@pytest.mark.slow
@pytest.mark.parametrize("package", [_pytest, hypothesis, neo4j])
def test_places_in_memory_change_nothing_in_packages(monkeypatch: pytest.MonkeyPatch, package: Any) -> None:
    check_scattered(monkeypatch, read_package(package), 2)


@pytest.mark.slow
def test_values_have_different_sort_keys() -> None:
    made: Any = solve(read_package(neo4j)).machine.program.interner._made
    keys = Counter(map(make_sort_key, made.values()))
    assert [key for key, count in keys.items() if count > 1] == []
