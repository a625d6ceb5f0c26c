"""Write the set-up of a test: the values of its fixtures, and the instance of its class."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product

from pkg.rerank.examples.literals import (
    NotLiteral,
    evaluate,
    find_name,
    parse_expression,
    parse_statements,
    write_value,
)
from pkg.rerank.examples.substitution import Environment, substitute
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
MAX_SETS = 64  # of one test; each yields at least one example
_LEFT_OUT = ("skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure")


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


def list_arguments(function: Function) -> list[ast.arg]:
    """List the parameters of a function except *args and **kwargs."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def list_defaults(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a function that have a default, with the default."""
    plain, defaults = [*function.args.posonlyargs, *function.args.args], function.args.defaults
    yield from ((each.arg, value) for each, value in zip(plain[len(plain) - len(defaults) :], defaults, strict=True))
    for each, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            yield each.arg, value


def list_parameter_sets(
    function: Function, decorators: Sequence[ast.expr], values: Environment, candidate_names: Collection[str]
) -> list[Environment]:
    """List the arguments of a test function, one entry per call; [] for a skipped test."""
    columns: list[list[Environment]] = []
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = find_name(call.func if call else decorator)
        if name in _LEFT_OUT:
            return []
        if call is not None and name == "parametrize" and len(call.args) >= 2:
            names = _read_names(call.args[0])
            columns.append(_list_sets(names, substitute(call.args[1], values), candidate_names))
        elif call is not None and name == "expand" and call.args:
            columns.append(_list_expanded(function, substitute(call.args[0], values)))
    sets = islice(product(*reversed(columns)), MAX_SETS)
    return [{name: value for each in row for name, value in each.items()} for row in sets]


def _read_names(node: ast.expr) -> list[str]:
    try:
        value = evaluate(node)
    except NotLiteral:
        return []
    parts = value.split(",") if isinstance(value, str) else value
    return [str(each).strip() for each in parts] if isinstance(parts, list | tuple) else []


def _list_sets(names: list[str], given: ast.expr, candidate_names: Collection[str]) -> list[Environment]:
    rows = _list_rows(given, candidate_names)
    found = []
    for row in rows:
        if isinstance(row, ast.Call) and find_name(row.func) == "param":
            if any(each.arg == "marks" for each in row.keywords):
                continue
            parts = row.args
        else:
            parts = [row] if len(names) == 1 else getattr(row, "elts", [])
        if len(parts) == len(names):
            found.append(dict(zip(names, parts, strict=True)))
    return found


def _list_rows(given: ast.expr, candidate_names: Collection[str]) -> list[ast.expr]:
    """List the rows of a literal list, a range, or a call such as zip."""
    if isinstance(given, ast.List | ast.Tuple | ast.Set):
        return given.elts
    if isinstance(given, ast.Call) and find_name(given.func) in ("zip", "list", "tuple") and given.args:
        columns = [_list_rows(each, candidate_names) for each in given.args]
        if find_name(given.func) == "zip":
            return [ast.Tuple(list(row), ast.Load()) for row in zip(*columns, strict=False)]
        return columns[0]
    if isinstance(given, ast.Call) and find_name(given.func) == "items" and isinstance(given.func, ast.Attribute):
        held = given.func.value
        pairs = zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ()
        return [ast.Tuple([key, value], ast.Load()) for key, value in pairs if key is not None]
    try:
        value = evaluate(given, candidate_names)
    except NotLiteral:
        return []
    rows = [parse_expression(write_value(each)) for each in value] if isinstance(value, list | tuple | dict) else []
    return [each for each in rows if each is not None]


def _list_expanded(function: Function, given: ast.expr) -> list[Environment]:
    names = [each.arg for each in function.args.args if each.arg != "self"]
    rows = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    sets = []
    for row in rows:
        parts = row.elts if isinstance(row, ast.Tuple | ast.List) else [row]
        if len(parts) == len(names):
            sets.append(dict(zip(names, parts, strict=True)))
    return sets
