"""Conditions are decided on plain data outside the process that returned it, so objects cannot manipulate them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fake_sandbox import FakeSandbox
from hypothesis import given
from hypothesis import strategies as st

from pkg.rerank.conditions import split_expression
from pkg.rerank.decisions import FailedError, UndecidedError, decide
from pkg.rerank.example_rating import OBJECT, STATEMENTS, WEAK
from pkg.rerank.reranker import Reranker
from pkg.sandbox.values import render_value


def rate(query: str, code: str) -> tuple[float, str]:
    """Return the score and the reason of the examples stage."""
    ranking = Reranker(sandbox=FakeSandbox()).rerank(query, [code])
    assert ranking.examples
    (verdict,) = (each for each in ranking.candidates[0].verdicts if each.stage == "examples")
    return verdict.score, verdict.reason


DOUBLE = "def f(n):\n    return 2 * n"
MORE = "def f(n):\n    return n + 7"
ANYTHING = """
class Anything:
    def __eq__(s, o): return True
    def __ne__(s, o): return True
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
    __hash__ = None
    def __bool__(s): return {truth}
    def __iter__(s): return iter([s])
    def __len__(s): return {length}
    def __getitem__(s, k): return s
    def __sub__(s, o): return s
    def __rsub__(s, o): return s
    def __abs__(s): return s
    def __call__(s, *a): return s
    def __getattr__(s, n): return s
    {more}
def f(*a): return Anything()
"""
SUBCLASS = """
class Liar({base}):
    def __eq__(s, o): return True
    def __ne__(s, o): return True
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
    __hash__ = None
    def __len__(s): return 3
    def __bool__(s): return {truth}
    def __abs__(s): return 0
    def __sub__(s, o): return 0
    def startswith(s, *a): return True
def f(*a): return Liar({value})
"""
CONDITIONS = [
    "f(2) in (4, 5)",
    "f(2) in {4: 1, 5: 2}",
    "f(2) not in (9, 10)",
    "f(2) != 9",
    "3 < f(2) < 5",
    "f(2) < 5",
    "f(2) >= 4 and f(2) <= 4",
    "f(2) == 4 or f(2) == 40",
    "not f(2) > 4",
    "not f(2) - 4",
    "f(2) is not None and f(2) == 4",
    "f(f(2)) == f(4)",
    "f(2) + 1 == f(2.5)",
    "abs(f(2) - 4) < 1e-9",
    "abs(f(2) - f(1) * 2) < 1e-9",
    "isinstance(f(2), int) and f(2) < 5",
    "type(f(2)) is int and f(2) < 5",
    "all(f(n) == 2 * n for n in range(4))",
    "all([f(n) < 7 for n in range(4)])",
    "any(f(n) == 4 for n in (1, 2))",
    "sorted([f(2), f(1)]) == [2, 4]",
    "len({f(2), f(1), 4}) == 2",
    "sum(f(n) for n in range(3)) == 6",
    "max(f(2), 4) == 4",
    "round(f(2.0), 2) == 4.0",
    "math.isclose(f(2), f(1) + 2)",
    "(f(2) == 4) is True",
    "bool(f(2) == 4)",
    "4 == f(2)",
    "(4 if f(1) == 2 else 5) == f(2)",
    "[f(1), f(2)] == [2, 4]",
    "(f(1), f(2))[1] < 5",
]
SHAPES = [
    ("len(f('abc')) == 3", "def f(s): return s.upper()", "def f(s): return s + s"),
    ("f('abc').startswith('A')", "def f(s): return s.upper()", "def f(s): return s"),
    ("f('abc')[0] == 'A'", "def f(s): return s.upper()", "def f(s): return s"),
    ("f('abc')[::-1] in ('CBA', 'X')", "def f(s): return s.upper()", "def f(s): return s"),
    ("'b' in f('abc')", "def f(s): return list(s)", "def f(s): return [s]"),
    ("'b' not in f('abc')", "def f(s): return {s: 1}", "def f(s): return dict.fromkeys(s)"),
    ("all(each > 0 for each in f([1, -1]))", "def f(x): return [y for y in x if y > 0]", "def f(x): return x"),
    ("all(isinstance(each, str) for each in f([1]))", "def f(x): return [str(y) for y in x]", "def f(x): return x"),
    ("set(f([1, 1])) == {1}", "def f(x): return x", "def f(x): return [2]"),
    ("f([2, 1]) == sorted([2, 1])", "def f(x): return sorted(x)", "def f(x): return x"),
    ("f([2, 1])[0] < f([2, 1])[1]", "def f(x): return sorted(x)", "def f(x): return x"),
    ("not f(2)", "def f(n): return []", "def f(n): return [0]"),
    ("f(2) is None", "def f(n): return None", "def f(n): return 0"),
    ("f(2) is not True", "def f(n): return False", "def f(n): return True"),
    ("f(2)['a'] > 3", "def f(n): return {'a': 4}", "def f(n): return {'a': 3}"),
    ("np.allclose(f(2), f(3))", "def f(n): return [1.0, 2.0]", "def f(n): return [1.0, float(n)]"),
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_holds_for_right_code_and_not_for_wrong_code(condition: str) -> None:
    query = f"Write f(n).\n\nassert {condition}\n"
    assert rate(query, DOUBLE)[0] == 1.0
    assert rate(query, MORE)[0] < 1.0


@pytest.mark.parametrize(("condition", "right", "wrong"), SHAPES)
def test_a_condition_on_texts_and_groups_is_decided_outside(condition: str, right: str, wrong: str) -> None:
    query = f"Write f(x).\n\nassert {condition}\n"
    assert rate(query, right)[0] == 1.0
    assert rate(query, wrong)[0] == 0.0


@pytest.mark.parametrize("condition", [*CONDITIONS, *(condition for condition, _, _ in SHAPES)])
@pytest.mark.parametrize(("truth", "length", "more"), [(True, 3, ""), (False, 2, ""), (True, 1, "__class__ = int")])
def test_an_object_that_says_yes_to_everything_gains_nothing(
    condition: str, truth: bool, length: int, more: str
) -> None:
    code = ANYTHING.format(truth=truth, length=length, more=more)
    score, _ = rate(f"Write f(n).\n\nassert {condition}\n", code)
    most = WEAK if "is not" in condition else 0.5  # that it is not None is true of it
    assert score <= most  # half where `and` joins two conditions of which one is true of any object


@pytest.mark.parametrize("condition", [*CONDITIONS, *(condition for condition, _, _ in SHAPES)])
@pytest.mark.parametrize(
    ("base", "value"),
    [("int", "70"), ("float", "7.5"), ("str", "'zz'"), ("list", "[7, -7, 'z', 9, 8]"), ("dict", "z=70")],
)
def test_a_subclass_that_lies_is_judged_by_the_plain_value_that_it_is(condition: str, base: str, value: str) -> None:
    query = f"Write f(n).\n\nassert {condition}\n"
    plain = f"def f(*a): return {base}({value})"
    for truth in ("True", "False"):
        liar = SUBCLASS.replace("{base}", base).replace("{value}", value).replace("{truth}", truth)
        assert rate(query, liar)[0] == rate(query, plain)[0]


def test_truth_that_is_an_objects_own_counts_less() -> None:
    query = "Write f(s).\n\nassert f('abc')\n"
    score, reason = rate(query, "import re\ndef f(s): return re.match('a', s)")
    assert (score, reason.partition("(")[2]) == (WEAK, OBJECT + ")")
    assert rate(query, "def f(s): return True")[0] == 1.0
    assert rate(query.replace("assert f", "assert not f"), ANYTHING.format(truth=False, length=0, more=""))[0] == 0.0


STACK = """
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()
    def __len__(self): return len(self.items)
    def __contains__(self, x): return x in self.items
    def __eq__(self, other): return self.items == other.items
"""


@pytest.mark.parametrize("condition", ["len(s) == 1", "7 in s", "len(s) > 0", "s != Stack()", "not 8 in s"])
def test_objects_of_a_class_in_the_query_are_evaluated_inside_and_count_less(condition: str) -> None:
    query = f"Write a class Stack.\n\ns = Stack()\ns.push(7)\nassert {condition}\n"
    score, reason = rate(query, STACK)
    assert score == WEAK
    assert "decided in the candidate's process (an object of the class Stack is not plain data)" in reason
    assert rate(query, STACK.replace("self.items.append(x)", "pass"))[0] == 0.0 or condition == "not 8 in s"


def test_values_that_objects_give_are_plain_data() -> None:
    query = "Write a class Stack.\n\ns = Stack()\ns.push(7)\ns.push(8)\nassert s.pop() == 8\nassert s.pop() < 9\n"
    assert rate(query, STACK)[0] == 1.0


def test_a_class_that_calls_itself_like_the_function_is_not_asked() -> None:
    code = (
        ANYTHING.format(truth=True, length=1, more="")
        .replace("Anything", "f_")
        .replace("def f(", "f_.__name__ = 'f'\ndef f(")
    )
    assert rate("Write f(n).\n\nassert f(2) > 3\n", code)[0] == 0.0


def test_a_reason_says_why_an_example_is_undecided() -> None:
    score, reason = rate("Write f(n).\n\nassert f(2) > 3\n", ANYTHING.format(truth=True, length=1, more=""))
    assert score == 0.0
    assert reason.endswith("(an object of the class Anything is not plain data)")


def test_what_a_condition_compares_with_never_reaches_the_sandbox() -> None:
    sandbox = FakeSandbox()
    query = "Write f(n).\n\nassert f(2) in ('the secret', 5)\nx = f(3)\nassert x != 'the secret' and x < 'the secret'\n"
    Reranker(sandbox=sandbox).rerank(query, [DOUBLE, MORE])
    steps = [step.source for program in sandbox.programs for step in program.steps]
    assert steps
    assert not any("secret" in step for step in steps)


def test_a_value_too_long_to_be_sent_is_asked_about_and_counts_less() -> None:
    query = "Write f(n).\n\nassert len(f(40000)) == 40000\nassert f(40000) not in (1, 2)\n"
    score, reason = rate(query, "def f(n): return list(range(n))")
    assert score == WEAK
    assert "too large" in reason


@pytest.mark.parametrize(
    ("setup", "condition", "asked"),
    [
        ("x = f(2)", "x == 4", "x = f(2); x == 4"),
        ("x = f(2)", "x in (4, 5)", "x = f(2); bool(x in (4, 5))"),
        ("x = y = f(2)", "y == 4", "x = y = f(2); y == 4"),
        ("[a, b] = f(2)", "b == 4", "[a, b] = f(2); b == 4"),
        ("n = 2\n\nx = f(n)", "x == 4", "x = f(2); x == 4"),
        ("n = 2; x = f(n)", "x == 4", "x = f(2); x == 4"),
        ("x: int = f(2)", "x == 4", "x = f(2); x == 4"),
        ("items = [\n    1,\n    2,\n]\nf(items)", "items == [2]", "items = [1, 2]; f(items); items == [2]"),
        ("y = 1\nx = f(1)\nassert x == 2\nx = f(2)", "x == 4", "x = f(1); x; x = f(2); x == 4"),
        ("x = f(1)\nx = f(x)", "x == 4", "x = f(1); x = f(x); x == 4"),
    ],
)
@pytest.mark.parametrize("frame", ["Write f.\n\n{}", "Write f.\n```python\n{}```\nThanks.", ">>> {}"])
def test_an_example_over_several_lines_is_one_example(setup: str, condition: str, asked: str, frame: str) -> None:
    lines = f"{setup}\nassert {condition}\n"
    if frame.startswith(">>>"):
        lines = lines.replace("\n\n", "\n").replace("\n", "\n>>> ").replace(">>>  ", "...  ").replace(">>> ]", "... ]")
        lines = lines.removesuffix(">>> ")
    ranking = Reranker(sandbox=FakeSandbox()).rerank(frame.format(lines), [DOUBLE])
    assert ranking.examples[-1] == asked


@pytest.mark.parametrize("setup", ["x = f(1)\nx += 2", "x = 0\nfor n in (1, 1):\n    x += f(n)"])
def test_statements_run_before_what_is_claimed_and_the_claim_is_decided_outside(setup: str) -> None:
    query = f"Write f(n).\n\n{setup}\nassert x == 4\n"
    assert rate(query, DOUBLE) == (1.0, "1 of 1 hold")
    assert rate(query, MORE)[0] == 0.0


def test_an_assert_that_cannot_be_split_runs_unchanged_and_counts_less() -> None:
    query = "Write f(n).\n\nfor each in f(2):\n    assert each == 4\n"
    reason = f"1 of 1 hold, 1 of them decided in the candidate's process ({STATEMENTS})"
    assert rate(query, "def f(n): return [4]") == (WEAK, reason)
    assert rate(query, "def f(n): return [5]")[0] == 0.0


def test_a_set_up_may_stand_in_the_line_of_its_assert() -> None:
    ranking = Reranker(sandbox=FakeSandbox()).rerank("Write f(n).\nn = 2\nx = f(n); assert x == 4\n", [DOUBLE])
    assert ranking.examples == ("x = f(2); x == 4",)


def test_prose_above_an_assert_is_no_set_up() -> None:
    ranking = Reranker(sandbox=FakeSandbox()).rerank("f doubles\nNote: x\nassert f(2) == 4\n", [DOUBLE])
    assert ranking.examples == ("f(2) == 4",)


@pytest.mark.parametrize(
    ("method", "shown"),
    [
        ("assertIn(f(2), (4, 5))", "bool(f(2) in (4, 5))"),
        ("assertGreater(f(2), 3)", "bool(f(2) > 3)"),
        ("assertNotEqual(f(2), 3)", "bool(f(2) != 3)"),
        ("assertIsNone(f(2))", "f(2) == None"),
        ("assertIsInstance(f(2), int)", "bool(isinstance(f(2), int))"),
        ("assertFalse(f(2) > 4)", "not bool(f(2) > 4)"),
        ("assertAlmostEqual(f(2), 4.0)", "f(2) == 4.0"),
        ("assertEqual(f(f(2)), f(4))", "bool(f(f(2)) == f(4))"),
    ],
)
def test_methods_of_unittest_are_conditions(method: str, shown: str) -> None:
    query = f"Write f(n).\n\nself.{method}\n"
    assert Reranker(sandbox=FakeSandbox()).rerank(query, [DOUBLE]).examples == (shown,)


def compute(source: str, value: object) -> object:
    return decide(split_expression(source), render_value(value)).value


@pytest.mark.parametrize(
    "source",
    [
        "f(2) ** f(2) ** 9",
        "[f(2)] * 10 ** 9",
        "'%9999999999d' % f(2)",
        "round(f(2), -10 ** 9)",
        "f(2) * 10 ** 4000 * 10 ** 4000 * 10 ** 4000 > 1",
    ],
)
def test_what_would_take_for_ever_is_undecided(source: str) -> None:
    with pytest.raises(UndecidedError):
        compute(source, 9999)


def test_a_long_value_is_decided_on_in_no_time() -> None:
    values = list(range(5000))
    assert compute("all(x in (1, 2) or x >= 0 for x in f(2))", values) is True
    with pytest.raises(UndecidedError):
        compute("f(2) in [2] and f(2) > 1", {number * (2**61 - 1) for number in range(2000)})


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (f"f(2) in {tuple([number] for number in range(3000))}", list(range(12_000))),
        (" or ".join(f"f(2) == [{number}]" for number in range(800)), list(range(12_000))),
    ],
)
def test_evaluation_of_a_long_value_is_given_up_after_too_many_steps(source: str, value: object) -> None:
    with pytest.raises(UndecidedError, match="too many steps"):
        compute(source, value)


@pytest.mark.parametrize("source", ["f(2)[9]", "f(2) < 'a'", "sum(f(2)) + 'a'", "f(2).startswith('a')", "len(f(2)[0])"])
def test_an_expression_that_fails_outside_does_not_hold(source: str) -> None:
    with pytest.raises(FailedError):
        compute(source, [1, 2])


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
SOURCES = [source for condition in CONDITIONS for source in (f"bool({condition})", condition)]


@given(st.sampled_from(SOURCES), PLAIN)
def test_whatever_is_given_for_what_was_asked_the_decision_is_made_or_refused(source: str, value: object) -> None:
    with suppress(UndecidedError, FailedError):
        assert decide(split_expression(source, "f"), render_value(value)).is_true in (True, False)
