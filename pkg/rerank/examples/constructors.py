"""Evaluate values written as calls of constructors, such as `Decimal('1.50')` or `datetime.date(2024, 2, 29)`.

Supports constructors of the standard library without side effects, and numpy arrays as lists. Never calls code of a
candidate.
"""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

MAX_ITEMS = 10_000  # of a range


def _make_range(*bounds: int) -> list[int]:
    made = range(*bounds)
    if len(made) > MAX_ITEMS:
        raise ValueError(f"a range of {len(made)} items")
    return list(made)


def _make_default(_: object = None, *items: Any) -> dict[Any, Any]:
    return dict(*items)


CONSTRUCTORS: dict[str, Callable[..., object]] = {
    "set": set,
    "frozenset": frozenset,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "float": float,
    "complex": complex,
    "bytes": bytes,
    "bytearray": bytearray,
    "range": _make_range,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "date": date,
    "datetime": datetime,
    "time": time,
    "timedelta": timedelta,
    "Path": PurePosixPath,
    "PurePosixPath": PurePosixPath,
    "Counter": lambda *items, **counts: dict(Counter(*items, **counts)),
    "OrderedDict": OrderedDict,
    "defaultdict": _make_default,
    "deque": deque,
    "array": lambda items, **_: items,
}
"""Constructors by name; `make_value` does not call `bytes` and `bytearray` with a size."""

MODULES = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "dt": ("date", "datetime", "time", "timedelta"),
    "pathlib": ("Path", "PurePosixPath"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "np": ("array",),
    "numpy": ("array",),
}
"""Names of constructors by module or its usual alias."""

CONSTANTS: dict[tuple[str, str], object] = {
    ("math", "pi"): math.pi,
    ("math", "e"): math.e,
    ("math", "inf"): math.inf,
    ("math", "nan"): math.nan,
    ("np", "nan"): math.nan,
    ("np", "inf"): math.inf,
    ("timezone", "utc"): timezone.utc,
}
"""Constants of modules by module and name."""

PLAIN = frozenset(("set", "frozenset", "list", "tuple", "dict", "float", "complex", "bytes", "bytearray", "range"))
"""Builtin constructors."""

_HUGE = re.compile(r"[eE][+-]?\d{4}|.{300}")  # slow to compute with
_SIZED = frozenset(("bytes", "bytearray"))
_QUALIFIED_ONLY = frozenset(("array", "time"))  # too common as function names without their module


def find_constructor(module: str, name: str) -> Callable[..., object] | None:
    """Return a constructor; module is "" for an unqualified name. None if it is unknown."""
    if module:
        return CONSTRUCTORS[name] if name in MODULES.get(module, ()) else None
    return None if name in _QUALIFIED_ONLY else CONSTRUCTORS.get(name)


def make_value(module: str, name: str, given: list[Any], named: dict[str, Any]) -> object:
    """Return the value of a call; raises a ValueError or TypeError if it has none."""
    constructor = find_constructor(module, name)
    if constructor is None:
        raise ValueError(f"no constructor {name}")
    if name in _SIZED and any(isinstance(each, int) for each in given):
        raise ValueError(f"{name} of a size")
    if any(isinstance(each, str) and _HUGE.search(each) for each in given) and name in ("Decimal", "Fraction"):
        raise ValueError("a number of too many digits")
    return constructor(*given, **named)
