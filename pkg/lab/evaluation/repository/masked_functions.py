"""Find the functions of a project whose body can be taken away, and put another body in its place."""

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
DRAWERS = {"overload", "abstractmethod"}  # decorators of what has no body of its own


@dataclass(frozen=True, slots=True)
class MaskedFunction:
    """A function whose body can be taken away: its place in a file, and what stays of it."""

    path: str
    qualname: str
    name: str
    line: int  # of its first decorator, else its header; as Python counts and as graphs have it
    end: int  # its last line
    body: int  # the last line of its docstring, behind which the body begins
    margin: str  # of the body
    header: str  # its classes, decorators, header and docstring, as they are written
    code: str  # the same with its body
    docstring: str

    @property
    def id(self) -> str:
        """Name it."""
        return f"{self.path}::{self.qualname}"


def list_functions(project: Project) -> list[MaskedFunction]:
    """List the functions with a docstring and a body worth writing, of all files but tests; of one name the first."""
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
    """Parse a file of any length; None where Python does not take it."""
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
    """Tell whether a function says what it does, in lines of its own, and then does more than give a value."""
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
    """Write the file of a function with another body, which stands at the margin."""
    text = project.read_text(function.path)
    assert text is not None  # it was read when the function was found
    lines = text.split("\n")
    lines[function.body : function.end] = indent(body.rstrip("\n"), function.margin).split("\n")
    return "\n".join(lines)
