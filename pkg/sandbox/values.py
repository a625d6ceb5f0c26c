"""Render values as text that can be compared outside the process that made them.

The text is JSON. None, booleans, whole numbers, floats, strings and lists stand for themselves; everything else is an
object of one key that names the kind: tuple, set and iterator hold lists, dict holds pairs, bytes and int (of more
digits than JSON readers take) hold text, complex holds two numbers, made holds the name of a type of the standard
library and a text from which its value can be made again, such as a Decimal or a date, and repr holds the type and
what the value says of itself, memory addresses left out. Sets and dicts are sorted by the text of their parts, so
equal values give equal text. Subclasses of the built-in kinds are rendered as what they are made from: a Counter is a
dict, a deque a list. What is restored
from the text is thus of a built-in kind or of one of those types, whatever the value was.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Set
from importlib import import_module
from itertools import islice
from typing import Any

MAX_DEPTH = 60  # levels of nesting; what lies deeper is given as {"repr": ["deep", ""]}
MAX_ITEMS = 1000  # taken from an iterator, which may have no end
MAX_INT_BITS = 14_000  # bits; above, the decimal text exceeds the 4,300 digits that Python reads
START = 1000  # characters shown of a text that is too long
DIGEST_ROOM = 2 * START + 100  # characters of what stands for such a text, at most: each shown one may be escaped

_DAY, _CLOCK = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(?:\.\d{6})?(?:[+-]\d\d:\d\d)?"
MADE: dict[str, tuple[str, re.Pattern[str]]] = {
    "Decimal": ("decimal", re.compile(r"-?(?:\d{1,200}(?:\.\d{0,200})?(?:E[+-]?\d{1,3})?|Infinity|NaN)")),
    "Fraction": ("fractions", re.compile(r"-?\d{1,100}(?:/[1-9]\d{0,99})?")),
    "date": ("datetime", re.compile(_DAY)),
    "time": ("datetime", re.compile(_CLOCK)),
    "datetime": ("datetime", re.compile(f"{_DAY} {_CLOCK}")),
    "PosixPath": ("pathlib", re.compile(r"[ -~]{1,200}")),
    "PurePosixPath": ("pathlib", re.compile(r"[ -~]{1,200}")),
    "timedelta": ("datetime", re.compile(r"-?\d{1,9} \d{1,5} \d{1,6}")),
}
"""Types whose values are no containers: the module of each, and what the text looks like that stands for a value.

They are known by name, because a candidate's process need not have imported their modules. A class that bears one of
these names only says which value its object stands for, as every object may. Exponents are bounded, because computing
with a huge one takes long.
"""

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def render_value(value: object, most: int = 64 << 10, keeps_order: bool = False) -> str:
    """Render a value; a text longer than most characters becomes {"long": [its sha256, its start]}.

    keeps_order: render dicts in their own order, which what is restored then has too.
    """
    text = _dump(_render(value, 0, keeps_order))
    if len(text) <= most:
        return text
    return _dump({"long": [_digest(text), text[:START]]})


class ReprValue:
    """A value of a kind of its own, as its process showed it: equal to what was shown alike, and to nothing else."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.text = kind, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReprValue) and (self.kind, self.text) == (other.kind, other.text)

    def __hash__(self) -> int:
        return hash((self.kind, self.text))

    def __repr__(self) -> str:
        return self.text


class LongValue:
    """A value too long to be sent: equal to one that is rendered as it was, dicts in their own order."""

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
    """Make a value of one of the types in `MADE`; ValueError or ArithmeticError where the text stands for none."""
    made = getattr(import_module(MADE[kind][0]), kind)
    if kind == "timedelta":
        return made(*map(int, text.split()))
    return made.fromisoformat(text) if hasattr(made, "fromisoformat") else made(text)


def restore_value(tree: Any, is_key: bool = False) -> Any:
    """Make a value of its rendered tree: of the kinds named above alone, and never by code of whoever rendered it.

    is_key: it must be hashable, as an item of a set is.
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
    """Turn a value into what JSON can hold."""
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
    return _render_group(value, depth + 1, keeps_order)


def _render_group(value: Any, depth: int, keeps_order: bool) -> Any:
    """Turn a value of several parts, or of a kind of its own, into what JSON can hold."""
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
    if own.__name__ in MADE and own.__module__.partition(".")[0] == MADE[own.__name__][0]:
        is_span = own.__name__ == "timedelta"
        text = f"{value.days} {value.seconds} {value.microseconds}" if is_span else str(value)
        if MADE[own.__name__][1].fullmatch(text):
            return {"made": [own.__name__, text]}
    if (own.__module__, own.__name__) == ("collections", "deque"):
        return [_render(item, depth, keeps_order) for item in value]
    return {"repr": [type(value).__name__, _ADDRESS.sub("0x", repr(value))]}
