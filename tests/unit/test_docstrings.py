"""Docstrings of public functions complete their signature: dtype and shape of arrays, and raised errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DTYPE = re.compile(r"\b(?:u?int(?:8|16|32|64)|float(?:16|32|64)|bool|any (?:d?type|float))\b")
SHAPE = re.compile(r"\[[a-z0-9][^\]`]*\]|\bas many as\b")  # [n, dimension]
ARRAY = "NDArray"

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Public(NamedTuple):
    """A public function or method, with its place."""

    module: Path
    name: str
    node: Function

    @property
    def docstring(self) -> str:
        return " ".join((ast.get_docstring(self.node) or "").split())

    def __str__(self) -> str:
        return f"{self.module.relative_to(ROOT)}: {self.name}"


def list_modules() -> list[Path]:
    found = (ROOT / "pkg").rglob("*.py")
    return sorted(path for path in found if path.name == "__init__.py" or not path.name.startswith("_"))


@cache
def read_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def list_public(path: Path) -> Iterator[Public]:
    """List the functions of a module and the methods of its classes whose names begin with a letter.

    The docstring of a command is the help that it prints, and its errors are exit codes: docs/commands.md has them.
    """
    for statement in read_tree(path).body:
        if isinstance(statement, Function) and not statement.name.startswith("_") and not is_command(statement):
            yield Public(path, statement.name, statement)
        elif isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
            for inner in statement.body:
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield Public(path, f"{statement.name}.{inner.name}", inner)


def is_command(function: Function) -> bool:
    made = (each.func for each in function.decorator_list if isinstance(each, ast.Call))
    return any(isinstance(each, ast.Attribute) and each.attr == "command" for each in made)


def list_covered() -> list[Public]:
    return [each for path in list_modules() for each in list_public(path)]


OPEN: set[Path] = set()
"""Modules whose array names are being found."""


@cache
def find_array_names(path: Path) -> frozenset[str]:
    """Return the names of array types in a module that leave the dtype or the shape open.

    These are numpy's own, aliases of the module, and imported ones of pkg. An alias whose docstring has both is
    not among them: the signature then has the information of a docstring.
    """
    names = {ARRAY}
    OPEN.add(path)
    for statement in ast.walk(read_tree(path)):
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("pkg."):
            source = ROOT / f"{str(statement.module).replace('.', '/')}.py"
            is_read = source.exists() and source not in OPEN  # modules that name one another's types
            exported = find_array_names(source) if is_read else frozenset()
            names |= {alias.asname or alias.name for alias in statement.names if alias.name in exported}
    OPEN.discard(path)
    body = read_tree(path).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value and names & mention(statement.value):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not describes_arrays(read_string(following)):
                names |= {each.id for each in targets if isinstance(each, ast.Name) and each.id[0].isupper()}
    return frozenset(names)


def read_string(statement: ast.stmt | None) -> str:
    """Return the text of a statement that is a string: after an alias, it is the docstring of the alias."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def describes_arrays(docstring: str) -> bool:
    return DTYPE.search(docstring) is not None and SHAPE.search(docstring) is not None


def mention(node: ast.AST) -> set[str]:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def takes_arrays(function: Public) -> bool:
    given = function.node.args
    annotations = [each.annotation for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    mentioned = {name for each in (*annotations, function.node.returns) if each for name in mention(each)}
    return bool(mentioned & find_array_names(function.module))


def list_raised(function: Public) -> set[str]:
    """Return the errors that the body of a function raises, without those of nested functions.

    Re-raised exceptions do not count; the error of `raise explain(...)` is unknown.
    """
    raised = set()
    waiting: list[ast.AST] = [*function.node.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            made = node.exc.func
            name = made.attr if isinstance(made, ast.Attribute) else made.id if isinstance(made, ast.Name) else ""
            raised.add(name if name[:1].isupper() else "")
        waiting += ast.iter_child_nodes(node)
    return raised


def lacks_shape(function: Public) -> bool:
    return takes_arrays(function) and not describes_arrays(function.docstring)


def lacks_error(function: Public) -> bool:
    told = function.docstring
    return any(not (re.search(rf"\b{name}\b", told) if name else "Error" in told) for name in list_raised(function))


def test_a_public_function_with_arrays_documents_their_dtype_and_shape() -> None:
    assert [str(each) for each in list_covered() if lacks_shape(each)] == []


def test_a_public_function_documents_its_errors() -> None:
    assert [str(each) for each in list_covered() if lacks_error(each)] == []


@pytest.mark.parametrize(
    ("source", "shape", "error"),
    [
        ("def f(x: npt.NDArray[np.int8]):\n    '''Add up int8 [n].'''", False, False),
        ("def f(x: npt.NDArray[np.int8]):\n    '''Add up int8.'''", True, False),
        ("def f(x: npt.NDArray[np.int8]):\n    '''Add up [n].'''", True, False),
        ("Rows = npt.NDArray[np.int8]\ndef f() -> list[Rows]:\n    '''Add up.'''", True, False),
        ("Rows = npt.NDArray[np.int8]\n'''As int8 [n].'''\ndef f() -> Rows:\n    '''Add up.'''", False, False),
        ("from pkg.encode.encoder import Vectors as V\ndef f(x: V):\n    '''Add up.'''", True, False),
        ("from pkg.retrieval.candidate_pool import Scores\ndef f(x: Scores):\n    '''Add up.'''", False, False),
        ("def f(x: list[int]):\n    '''Add up.'''", False, False),
        ("def f():\n    '''Add; a UsageError.'''\n    raise UsageError('no')", False, False),
        ("def f():\n    '''Add.'''\n    if 1:\n        raise errors.UsageError('no')", False, True),
        ("def f():\n    '''Add.'''\n    def g():\n        raise UsageError('no')", False, False),
        ("def f():\n    '''Add.'''\n    raise explain(fault) from fault", False, True),
        ("class A:\n    def f(self):\n        '''Add.'''\n        raise UsageError('no')", False, True),
    ],
)
def test_an_incomplete_docstring_is_found(source: str, shape: bool, error: bool, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    (function,) = list_public(path)
    assert (lacks_shape(function), lacks_error(function)) == (shape, error)


def test_enough_functions_are_checked() -> None:
    covered = list_covered()
    assert sum(map(takes_arrays, covered)) > 40
    assert sum(bool(list_raised(each)) for each in covered) > 20
