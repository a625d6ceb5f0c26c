"""Make values that are written as calls, such as `Decimal('1.50')` or `datetime.date(2024, 2, 29)`.

Only constructors of the standard library that compute nothing else are known here, and arrays of numpy as the lists
that they hold. Nothing that a candidate wrote is ever called.
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

MAX_ITEMS = 10_000  # of a range that is written out


def _make_range(*bounds: int) -> list[int]:
    made = range(*bounds)
    if len(made) > MAX_ITEMS:
        raise ValueError(f"a range of {len(made)} items")
    return list(made)


def _make_array(items: object, **_: object) -> object:
    return items


def _make_counter(*items: Any, **counts: Any) -> dict[Any, Any]:
    return dict(Counter(*items, **counts))


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
    "Counter": _make_counter,
    "OrderedDict": OrderedDict,
    "defaultdict": _make_default,
    "deque": deque,
    "array": _make_array,
}
"""By name. `bytes` and `bytearray` are never asked for a number of bytes, see `make_value`."""

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
"""Constructors by the module, or its usual alias, before them."""

CONSTANTS: dict[tuple[str, str], object] = {
    ("math", "pi"): math.pi,
    ("math", "e"): math.e,
    ("math", "inf"): math.inf,
    ("math", "nan"): math.nan,
    ("np", "nan"): math.nan,
    ("np", "inf"): math.inf,
    ("timezone", "utc"): timezone.utc,
}
"""Names of modules that stand for plain values."""

PLAIN = frozenset(("set", "frozenset", "list", "tuple", "dict", "float", "complex", "bytes", "bytearray", "range"))
"""Constructors that every candidate has without an import."""

_HUGE = re.compile(r"[eE][+-]?\d{4}|.{300}")  # takes long to compute with
_SIZED = frozenset(("bytes", "bytearray"))
_OF_A_MODULE = frozenset(("array", "time"))  # too common as names of functions to be taken without their module


def find_constructor(module: str, name: str) -> Callable[..., object] | None:
    """Find the constructor of a name, module "" for a bare one; None for what is not known here."""
    if module:
        return CONSTRUCTORS[name] if name in MODULES.get(module, ()) else None
    return None if name in _OF_A_MODULE else CONSTRUCTORS.get(name)


def make_value(module: str, name: str, given: list[Any], named: dict[str, Any]) -> object:
    """Make the value of a call; a ValueError or TypeError says that it has none."""
    constructor = find_constructor(module, name)
    if constructor is None:
        raise ValueError(f"no constructor {name}")
    if name in _SIZED and any(isinstance(each, int) for each in given):
        raise ValueError(f"{name} of a size")
    if any(isinstance(each, str) and _HUGE.search(each) for each in given) and name in ("Decimal", "Fraction"):
        raise ValueError("a number of too many digits")
    return constructor(*given, **named)
