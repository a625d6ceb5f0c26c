"""Find code outside of functions: the names that module and class code binds, and the code of a module itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.docstring_places import find_docstring, is_docstring, make_span
from pkg.extract.parser import find_first_child
from pkg.model import Constant, ConstantKind, Module

MAX_DEPTH = 100  # of nested branches; CPython refuses deeper indentation

_BRANCHES = frozenset(
    {
        *("if_statement", "elif_clause", "else_clause", "with_statement"),
        *("try_statement", "except_clause", "except_group_clause", "finally_clause"),
    }
)
_DEFINITIONS = frozenset({"function_definition", "class_definition", "decorated_definition"})
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_SAYS_NOTHING = frozenset({*_DEFINITIONS, *_IMPORTS, "pass_statement", "ERROR"})
_LEFT_OUT = re.compile(r"_|__\w*__")  # placeholders, and Python's own names, such as __all__
_ENUM = re.compile(r"(?:.*\.)?\w*(?:Enum|Flag|Choices)")
Range = tuple[int, int]


class ClassScope(NamedTuple):
    """The class around constants."""

    qualname: str
    number: int  # among the definitions of the text
    is_enum: bool


def is_enum(bases: tuple[str, ...], known: set[str]) -> bool:
    """Return whether a class is an enumeration, given its bases and the enumerations found before in the text."""
    return any(base in known or _ENUM.fullmatch(base) for base in bases)


def list_constants(text: bytes, body: Node, scope: ClassScope | None) -> Iterator[Constant]:
    """List the names that the statements of a module or class bind, including branches, in their order."""
    for statement, following in _list_statements(body, 0):
        yield from _read_statement(text, statement, following, scope)


def _list_statements(body: Node, depth: int) -> Iterator[tuple[Node, Node | None]]:
    """Yield the plain statements of a block and its branches, each with the statement that follows."""
    children = [child for child in body.named_children if child.type != "comment"]
    for child, following in zip_longest(children, children[1:]):
        if child.type in ("expression_statement", "type_alias_statement"):
            yield child, following
        elif child.type in _BRANCHES and depth < MAX_DEPTH:
            for block in _list_blocks(child):
                yield from _list_statements(block, depth + 1)


def _list_blocks(branch: Node) -> Iterator[Node]:
    """Yield the blocks of a branching statement, including those of its clauses."""
    for child in branch.named_children:
        if child.type == "block":
            yield child
        elif child.type in _BRANCHES:
            yield from _list_blocks(child)


def _read_statement(
    text: bytes, statement: Node, following: Node | None, scope: ClassScope | None
) -> Iterator[Constant]:
    names, value, annotation = _split_statement(text, statement)
    if not names or statement.has_error:
        return
    span = make_span(statement, statement)
    said = following if following is not None and is_docstring(text, following) else None
    for name in dict.fromkeys(names):
        if not _LEFT_OUT.fullmatch(name):
            qualname = f"{scope.qualname}.{name}" if scope else name
            kind = _choose_kind(name, scope, has_plain_value=value is not None and annotation is None)
            parent = scope.number if scope else None
            yield Constant(name, qualname, span, parent, kind, _place(value), _place(annotation), _place(said))


def _split_statement(text: bytes, statement: Node) -> tuple[list[str], Node | None, Node | None]:
    """Return the names that a statement binds, its value and its annotation."""
    if statement.type == "type_alias_statement":
        alias, value = statement.child_by_field_id(f.LEFT), statement.child_by_field_id(f.RIGHT)
        return (_list_names(text, alias) if alias else []), value, None
    node: Node | None = find_first_child(statement)
    names: list[str] = []
    annotation: Node | None = None
    while node is not None and node.type == "assignment":  # a = b = value
        target = node.child_by_field_id(f.LEFT)
        names += _list_names(text, target) if target else []
        annotation = annotation or node.child_by_field_id(f.TYPE)
        node = node.child_by_field_id(f.RIGHT)
    return names, node if names else None, annotation


def _list_names(text: bytes, target: Node) -> list[str]:
    if target.type == "identifier":
        return [text[target.start_byte : target.end_byte].decode("utf-8", "replace")]
    if target.type == "type":  # type alias: X, or X[T]
        first = re.match(r"\w+", text[target.start_byte : target.end_byte].decode("utf-8", "replace"))
        return [first[0]] if first else []
    if target.type in ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"):
        return [name for child in target.named_children for name in _list_names(text, child)]
    return []  # an attribute or an item


def _choose_kind(name: str, scope: ClassScope | None, has_plain_value: bool) -> ConstantKind:
    if scope is None:
        return "constant"
    return "member" if scope.is_enum and has_plain_value and not name.startswith("_") else "field"


def _place(node: Node | None) -> Range | None:
    return (node.start_byte, node.end_byte) if node is not None else None


def find_module(text: bytes, root: Node) -> Module | None:
    """Find the code of a module outside of definitions and imports; None if there is none."""
    runs: list[tuple[Node, Node]] = []
    is_open = False
    for child in root.named_children:
        if child.type == "comment":
            continue
        if child.has_error or not _holds_code(child, 0):
            is_open = False
            continue
        runs[len(runs) - is_open :] = [(runs[-1][0] if is_open else child, child)]
        is_open = True
    if not runs:
        return None
    docstring = find_docstring(text, root)
    span = make_span(runs[0][0], runs[-1][1])
    statements = tuple((first.start_byte, last.end_byte) for first, last in runs)
    return Module(span, make_span(docstring, docstring) if docstring else None, statements)


def _holds_code(statement: Node, depth: int) -> bool:
    """Return whether a statement is more than a definition, an import, or branches around such."""
    if statement.type not in _BRANCHES or depth > MAX_DEPTH:
        return statement.type not in _SAYS_NOTHING and statement.type != "comment"
    blocks = _list_blocks(statement)
    return any(_holds_code(child, depth + 1) for block in blocks for child in block.named_children)
