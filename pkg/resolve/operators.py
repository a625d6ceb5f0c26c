"""Operators: the methods of special names by which objects answer them (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from pkg.resolve.model import Site


class Operation(NamedTuple):
    """The methods that Python tries: of the left side the first that it has, else that of the right side."""

    left: tuple[str, ...]
    right: str


_NAMES = {
    b"+": "add", b"-": "sub", b"*": "mul", b"@": "matmul", b"/": "truediv", b"//": "floordiv", b"%": "mod",
    b"**": "pow", b"<<": "lshift", b">>": "rshift", b"&": "and", b"|": "or", b"^": "xor",
}  # fmt: skip
_MIRRORED = {b"==": ("eq", "eq"), b"<": ("lt", "gt"), b">": ("gt", "lt"), b"<=": ("le", "ge"), b">=": ("ge", "le")}

OPERATIONS: dict[bytes, Operation] = {
    **{sign: Operation((f"__{name}__",), f"__r{name}__") for sign, name in _NAMES.items()},
    **{sign + b"=": Operation((f"__i{name}__", f"__{name}__"), f"__r{name}__") for sign, name in _NAMES.items()},
    **{sign: Operation((f"__{left}__",), f"__{right}__") for sign, (left, right) in _MIRRORED.items()},
    b"!=": Operation(("__ne__", "__eq__"), "__ne__"),
}

METHODS: dict[type[ast.operator], str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.MatMult: "__matmul__", ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.Pow: "__pow__", ast.LShift: "__lshift__",
    ast.RShift: "__rshift__", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__",
}  # fmt: skip
SPECIAL = {name for operation in OPERATIONS.values() for name in (*operation.left, operation.right)}


def read_sign(site: Site) -> bytes:
    """Give the operator at a site: what stands between its sides."""
    return site.scope.module.text[site.end : site.more[0]].strip(b" \t\r\n\\")


def find_operators(defined: Mapping[str, int]) -> frozenset[bytes]:
    """Find the operators that special methods answer, by how often these are defined: sites of others do not count."""
    return frozenset(
        sign for sign, each in OPERATIONS.items() if any(defined.get(name) for name in (*each.left, each.right))
    )
