"""The choice with the real sandbox: hanging, hostile and honest candidates side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg.rerank.options import RerankOptions
from pkg.rerank.reranker import Reranker

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
