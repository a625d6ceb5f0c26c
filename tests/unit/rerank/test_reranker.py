"""The whole choice, with a fake sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from fake_sandbox import FakeSandbox

from pkg.errors import InputError, MissingExtraError, PkgError, SandboxError, UsageError
from pkg.rerank.candidates import Candidate, Ranked, RerankOptions, StageName, Task, Verdict, paper_options
from pkg.rerank.case import Case, DistinctCandidate, make_case
from pkg.rerank.reranker import Reranker, compare_all, find_distinct_candidates
from pkg.sandbox import worker_pool

QUERY = '''\
def add(xs):
    """Add numbers.

    >>> add([1])
    1
    >>> add([])
    0
    """
'''
RIGHT = "def add(xs):\n    return sum(xs)"
LOOP = "def add(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total"
FIRST = "def add(xs):\n    return xs[0]"
LENGTH = "def add(xs):\n    return len(xs)"
BROKEN = "def add(xs:\n    return 1"
UNDEFINED = "def add(xs):\n    return total(xs)"
FAILING = "import nothing_of_that_name\ndef add(xs):\n    return sum(xs)"


@pytest.fixture
def reranker() -> Iterator[Reranker]:
    with Reranker(sandbox=FakeSandbox()) as opened:
        yield opened


def find(candidates: tuple[Ranked, ...], name: str | int) -> Ranked:
    return next(each for each in candidates if each.id == name)


def test_the_one_that_does_what_the_query_shows_is_chosen(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, [BROKEN, FIRST, RIGHT, UNDEFINED, FAILING])
    assert ranking.chosen == 2
    assert ranking.code == RIGHT
    assert [each.dropped for each in ranking.candidates] == ["syntax", None, None, "static", "smoke"]
    assert ranking.order == (2, 1, 3, 4, 0)
    assert not ranking.fallback
    assert (ranking.entry, ranking.examples) == ("add", ("add([1]) == 1", "add([]) == 0"))


def test_a_reason_tells_what_came_out_and_what_should_have(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, ["def add(xs):\n    return 7", RIGHT])
    (verdict,) = (each for each in ranking.candidates[0].verdicts if each.stage == "examples")
    assert (verdict.passed, verdict.score) == (False, 0.0)
    assert verdict.reason == "0 of 2 hold; add([1]) == 1: got 7"


def test_agreement_decides_among_candidates_with_equal_examples(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, [LENGTH, LOOP, RIGHT])
    assert ranking.order[2] == 0
    assert ranking.inputs > 0
    (verdict,) = (each for each in ranking.candidates[1].verdicts if each.stage == "behaviour")
    assert verdict.reason.startswith("2 of 3 votes agree on ")


def test_equal_code_is_judged_once_and_has_a_vote_for_each(reranker: Reranker) -> None:
    other = '```python\ndef add(xs):\n    """Say it."""\n    return len(xs)  # so\n```'
    ranking = reranker.rerank(QUERY, [RIGHT, LENGTH, other])
    assert ranking.chosen == 1
    assert ranking.candidates[2].same_as == 1
    assert [each.votes for each in ranking.candidates] == [1, 2, 2]
    assert [each.rank for each in ranking.candidates] == [2, 1, 1]


def test_one_candidate_is_chosen_whatever_it_is(reranker: Reranker) -> None:
    for text in (RIGHT, BROKEN, "", "I cannot help."):
        assert reranker.rerank(QUERY, [text]).chosen == 0


def test_no_candidates_are_an_error(reranker: Reranker) -> None:
    with pytest.raises(InputError, match="no candidates; expected at least one"):
        reranker.rerank(QUERY, [])


def test_where_all_are_dropped_those_that_came_furthest_are_ranked(reranker: Reranker) -> None:
    ranking = reranker.rerank("Add numbers.", [BROKEN, FAILING, UNDEFINED])
    assert ranking.fallback
    assert ranking.order == (2, 1, 0)
    assert all(each.reason for each in ranking.candidates)


def test_ties_keep_the_order_given(reranker: Reranker) -> None:
    same = ["def f(a):\n    return a", "def f(b):\n    return b"]
    assert reranker.rerank("", same).chosen == 0
    assert reranker.rerank("", same[::-1]).code == same[1]


def test_the_first_of_equals_ranks_above_a_more_similar_one(reranker: Reranker) -> None:
    ranking = reranker.rerank("add numbers of xs", ["def f(x):\n    return x", "def f(xs):\n    return xs"])
    first, second = ranking.candidates
    assert (first.similarity or 0) < (second.similarity or 0)
    assert ranking.chosen == 0


def test_where_nothing_else_was_seen_the_one_that_reads_most_like_the_query_is_chosen() -> None:
    answers = ["def f(x):\n    return x", "def f(xs):\n    return xs"]
    with Reranker(paper_options(), FakeSandbox()) as reranker:
        assert reranker.rerank("add numbers of xs", answers).chosen == 1


def test_a_warning_is_ignored_if_every_example_holds(reranker: Reranker) -> None:
    doubtful = "def add(xs):\n    if len(xs) > 99:\n        return total(xs)\n    return sum(xs)"
    ranking = reranker.rerank(QUERY, [FIRST, doubtful])
    assert ranking.chosen == 1
    assert ranking.candidates[1].dropped is None
    assert reranker.rerank(QUERY, [doubtful, RIGHT]).chosen == 1


def test_a_function_that_takes_other_arguments_is_dropped(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, ["def add(a, b):\n    return a + b", "def plus(xs):\n    return sum(xs)"])
    reasons = [each.reason for each in ranking.candidates]
    assert reasons == ["'add' cannot be called with 1 argument (line 1)", "no 'add' (found: plus)"]


def test_without_a_name_the_most_common_function_is_compared(reranker: Reranker) -> None:
    query = "Write a function to double a number."
    candidates = [
        "def twice(n):\n    return n ** 2",
        "def double(n):\n    return 2 * n",
        "def double(n):\n    return n + n",
    ]
    assert reranker.rerank(query, candidates).order[2] == 0


def test_examples_of_other_functions_are_dropped_and_noted(reranker: Reranker) -> None:
    ranking = reranker.rerank("Like sqrt(4) returns 2, and double(2) returns 4.", ["def double(n):\n    return 2 * n"])
    assert ranking.examples == ("double(2) == 4",)
    assert ranking.notes == ("1 examples call a function that no candidate defines",)


def test_examples_of_the_caller_count_like_those_of_the_query(reranker: Reranker) -> None:
    ranking = reranker.rerank("Add numbers.", [FIRST, RIGHT], examples=["add([1, 2]) == 3"])
    assert ranking.chosen == 1


def test_expected_values_never_reach_the_sandbox() -> None:
    sandbox = FakeSandbox()
    query = "def f(x):\n    '''f(2) returns 'the secret'.'''\n"
    Reranker(sandbox=sandbox).rerank(query, ["def f(x):\n    return x", "def f(x):\n    return -x"])
    steps = [step.source for program in sandbox.programs for step in program.steps]
    assert steps
    assert not any("secret" in step for step in steps)


def test_hidden_tests_make_an_oracle(reranker: Reranker) -> None:
    task = Task("Do it.", (Candidate(0, FIRST), Candidate(1, RIGHT)))
    assert not reranker.rank(task).oracle
    ranking = reranker.rank(task, ["assert add([1, 2]) == 3"])
    assert ranking.oracle
    assert ranking.chosen == 1
    assert ranking.examples == ()


def test_the_paper_runs_its_three_stages_and_nothing_else() -> None:
    ranking = Reranker(paper_options(), FakeSandbox()).rerank(QUERY, [BROKEN, FAILING, LENGTH])
    assert ranking.chosen == 2
    assert [each.stage for each in ranking.candidates[2].verdicts] == ["syntax", "smoke", "similarity"]
    assert [each.dropped for each in ranking.candidates] == ["syntax", "smoke", None]


def test_stages_that_run_nothing_need_no_sandbox() -> None:
    ranking = Reranker(RerankOptions(stages=("syntax", "static", "similarity"))).rerank(
        QUERY, [BROKEN, UNDEFINED, RIGHT]
    )
    assert (ranking.chosen, ranking.sandbox) == (2, None)


def test_weights_take_the_place_of_the_order_of_stages() -> None:
    echo = "def add(xs):\n    numbers = add_numbers = xs\n    return numbers and numbers[0]"
    by_order = Reranker(sandbox=FakeSandbox()).rerank(QUERY, [echo, RIGHT])
    options = RerankOptions(weights={"similarity": 1.0})
    by_weight = Reranker(options, FakeSandbox()).rerank(QUERY, [echo, RIGHT])
    best = max(by_weight.candidates, key=lambda each: each.similarity or 0.0)
    assert by_order.chosen == 1
    assert by_weight.chosen == best.id


def test_comments_and_docstrings_do_not_make_a_candidate_more_similar() -> None:
    options = RerankOptions(stages=("syntax", "similarity"))
    parrot = f"def f(a):\n    '''{QUERY.split('    ')[2]}'''\n    # Add numbers. Add numbers.\n    return a"
    stripped = Reranker(options).rerank("Add numbers.", [parrot, RIGHT])
    raw = Reranker(RerankOptions(stages=options.stages, compare="raw")).rerank("Add numbers.", [parrot, RIGHT])
    assert (stripped.candidates[0].similarity or 0) < (raw.candidates[0].similarity or 0)


@pytest.mark.parametrize("fault", [SandboxError("no daemon answers"), MissingExtraError("docker", "docker", "it")])
def test_where_a_platform_has_no_sandbox_only_the_static_stages_run_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, fault: PkgError
) -> None:
    def refuse(*_: object) -> None:
        raise fault

    monkeypatch.setattr(worker_pool, "open_sandbox", refuse)
    monkeypatch.setattr("sys.platform", "darwin")
    ranking = Reranker().rerank(QUERY, [BROKEN, UNDEFINED, RIGHT])
    assert (ranking.chosen, ranking.sandbox) == (2, None)
    assert ranking.notes[0].startswith(f"no candidate was run, because there is no sandbox here: {fault}")
    with pytest.raises(type(fault)):
        Reranker(RerankOptions(sandbox="docker"))
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(type(fault)):
        Reranker()


@pytest.mark.parametrize(
    "options",
    [{"stages": ("nothing",)}, {"weights": {"x": 1}}, {"compare": "x"}, {"inputs": -1}, {"cpu_seconds": 0}],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="expected"):
        RerankOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("candidate", [3, None, {}, {"text": 3}, ["x"]])
def test_what_is_no_candidate_is_refused(reranker: Reranker, candidate: object) -> None:
    with pytest.raises(InputError, match="candidate 0 has no text"):
        reranker.rerank(QUERY, [candidate])  # type: ignore[list-item]


def test_candidates_keep_their_ids_and_fields(reranker: Reranker) -> None:
    ranking = reranker.rerank(QUERY, [{"id": "a", "text": FIRST, "model": "m"}, {"text": RIGHT}])
    assert ranking.order == (1, "a")
    assert find(ranking.candidates, "a").extra == {"model": "m"}


def test_two_candidates_of_one_id_are_refused(reranker: Reranker) -> None:
    with pytest.raises(InputError, match="several candidates have the id 'a'"):
        reranker.rerank(QUERY, [{"id": "a", "text": FIRST}, {"id": "a", "text": RIGHT}])


def test_the_sandbox_is_closed_with_the_reranker() -> None:
    sandbox = FakeSandbox()
    with Reranker(sandbox=sandbox):
        assert not sandbox.is_closed
    assert sandbox.is_closed


@pytest.mark.parametrize(
    "text",
    ["\0", "\ud800", "x" * 300_000, "(" * 9000, "-" * 90_000 + "1", "```python\n" * 200, "[PYTHON]" * 50, ">>> " * 999],
)
def test_hostile_texts_lose_and_do_no_harm(reranker: Reranker, text: str) -> None:
    assert reranker.rerank(QUERY, [text, RIGHT]).chosen == 1


@pytest.mark.parametrize(
    ("stages", "weights", "said"),
    [
        ((), {}, "no stage is left"),
        (("syntax",), {"syntax": -1.0}, "the weight of syntax is -1"),
        (("syntax",), {"syntax": float("nan")}, "the weight of syntax is nan"),
        (("syntax",), {"smoke": 1.0}, "smoke has a weight but does not run"),
        (("syntax",), {"syntax": 0.0}, "all weights are 0"),
    ],
)
def test_evidence_that_cannot_order_anything_is_refused(
    stages: tuple[StageName, ...], weights: dict[str, float], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        RerankOptions(stages=stages, weights=weights)


class Picky:
    """A comparing stage that fails for one of the candidates, or for all together."""

    name = "behaviour"
    drops = False

    def __init__(self, most: int = 9) -> None:
        self.most = most

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        if any("xs[0]" in each.code for each in candidates) or len(candidates) > self.most:
            raise ZeroDivisionError("no such number")
        return [Verdict(self.name, True, len(candidates) / 10) for _ in candidates]


@pytest.mark.parametrize(("stage", "scores"), [(Picky(), [0.3, 0.0, 0.3, 0.3]), (Picky(2), [0.0] * 4)])
def test_who_cannot_be_compared_does_not_keep_the_others_from_it(stage: Picky, scores: list[float]) -> None:
    task = Task(QUERY, tuple(Candidate(place, each) for place, each in enumerate((RIGHT, FIRST, LOOP, LENGTH))))
    case = make_case(task.query, (), RerankOptions(), FakeSandbox(), None, [])
    verdicts = compare_all(stage, case, find_distinct_candidates(task, case))
    assert [each.score for each in verdicts] == scores
    assert all(each.reason == "" or "no such number" in each.reason for each in verdicts)
    assert any("candidate 1: " in each for each in case.notes)
