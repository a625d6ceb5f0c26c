"""The choice with the real sandbox: hanging, hostile and honest candidates side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from pkg.rerank.batches import Inquiry, ask_all
from pkg.rerank.candidates import RerankOptions
from pkg.rerank.reranker import Reranker
from pkg.sandbox.protocol import DEFAULT, Kind, Limits, Program, Result, Sandbox, Step

QUERY = 'def add(xs):\n    """Add numbers.\n\n    >>> add([1, 2])\n    3\n    >>> add([])\n    0\n    """\n'
RIGHT = "def add(xs):\n    return sum(xs)"
ENDLESS = "def add(xs):\n    while xs:\n        pass\n    return 0"
LEAVING = "import os\ndef add(xs):\n    os._exit(0)"
NOT_LOADED = "raise SystemExit(0)\ndef add(xs):\n    return 3"
CHEAT = "class Any:\n    def __eq__(self, other): return True\ndef add(xs):\n    return Any()"


@pytest.fixture(scope="module")
def reranker() -> Iterator[Reranker]:
    with Reranker(RerankOptions(cpu_seconds=0.4)) as opened:
        yield opened


def test_the_honest_candidate_wins(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, [ENDLESS, LEAVING, NOT_LOADED, CHEAT, RIGHT])
    assert ranking.chosen == 4
    held = [next((v.score for v in each.verdicts if v.stage == "examples"), None) for each in ranking.candidates]
    assert held == [0.5, 0.0, None, 0.0, 1.0]
    assert ranking.candidates[2].dropped == "smoke"


def test_what_hangs_says_so(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, [ENDLESS, RIGHT])
    (verdict,) = (each for each in ranking.candidates[0].verdicts if each.stage == "examples")
    assert "timeout" in verdict.reason


def test_the_same_question_has_the_same_answer(reranker: Reranker) -> None:
    candidates = [RIGHT, "def add(xs):\n    return len(xs)", "def add(xs):\n    return {3} if xs else 0"]
    first, second = (reranker.rerank(QUERY, candidates) for _ in range(2))
    assert first.order == second.order
    assert [[v.score for v in each.verdicts] for each in first.candidates] == [
        [v.score for v in each.verdicts] for each in second.candidates
    ]


class Watched:
    """A sandbox that notes how many processes each look at a candidate takes."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.steps = sandbox, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sandbox, name)

    def run_all(self, programs: Iterable[Program], limits: Limits = DEFAULT) -> Iterator[Result]:
        asked = list(programs)
        self.steps += sum(len(each.steps) for each in asked)
        return self.sandbox.run_all(asked, limits)


def ask(reranker: Reranker, code: str, *sources: str) -> tuple[Result, int]:
    assert reranker.sandbox is not None
    watched: Any = Watched(reranker.sandbox)
    steps = tuple(Step(source, is_expression=True) for source in sources)
    (result,) = ask_all(watched, [Inquiry(code, steps)], Limits(cpu_seconds=0.4, wall_seconds=2))
    return result, watched.steps


def test_a_call_that_hangs_is_stopped_in_the_run_of_the_others(reranker: Reranker) -> None:
    result, steps = ask(reranker, "def f(x):\n    while x == 2: pass\n    return x", "f(1)", "f(2)", "f(3)")
    assert [each.kind for each in result.steps] == [Kind.OK, Kind.TIMEOUT, Kind.OK]
    assert steps == 1


def test_a_call_that_cannot_be_stopped_is_left_to_the_sandbox(reranker: Reranker) -> None:
    code = "from itertools import repeat\ndef f(x): return all(repeat(1)) if x == 2 else x"
    result, steps = ask(reranker, code, "f(1)", "f(2)", "f(3)")
    assert [each.kind for each in result.steps] == [Kind.OK, Kind.TIMEOUT, Kind.OK]
    assert steps > 1


def test_a_call_that_fills_the_memory_says_so(reranker: Reranker) -> None:
    (verdict,) = ask(reranker, "def f(x): return bytearray(1 << 40)", "f(1)")[0].steps
    assert verdict.kind is Kind.MEMORY


def test_a_fault_tells_its_line(reranker: Reranker) -> None:
    code = "def f(x):\n    if x:\n        return 1 // 0\n    return g(x)"
    result, steps = ask(reranker, code, "f(1)", "f(0)")
    assert [each.detail.partition("(")[2] for each in result.steps] == ["line 3)", "line 4)"]
    assert steps == 1
