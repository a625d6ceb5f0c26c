"""Write the set-up of a test: the values of its fixtures, and the instance of its class."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from pkg.rerank.examples.literals import find_name, parse_statements
from pkg.rerank.parsed_question import Function, is_test

MAX_NESTING = 8  # of fixtures that use other fixtures
_SET_UPS = ("setUpClass", "setup_class", "setUp", "asyncSetUp", "setup_method", "setup")

_CAPSYS = """
class _Capsys:
    def __init__(self):
        self.start()
    def start(self):
        import io, sys
        self.out, self.err = sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    def readouterr(self):
        from collections import namedtuple
        made = namedtuple('Captured', 'out err')(self.out.getvalue(), self.err.getvalue())
        self.start()
        return made
capsys = _Capsys()
"""
"""Replacement for the pytest fixture that captures output."""


def write_fixture(name: str, fixtures: Mapping[str, Function], depth: int = 0) -> list[ast.stmt] | None:
    """Return statements that bind the value of a fixture; None for an unknown fixture."""
    if name == "capsys":
        return parse_statements(_CAPSYS)
    fixture = fixtures.get(name)
    if fixture is None or depth > MAX_NESTING:
        return None
    lines: list[ast.stmt] = []
    arguments = [each.arg for each in fixture.args.args if each.arg != "self"]
    for each in arguments:
        inner = write_fixture(each, fixtures, depth + 1)
        if inner is None:
            return None
        lines += inner
    is_async = isinstance(fixture, ast.AsyncFunctionDef)
    own = ["None"] * (len(fixture.args.args) - len(arguments))
    call = f"_make_{name}({', '.join((*own, *arguments))})"
    if any(isinstance(node, ast.Yield) for node in ast.walk(fixture)):
        call = f"await {call}.__anext__()" if is_async else f"next({call})"
    elif is_async:
        call = f"await {call}"
    return [*lines, _copy_function(fixture, f"_make_{name}"), *(parse_statements(f"{name} = {call}") or [])]


def _copy_function(function: Function, name: str) -> Function:
    """Copy a function without its decorators."""
    made = type(function)(name, function.args, function.body, [], function.returns)
    return ast.fix_missing_locations(made)


def list_members(definition: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[ast.stmt]:
    """List the members of a class and of its base classes in the same code, its own members last."""
    inherited = [classes[name] for each in definition.bases if (name := find_name(each)) in classes]
    above = [member for each in inherited if each is not definition for member in list_members(each, classes)]
    own = {each.name for each in definition.body if isinstance(each, Function)}
    return [*(each for each in above if getattr(each, "name", None) not in own), *definition.body]


def write_set_up(definition: ast.ClassDef, members: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements that bind `self` of a test: the class without its tests, an instance, and its set-up.

    members: of the class and its base classes.
    """
    kept = [each for each in members if not _is_left_out(each)]
    if not kept:
        return parse_statements("self = type('Test', (), {})()") or []
    fixtures = [each for each in kept if isinstance(each, Function) and is_fixture(each)]
    body = [
        _copy_function(each, each.name) if isinstance(each, Function) and each in fixtures else each for each in kept
    ]
    base = ast.parse("__import__('unittest').TestCase", mode="eval").body
    made = ast.ClassDef(definition.name, [base] if _needs_case(definition, kept) else [], [], body, [])
    lines: list[ast.stmt] = [made, *(parse_statements(f"self = {definition.name}()") or [])]
    automatic = [each.name for each in fixtures if _is_automatic(each)]
    functions = {each.name: each for each in kept if isinstance(each, Function)}
    for name in dict.fromkeys((*_SET_UPS, *automatic)):
        if name in functions:
            function = functions[name]
            given = ", ".join("None" for _ in function.args.args[1:])
            wait = "await " if isinstance(function, ast.AsyncFunctionDef) else ""
            lines += parse_statements(f"{wait}self.{name}({given})") or []
    return lines


def _is_left_out(member: ast.stmt) -> bool:
    if isinstance(member, ast.ClassDef):
        return is_test(member)
    is_text = isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant)
    return is_text or isinstance(member, ast.Pass) or (isinstance(member, Function) and member.name.startswith("test"))


def _needs_case(definition: ast.ClassDef, members: Sequence[ast.stmt]) -> bool:
    """Return whether a test class may use methods of unittest."""
    nodes = [node for each in members for node in ast.walk(each)]
    asserts = any(isinstance(node, ast.Attribute) and node.attr.startswith("assert") for node in nodes)
    return asserts or any(find_name(each).endswith("TestCase") for each in definition.bases)


def is_fixture(function: Function) -> bool:
    """Return whether a function is a pytest fixture."""
    return any(find_name(each) == "fixture" for each in function.decorator_list)


def find_fixture_name(function: Function) -> str:
    """Return the name of a fixture."""
    words = [word for each in function.decorator_list if isinstance(each, ast.Call) for word in each.keywords]
    named = [word.value.value for word in words if word.arg == "name" and isinstance(word.value, ast.Constant)]
    return str(named[0]) if named else function.name


def _is_automatic(function: Function) -> bool:
    words = [word for each in function.decorator_list if isinstance(each, ast.Call) for word in each.keywords]
    return any(word.arg == "autouse" for word in words)
