"""Let arguments have to do with each other, as they do where functions are called.

A number beside a list is an item of it, a place in it, or its length; a text beside a text is a part of it; two lists
share items. Arguments that know nothing of each other mostly find nothing in each other, and all code says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from pkg.rerank.inputs.mutate import mutate_value
from pkg.rerank.question import Parameter

_LENGTHS = frozenset(("n", "m", "size", "length", "len", "count"))
_PLACES = frozenset(
    ("i", "j", "k", "l", "r", "index", "pos", "position", "start", "end", "low", "high", "left", "right")
)
_SIGNS = frozenset(("c", "ch", "char", "character", "letter"))
"""Parameters that may be the length of what stands before them, a place in it, or one sign of it."""

RELATED = 0.6  # share of what fits: most calls find something, and some find nothing


def relate_arguments(parameters: Sequence[Parameter], values: Sequence[Any], random: Random) -> list[Any]:
    """Change arguments so that some of them fit a group or a text that stands before them."""
    made: list[Any] = []
    for parameter, value in zip(parameters, values, strict=True):
        before = next((each for each in reversed(made) if isinstance(each, str | list | tuple)), None)
        is_related = before is not None and random.random() < RELATED
        made.append(_fit(parameter.name.lower(), value, before, random) if is_related else value)
    return made


def _fit(name: str, value: Any, before: Any, random: Random) -> Any:
    """Take a value that has to do with the one before, of the same type as the value."""
    if type(value) is type(before):
        return _fit_group(name, value, before, random)
    items = [each for each in before if type(each) is type(value)]
    if type(value) is not int or not before:
        return random.choice(items) if items else value
    if name in _LENGTHS and random.random() < RELATED:
        return len(before)
    if items and name not in _PLACES and random.random() < RELATED:
        return random.choice(items)
    rows = [len(each) for each in before if isinstance(each, str | list | tuple)]
    return random.randrange(max(1, min(rows, default=len(before))))


def _fit_group(name: str, value: Any, before: Any, random: Random) -> Any:
    """Give a text that is a part of the one before, or a list that shares its items."""
    if isinstance(value, str) and before and (name in _SIGNS or random.random() < 0.5):
        start = random.randrange(len(before))
        return before[start] if name in _SIGNS else before[start : start + random.randint(1, 3)]
    return mutate_value(before, random)
