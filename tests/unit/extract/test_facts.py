"""Facts name the places of a text where names get and give values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.python import extract_unit
from pkg.units import Code, Fact, Question, pack_facts, unpack_facts

USES = (Code.ITEM, Code.PUT, Code.DELETE, Code.CONTAINS, Code.OPERATE)
numbers = st.integers(0, 2**32 - 1)


def list_facts(text: str) -> list[tuple[Code, str, str]]:
    """Give the facts of a text with the texts of their spans."""
    data = text.encode()

    def show(start: int, end: int) -> str:
        return data[start:end].decode()

    facts = unpack_facts(extract_unit(data).facts)
    return [(Code(code), show(a, b), show(c, d)) for _, code, a, b, c, d in facts]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("x = value\n", (Code.ASSIGN, "x", "value")),
        ("x += value\n", (Code.AUGMENT, "x", "value")),
        ("(x := value)\n", (Code.WALRUS, "x", "value")),
        ("x: Type = None\n", (Code.ANNOTATE, "x", "Type")),
        ("for x in items: pass\n", (Code.FOR, "x", "items")),
        ("[y for x in items]\n", (Code.FOR, "x", "items")),
        ("with opened() as x: pass\n", (Code.WITH, "x", "opened()")),
        ("with lock: pass\n", (Code.WITH, "", "lock")),
        ("try: pass\nexcept Err as x: pass\n", (Code.EXCEPT, "x", "Err")),
        ("def f():\n    return value\n", (Code.RETURN, "", "value")),
        ("def f():\n    yield value\n", (Code.YIELD, "", "value")),
        ("def f():\n    yield from values\n", (Code.YIELD_FROM, "", "values")),
        ("raise Err\n", (Code.RAISE, "", "Err")),
        ("a.b(c)\n", (Code.CALL, "a.b", "(c)")),
        ("def f():\n    global x, y\n", (Code.GLOBAL, "global x, y", "")),
    ],
)
def test_a_statement_is_one_fact(text: str, fact: tuple[Code, str, str]) -> None:
    assert fact in list_facts(text)


def test_one_value_is_assigned_to_every_target_of_a_chain() -> None:
    assigned = [fact for fact in list_facts("a = b = value\n") if fact[0] == Code.ASSIGN]
    assert assigned == [(Code.ASSIGN, "a", "value"), (Code.ASSIGN, "b", "value")]


def test_only_attributes_that_are_neither_called_nor_assigned_to_are_read() -> None:
    facts = list_facts("a.called()\na.stored = a.read\n")
    assert [first for code, first, _ in facts if code == Code.READ] == ["a.read"]


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("x = a[1][2]\n", [("ITEM", "a"), ("ITEM", "a[1]")]),
        ("a[1] = b[2] = x\n", [("PUT", "a"), ("PUT", "b")]),
        ("a[1], (b[2], *c) = x\n", [("PUT", "a"), ("PUT", "b")]),
        ("for a[1] in x: pass\n", [("PUT", "a")]),
        ("a[1] += x\n", [("ITEM", "a"), ("OPERATE", "a[1]"), ("PUT", "a")]),
        ("del a[1], b.c[2]\n", [("DELETE", "a"), ("DELETE", "b.c")]),
        ("x in a or x not in b.c\n", [("CONTAINS", "a"), ("CONTAINS", "b.c")]),
        ("x is a, x == b\n", [("OPERATE", "x")]),
        (
            "a.b + c * d[1], 1 + a, f() - a, 'text' % a, 1 + 2\n",
            [("ITEM", "d"), ("OPERATE", "1"), ("OPERATE", "a.b"), ("OPERATE", "c"), ("OPERATE", "f()")],
        ),
        ("a < b < c\n", [("OPERATE", "a"), ("OPERATE", "b")]),
        ("a < b in c is not d\n", [("CONTAINS", "c"), ("OPERATE", "a")]),
        ("a.b += c\n", [("OPERATE", "a.b")]),
    ],
)
def test_the_uses_of_items_are_told_apart(text: str, uses: list[tuple[str, str]]) -> None:
    found = sorted((code.name, first) for code, first, _ in list_facts(text) if code in USES)
    assert found == sorted(uses)


def test_every_manager_of_a_with_in_brackets_is_a_fact() -> None:
    facts = list_facts("with (one() as a, two() as b): pass\n")
    assert [fact[1:] for fact in facts if fact[0] == Code.WITH] == [("a", "one()"), ("b", "two()")]


def test_a_definition_opens_its_scope_where_its_body_begins() -> None:
    text = "def f(a):\n    return a\n"
    (fact,) = (each for each in unpack_facts(extract_unit(text.encode()).facts) if each[1] == Code.DEFINITION)
    position, _, start, head_end, body, end = fact
    assert text[start:head_end].rstrip() == "def f(a):"
    assert position == body == text.index("return")
    assert end == len(text.rstrip())


def test_facts_stand_in_the_order_of_the_text() -> None:
    positions = [fact[0] for fact in unpack_facts(extract_unit(b"a = f(b)\nfor c in d: e(c.g)\n").facts)]
    assert positions == sorted(positions)


def test_a_text_that_does_not_parse_still_has_facts() -> None:
    assert (Code.ASSIGN, "x", "1") in list_facts("x = 1\ndef (:\n")


@given(st.lists(st.tuples(numbers, numbers, numbers, numbers, numbers, numbers)))
def test_packed_facts_come_back_in_order(facts: list[Fact]) -> None:
    assert list(unpack_facts(pack_facts(facts))) == sorted(facts)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("if a: pass\n", [("TRUTH", "a")]),
        ("if not a.b() and (c or d < 1): pass\n", [("TRUTH", "a.b()"), ("TRUTH", "c")]),
        ("x = a if b else c\n", [("TRUTH", "b")]),
        ("while True: pass\n", []),
        ("assert a[1], b\n", [("TRUTH", "a[1]")]),
        ("[x for x in y if x]\n", [("TRUTH", "x")]),
        ("-a, +b(), ~c\n", [("NEGATIVE", "a"), ("POSITIVE", "b()"), ("INVERT", "c")]),
        ("f'{a} {b!r} {c!s:>{d}}'\n", [("FORMAT", "a"), ("REPRESENTATION", "b"), ("STRING", "c"), ("FORMAT", "d")]),
        ("f(*a.b(), **c)\n", [("ITEMS", "a.b()"), ("ENTRIES", "c")]),
        ("x = [*a.b()]\n", [("ITEMS", "a.b()")]),
        ("async def f(): await a.b()\n", [("WAIT", "a.b()")]),
    ],
)
def test_what_python_asks_by_itself_is_told_with_the_question(text: str, asked: list[tuple[str, str]]) -> None:
    data = text.encode()
    facts = (fact for fact in unpack_facts(extract_unit(data).facts) if fact[1] == Code.ASK)
    assert sorted((Question(which).name, data[a:b].decode()) for _, _, a, b, which, _ in facts) == sorted(asked)


def test_a_star_is_no_part_of_the_callee_behind_it() -> None:
    unit = extract_unit(b"def f():\n    return [*make()], *other.make()\n")
    assert [call.expression for call in unit.calls] == ["make", "other.make"]
    assert [first for code, first, _ in list_facts("x = [*a.b()]\n") if code == Code.CALL] == ["a.b"]


def test_targets_of_several_at_once_are_not_read() -> None:
    facts = list_facts("a.b, (c.d, *e.f) = x\nfor g.h in y: pass\ndel i.j, (k.l)\nm.n += 1\n")
    assert [first for code, first, _ in facts if code == Code.READ] == ["m.n"]
    assert [first for code, first, _ in facts if code == Code.ERASE] == ["i.j", "k.l"]


CONDITION = "isinstance(x, A)"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (f"if {CONDITION}: a()\nelse: b()\n", [(Code.HOLDS, "a()"), (Code.FAILS, "else: b()")]),
        (f"while {CONDITION}: a()\n", [(Code.HOLDS, "a()"), (Code.FAILS, "\n")]),
        (f"a() if {CONDITION} else b()\n", [(Code.HOLDS, "a()"), (Code.FAILS, "b()")]),
        (f"{CONDITION} and a()\n", [(Code.HOLDS, "a()")]),
        (f"{CONDITION} or a()\n", [(Code.FAILS, "a()")]),
        (f"[a() for x in y if {CONDITION}]\n", [(Code.HOLDS, "a()"), (Code.HOLDS, "]")]),
        (f"assert {CONDITION}\na()\n", [(Code.HOLDS, "\na()\n")]),
        ("if x is None: a()\nelse: b()\n", []),
        (f"test = {CONDITION}\n", []),
    ],
)
def test_a_condition_that_tests_a_class_holds_or_fails_in_regions(text: str, facts: list[tuple[Code, str]]) -> None:
    found = [(code, region) for code, region, test in list_facts(text) if test == CONDITION]
    assert [each for each in found if each[0] in (Code.HOLDS, Code.FAILS)] == facts


def test_branches_that_are_left_or_bind_the_name_are_told_from_others_behind_them() -> None:
    text = "def f(x):\n    if isinstance(x, A): return\n    elif isinstance(x, B): x = A()\n    else: pass\n    a()\n"
    found = [(code, test) for code, region, test in list_facts(text) if region == "\n    a()"]
    assert sorted(found) == [
        (Code.STAYS, ""), (Code.LEAVES, "isinstance(x, A)"), (Code.LEAVES, "isinstance(x, B)"),
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["1 + " * 3000 + "1", "(" * 500 + "1" + ")" * 500])
def test_conditions_are_found_beside_code_that_is_nested_deeply(value: str) -> None:
    text = f"def f(x):\n    while isinstance(x, A):\n        y = {value}\n    x.run()\n"
    codes = [code for code, _, test in list_facts(text) if test == CONDITION]
    assert [code for code in codes if code in (Code.HOLDS, Code.FAILS)] == [Code.HOLDS, Code.FAILS]


def test_branches_nested_deeply_are_not_looked_through_to_their_end() -> None:
    lines = [f"{' ' * (depth + 1)}if isinstance(x, A):" for depth in range(1500)] + [f"{' ' * 1502}return"]
    text = "\n".join(["def f(x):", *lines, ""])
    assert len([code for code, _, _ in list_facts(text) if code == Code.HOLDS]) > 0
