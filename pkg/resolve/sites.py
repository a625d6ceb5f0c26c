"""The sites of a repository: every place whose code calls something, or may; and its operators (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from pkg.resolve.requests import list_requests
from pkg.resolve.scope_model import ModuleScopes, Site
from pkg.resolve.solver import Key
from pkg.units import Code


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


def find_sign(site: Site) -> bytes:
    """Give the operator at a site: what stands between its sides."""
    return site.scope.module.text[site.end : site.more[0]].strip(b" \t\r\n\\")


def find_operators(defined: Mapping[str, int]) -> frozenset[bytes]:
    """Find the operators that special methods answer, by how often these are defined: sites of others do not count."""
    return frozenset(
        sign for sign, each in OPERATIONS.items() if any(defined.get(name) for name in (*each.left, each.right))
    )


def list_sites(module: ModuleScopes, properties: frozenset[str], operators: frozenset[bytes]) -> Iterator[Site]:
    """Give the sites of a file by scope; those of decorators stand in the scope around, of fixtures in who asks.

    Attributes that no class of the repository defines as a property are not looked at, nor are operators that none
    answers.
    """
    read, text = _encode(properties), module.text
    for scope in module.scopes:
        for site in scope.sites:
            if site.code == Code.READ:
                if text[text.rfind(b".", 0, site.end) + 1 : site.end].strip() in read:
                    yield site
            elif site.code != Code.OPERATE or find_sign(site) in operators:
                yield site
    yield from _list_writes(module, properties)
    for scope in module.scopes:
        if scope.decorators and scope.parent is not None:
            yield Site(scope.parent, Code.DEFINITION, *scope.head, definition=scope)
        if list_requests(scope):
            yield Site(scope, Code.REQUEST, *scope.head)


def list_keys(module: ModuleScopes, sites: Iterable[Site]) -> Iterator[Key]:
    """Give the sets by which a file is resolved: of sites that deliver, of what it puts into items, of its imports."""
    for site in sites:
        if site.delivers:
            yield "site", site
    for store in module.item_stores:
        yield "store", store
    for place in range(len(module.imports)):
        yield "imported", module.root, place


@lru_cache(maxsize=1)
def _encode(names: frozenset[str]) -> frozenset[bytes]:
    return frozenset(name.encode("utf-8", "replace") for name in names)


def _list_writes(module: ModuleScopes, properties: frozenset[str]) -> Iterator[Site]:
    """Give the assignments to attributes that are properties somewhere."""
    for name, stores in module.stores.items():
        for store in stores if name in properties else ():
            yield Site(store.scope, Code.ASSIGN, store.start, store.end, name=name)
