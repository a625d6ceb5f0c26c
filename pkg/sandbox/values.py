"""Render values as text that can be compared outside the process that created them.

The text is JSON. None, booleans, integers, floats, strings and lists represent themselves; everything else is an object
with one key that names the kind: tuple, set and iterator hold lists, dict holds pairs, bytes and int (with more digits
than JSON parsers accept) hold text, complex holds two numbers, made holds the name of a standard library type and the
text of a value, such as a Decimal or a date, and repr holds the type and the repr without memory addresses. Sets and
dicts are sorted by the text of their items, so equal values have equal text. Subclasses of builtin types are rendered
as their base: a Counter is a dict, a deque a list. A restored value is thus always of a builtin or one of those types.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Set
from importlib import import_module
from itertools import islice
from typing import Any

MAX_DEPTH = 60  # levels of nesting; deeper values are rendered as {"repr": ["deep", ""]}
MAX_ITEMS = 1000  # of an iterator, which may be infinite
MAX_INT_BITS = 14_000  # longer integers exceed the 4,300 decimal digits that Python parses
START = 1000  # characters that are kept of a text that is too long
MAX_DIGEST = 2 * START + 100  # characters of the replacement of such a text: each kept one may be escaped

_DAY, _CLOCK = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(?:\.\d{6})?(?:[+-]\d\d:\d\d)?"
CONSTRUCTED_TYPES: dict[str, tuple[str, re.Pattern[str]]] = {
    "Decimal": ("decimal", re.compile(r"-?(?:\d{1,200}(?:\.\d{0,200})?(?:E[+-]?\d{1,3})?|Infinity|NaN)")),
    "Fraction": ("fractions", re.compile(r"-?\d{1,100}(?:/[1-9]\d{0,99})?")),
    "date": ("datetime", re.compile(_DAY)),
    "time": ("datetime", re.compile(_CLOCK)),
    "datetime": ("datetime", re.compile(f"{_DAY} {_CLOCK}")),
    "PosixPath": ("pathlib", re.compile(r"[ -~]{1,200}")),
    "PurePosixPath": ("pathlib", re.compile(r"[ -~]{1,200}")),
    "timedelta": ("datetime", re.compile(r"-?\d{1,9} \d{1,5} \d{1,6}")),
}
"""Standard library types that are not containers: the module of each, and the pattern of the text of a value.

They are recognised by name, because their modules may not be imported. A class of the candidate with such a name only
claims a value, as any object may. Exponents are limited, because computing with huge ones is slow.
"""

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def render_value(value: object, most: int = 64 << 10, keeps_order: bool = False) -> str:
    """Render a value; text of more than `most` characters becomes {"long": [sha256, start]}.

    keeps_order: keep the order of dicts.
    """
    text = _dump(_render(value, 0, keeps_order))
    if len(text) <= most:
        return text
    return _dump({"long": [_digest(text), text[:START]]})


class ReprValue:
    """A value of an unknown type, represented by its type and repr; equal only to one with the same."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.text = kind, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReprValue) and (self.kind, self.text) == (other.kind, other.text)

    def __hash__(self) -> int:
        return hash((self.kind, self.text))

    def __repr__(self) -> str:
        return self.text


class LongValue:
    """A value too long to be sent; equal to a value with the same rendering in which dicts keep their order."""

    def __init__(self, sha256: str, start: str) -> None:
        self.sha256, self.start = sha256, start

    def __eq__(self, other: object) -> bool:
        return _digest(_dump(_render(other, 0, True))) == self.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"{self.start}..."


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def make_value(kind: str, text: str) -> Any:
    """Create a value of a type in `CONSTRUCTED_TYPES`; raises a ValueError or ArithmeticError for invalid text."""
    made = getattr(import_module(CONSTRUCTED_TYPES[kind][0]), kind)
    if kind == "timedelta":
        return made(*map(int, text.split()))
    return made.fromisoformat(text) if hasattr(made, "fromisoformat") else made(text)


def restore_value(tree: Any, is_key: bool = False) -> Any:
    """Restore a value from its rendered tree, without running code of the process that rendered it.

    is_key: the value must be hashable.
    """
    if isinstance(tree, list):
        return [restore_value(item, is_key) for item in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "dict":
        return {restore_value(key, True): restore_value(value) for key, value in content}
    if kind == "set":
        return (frozenset if is_key else set)(restore_value(item, True) for item in content)
    if kind in ("tuple", "iterator"):
        items = [restore_value(item, is_key) for item in content]
        return tuple(items) if kind == "tuple" else iter(items)
    if kind == "made":
        return make_value(*content)
    if kind == "bytes":
        return content.encode("latin-1")
    if kind == "int":
        return int(content, 16)
    if kind == "long":
        return LongValue(*content)
    return complex(*content) if kind == "complex" else ReprValue(*content)


def _dump(rendered: Any) -> str:
    return json.dumps(rendered, separators=(",", ":"))


def _render(value: Any, depth: int, keeps_order: bool) -> Any:
    """Convert a value to JSON data."""
    if value is None or isinstance(value, bool):
        return value
    if depth > MAX_DEPTH:
        return {"repr": ["deep", ""]}
    if isinstance(value, int):
        return int(value) if int(value).bit_length() <= MAX_INT_BITS else {"int": hex(value)}
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": bytes(value).decode("latin-1")}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    return _render_object(value, depth + 1, keeps_order)


def _render_object(value: Any, depth: int, keeps_order: bool) -> Any:
    """Convert a collection, or a value of another type, to JSON data."""
    if isinstance(value, list):
        return [_render(item, depth, keeps_order) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_render(item, depth, keeps_order) for item in value]}
    if isinstance(value, Set):
        return {"set": sorted((_render(item, depth, keeps_order) for item in value), key=_dump)}
    if isinstance(value, Mapping):
        pairs = [[_render(key, depth, keeps_order), _render(value[key], depth, keeps_order)] for key in value]
        return {"dict": pairs if keeps_order else sorted(pairs, key=_dump)}
    if type(value).__module__.partition(".")[0] == "numpy":
        return _render(value.tolist(), depth, keeps_order)
    if isinstance(value, (Iterator, range)):
        return {"iterator": [_render(item, depth, keeps_order) for item in islice(value, MAX_ITEMS)]}
    own = type(value)
    if own.__name__ in CONSTRUCTED_TYPES and own.__module__.partition(".")[0] == CONSTRUCTED_TYPES[own.__name__][0]:
        is_timedelta = own.__name__ == "timedelta"
        text = f"{value.days} {value.seconds} {value.microseconds}" if is_timedelta else str(value)
        if CONSTRUCTED_TYPES[own.__name__][1].fullmatch(text):
            return {"made": [own.__name__, text]}
    if (own.__module__, own.__name__) == ("collections", "deque"):
        return [_render(item, depth, keeps_order) for item in value]
    return {"repr": [type(value).__name__, _ADDRESS.sub("0x", repr(value))]}
