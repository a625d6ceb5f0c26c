"""The special methods behind operators, and behind all else that Python asks objects by itself (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from pkg.resolve.facts.scope_model import Site
from pkg.units import Code, Question

Asked = bytes | Question
"""An operator by its sign, or a question."""


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
_SIGNS: dict[type[ast.AST], bytes] = {
    ast.Add: b"+", ast.Sub: b"-", ast.Mult: b"*", ast.MatMult: b"@", ast.Div: b"/", ast.FloorDiv: b"//", ast.Mod: b"%",
    ast.Pow: b"**", ast.LShift: b"<<", ast.RShift: b">>", ast.BitAnd: b"&", ast.BitOr: b"|", ast.BitXor: b"^",
    ast.Eq: b"==", ast.NotEq: b"!=", ast.Lt: b"<", ast.Gt: b">", ast.LtE: b"<=", ast.GtE: b">=",
}  # fmt: skip
PARSED: dict[type[ast.AST], Operation] = {kind: OPERATIONS[sign] for kind, sign in _SIGNS.items()}
UNARY: dict[type[ast.AST], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}

TRUTH, STRING, REPRESENTATION = ("__bool__", "__len__"), ("__str__", "__repr__"), ("__repr__",)
QUESTIONS: dict[Asked, tuple[str, ...]] = {
    Question.TRUTH: TRUTH,
    Question.NEGATIVE: ("__neg__",),
    Question.POSITIVE: ("__pos__",),
    Question.INVERT: ("__invert__",),
    Question.FORMAT: ("__format__", *STRING),
    Question.STRING: STRING,
    Question.REPRESENTATION: REPRESENTATION,
    Question.WAIT: ("__await__",),
}
"""The methods by which Python asks, of which it calls the first that an object has."""
LOOPING = ("__iter__", "__getitem__")
ENTRIES = ("keys", "__getitem__")  # of a mapping behind two stars
ITEMS = {
    Code.ITEM: "__getitem__", Code.PUT: "__setitem__", Code.DELETE: "__delitem__", Code.CONTAINS: "__contains__",
}  # fmt: skip
KEYS = b"key"  # what Python asks of a key
HASH, EQUAL = "__hash__", "__eq__"
METACLASS = "metaclass"  # the word by which a class names what makes it
FALLBACK = "__getattr__"  # that Python asks for attributes which an object does not have
GET, SET, DELETE = "__get__", "__set__", "__delete__"
NAME_HOOK = "__set_name__"  # by which an attribute of a class is told its name
DESCRIBING = frozenset((GET, SET, DELETE, NAME_HOOK))  # methods of what an attribute of a class is made of
CREATION = b"class"  # what Python asks when the code of a class has run
_METHODS: dict[Asked, tuple[str, ...]] = {
    CREATION: ("__init_subclass__", NAME_HOOK, METACLASS),
    KEYS: (HASH, EQUAL),
    **{sign: (*each.left, each.right) for sign, each in OPERATIONS.items()},
    **QUESTIONS,
}
SPECIAL = frozenset(name for names in _METHODS.values() for name in names)

_GOING_THROUGH = ("all", "any", "dict.fromkeys", "enumerate", "filter", "frozenset", "iter", "list", "map", "max",
                  "min", "set", "sorted", "sum", "tuple", "zip")  # fmt: skip
_ASKING = {
    "abs": ("__abs__",), "aiter": ("__aiter__",), "anext": ("__anext__",), "bool": TRUTH, "bytes": ("__bytes__",),
    "complex": ("__complex__", "__float__", "__index__"), "dir": ("__dir__",),
    "float": ("__float__", "__index__"), "format": ("__format__", *STRING), "hash": ("__hash__",),
    "hex": ("__index__",), "int": ("__int__", "__index__", "__trunc__"), "len": ("__len__",), "next": ("__next__",),
    "print": STRING, "repr": ("__repr__",), "reversed": ("__reversed__",), "round": ("__round__",), "str": STRING,
}  # fmt: skip
ASKING: dict[str, tuple[str, ...]] = {f"builtins.{name}": methods for name, methods in _ASKING.items()}
"""By builtin, the methods of which it calls the first that its argument has; none where it goes through that."""
ASKING |= {f"builtins.{name}": () for name in _GOING_THROUGH}


def find_sign(site: Site) -> bytes:
    """Give the operator at a site: what stands between its sides."""
    return site.scope.module.text[site.end : site.more[0]].strip(b" \t\r\n\\")


def find_asked(site: Site) -> Asked | None:
    """Give what is asked at a site; nothing where that is no operator and has no method of its own."""
    if site.code == Code.OPERATE:
        return find_sign(site)
    question = Question(site.more[0]) if site.code == Code.ASK else None
    return question if question in QUESTIONS else None


def find_answered(defined: Mapping[str, int]) -> frozenset[Asked]:
    """Find what special methods answer, by how often these are defined: sites of anything else do not count."""
    return frozenset(asked for asked, names in _METHODS.items() if any(defined.get(name) for name in names))
