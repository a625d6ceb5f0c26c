"""Parse import statements (A-11, Q-04)."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.units import read_name

ImportRecord = tuple[str, "str | None", "str | None", int]


def parse_import(statement: Node, text: bytes) -> Iterator[ImportRecord]:
    """Yield (module, name, alias, level) for each alias; name is None for a plain ``import module``."""
    if statement.type == "import_statement":
        for child in statement.named_children:
            if child.type != "comment":
                module, alias = _split_alias(child, text)
                yield module, None, alias, 0
        return
    if statement.type == "future_import_statement":
        module, level, imported = "__future__", 0, statement.named_children
    else:
        first, *imported = statement.named_children
        module, level = _split_level(_read(first, text))
    for child in imported:
        if child.type == "wildcard_import":
            yield module, "*", None, level
        elif child.type in ("dotted_name", "aliased_import"):
            name, alias = _split_alias(child, text)
            yield module, name, alias, level


def _split_alias(node: Node, text: bytes) -> tuple[str, str | None]:
    if node.type != "aliased_import":
        return _read(node, text), None
    name, alias = node.child_by_field_id(f.NAME), node.child_by_field_id(f.ALIAS)
    return (_read(name, text) if name else ""), (_read(alias, text) if alias else None)


def _split_level(module: str) -> tuple[str, int]:
    dots = len(module) - len(module.lstrip("."))
    return module[dots:], dots


def _read(node: Node, text: bytes) -> str:
    name = read_name(text[node.start_byte : node.end_byte])
    return "".join(name.replace("\\", " ").split())  # a name may continue after a line continuation
