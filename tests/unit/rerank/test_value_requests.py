from __future__ import annotations

import json

from fake_sandbox import FakeSandbox
from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.value_requests import MAX_HANGS, Request, RequestBatch, RequestKind, run_requests
from pkg.sandbox.protocol import DEFAULT, Kind, Limits, Program, Result, Verdict


def request(code: str, *sources: str, sandbox: FakeSandbox | None = None) -> Result:
    forms = [RequestKind.STATEMENTS if source.startswith("print") else RequestKind.VALUE for source in sources]
    requests = tuple(Request(source, form) for source, form in zip(sources, forms, strict=True))
    (result,) = run_requests(sandbox or FakeSandbox(), [RequestBatch(code, requests)], DEFAULT)
    return result


def test_all_expressions_are_asked_in_one_step() -> None:
    sandbox = FakeSandbox()
    result = request("def f(x): return x * 2", "f(1)", "f('a')", "f([1])", sandbox=sandbox)
    assert [each.value for each in result.steps] == ["2", '"aa"', "[1,1]"]
    assert len(sandbox.programs) == 1


def test_one_that_fails_does_not_end_the_others() -> None:
    result = request("def f(x): return 6 // x", "f(1)", "f(0)", "f(g)", "f('')", "f(2)")
    kinds = [Kind.OK, Kind.OTHER, Kind.NAME, Kind.TYPE, Kind.OK]
    assert [each.kind for each in result.steps] == kinds
    assert result.steps[1].detail.startswith("ZeroDivisionError")


def test_statements_keep_their_place_among_expressions() -> None:
    result = request("def f(x): return x", "f(1)", "print(f(2))", "f(3)")
    assert [each.value for each in result.steps] == ["1", "null", "3"]
    assert result.steps[1].output == "2\n"


def test_a_value_is_what_it_was_when_it_was_given() -> None:
    result = request("seen = []\ndef f(x):\n    seen.append(x)\n    return seen", "f(1)", "f(2)")
    assert [each.value for each in result.steps] == ["[1]", "[1,2]"]


def test_where_one_hangs_the_others_are_asked_by_themselves() -> None:
    result = request("def f(x): return hang() if x == 2 else x", "f(1)", "f(2)", "f(3)")
    assert [each.kind for each in result.steps] == [Kind.OK, Kind.TIMEOUT, Kind.OK]


def test_code_that_hangs_again_and_again_is_given_up() -> None:
    sandbox = FakeSandbox()
    result = request("def f(x): return hang()", *(f"f({number})" for number in range(20)), sandbox=sandbox)
    assert {each.kind for each in result.steps} == {Kind.TIMEOUT}
    assert len(result.steps) == 20
    assert sum(len(each.steps) for each in sandbox.programs) <= 1 + 2 * MAX_HANGS


def test_a_load_that_fails_is_the_end_of_every_step() -> None:
    result = request("raise ValueError('no')", "f(1)", "f(2)")
    assert [each.kind for each in result.steps] == [Kind.OTHER, Kind.OTHER]


def test_candidates_keep_their_order_when_some_are_asked_again() -> None:
    requests = (Request("f(1)"), Request("f(2)"))
    codes = ("def f(x): return hang()", "def f(x): return x", "def f(x): return hang() if x == 2 else -x")
    results = run_requests(FakeSandbox(), [RequestBatch(code, requests) for code in codes], DEFAULT)
    values = [[each.value for each in result.steps] for result in results]
    assert values == [[None, None], ["1", "2"], ["-1", None]]


def test_an_answer_that_is_not_the_list_asked_for_is_no_answer() -> None:
    result = request("def f(x): return x\ndef _pkg_run_calls(*calls): return 'forged'\n", "f(1)", "f(2)")
    assert [each.value for each in result.steps] == ["1", "2"]


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=4),
    max_leaves=8,
)
PAIRS = some.tuples(some.booleans(), JSON).map(list) | some.tuples(some.just(False), JSON, JSON, JSON).map(list)
ANSWERS = some.lists(PAIRS | some.sampled_from(["hung", "not tried"]), min_size=2, max_size=2)


class Forger(FakeSandbox):
    """Returns the same value for every step, as candidates with forged reports do."""

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value

    def run(self, program: Program, limits: Limits = DEFAULT) -> Result:
        return Result(Verdict(Kind.OK), (Verdict(Kind.OK, value=self.value),) * len(program.steps))


@given((JSON | ANSWERS).map(json.dumps))
def test_whatever_is_forged_for_the_list_each_step_has_a_verdict(value: str) -> None:
    result = request("def f(x): return x", "f(1)", "f(2)", sandbox=Forger(value))
    assert len(result.steps) == 2
    assert all(isinstance(each.kind, Kind) and each.detail.isprintable() for each in result.steps)
