from __future__ import annotations

import ast
import symtable
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.python import extract_unit
from pkg.model import Function, Nested
from pkg.retrieval.pruning.prune import SafeRule
from pkg.retrieval.pruning.safe_cuts import Surroundings, find_objection


def list_branches(text: bytes) -> list[Nested]:
    """List every block of the text's functions, without bodies."""
    blocks = [block for block in extract_unit(text).blocks if block.kind != "body"]
    return [Nested(b.path, b.kind, b.span.start, b.span.end, b.span.start_line, b.span.end_line) for b in blocks]


def object_to(body: str, line: int, header: str = "def f(a, b):") -> str:
    """Return why the branch that begins on a line must stay; line 2 is the first of the body."""
    text = f"{header}\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n".encode()
    branch = next(each for each in list_branches(text) if each.start_line == line)
    return find_objection(Surroundings(text, b""), branch)


@pytest.mark.parametrize(
    "branch",
    [
        "if not a:\n    raise ValueError(f'no {a}')",
        "if not isinstance(a, str):\n    name = type(a).__name__\n    raise TypeError(name)",
        "if a.is_closed():\n    log.warning('closed: %s', a)",
        "if a:\n    warnings.warn('old', DeprecationWarning)\nelse:\n    print(b)",
        "for each in sorted(a):\n    print(each)",
        "with Timer():\n    print(a)",
        "if a:\n    text = ', '.join(x for x in b)\n    print(text)",
        "try:\n    size = len(a)\n    print(size)\nexcept TypeError:\n    print('no size')",
        "match a:\n    case [first, *rest]:\n        print(first, rest)",
        "if a:\n    for x in [1, 2]:\n        if x:\n            break\n        print(x)",
    ],
)
def test_guards_and_reports_go(branch: str) -> None:
    assert object_to(f"{branch}\nwhile a:\n    b += 1\nreturn b", 2) == ""


@pytest.mark.parametrize(
    ("branch", "reason"),
    [
        ("if a:\n    return 1", "it returns"),
        ("if a:\n    yield 1", "it yields or waits"),
        ("if a:\n    x = yield from a", "it yields or waits"),
        ("if a:\n    b = 1", "`b` is read elsewhere"),
        ("if a:\n    b += 1", "`b` is read elsewhere"),
        ("if (b := a):\n    print(b)", "`b` is read elsewhere"),
        ("if a:\n    import b", "`b` is read elsewhere"),
        ("if a:\n    def g():\n        return 1", "it defines `g`"),
        ("if a:\n    class B:\n        pass", "it defines `B`"),
        ("if a:\n    del b", "`b` is read elsewhere"),
        ("for b in a:\n    print(b)", "`b` is read elsewhere"),
        ("with Open(a) as b:\n    print(b)", "`b` is read elsewhere"),
        ("match a:\n    case {'x': 1, **b}:\n        pass", "`b` is read elsewhere"),
        ("if a:\n    global b\n    b = 1", "it binds a name of an outer scope"),
        ("if a:\n    a.x = 1", "it changes `a.x`"),
        ("if a:\n    a[1] = 1", "it changes `a[1]`"),
        ("if a:\n    del a[1]", "it changes `a[1]`"),
        ("if a:\n    a.append(1)", "it calls `a.append`"),
        ("if a:\n    register(a)", "it calls `register`"),
        ("if a.pop():\n    print(1)", "it calls `a.pop`"),
        ("if next(a):\n    print(1)", "it calls `next`"),
        ("if a.accept(';'):\n    print(1)", "it calls `a.accept`"),
        ("if f(a):\n    print(1)", "it calls `f`"),
        ("for x in b:\n    print(x)", "it may use up `b`"),
        ("if a:\n    raise ValueError\nelse:\n    raise TypeError", "it always ends in an error"),
    ],
)
def test_needed_branches_stay(branch: str, reason: str) -> None:
    assert object_to(f"{branch}\nwhile a:\n    print(a)\nreturn b", 2) == reason


@pytest.mark.parametrize(
    ("body", "line", "reason"),
    [
        ("for x in a:\n    if x:\n        continue\n    print(x)", 3, "it ends a step of the loop around it"),
        ("while a:\n    if b:\n        break\n    print(a)", 3, "it ends a step of the loop around it"),
        ("for x in sorted(a):\n    print(x)\nreturn a", 2, "no loop would be left"),
        ("if a:\n    for x in [1]:\n        print(x)\nreturn a", 2, "no loop would be left"),
        ("while True:\n    if b:\n        raise StopIteration\n    a += 1", 3, "an error of it may end a loop"),
        ("try:\n    if a:\n        raise KeyError\n    b = 1\nexcept KeyError:\n    b = 2\nreturn b", 3,
         "an error of it is a way through a `try`"),
        ("try:\n    b = a.x\nexcept KeyError:\n    if a:\n        raise\n    b = 2\nreturn b", 5,
         "an error of it is a way through a `try`"),
        ("with suppress(KeyError):\n    if a:\n        raise KeyError\n    b = 1\nreturn b", 3,
         "an error of it is caught"),
        ("if not a:\n    raise ValueError\nprint(a)", 2, "nothing else gives a result"),
        ("for x in a:\n    if x:\n        print(x)\nreturn a", 3, "its suite would be empty"),
        ("try:\n    if a:\n        print(a)\nfinally:\n    b.close()\nreturn a", 3,
         "its suite would be empty"),
        ("for x in a:\n    if x.bad:\n        x = x.better\n    b.append(x)\nreturn b", 3, "`x` is read elsewhere"),
        ("while a:\n    print(last)\n    if b:\n        last = 1\nreturn a", 4, "`last` is read elsewhere"),
        ("if a:\n    last = 1\ndef g():\n    return last\nreturn g", 2, "`last` is read elsewhere"),
        ("if a:\n    last = 1\nreturn '{last}'.format(**locals())", 2, "`locals` may read all names"),
        ("if a:\n    last = 1\nreturn [last for x in b]", 2, "`last` is read elsewhere"),
    ],
)  # fmt: skip
def test_code_around_a_branch_may_keep_it(body: str, line: int, reason: str) -> None:
    assert object_to(body, line) == reason


def test_another_loop_may_use_the_same_name() -> None:
    body = "for x in sorted(a):\n    print(x)\nfor x in b:\n    a.append(x)\nreturn [x for x in a]"

    assert object_to(body, 2) == ""


def test_a_branch_of_an_indented_method_is_found() -> None:
    text = b"class A:\n    def f(self, a):\n        if not a:\n            raise ValueError\n        return self\n"
    (branch,) = list_branches(text)
    start = text.index(b"def")
    inside = branch._replace(start=branch.start - start, end=branch.end - start)

    assert find_objection(Surroundings(text[start:], b"    "), inside) == ""


def test_removed_branches_need_nothing() -> None:
    text = b"def f(a):\n    if a:\n        size = len(a)\n    if a.is_big:\n        print(size)\n    return a\n"
    first, second = list_branches(text)

    assert find_objection(Surroundings(text, b""), first) == "`size` is read elsewhere"
    assert find_objection(Surroundings(text, b""), first, [second]) == ""


@pytest.mark.parametrize(
    ("branch", "reason"),
    [
        ("if not a:\n        raise ValueError, 'no a'", ""),
        ("if a:\n        print 'b'", ""),
        ("if a:\n        b = 1", "Python does not parse the text, and the branch does more than raise and print"),
        ("if a:\n        a.pop()", "Python does not parse the text, and the branch does more than raise and print"),
        ("if a:\n        return", "Python does not parse the text, and the branch does more than raise and print"),
        ("while a:\n        print 'b'", "Python does not parse the text, and only a plain `if` could be judged"),
    ],
)
def test_of_a_text_of_python_2_only_plain_guards_and_reports_go(branch: str, reason: str) -> None:
    text = f"def f(a):\n    {branch}\n    print 'a'\n    return a\n".encode()

    assert find_objection(Surroundings(text, b""), list_branches(text)[0]) == reason


def test_a_text_that_no_parser_takes_is_not_pruned() -> None:
    text = b"def f(a):\n    if not a:\n        raise ValueError\n    return a +* ]\n"
    branch = Nested("a", "if", 14, 47, 2, 3)

    assert find_objection(Surroundings(text, b""), branch) == "no parser can judge the text"


NAMES = ("a", "b", "c", "d")


@st.composite
def suites(draw: st.DrawFn, depth: int = 0, in_loop: bool = False) -> list[str]:
    """Draw the lines of one suite of statements that bind and read a few names, nested up to three deep."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
        simple = (f"{name} = {other}", f"{name} += {other}", f"print({name})", f"raise ValueError({name})", "pass",
                  f"return {name}", f"yield {name}", f"{name} = [{other} for {other} in {name}]", f"del {name}",
                  f"import {name}", f"{name}.x = {other}", f"assert {name}")  # fmt: skip
        steps = ("break", "continue") if in_loop else ()
        heads = (f"if {name}:", f"for {name} in {other}:", f"while {name}:", f"with {name} as {other}:",
                 f"def {name}({other}):", "try:", f"match {name}:\n    case [{other}, *_]:",
                 f"if ({name} := {other}):")  # fmt: skip
        if depth == 3 or draw(st.booleans()):
            lines.append(draw(st.sampled_from(simple + steps)))
            continue
        head = draw(st.sampled_from(heads))
        inside = draw(suites(depth + 1, head.startswith(("for", "while")) or (in_loop and not head.startswith("def"))))
        margin = " " * (8 if head.startswith("match") else 4)
        lines += [*head.split("\n"), *textwrap.indent("\n".join(inside), margin).split("\n")]
        if head == "try:":
            lines += [f"except ValueError as {name}:", f"    print({other})"]
    return lines


def find_undefined(code: str) -> set[str]:
    """Return the names that a module reads and does not bind, according to Python's compiler."""
    waiting, read, bound = [symtable.symtable(code, "", "exec")], set[str](), set[str]()
    module = waiting[0]
    bound |= {each.get_name() for each in module.get_symbols() if each.is_assigned() or each.is_imported()}
    while waiting:
        table = waiting.pop()
        read |= {each.get_name() for each in table.get_symbols() if each.is_referenced() and each.is_global()}
        waiting += table.get_children()
    return read - bound


@given(suites(), st.sampled_from(("", "    ", "\t")))
def test_the_remainder_parses_returns_as_much_and_misses_no_name(body: list[str], indent: str) -> None:
    whole = textwrap.indent("def f(z):\n" + textwrap.indent("\n".join(body), "    ") + "\n    return a\n", indent)
    text = (f"class A:\n{whole}" if indent else whole).encode()
    try:
        compile(text, "", "exec")
    except SyntaxError:
        return  # such as a name that is both a parameter and global
    unit = extract_unit(text)
    span = next(item.span for item in unit.definitions if isinstance(item, Function))
    content = text[span.start : span.end]
    branches = {
        each.id: each._replace(start=each.start - span.start, end=each.end - span.start)
        for each in list_branches(text)
        if span.start <= each.start and each.end <= span.end
    }
    rule = SafeRule(content, indent.encode(), Surroundings(content, indent.encode()), branches)

    gaps: tuple[tuple[str, bool], ...] = ()
    for name, branch in branches.items():
        if any(branches[other].start <= branch.start < branches[other].end for other, _ in gaps):
            continue
        if rule.find_objection(name, gaps) == "":
            gaps = (*gaps, (name, True))
            rest = (text[: span.start] + rule.show(gaps)).decode()
            compile(rest, "", "exec")
            assert find_undefined(rest) <= find_undefined(text.decode())
            assert count_exits(rest) == count_exits(text.decode())
            assert f"# ... lines {branch.start_line}-{branch.end_line} folded" in rest


def count_exits(code: str) -> int:
    """Count the statements by which functions return or raise anything."""
    return sum(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in ast.walk(ast.parse(code)))
