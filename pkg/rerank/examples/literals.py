"""Parse values in text: Python literals and common variants of them.

Runs no code. Rejects everything else, because a wrong example would be worse than none.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection
from typing import Literal

from pkg.extract.syntax import parse_tree, silence_warnings
from pkg.rerank.examples.constructors import CONSTANTS, CONSTRUCTORS, find_constructor, make_value

MAX_VALUE = 20_000  # characters; a longer value is data
MAX_BITS = 14_000  # of an integer; Python refuses to convert longer ones to text
_MAX_POWER = 10_000  # of base and exponent, which bounds the time to parse a query

_NAMES: dict[str, object] = {"true": True, "false": False, "null": None, "none": None, "inf": math.inf, "nan": math.nan}
_SUMS: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_STRING = re.compile(
    r"""[bBrRuU]{0,2}(?:'''.*?(?<!\\)'''|\"{3}.*?(?<!\\)\"{3}|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""", re.DOTALL
)
_JOINED = re.compile(r"""[ \t]*(?:'(?!'')|"(?!""))""")  # a string after a string: prose, or more than one value
_WORD = re.compile(
    r"[-+]? ?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[jJ]?|inf\b|nan\b)"
    r"|(?:True|False|None|true|false|null)\b|(?:(?:decimal|fractions|datetime|dt|collections|np|numpy)\.)?"
    + rf"(?:{'|'.join(CONSTRUCTORS)})(?=\()"
)


class NotLiteral(ValueError):  # noqa: N818 - internal control flow
    """Raised for an expression that is not a literal."""


def find_name(node: ast.expr) -> str:
    """Return the last name of a callee or expression, without its module or object; "" for none."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def parse_expression(text: str) -> ast.expr | None:
    """Parse an expression; None for anything else."""
    tree = _parse(text.strip(), "eval")
    return tree.body if isinstance(tree, ast.Expression) else None


def parse_statements(text: str) -> list[ast.stmt] | None:
    """Parse statements; None for invalid code."""
    tree = _parse(text, "exec")
    return tree.body if isinstance(tree, ast.Module) else None


def _parse(text: str, mode: Literal["exec", "eval"]) -> ast.AST | None:
    try:
        with silence_warnings():
            return parse_tree(text, mode, "<example>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def write_code(node: ast.AST) -> str | None:
    """Return the source of a node; None if it is nested too deeply or has an integer with too many digits."""
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):
        return None


def parse_literal(text: str) -> object:
    """Parse a text that is a single value; raises NotLiteral for any other."""
    node = parse_expression(text) if len(text) <= MAX_VALUE else None
    if node is None:
        raise NotLiteral(text)
    return evaluate(node)


def evaluate(node: ast.expr, candidate_names: Collection[str] = ()) -> object:
    """Return the value of a literal, of arithmetic on numbers, or of a constructor such as set() or Decimal('1').

    candidate_names: names that belong to the candidates, even if they shadow builtins. Raises NotLiteral for any other
    expression.
    """
    try:
        return _evaluate(node, candidate_names)
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError) as fault:
        raise NotLiteral(str(fault)) from None


def is_value(node: ast.expr, candidate_names: Collection[str] = ()) -> bool:
    """Return whether an expression is a literal."""
    try:
        evaluate(node, candidate_names)
    except NotLiteral:
        return False
    return True


def _evaluate(node: ast.expr, candidate_names: Collection[str]) -> object:
    if isinstance(node, ast.Constant) and node.value is not Ellipsis:
        return _bound(node.value)
    if isinstance(node, ast.List):
        return [_evaluate(each, candidate_names) for each in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple([_evaluate(each, candidate_names) for each in node.elts])
    if isinstance(node, ast.Set):
        return {_evaluate(each, candidate_names) for each in node.elts}
    if isinstance(node, ast.Dict):
        return {
            _evaluate_key(key, candidate_names): _evaluate(value, candidate_names)
            for key, value in zip(node.keys, node.values, strict=True)
        }
    if isinstance(node, ast.Name) and node.id in _NAMES and node.id not in candidate_names:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        return _compute(node, candidate_names)
    if isinstance(node, ast.Call):
        return _make(node, candidate_names)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in candidate_names:
        return CONSTANTS[node.value.id, node.attr]
    raise NotLiteral(ast.dump(node)[:80])


def _evaluate_key(key: ast.expr | None, candidate_names: Collection[str]) -> object:
    if key is None:
        raise NotLiteral("a dict that is unpacked")
    return _evaluate(key, candidate_names)


def _compute(node: ast.UnaryOp | ast.BinOp, candidate_names: Collection[str]) -> object:
    """Evaluate arithmetic on numbers only; a repeated string is code, not a value."""
    if isinstance(node, ast.UnaryOp):
        value = _evaluate_number(node.operand, candidate_names)
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.UAdd):
            return value
        raise NotLiteral("an operator")
    left, right = _evaluate_number(node.left, candidate_names), _evaluate_number(node.right, candidate_names)
    if isinstance(node.op, ast.Pow) and (abs(left) > _MAX_POWER or abs(right) > _MAX_POWER):
        raise NotLiteral("a large power")
    if type(node.op) not in _SUMS:
        raise NotLiteral("an operator")
    return _bound(_SUMS[type(node.op)](left, right))


def _bound(value: object) -> object:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise NotLiteral("a number of too many digits")
    return value


def _evaluate_number(node: ast.expr, candidate_names: Collection[str]) -> complex:
    value = _evaluate(node, candidate_names)
    if isinstance(value, bool) or not isinstance(value, int | float | complex):
        raise NotLiteral("an operand that is not a number")
    return value


def _make(node: ast.Call, candidate_names: Collection[str]) -> object:
    """Evaluate a call of a constructor with literal arguments."""
    module = node.func.value if isinstance(node.func, ast.Attribute) else None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    prefix = getattr(module, "id", "?") if module is not None else ""
    if name in candidate_names or prefix in candidate_names or find_constructor(prefix, name) is None:
        raise NotLiteral("a call")
    if any(isinstance(each, ast.Starred) for each in node.args) or not all(each.arg for each in node.keywords):
        raise NotLiteral("arguments that are unpacked")
    if name == "defaultdict":  # its default factory is a function
        return make_value(prefix, name, [None, *(_evaluate(each, candidate_names) for each in node.args[1:])], {})
    given = [_evaluate(each, candidate_names) for each in node.args]
    return make_value(
        prefix, name, given, {str(each.arg): _evaluate(each.value, candidate_names) for each in node.keywords}
    )


def find_literal_end(text: str, start: int) -> int:
    """Return the end of the literal at an offset; -1 if there is none."""
    found = _STRING.match(text, start)
    if found:
        return -1 if _JOINED.match(text, found.end()) else found.end()
    if text[start : start + 1] in _CLOSERS:
        return find_closing(text, start)
    found = _WORD.match(text, start)
    if found is None:
        return -1
    if text[found.end() : found.end() + 1] == "(" and found.group()[-1].isalpha():
        return find_closing(text, found.end())
    end = found.end()
    return end - 1 if text[end - 1] == "." and not text[end : end + 1].isdigit() else end


def find_closing(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the one at an offset; -1 if there is none."""
    closers: list[str] = []
    position = start
    stop = min(len(text), start + MAX_VALUE)
    while position < stop:
        character = text[position]
        string = _STRING.match(text, position) if character in "'\"" else None
        if string:
            position = string.end()
            continue
        if character in _CLOSERS:
            closers.append(_CLOSERS[character])
        elif character in ")]}":
            if not closers or closers.pop() != character:
                return -1
            if not closers:
                return position + 1
        position += 1
    return -1


def write_value(value: object) -> str:
    """Return the source of a value; equal sets have equal text."""
    if isinstance(value, set | frozenset):
        inner = ", ".join(sorted(map(write_value, value)))
        return f"{type(value).__name__}([{inner}])" if isinstance(value, frozenset) or not value else f"{{{inner}}}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_value(key)}: {write_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(write_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and (math.isinf(value) or math.isnan(value)):
        return f"float('{value}')"
    return repr(value)
