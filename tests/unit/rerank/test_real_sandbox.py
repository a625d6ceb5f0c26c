"""The choice with the real sandbox: hanging, hostile and honest candidates side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pkg.rerank.candidates import RerankOptions
from pkg.rerank.reranker import Reranker
from pkg.rerank.value_requests import Request, RequestBatch, RequestKind, run_requests
from pkg.sandbox.protocol import DEFAULT, Kind, Limits, Program, Result, Sandbox

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
    """A sandbox that records the number of processes of each batch."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.steps = sandbox, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sandbox, name)

    def run_all(self, programs: Iterable[Program], limits: Limits = DEFAULT) -> Iterator[Result]:
        asked = list(programs)
        self.steps += sum(len(each.steps) for each in asked)
        return self.sandbox.run_all(asked, limits)


def request(reranker: Reranker, code: str, *sources: str) -> tuple[Result, int]:
    assert reranker.sandbox is not None
    watched: Any = Watched(reranker.sandbox)
    requests = tuple(map(Request, sources))
    (result,) = run_requests(watched, [RequestBatch(code, requests)], Limits(cpu_seconds=0.4, wall_seconds=2))
    return result, watched.steps


def test_a_call_that_hangs_is_stopped_in_the_run_of_the_others(reranker: Reranker) -> None:
    result, steps = request(reranker, "def f(x):\n    while x == 2: pass\n    return x", "f(1)", "f(2)", "f(3)")
    assert [each.kind for each in result.steps] == [Kind.OK, Kind.TIMEOUT, Kind.OK]
    assert steps == 1


def test_a_call_that_cannot_be_stopped_is_left_to_the_sandbox(reranker: Reranker) -> None:
    code = "from itertools import repeat\ndef f(x): return all(repeat(1)) if x == 2 else x"
    result, steps = request(reranker, code, "f(1)", "f(2)", "f(3)")
    assert [each.kind for each in result.steps] == [Kind.OK, Kind.TIMEOUT, Kind.OK]
    assert steps > 1


def test_a_call_that_fills_the_memory_says_so(reranker: Reranker) -> None:
    (verdict,) = request(reranker, "def f(x): return bytearray(1 << 40)", "f(1)")[0].steps
    assert verdict.kind is Kind.MEMORY


def test_a_fault_tells_its_line(reranker: Reranker) -> None:
    code = "def f(x):\n    if x:\n        return 1 // 0\n    return g(x)"
    result, steps = request(reranker, code, "f(1)", "f(0)")
    assert [each.detail.partition("(")[2] for each in result.steps] == ["line 3)", "line 4)"]
    assert steps == 1


FORGERY = """
import os
def shout(*bodies):
    for body in bodies:
        os.write(3, len(body).to_bytes(4, "big") + body)
GOOD = b'{"kind": "ok", "detail": "", "seconds": 0, "value": null}'
"""
FORGED = [
    b'{"kind": [], "detail": "", "seconds": 0, "value": null}',
    b'{"kind": {}, "detail": "", "seconds": 0, "value": null}',
    b'{"kind": "ok", "detail": 0, "seconds": 0, "value": null}',
    b'{"kind": "ok", "detail": "", "seconds": NaN, "value": null}',
    b'{"kind": "ok", "detail": "", "seconds": true, "value": null}',
    b'{"kind": "other", "detail": "\\ud800", "seconds": 0, "value": null}',
    b"[[[[[[[[[[[[[[[[[[[[",
    b"[" * 20_000,
    b'"ok"',
    b"9" * 5000,
    b"\xff\xfe\x00",
    b"",
]
VALUES = [
    '{"set":5}',
    '{"dict":[1]}',
    "[[true]]",
    "[[false,[],3,{}]]",
    '[["hung"]]',
    '{"tuple":[{}]}',
    "NaN",
    "{}",
    "[",
]


@pytest.mark.parametrize("body", FORGED, ids=lambda body: repr(body[:60]))
@pytest.mark.parametrize("before", ["", "GOOD, "])
def test_a_forged_report_ends_its_candidate_alone(reranker: Reranker, body: bytes, before: str) -> None:
    forger = f"{FORGERY}\nshout({before}{body!r})\ndef add(xs):\n    return sum(xs)"
    ranking = reranker.rerank(QUERY, [forger, RIGHT])
    assert ranking.chosen == 1
    (verdict,) = (each for each in ranking.candidates[1].verdicts if each.stage == "examples")
    assert verdict.score == 1.0


@pytest.mark.parametrize("value", VALUES)
def test_a_forged_value_ends_its_candidate_alone(reranker: Reranker, value: str) -> None:
    forger = (
        f"{FORGERY}\nimport json\nbody = json.dumps(dict(kind='ok', detail='', seconds=0, value={value!r})).encode()\n"
    )
    forger += "shout(GOOD, body)\nos._exit(0)\ndef add(xs):\n    return sum(xs)"
    assert reranker.rerank(QUERY, [forger, RIGHT]).chosen == 1


@given(some.binary(max_size=80) | some.sampled_from(VALUES).map(str.encode))
@settings(max_examples=20, deadline=None)
def test_whatever_bytes_are_reported_the_others_are_ranked_as_usual(reranker: Reranker, body: bytes) -> None:
    forger = f"{FORGERY}\nos.write(3, {body!r})\nshout({body!r})\ndef add(xs):\n    return 3"
    assert reranker.rerank(QUERY, [forger, RIGHT]).chosen == 1


STACK = "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n"
POPS = f"{STACK}    def pop(self): return self.items.pop()\n    def size(self): return len(self.items)\n"
PEEKS = f"{STACK}    def pop(self): return self.items[-1]\n    def size(self): return len(self.items)\n"
SEQUENCE = "s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\nassert s.size() == 1\n"


def test_a_script_runs_in_one_process_with_the_state_that_its_claims_leave(reranker: Reranker) -> None:
    watched: Any = Watched(reranker.sandbox)  # type: ignore[arg-type]
    requests = (
        Request("s.pop()", before=("s = Stack()", "s.push(1)")),
        Request("s.size()", before=("s = Stack()", "s.push(1)", "s.pop()")),
    )
    (result,) = run_requests(watched, [RequestBatch(POPS, requests)], Limits(cpu_seconds=0.4, wall_seconds=2))
    assert [each.value for each in result.steps] == ["1", "0"]
    assert watched.steps == 1


def test_a_class_that_keeps_no_state_loses_to_one_that_does(reranker: Reranker) -> None:
    ranking = reranker.rerank(SEQUENCE, [PEEKS, POPS])
    assert ranking.chosen == 1
    (verdict,) = (each for each in ranking.candidates[1].verdicts if each.stage == "examples")
    assert (verdict.score, verdict.reason) == (1.0, "2 of 2 hold")


LIARS = [
    "class Any:\n    def __eq__(s, o): return True\n    def __hash__(s): return 0\n    def __call__(s, *a): return s\n"
    "    def __getattr__(s, n): return s\n    def __await__(s):\n        yield from ()\n"
    "        return s\nStack = fetch = made = Any()\n",
    "class Int(int):\n    def __eq__(s, o): return True\n    def __hash__(s): return 0\n    def __await__(s):\n"
    "        yield from ()\n        return s\ndef fetch(n): return Int(7)\nmade = fetch\n"
    "class Stack:\n    def push(s, x): pass\n    def pop(s): return Int(7)\n    def size(s): return Int(7)\n",
    "from decimal import Decimal\nclass Decimal(Decimal):\n"
    "    def __eq__(s, o): return True\n    def __hash__(s): return 0\n"
    "def made(s): return Decimal('7')\nasync def fetch(n): return made(n)\n"
    "class Stack:\n    def push(s, x): pass\n    pop = size = made\n",
    "import builtins, sys\nfor name in dir(builtins):\n    pass\ndef look(*a):\n    f = sys._getframe()\n    while f:\n"
    "        for v in f.f_locals.values():\n            if v in (22, 900): return v\n        f = f.f_back\n"
    "made = look\nasync def fetch(n): return look()\nclass Stack:\n    push = pop = size = look\n",
]


@pytest.mark.parametrize("liar", LIARS, ids=range(len(LIARS)))
@pytest.mark.parametrize(
    "query",
    [
        SEQUENCE,
        "async def test_it():\n    assert await fetch(1) == 900\n",
        "from decimal import Decimal\nassert made('1.5') == Decimal('1.50')\n",
        "for n, want in [(1, 22), (2, 23)]:\n    assert made(n) == want\n",
    ],
    ids=["sequence", "await", "value", "loop"],
)
def test_objects_that_equal_everything_hold_no_claim_of_a_script(reranker: Reranker, query: str, liar: str) -> None:
    ranking = reranker.rerank(query, [liar])
    (verdict,) = (each for each in ranking.candidates[0].verdicts if each.stage == "examples")
    assert verdict.score == 0.0


PRINTS_SUM = "a, b = map(int, input().split())\nprint(a + b)"
SAMPLES = "Read two numbers and print their sum.\n\n"
SAMPLES += "Sample Input:\n2 3\nSample Output:\n5\n\nSample Input:\n4 4\nSample Output:\n8\n"


@pytest.mark.parametrize(
    "program",
    [
        PRINTS_SUM,
        "import sys\nprint(sum(map(int, sys.stdin.read().split())))",
        "import sys\nsys.stdout.write(str(sum(map(int, sys.stdin.buffer.readline().split()))))",
        "print(sum(map(int, open(0).read().split())))",
        f"def main():\n    {PRINTS_SUM.replace(chr(10), chr(10) + '    ')}\nif __name__ == '__main__':\n    main()",
        f"{PRINTS_SUM}\nraise SystemExit",
    ],
    ids=range(6),
)
def test_a_program_is_given_each_sample_and_its_output_is_compared(reranker: Reranker, program: str) -> None:
    ranking = reranker.rerank(SAMPLES, ["a, b = input().split()\nprint(5)", program])
    assert ranking.chosen == 1
    (verdict,) = (each for each in ranking.candidates[1].verdicts if each.stage == "examples")
    assert verdict.score == 1.0


def test_samples_are_tried_in_one_process(reranker: Reranker) -> None:
    watched: Any = Watched(reranker.sandbox)  # type: ignore[arg-type]
    requests = tuple(Request(text, RequestKind.PROGRAM) for text in ("2 3\n", "4 4\n"))
    (result,) = run_requests(watched, [RequestBatch(PRINTS_SUM, requests)], Limits(cpu_seconds=0.4, wall_seconds=2))
    assert [each.output for each in result.steps] == ["5\n", "8\n"]
    assert watched.steps == 1


def test_an_exception_is_known_by_its_class_and_those_above_it(reranker: Reranker) -> None:
    query = "with pytest.raises(LookupError, match='a'):\n    get({}, 'a')\n"
    candidates = [
        "def get(d, k):\n    return d.get(k)",
        "def get(d, k):\n    raise ValueError('a')",
        "def get(d, k):\n    return d[k]",
    ]
    assert reranker.rerank(query, candidates).chosen == 2


def test_a_warning_about_every_candidate_is_not_counted_but_noted(reranker: Reranker) -> None:
    ranking = reranker.rerank(
        "Write a function `compute(n)` that doubles n.",
        ["def double(n):\n    return m", "def double(n):\n    return 2 * n"],
    )
    assert (ranking.chosen, ranking.fallback) == (1, False)
    assert any("no 'compute'" in note for note in ranking.notes)
