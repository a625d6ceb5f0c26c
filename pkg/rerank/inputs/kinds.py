"""Guess what a parameter takes, from its annotation or its name, and make values of that kind."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from random import Random
from typing import Any

from pkg.rerank.examples.literals import parse_expression
from pkg.rerank.question import Parameter

WORDS = ("a", "level", "hello", "Python code", "abcABC", "one two three", "racecar", "x1y22", "the cat sat", "()", "12")
DEEPEST = 4  # brackets of an annotation

# Small numbers and no 0: what divides by its argument, or halves it until it is odd, may never end there.
_SIMPLE: Mapping[str, tuple[Any, ...]] = {
    "int": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12),
    "float": (0.0, 0.5, 1.0, 2.5, 10.0, 3.14),
    "str": WORDS,
    "bool": (True, False),
}
_BY_NAME = {
    "int": "n k m x y z i j a b c p q r h w num number count size length len index limit year age row col target start"
    " end low high key val value digit digits base power side radius step level position pos width height capacity",
    "float": "price rate ratio weight threshold tolerance",
    "str": "s st str string text word sentence line char ch name pattern sub substring message paragraph txt date",
    "list[int]": "lst list arr array nums numbers l li xs ls values vals data items elements seq sequence integers"
    " array_nums list_nums series sequence",
    "list[str]": "words strings names strs lines",
    "list[list[int]]": "matrix grid mat board lists lol nested cost",
    "tuple[int, ...]": "tup tuple tupl tuplex",
    "list[tuple[int, int]]": "pairs tuples intervals points edges tuple_list",
    "dict[str, int]": "d dict dictionary mapping dic",
}
_KINDS = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}
_ABSTRACT = {"Sequence": "list", "Iterable": "list", "Collection": "list", "Mapping": "dict", "List": "list"}
_ABSTRACT |= {"Tuple": "tuple", "Set": "set", "Dict": "dict", "FrozenSet": "set", "MutableSequence": "list"}
FALLBACKS = ("int", "str", "list[int]", "list[str]")  # tried one after the other where nothing tells


def guess_kind(parameter: Parameter, turn: int = 0) -> str:
    """Name the kind of a parameter: as annotated, or as its name suggests; where neither tells, one after the other."""
    if parameter.annotation and parameter.annotation not in ("Any", "object"):
        return parameter.annotation
    name = parameter.name.lower().removeprefix("test_").strip("_").rstrip("0123456789").rstrip("_")
    for key in (name, name.rpartition("_")[2], name.partition("_")[0], name.removesuffix("s")):
        if key in _KINDS:
            return _KINDS[key]
    return FALLBACKS[turn % len(FALLBACKS)]


def make_value(kind: str, random: Random) -> Any:
    """Make a value of a kind; None where the kind is not known."""
    node = parse_expression(kind)
    try:
        return _make(node, random, 0) if node is not None else None
    except TypeError:  # a set of lists, or keys that are
        return None


def _make(node: ast.expr, random: Random, depth: int) -> Any:
    if isinstance(node, ast.BinOp):  # X | None
        return _make(node.left, random, depth)
    if isinstance(node, ast.Subscript):
        return _make_group(_name(node.value), _list_parts(node.slice), random, depth + 1)
    name = _name(node)
    if name in _SIMPLE:
        return random.choice(_SIMPLE[name])
    return _make_group(name, [], random, depth + 1)


def _make_group(name: str, parts: list[ast.expr], random: Random, depth: int) -> Any:
    if depth > DEEPEST:
        return None
    name = _ABSTRACT.get(name, name)
    inner = parts or [ast.Name("int")]
    if name in ("Optional", "Union"):
        return _make(inner[0], random, depth)
    if name == "list":
        return [_make(inner[0], random, depth) for _ in range(random.randint(0, 6))]
    if name in ("set", "frozenset"):
        return {_make(inner[0], random, depth) for _ in range(random.randint(0, 5))}
    if name == "tuple":
        is_open = len(inner) == 1 or isinstance(inner[-1], ast.Constant)
        kinds = [inner[0]] * random.randint(1, 5) if is_open else inner
        return tuple(_make(each, random, depth) for each in kinds)
    if name == "dict":
        key, value = parts if len(parts) == 2 else (ast.Name("str"), ast.Name("int"))
        return {_make(key, random, depth): _make(value, random, depth) for _ in range(random.randint(0, 4))}
    return None


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _list_parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]
