"""Find the functions of a project whose body can be masked, replace their bodies, and read the body in an answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent

from pkg.extract.syntax import find_syntax_error, is_string_statement, parse_code, parse_piece
from pkg.graph.path_filter import is_test
from pkg.lab.evaluation.repository.project_tests import Project
from pkg.rerank.extraction import list_versions
from pkg.rerank.parsed_question import Question

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


@dataclass(frozen=True, slots=True)
class AnswerBody:
    """The unindented statements of a body, or the reason why there is none."""

    text: str
    error: str = ""  # class of the failure (P-33)
    detail: str = ""


def find_answer(text: str, function: MaskedFunction) -> tuple[str, bool]:
    """Return the code of an answer that defines a function or continues after its header, and whether it was cut off.

    If no code defines it, the most code-like part is returned.
    """
    first = function.qualname.partition(".")[0]
    names = dict.fromkeys((first, function.name))
    found = [
        version
        for name in names
        for version in list_versions(text, Question(text=function.header, entry=name, stub=function.header))
    ]
    chosen = next((each for each in found if _find_definition(each.code, function) is not None), found[0])
    return chosen.code, chosen.is_cut


def read_body(code: str, function: MaskedFunction) -> AnswerBody:
    """Extract the body of a function from the code of an answer.

    Imports, other definitions and constants next to the function are put before it.
    """
    tree = parse_code(code)
    if tree is None:
        message, line = find_syntax_error(code) or ("no Python", 1)
        kind = "IndentationError" if message.startswith(("IndentationError", "TabError")) else "SyntaxError"
        return AnswerBody("", kind, f"{message} (line {line})")
    definition = _find_definition(code, function)
    if definition is None:
        return AnswerBody("", "NameError", f"the answer does not define {function.name}")
    body = definition.body[1:] if is_string_statement(definition.body[0]) else definition.body
    statements = [*_list_beside(tree, function), *(body or [ast.Pass()])]
    return AnswerBody("\n".join(map(ast.unparse, statements)))


def _find_definition(code: str, function: MaskedFunction) -> Definition | None:
    """Find the function in an answer: in its class, else at module level, else in any class; the last of several."""
    tree = parse_code(code)
    if tree is None:
        return None
    found = [
        (path == function.qualname, "." not in path, place, each)
        for place, (path, each) in enumerate(_list_definitions(tree.body, ""))
        if each.name == function.name
    ]
    return max(found, key=lambda each: each[:3])[3] if found else None


def _list_definitions(body: list[ast.stmt], outer: str) -> Iterator[tuple[str, Definition]]:
    for each in body:
        if isinstance(each, Definition):
            yield outer + each.name, each
        elif isinstance(each, ast.ClassDef):
            yield from _list_definitions(each.body, f"{outer}{each.name}.")


def _list_beside(tree: ast.Module, function: MaskedFunction) -> Iterator[ast.stmt]:
    """Yield the statements next to the function, without its classes, itself, and code that only runs it."""
    own = {*function.qualname.split(".")}
    for each in tree.body:
        if isinstance(each, ast.ImportFrom):
            if each.module != "__future__" and not any(alias.name == "*" for alias in each.names):
                yield each
        elif isinstance(each, Definition | ast.ClassDef):
            if each.name not in own:
                yield each
        elif isinstance(each, ast.Import | ast.Assign | ast.AnnAssign):
            yield each
