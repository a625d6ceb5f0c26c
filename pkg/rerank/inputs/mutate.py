"""Change values a little, and let arguments have to do with each other, as they do where functions are called.

What a query shows is the best hint of what its code is called with. A number beside a list is an item of it, a place
in it, or its length; a text beside a text is a part of it; two lists share items. Arguments that know nothing of each
other mostly find nothing in each other, and all code says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from pkg.rerank.parsed_question import Parameter

MAX_ITEMS = 40  # items of a value that is made longer

Change = Callable[[Any, Random], Any]


def mutate_value(value: Any, random: Random) -> Any:
    """Give a value of the same kind, changed in one place."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return _mutate_int(value, random)
    if isinstance(value, float):
        return _mutate_float(value, random)
    if isinstance(value, str):
        return "".join(_mutate_items(list(value), _mutate_character, random))
    if isinstance(value, list):
        return _mutate_items(value, mutate_value, random)
    if isinstance(value, tuple):
        return tuple(_mutate_tuple(value, random))
    if isinstance(value, set | frozenset):
        items = _mutate_items(sorted(value, key=repr), mutate_value, random)
        return type(value)(items)
    if isinstance(value, dict):
        return _mutate_dict(value, random)
    return value


def _mutate_int(value: int, random: Random) -> int:
    size = abs(value)
    sign = -1 if value < 0 else 1
    # Not much larger: what a function does with 5 it may do with 15 in a thousand times the time.
    changed = random.choice((size + 1, size + 2, max(size - 1, 0), size // 2, random.randint(0, size + 3)))
    return sign * changed


def _mutate_float(value: float, random: Random) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        return 1.5
    return random.choice((value + 0.5, value / 2, value * 2, round(random.uniform(0, 2 * value + 1), 2)))


def _mutate_character(sign: str, random: Random) -> str:
    """Give another sign of the same class."""
    if sign.isdigit():
        return random.choice("0123456789")
    if sign.isalpha():
        letter = random.choice("abcdefghijklmnopqrstuvwxyz")
        return letter.upper() if sign.isupper() else letter
    return sign


def _mutate_items(items: list[Any], change: Change, random: Random) -> list[Any]:
    """Leave out, repeat, swap, reorder or change one of the items."""
    if not items:
        return []
    place, other = random.randrange(len(items)), random.randrange(len(items))
    act = random.choice(("drop", "repeat", "change", "change", "swap", "reverse", "shuffle", "copy"))
    changed = list(items)
    if act == "drop":
        del changed[place]
    elif act == "repeat" and len(items) < MAX_ITEMS:
        changed.insert(place, items[other])
    elif act == "swap":
        changed[place], changed[other] = changed[other], changed[place]
    elif act == "reverse":
        changed.reverse()
    elif act == "shuffle":
        random.shuffle(changed)
    elif act == "copy" and len(items) < MAX_ITEMS:
        changed.append(change(items[place], random))
    else:
        changed[place] = change(items[place], random)
    return changed


def _mutate_tuple(items: Sequence[Any], random: Random) -> list[Any]:
    """Change a tuple; one of mixed kinds is a record, whose places have their meaning."""
    if len({type(item) for item in items}) > 1 or len(items) == 2:
        place = random.randrange(len(items))
        return [mutate_value(item, random) if index == place else item for index, item in enumerate(items)]
    return _mutate_items(list(items), mutate_value, random)


def _mutate_dict(value: dict[Any, Any], random: Random) -> dict[Any, Any]:
    if not value:
        return {}
    key = random.choice(list(value))
    if random.random() < 0.3:
        return {each: item for each, item in value.items() if each != key}
    return {each: mutate_value(item, random) if each == key else item for each, item in value.items()}


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
