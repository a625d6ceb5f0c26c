"""Parse the parameter sets of a test: `pytest.mark.parametrize` and `parameterized.expand`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, product

from pkg.rerank.examples.literals import NotLiteral, evaluate, find_name, parse_expression, write_value
from pkg.rerank.examples.substitution import Environment, substitute
from pkg.rerank.parsed_question import Function

MAX_SETS = 64  # of one test; each yields at least one example
_LEFT_OUT = ("skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure")


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
