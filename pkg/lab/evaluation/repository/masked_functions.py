"""Find the functions of a project whose body can be masked, and replace their bodies."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent

from pkg.extract.syntax import is_string_statement, parse_piece
from pkg.graph.path_filter import is_test
from pkg.lab.evaluation.repository.project_files import Project

Definition = ast.FunctionDef | ast.AsyncFunctionDef
MASK = "raise NotImplementedError"
DRAWERS = {"overload", "abstractmethod"}  # decorators of functions without a body of their own


@dataclass(frozen=True, slots=True)
class MaskedFunction:
    """A function whose body can be masked: its place in a file, and the remaining text."""

    path: str
    qualname: str
    name: str
    line: int  # of its first decorator, else its header; from 1, as in graphs
    end: int  # last line
    body: int  # last line of its docstring, after which the body begins
    margin: str  # indentation of the body
    header: str  # source of its classes, decorators, header and docstring
    code: str  # the same with the body
    docstring: str

    @property
    def id(self) -> str:
        """Return the path and the qualified name."""
        return f"{self.path}::{self.qualname}"


def list_functions(project: Project) -> list[MaskedFunction]:
    """Return the functions with a docstring and a non-trivial body, except those of tests; the first of a name."""
    found: dict[str, MaskedFunction] = {}
    for path in sorted(project.files):
        if path.endswith(".py") and not is_test(path):
            text = project.read_text(path)
            tree = parse_file(text) if text is not None else None
            if text is not None and tree is not None:
                for function in _list_in(tree.body, path, text.split("\n"), ()):
                    found.setdefault(function.id, function)
    return list(found.values())


def parse_file(text: str) -> ast.Module | None:
    """Parse a file of any length; None if it is not valid Python."""
    return parse_piece(text.encode("utf-8", "replace"))


def _list_in(
    body: Sequence[ast.stmt], path: str, lines: list[str], classes: tuple[ast.ClassDef, ...]
) -> Iterator[MaskedFunction]:
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from _list_in(each.body, path, lines, (*classes, each))
        elif isinstance(each, Definition) and _is_worth_writing(each):
            yield _make_function(each, path, lines, classes)


def _is_worth_writing(function: Definition) -> bool:
    """Return whether a function has a docstring on lines of its own, and more than a trivial statement after it."""
    docstring, *body = function.body
    if not is_string_statement(docstring) or not body or not ast.get_docstring(function):
        return False
    starts_apart = docstring.lineno > function.lineno and body[0].lineno > (docstring.end_lineno or 0)
    drawn = any(name in DRAWERS for each in function.decorator_list for name in _list_names(each))
    return starts_apart and not drawn and not (len(body) == 1 and _is_trivial(body[0]))


def _list_names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def _is_trivial(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return statement.value is None or isinstance(statement.value, ast.Constant | ast.Name | ast.Attribute)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Raise)


def _make_function(
    function: Definition, path: str, lines: list[str], classes: tuple[ast.ClassDef, ...]
) -> MaskedFunction:
    docstring = function.body[0]
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    body, end = docstring.end_lineno or 0, function.end_lineno or 0
    heads = [_write_class(each) for each in classes]
    return MaskedFunction(
        path=path,
        qualname=".".join([*(each.name for each in classes), function.name]),
        name=function.name,
        line=first,
        end=end,
        body=body,
        margin=lines[docstring.lineno - 1][: docstring.col_offset],
        header="\n".join([*heads, *lines[first - 1 : body]]) + "\n",
        code="\n".join([*heads, *lines[first - 1 : end]]) + "\n",
        docstring=ast.get_docstring(function) or "",
    )


def _write_class(node: ast.ClassDef) -> str:
    given = [ast.unparse(each) for each in node.bases]
    given += [f"{each.arg}={ast.unparse(each.value)}" if each.arg else ast.unparse(each) for each in node.keywords]
    bases = f"({', '.join(given)})" if given else ""
    return f"{' ' * node.col_offset}class {node.name}{bases}:"


def put_body(project: Project, function: MaskedFunction, body: str) -> str:
    """Return the file of a function with another, unindented body."""
    text = project.read_text(function.path)
    assert text is not None  # it was read when the function was found
    lines = text.split("\n")
    lines[function.body : function.end] = indent(body.rstrip("\n"), function.margin).split("\n")
    return "\n".join(lines)
