from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pkg
from pkg.extract.python import extract_unit
from pkg.generation.aligned_code import align_code
from pkg.generation.prompt_templates.self_contained_code import make_signature, wrap_block
from pkg.rerank.undefined_names import find_undefined

FUNCTION = '''\
@cached
@staticmethod
def work(items, *, limit=3) -> int:
    """Do it well.

    And more.
    """
    import os as system
    total = 0
    unused = other = 4
    if limit:
        base = 1
        more = 2
    else:
        base = unused

    def scale(number):
        return number * 2

    for item in items:
        log(item)
        key = item % limit
        try:
            while key:
                total += base * scale(key)  # the sum
                key -= system.step
        except ValueError:
            pass
        else:
            done()
        print(total)
    return total
'''


def find_lines(first: str, last: str) -> tuple[int, int]:
    lines = [line.strip() for line in FUNCTION.splitlines()]
    return lines.index(first) + 1, lines.index(last) + 1


def test_a_block_keeps_its_enclosing_statements_and_those_that_bind_its_names() -> None:
    block = "while key:\n    total += base * scale(key)  # the sum\n    key -= system.step"

    assert (
        wrap_block(FUNCTION, find_lines("while key:", "key -= system.step"), block)
        == '''\
@staticmethod
def work(items, *, limit=3) -> int:
    """Do it well."""
    import os as system
    total = 0
    unused = other = 4
    if limit:
        base = 1
        ...
    else:
        base = unused

    def scale(number):
        ...
    for item in items:
        ...
        key = item % limit
        try:
            while key:
                total += base * scale(key)  # the sum
                key -= system.step
        except ValueError:
            ...
        else:
            ...
        ...
    ...'''
    )


def test_only_the_remaining_lines_of_a_pruned_block_need_names() -> None:
    assert (
        wrap_block(FUNCTION, find_lines("while key:", "key -= system.step"), "while key:\n    pass")
        == '''\
@staticmethod
def work(items, *, limit=3) -> int:
    """Do it well."""
    ...
    for item in items:
        ...
        key = item % limit
        try:
            while key:
                pass
        except ValueError:
            ...
        else:
            ...
        ...
    ...'''
    )


def test_a_whole_body_needs_only_its_header() -> None:
    lines = find_lines("import os as system", "return total")

    assert (
        wrap_block(FUNCTION, lines, "first\nsecond", "Do what else.")
        == '''\
@staticmethod
def work(items, *, limit=3) -> int:
    """Do what else."""
    first
    second'''
    )


def test_a_long_assignment_shows_only_its_name() -> None:
    code = f"def f(x):\n    names = {list(range(100))}\n    if x:\n        print(names)"

    assert (
        wrap_block(code, (3, 4), "if x:\n    print(names)")
        == "def f(x):\n    names = ...\n    if x:\n        print(names)"
    )


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("def f(x):\n    print x\n    if x:\n        pass", (3, 4)),
        ("class A:\n    if x:\n        pass", (2, 3)),
        ("def f(x):\n    if x:\n        pass", (2, 2)),
        ('def f(x):\n    """Say."""', (2, 2)),
        ("x = 1", (1, 1)),
        ("", (1, 1)),
    ],
)
def test_a_missing_block_is_not_wrapped(code: str, lines: tuple[int, int]) -> None:
    assert wrap_block(code, lines, "pass") is None


def test_a_branch_keeps_its_chain() -> None:
    code = "def f(x):\n    if x:\n        a()\n    elif y:\n        b()"

    assert wrap_block(code, (4, 5), "elif y:\n    b()") is None


@pytest.mark.parametrize(
    ("code", "signature"),
    [
        (FUNCTION, '@staticmethod\ndef work(items, *, limit=3) -> int:\n    """Do it well."""\n    ...'),
        ("async def f(x): return 1", "async def f(x):\n    ..."),
        ("def f():\n    '''\n    Say \"so\".'''", 'def f():\n    """Say "so"."""\n    ...'),
        ("class A(B):\n    size = 1\n\n    def __init__(self, a=2):\n        self.a = a\n\n    def g(self): ...",
         "class A(B):\n\n    def __init__(self, a=2):\n        ..."),
        ('@dataclass\nclass A:\n    """Hold."""\n    size: int', 'class A:\n    """Hold."""\n    ...'),
        ("class A: pass", "class A:\n    ..."),
        ("print 1", None),
        ("x = 1", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_signature_is_a_header_with_one_docstring_line(code: str, signature: str | None) -> None:
    assert make_signature(code) == signature


def test_a_separate_docstring_is_used() -> None:
    assert make_signature("def f(): pass", "\nSay it.\n\nMore.") == 'def f():\n    """Say it."""\n    ...'


def test_every_block_of_this_project_is_wrapped_with_the_names_that_its_function_binds() -> None:
    """Names of the module and of functions around a nested one may stay free."""
    missed = tried = 0
    for path in sorted(Path(pkg.__file__).parent.joinpath("retrieval").rglob("*.py")):
        unit = extract_unit(path.read_bytes())
        functions = dict[int, tuple[str, set[str]]]()
        for block in unit.blocks:
            owner = unit.definitions[block.function].span
            if block.function not in functions:
                code = align_code(unit.text[owner.start : owner.end].decode())
                functions[block.function] = code, {name for name, _ in find_undefined(code, ast.parse(code))}
            function, whole = functions[block.function]
            lines = block.span.start_line - owner.start_line + 1, block.span.end_line - owner.start_line + 1
            code = align_code(unit.text[block.span.start : block.span.end].decode())
            shown = wrap_block(function, lines, code)
            tried += 1
            if shown is None:
                missed += 1
                continue
            free = {name for name, _ in find_undefined(shown, ast.parse(shown))}
            assert free <= whole, shown
    assert tried > 300
    assert missed == 0
