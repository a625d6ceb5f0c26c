"""Facts about a function from its source: parameters, returned values, raised exceptions, first comment."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO

from pkg.extract.syntax import is_string_statement, parse_statements

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_INDENTED_HEADER = re.compile(r"^([ \t]+)(?:@|async\b|def\b)", re.MULTILINE)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_WORDS = re.compile(r"[^\W\d_]{2,}\W+[^\W\d_]{2,}")  # of prose, unlike most commented-out code
_FOR_TOOLS = re.compile(
    r"(?:type|noqa|pylint|pragma|mypy|pyright|fmt|isort|flake8|nosec|ruff|yapf|todo|fixme|xxx)\b", re.I
)


@dataclass(frozen=True, slots=True)
class FunctionText:
    """A function as stored in the graph: its first line without indentation, the others with theirs."""

    content: str
    qualname: str
    path: str = ""
    is_method: bool = False
    class_name: str | None = None

    @property
    def name(self) -> str:
        """Return the last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, with its star separate from its name."""

    name: str
    star: str  # "", "*" or "**"
    annotation: str | None
    default: str | None


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """Facts about a function, from its syntax tree."""

    parameters: tuple[Parameter, ...]  # without self and cls of a method
    owner: str | None  # the name of self or cls
    returned: tuple[str, ...]  # expressions, except None
    yields: bool
    annotation: str | None  # of the return value
    raises: dict[str, str | None]  # names of exceptions: the message, if it is a plain string
    is_stub: bool  # the body is `...`, pass, or a raised NotImplementedError
    is_async: bool
    comment: str | None  # the first one in the body

    @property
    def may_return(self) -> bool:
        """Return whether it may return a value; a stub does so by its annotation."""
        return bool(self.returned) or (self.is_stub and self.annotation not in ("None", "NoReturn"))


def parse_function(content: str, indent: str = "") -> Definition | None:
    """Parse the source of one function; None if it is no valid function in this version of Python.

    The tree is cached and must not be changed.
    """
    for before in dict.fromkeys((indent, "", *_INDENTED_HEADER.findall(content))):
        body = parse_statements(content.encode("utf-8", "replace"), before.encode())
        if len(body) == 1 and isinstance(body[0], Definition):
            return body[0]
    return None


def find_facts(function: Definition, content: str, is_method: bool) -> FunctionFacts:
    """Collect the facts of a function."""
    parameters = list(_list_parameters(function.args))
    has_owner = is_method and bool(parameters) and not parameters[0].star and not _is_static(function)
    own = list(_walk_own(function.body))
    returned = [each.value for each in own if isinstance(each, ast.Return) and each.value is not None]
    return FunctionFacts(
        parameters=tuple(parameters[1:] if has_owner else parameters),
        owner=parameters[0].name if has_owner else None,
        returned=tuple(ast.unparse(each) for each in returned if not _is_none(each)),
        yields=any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own),
        annotation=_show(function.returns),
        raises=dict(_list_raised(function.body)),
        is_stub=all(_does_nothing(each) for each in function.body),
        is_async=isinstance(function, ast.AsyncFunctionDef),
        comment=_find_comment(content),
    )


def _list_parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    for each, default in zip(plain, [*defaults, *arguments.defaults], strict=True):
        yield Parameter(each.arg, "", _show(each.annotation), _show(default))
    if arguments.vararg:
        yield Parameter(arguments.vararg.arg, "*", _show(arguments.vararg.annotation), None)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(each.arg, "", _show(each.annotation), _show(default))
    if arguments.kwarg:
        yield Parameter(arguments.kwarg.arg, "**", _show(arguments.kwarg.annotation), None)


def _show(expression: ast.expr | None) -> str | None:
    return None if expression is None else ast.unparse(expression)


def _is_static(function: Definition) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)


def _is_none(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and expression.value is None


def _walk_own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of a body in source order, except the insides of nested functions and classes."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _INNER):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _list_raised(
    body: list[ast.stmt], caught: tuple[str, ...] = (), bound: str | None = None
) -> Iterator[tuple[str, str | None]]:
    """Yield the exceptions that a body raises; a bare `raise` in a handler raises the caught ones."""
    for node in _walk_handled(body):
        if isinstance(node, ast.ExceptHandler):
            yield from _list_raised(node.body, tuple(_list_names(node.type)), node.name)
        elif isinstance(node, ast.Assert):
            yield "AssertionError", None
        elif isinstance(node, ast.Raise):
            call = node.exc if isinstance(node.exc, ast.Call) else None
            name = _read_name(call.func if call else node.exc) if node.exc else bound
            if node.exc is None or (name and name == bound):
                yield from ((each, None) for each in caught)
            elif name and (call or not name.islower()):  # the class of a variable's exception is unknown
                yield name, _read_message(call)


def _walk_handled(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of a body, except the insides of exception handlers."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_INNER, ast.ExceptHandler)):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _list_names(expression: ast.expr | None) -> Iterator[str]:
    parts = expression.elts if isinstance(expression, ast.Tuple) else [expression] if expression else []
    for part in parts:
        if name := _read_name(part):
            yield name


def _read_name(expression: ast.expr) -> str | None:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else None


def _read_message(call: ast.Call | None) -> str | None:
    first = call.args[0] if call and call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return "NotImplementedError" in ast.unparse(statement.exc)
    is_dots = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or is_string_statement(statement) or is_dots


def _find_comment(content: str) -> str | None:
    """Return the first comment of a body that has its own line and is prose."""
    with suppress(tokenize.TokenError, SyntaxError):  # one of them ends the text of an indented function
        for token in tokenize.generate_tokens(StringIO(content).readline):
            is_own = token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
            text = token.string.strip("#! \t\f\r\n-=*")
            if is_own and token.start[0] > 1 and _WORDS.search(text) and not _FOR_TOOLS.match(text):
                return text
    return None
