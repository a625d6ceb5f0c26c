"""An unexpected exception affects only one candidate or one task, and is reported."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any

import pytest
from fake_sandbox import FakeSandbox

from pkg.errors import SandboxError
from pkg.model import Skip
from pkg.rerank.candidates import Candidate, Ranking, Task
from pkg.rerank.reranker import Reranker
from pkg.rerank.tasks import rank_all

QUERY = "def add(a, b):\n    '''Add numbers.\n\n    >>> add(1, 2)\n    3\n    '''\n"
RIGHT = "def add(a, b):\n    return a + b\n"
ODD = "def add(a, b):\n    odd = a + b\n    return odd\n"
STAGES = {
    "extraction": "pkg.rerank.reranker.list_versions",
    "syntax": "pkg.rerank.stages.static_stages.SyntaxStage.judge",
    "static": "pkg.rerank.stages.static_stages.StaticStage.judge",
    "smoke": "pkg.rerank.stages.sandbox_stages.SmokeStage.judge",
    "examples": "pkg.rerank.stages.sandbox_stages.ExamplesStage.judge",
    "behaviour": "pkg.rerank.stages.comparisons.BehaviourStage.judge",
    "similarity": "pkg.rerank.stages.comparisons.SimilarityStage.judge",
}


def speaks_of_odd(given: Any) -> bool:
    """Return whether a text, or the code of one of several candidates, is the odd one."""
    texts = [each.code for each in given] if isinstance(given, list) else [given] if isinstance(given, str) else []
    return any("odd" in text for text in texts)


def break_at(monkeypatch: pytest.MonkeyPatch, name: str, fault: Exception) -> None:
    working = resolve_name(STAGES[name])

    def fail(*given: Any) -> Any:
        if any(map(speaks_of_odd, given)):
            raise fault
        return working(*given)

    monkeypatch.setattr(STAGES[name], fail)


def fail_always(*_: Any) -> Any:
    raise KeyError("boom")


def rank(candidates: Sequence[str]) -> Ranking:
    with Reranker(sandbox=FakeSandbox()) as reranker:
        return reranker.rerank(QUERY, candidates)


@pytest.mark.parametrize("name", STAGES)
def test_one_candidate_is_lost_or_left_unjudged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    break_at(monkeypatch, name, KeyError("boom"))
    ranking = rank([ODD, "def add(a, b):\n    return 0\n", RIGHT])
    assert ranking.chosen in (0, 2)  # and never the wrong one
    said = " ".join([*ranking.notes, *(each.reason for each in ranking.candidates)])
    assert (name == "extraction") == (ranking.candidates[0].dropped is not None)
    assert "internal error: KeyError: 'boom'" in said or name == "extraction"


def test_one_task_is_left_out_and_the_others_are_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    make_case = resolve_name("pkg.rerank.reranker.make_case")
    monkeypatch.setattr(
        "pkg.rerank.reranker.make_case",
        lambda query, *rest: (fail_always if "odd" in query else make_case)(query, *rest),
    )
    tasks = [Task(query, (Candidate(0, RIGHT),)) for query in (QUERY, "odd", QUERY)]
    with Reranker(sandbox=FakeSandbox()) as reranker:
        outcomes = list(rank_all(reranker, tasks))
    assert [isinstance(each, Ranking) for each in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], Skip)
    assert (outcomes[1].path, outcomes[1].reason.partition(" (")[0]) == ("task 2", "internal error: KeyError: 'boom'")


def test_a_fault_of_the_sandbox_ends_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    break_at(monkeypatch, "examples", SandboxError("gone"))
    with pytest.raises(SandboxError):
        rank([ODD, RIGHT])
