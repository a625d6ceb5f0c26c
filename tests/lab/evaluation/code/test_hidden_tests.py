"""Hidden tests run on the results of a candidate, in another process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.hidden_tests import LIMITS, HiddenTests, rewrite_calls
from pkg.sandbox import Limits, Sandbox, Verdict, open_sandbox

QUICK = Limits(cpu_seconds=1.0, wall_seconds=10.0, output_bytes=1 << 20)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox(jobs=1) as opened:
        yield opened


def judge(sandbox: Sandbox, item: Item, *codes: str, limits: Limits = LIMITS) -> list[Verdict]:
    return list(HiddenTests(sandbox, limits).run_all((code, item) for code in codes))


def kinds(verdicts: list[Verdict]) -> list[str]:
    return [each.kind.value for each in verdicts]


def make_item(entry: str, reference: str, tests: str, setup: str = "") -> Item:
    return Item("T/1", "", "", entry, reference, tests, setup)


def test_calls_that_depend_on_earlier_answers_are_asked_for_in_turn(sandbox: Sandbox) -> None:
    tests = "def check(f):\n    x = 1\n    for _ in range(3):\n        x = f(x)\n        assert x > 0\ncheck(grow)"
    item = make_item("grow", "def grow(x): return x + 1", tests)
    codes = ("def grow(x): return x * 5", "def grow(x): return 7 - x", "def grow(x): return x - 1")
    assert kinds(judge(sandbox, item, *codes)) == ["ok", "ok", "assertion"]


def test_helpers_of_the_prompt_are_those_of_the_reference(sandbox: Sandbox) -> None:
    helper = "def measure(x): return abs(x)\n"
    item = make_item(
        "root", f"{helper}def root(x): return 0", "def check(f):\n    assert measure(f(1)) == 0\ncheck(root)"
    )
    lying = "def measure(x): return 0\ndef root(x): return 9"
    assert kinds(judge(sandbox, item, item.reference, lying)) == ["ok", "assertion"]


def test_inputs_that_a_test_spells_out_are_made_of_the_classes_of_the_candidate(sandbox: Sandbox) -> None:
    reference = (
        "class Pair:\n    def __init__(self, a, b): self.a, self.b = a, b\ndef add(pair): return pair.a + pair.b"
    )
    item = make_item("add", reference, "assert add(Pair(1, 2)) == 3\nassert add(made) == 9", "made = Pair(4, 5)")
    other = "def Pair(*both): return both\ndef add(pair): return sum(pair)"
    assert kinds(judge(sandbox, item, reference, other, "def add(pair): return 3")) == ["ok", "ok", "name"]


def test_an_exception_that_tests_expect_counts_by_its_class(sandbox: Sandbox) -> None:
    tests = (
        "def check(f):\n    try:\n        f(-1)\n    except ValueError:\n        return\n    assert False\ncheck(root)"
    )
    item = make_item("root", "def root(x): raise ValueError(x)", tests)
    codes = (item.reference, "def root(x): return 1", "def root(x):\n    raise KeyError(x)")
    right, silent, other = judge(sandbox, item, *codes)
    assert kinds([right, silent, other]) == ["ok", "assertion", "other"]
    assert other.detail == "KeyError: -1 (line 2)"


def test_tests_that_catch_everything_do_not_pass_for_want_of_an_answer(sandbox: Sandbox) -> None:
    tests = "def check(f):\n    try:\n        assert f(1) == 1\n    except BaseException:\n        pass\ncheck(same)"
    item = make_item("same", "def same(x): return x", tests)
    assert kinds(judge(sandbox, item, "def same(x):\n    while True: pass", limits=QUICK)) == ["timeout"]


def test_the_order_of_a_dict_reaches_candidate_and_tests(sandbox: Sandbox) -> None:
    item = make_item(
        "keys", "def keys(d): return {k: 1 for k in d}",
        "def check(f):\n    assert list(f({'b': 1, 'a': 2})) == ['b', 'a']\ncheck(keys)",
    )  # fmt: skip
    assert kinds(judge(sandbox, item, item.reference, "def keys(d): return dict.fromkeys(sorted(d))")) == [
        "ok",
        "assertion",
    ]


def test_a_candidate_that_hangs_fails_at_the_test_that_it_reaches(sandbox: Sandbox) -> None:
    tests = "def check(f):\n    assert f(1) == 1\n    assert f(2) == 2\ncheck(same)"
    item = make_item("same", "def same(x): return x", tests)
    codes = (
        "def same(x):\n    while x == 2: pass\n    return x",
        "def same(x):\n    while x == 2: pass",
        "def same(x): return [",
    )
    assert kinds(judge(sandbox, item, *codes, limits=QUICK)) == ["timeout", "assertion", "syntax"]


def test_tests_that_cannot_be_kept_apart_or_do_not_end_count_for_none(sandbox: Sandbox) -> None:
    objects = make_item("f", "def f(x): return 1", "def check(g):\n    assert g(object()) == 1\ncheck(f)")
    (verdict,) = judge(sandbox, objects, objects.reference)
    assert "no plain data" in verdict.detail
    endless = make_item("f", "def f(): return 1", "f()\nwhile True: pass")
    (verdict,) = judge(sandbox, endless, endless.reference, limits=QUICK)
    assert "the tests cannot be run" in verdict.detail


@pytest.mark.parametrize(
    ("tests", "written"),
    [
        ("assert f(1) == 2", "assert _pkg_answer('f(1)') == 2"),
        ("assert len(f(g(1))) == 2", "assert len(_pkg_answer('f(g(1))')) == 2"),
        ("x = 1\nassert f(x)", "x = 1\nassert f(x)"),
        ("assert all((f(x) for x in (1, 2)))", "assert all((f(x) for x in (1, 2)))"),
        ("for x in (1, 2):\n    f(x)", "for x in (1, 2):\n    f(x)"),
        ("import math\nassert f(math.pi)", "import math\nassert f(math.pi)"),
        ("from a import b as c\nassert f(c)", "from a import b as c\nassert f(c)"),
        ("from a import *\nassert f(c)", "from a import *\nassert f(c)"),
        ("try:\n    g()\nexcept E as e:\n    pass\nf(e)", "try:\n    g()\nexcept E as e:\n    pass\nf(e)"),
        ("match g:\n    case [*a]:\n        pass\nf(a)", "match g:\n    case [*a]:\n        pass\nf(a)"),
        ("assert f(lambda x: x) == 2", "assert _pkg_answer('f(lambda x: x)') == 2"),
        ("assert f([x for x in y]) == 2", "assert _pkg_answer('f([x for x in y])') == 2"),
        ("x = 1\nassert f(lambda x: x) == 2", "x = 1\nassert f(lambda x: x) == 2"),
        ("assert f((x := 1)) == x", "assert f((x := 1)) == x"),
        ("check(f)", "check(f)"),
        ("assert (", "assert ("),
    ],
)
def test_calls_are_replaced_where_they_can_be_done_as_they_are_written(tests: str, written: str) -> None:
    assert rewrite_calls(tests, "f") == written


LONG_ANSWERS = (
    "def check(f):\n    assert len(f(f('a'))) == 1\ncheck(same)",
    "def check(f):\n    text = f('a')\n    assert f(text * 4) == text * 4\ncheck(same)",
)


@pytest.mark.parametrize("tests", LONG_ANSWERS)
def test_tests_that_feed_long_answers_back_end_in_verdicts(sandbox: Sandbox, tests: str) -> None:
    item = make_item("same", "def same(x): return x", tests)
    codes = [f"def same(x): return 'a' * {300_000 + count}" for count in range(4)]
    assert kinds(judge(sandbox, item, *codes, item.reference)) == ["assertion"] * 4 + ["ok"]


def test_calls_with_long_arguments_are_told_of_every_item(sandbox: Sandbox) -> None:
    sizes = (600_000, 600_000, 1_100_000)
    items = [
        replace(
            make_item("size", "def size(x): return len(x)", f"def check(f):\n    f('a' * {each})\ncheck(size)"),
            id=f"T/{place}",
        )
        for place, each in enumerate(sizes)
    ]
    tests = HiddenTests(sandbox, LIMITS)
    assert kinds(list(tests.run_all((each.reference, each) for each in items))) == ["ok"] * 3


def test_calls_too_long_to_be_written_down_are_said_to_be(sandbox: Sandbox) -> None:
    item = make_item(
        "size", "def size(x): return len(x)", "def check(f):\n    for _ in range(6): f('a' * 4_000_000)\ncheck(size)"
    )
    (verdict,) = judge(sandbox, item, item.reference)
    assert "more than 16 MiB" in verdict.detail


@pytest.mark.parametrize(
    ("reference", "tests"),
    [
        ("def f(x): x.sort()", "def check(g):\n    a = [3, 1]\n    g(a)\n    assert a == [1, 3]\ncheck(f)"),
        ("class f:\n    size = 0", "made = f()\nassert made.size == 0"),
        ("def f(x): return range(x)", "assert f(3) == range(3)"),
        (
            "class Bad(Exception): pass\ndef f(x): raise Bad",
            "try:\n    f(1)\n    assert False\nexcept Bad:\n    pass",
        ),
    ],
    ids=["in place", "class", "range", "own exception"],
)
def test_tests_that_the_reference_itself_fails_judge_nothing(sandbox: Sandbox, reference: str, tests: str) -> None:
    (verdict,) = judge(sandbox, make_item("f", reference, tests), reference)
    assert verdict.kind.value == "other"
    assert "the tests cannot judge code" in verdict.detail


def test_tests_that_never_call_the_code_judge_nothing(sandbox: Sandbox) -> None:
    item = make_item("f", "def h(x): return x + 1\ndef f(x): return h(x)", "assert h(1) == 2")
    assert [each.detail for each in judge(sandbox, item, item.reference, "x = 1")] == [
        "the tests cannot judge code: no call of f"
    ] * 2


@pytest.mark.parametrize(
    ("reference", "tests"),
    [
        ("from decimal import Decimal\ndef f(x): return Decimal(x)", "assert f('1.5') == Decimal('1.5')"),
        (
            "import datetime\ndef f(day): return day.day",
            "def check(g):\n    assert g(datetime.date(2020, 1, 5)) == 5\ncheck(f)",
        ),
        ("def f(x): return {1, x}", "assert f(frozenset([2])) == {1, frozenset([2])}"),
    ],
    ids=["a decimal answer", "a date as an argument", "a set in a set"],
)
def test_values_of_the_standard_library_cross_to_the_tests_and_back(
    sandbox: Sandbox, reference: str, tests: str
) -> None:
    assert kinds(judge(sandbox, make_item("f", reference, tests), reference)) == ["ok"]


def test_names_that_tests_import_are_known_where_they_are_used(sandbox: Sandbox) -> None:
    item = make_item("f", "def f(x): return x", "import math\nassert f(math.pi) == math.pi")
    assert kinds(judge(sandbox, item, item.reference, "def f(x): return 3")) == ["ok", "assertion"]


def test_a_function_that_a_test_hands_over_is_made_where_the_code_runs(sandbox: Sandbox) -> None:
    item = make_item("f", "def f(g, x): return g(x)", "assert f(lambda x: x + 1, 3) == 4")
    assert kinds(judge(sandbox, item, item.reference, "def f(g, x): return x")) == ["ok", "assertion"]
