"""Parse tests that expect an exception."""

from __future__ import annotations

import ast

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.literals import NotLiteral, evaluate, find_name, write_code

_RAISING = ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp")


def parse_raises(statement: ast.stmt, notation: str) -> Example | None:
    """Parse `self.assertRaises(ValueError, f, -1)` and `pytest.raises(ValueError, f, -1)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or find_name(call.func) not in _RAISING:
        return None
    has_pattern = "Regex" in find_name(call.func)
    given = call.args[2:] if has_pattern else call.args[1:]
    expected = _name_errors(call.args[0]) if call.args else None
    if not given or expected is None:
        return None
    expression = ast.Call(given[0], given[1:], [each for each in call.keywords if each.arg != "match"])
    source = write_code(given[0].body if isinstance(given[0], ast.Lambda) else expression)
    match = _read_pattern(call.args[1]) if has_pattern else ""
    return (source and Example(source, Check.RAISES, expected, notation, statement.lineno, match=match)) or None


def find_with(statement: ast.With | ast.AsyncWith, notation: str) -> Example | None:
    """Parse `with pytest.raises(ValueError, match=...) as e:` and `with self.assertRaises(ValueError):`."""
    (item, *others) = statement.items
    call = item.context_expr
    if others or not isinstance(call, ast.Call) or find_name(call.func) not in _RAISING or not call.args:
        return None
    expected = _name_errors(call.args[0])
    body = "\n".join(filter(None, map(write_code, statement.body)))
    if expected is None or not body:
        return None
    match = next((_read_pattern(each.value) for each in call.keywords if each.arg in ("match", "expected_regex")), "")
    if "Regex" in find_name(call.func) and len(call.args) > 1:
        match = _read_pattern(call.args[1])
    if isinstance(item.optional_vars, ast.Name):
        body = _keep_fault(body, item.optional_vars.id)
    return Example(body, Check.RAISES, expected, notation, statement.lineno, match=match)


def _keep_fault(body: str, name: str) -> str:
    """Return statements that also bind the exception that they raise to a name, as both libraries do."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    made = "__import__('types').SimpleNamespace(value=_fault, exception=_fault, type=type(_fault))"
    return f"try:\n{lines}\nexcept Exception as _fault:\n    {name} = {made}\n    raise"


def find_try(statement: ast.Try, notation: str) -> Example | None:
    """Parse `try: f(-1); assert False` with `except ValueError: pass`, and the same with `else`."""
    body = statement.body
    is_ended = bool(body) and _fails(body[-1])
    if not (is_ended or any(map(_fails, statement.orelse))) or len(statement.handlers) != 1:
        return None
    (handler,) = statement.handlers
    expected = _name_errors(handler.type) if handler.type is not None else "Exception"
    inner = "\n".join(filter(None, map(write_code, body[:-1] if is_ended else body)))
    if expected is None or not inner or any(map(_fails, handler.body)):
        return None
    return Example(inner, Check.RAISES, expected, notation, statement.lineno)


def _fails(statement: ast.stmt) -> bool:
    """Return whether a statement always fails a test."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return getattr(raised, "id", "") == "AssertionError"
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and find_name(call.func) == "fail"


def _name_errors(node: ast.expr) -> str | None:
    """Return the names of the expected exceptions, joined by " or "; None if they are not names."""
    if isinstance(node, ast.Tuple):
        names = [find_name(each) for each in node.elts]
        return " or ".join(names) if names and all(names) else None
    return find_name(node) or None


def _read_pattern(node: ast.expr) -> str:
    try:
        value = evaluate(node)
    except NotLiteral:
        return ""
    return value if isinstance(value, str) else ""
