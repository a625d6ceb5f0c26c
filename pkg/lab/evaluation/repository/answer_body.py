"""Extract the body of a function from an answer, with the imports and definitions next to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pkg.extract.syntax import find_syntax_error, is_string_statement, parse_code
from pkg.lab.evaluation.repository.masked_functions import Definition, MaskedFunction
from pkg.rerank.extraction import list_versions
from pkg.rerank.parsed_question import Question


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
