"""Generate small values of a type, with repeated and close items, and with literals of the candidates' code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, TypeGuard

from pkg.rerank.examples.literals import parse_expression

MAX_TEXT = 12  # characters; a longer literal is a message or a pattern
MAX_NUMBER = 1_000  # a larger literal is a modulus or represents infinity

_SORTED = re.compile(
    r"\b(?:in|of|from|given|the|an?|two|three)\s+sorted\s+(?:\w+\s+)?(?:arrays?|lists?|sequences?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class LiteralPool:
    """Literals of the candidates' code, used in generated values."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    is_sorted: bool = False  # the query mentions sorted lists


def collect_literals(query: str, trees: Iterable[ast.AST]) -> LiteralPool:
    """Return the distinct literals of some code, sorted, so that the order of candidates does not matter."""
    found = {value for tree in trees for value in _list_literals(tree)}
    texts = sorted(each for each in found if isinstance(each, str))
    numbers = sorted(each for each in found if isinstance(each, int))
    return LiteralPool(tuple(texts), tuple(numbers), _SORTED.search(query) is not None)


def _list_literals(tree: ast.AST) -> Iterator[str | int]:
    """Yield the short texts and small numbers in code, except in f-strings and docstrings."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and _is_useful(node.value):
            yield node.value
        elif not isinstance(node, ast.JoinedStr) and not _is_constant_statement(node):
            waiting += ast.iter_child_nodes(node)


def _is_useful(value: object) -> TypeGuard[str | int]:
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= MAX_TEXT
    return type(value) is int and abs(value) <= MAX_NUMBER


def _is_constant_statement(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


WORDS = ("a", "level", "hello", "Python code", "abcABC", "one two three", "racecar", "x1y22", "the cat sat", "()", "12")
MAX_DEPTH = 4  # nested brackets of an annotation

NUMBERS = (*range(1, 13), 14, 15, 16, 17, 20, 21, 24, 25, 28, 30, 36, 45, 60, 73, 97, 100, 121, 153, 0)
"""Integers outside lists: some are prime, square, palindromes, or the sum of their divisors or digits."""

RANGES = ((1, 4), (1, 12), (-5, 5), (0, 40))
"""Ranges of the items of one list: small with duplicates, with opposite signs, and with two digits."""

OWN_TEXTS, OWN_NUMBERS = 0.5, 0.2  # share of values made from literals of the code
TABLES = 0.7  # share of nested lists with rows of equal length, which code for tables needs

FRACTIONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 10.0, 0.1, 0.0)

_ABSTRACT = {"Sequence": "list", "Iterable": "list", "Collection": "list", "Mapping": "dict", "List": "list"}
_ABSTRACT |= {"Tuple": "tuple", "Set": "set", "Dict": "dict", "FrozenSet": "set", "MutableSequence": "list"}

_EMPTY = LiteralPool()


def make_value(kind: str, random: Random, pool: LiteralPool = _EMPTY) -> Any:
    """Return a random value of a type; None for an unknown type."""
    node = parse_expression(kind)
    try:
        return _Maker(random, pool).make(node) if node is not None else None
    except TypeError:  # unhashable items or keys
        return None


class _Maker:
    """Generates one value, whose numbers come from one range."""

    def __init__(self, random: Random, pool: LiteralPool) -> None:
        self.random = random
        self.pool = pool
        self.bounds = random.choice(RANGES)

    def make(self, node: ast.expr, depth: int = 0) -> Any:
        """Return a value of the annotated type."""
        if isinstance(node, ast.BinOp):  # X | None
            return self.make(node.left, depth)
        if isinstance(node, ast.Subscript):
            return self._make_group(_name(node.value), _list_parts(node.slice), depth + 1)
        simple = {"int": self._make_int, "float": self._make_float, "str": self._make_text, "bool": self._make_bool}
        name = _name(node)
        return simple[name](depth > 0) if name in simple else self._make_group(name, [], depth + 1)

    def _make_group(self, name: str, parts: list[ast.expr], depth: int) -> Any:
        name = _ABSTRACT.get(name, name)
        inner = parts or [ast.Name("int")]
        if depth > MAX_DEPTH:
            return None
        if name in ("Optional", "Union"):
            return self.make(inner[0], depth)
        if name == "tuple":
            is_open = len(inner) == 1 or isinstance(inner[-1], ast.Constant)
            return tuple(self._fill(inner[0], depth) if is_open else [self.make(each, depth) for each in inner])
        if name == "dict":
            key, value = parts if len(parts) == 2 else (ast.Name("str"), ast.Name("int"))
            return {self.make(key, depth): self.make(value, depth) for _ in range(self.random.randint(0, 4))}
        if name in ("set", "frozenset"):
            return set(self._fill(inner[0], depth))
        if name != "list":
            return None
        if isinstance(inner[0], ast.Subscript) and self.random.random() < TABLES:
            return self._fill_rows(inner[0], depth)
        made = self._fill(inner[0], depth)
        return sorted(made) if self.pool.is_sorted and _name(inner[0]) in ("int", "float", "str") else made

    def _fill(self, kind: ast.expr, depth: int) -> list[Any]:
        """Return the items of a collection: mostly a few, sometimes none."""
        return [self.make(kind, depth) for _ in range(self.random.choice((0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7)))]

    def _fill_rows(self, kind: ast.expr, depth: int) -> list[Any]:
        """Return rows of equal length."""
        rows = [self.make(kind, depth) for _ in range(self.random.randint(2, 4))]
        length = max(min(map(len, rows)), 1)
        return [row[:length] if isinstance(row, list | tuple) and len(row) >= length else row for row in rows]

    def _make_int(self, is_item: bool) -> int:
        own = [each for each in self.pool.numbers if is_item or each >= 0]
        if own and self.random.random() < OWN_NUMBERS:
            return self.random.choice(own)
        return self.random.randint(*self.bounds) if is_item else self.random.choice(NUMBERS)

    def _make_float(self, is_item: bool) -> float:
        return round(self.random.uniform(*self.bounds), 1) if is_item else self.random.choice(FRACTIONS)

    def _make_bool(self, is_item: bool) -> bool:
        return self.random.random() < 0.5

    def _make_text(self, is_item: bool) -> str:
        """Return a word, or join literals of the code: characters directly, words with spaces."""
        own = self.pool.texts
        if not own or self.random.random() >= OWN_TEXTS:
            return self.random.choice(WORDS)
        characters = [each for each in own if len(each) == 1]
        words = [each for each in own if len(each) > 1]
        if characters and (not words or self.random.random() < 0.5):
            return "".join(self.random.choices(characters, k=self.random.randint(1, 6)))
        return " ".join(self.random.choices(words, k=1 if is_item else self.random.randint(1, 4)))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _list_parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]
