"""Mutate values slightly, and relate arguments to each other.

The examples of a query are the best hint of typical arguments. In real calls a number beside a list is an item, an
index or its length, a text beside a text is a part of it, and two lists share items. On unrelated arguments most code,
correct or not, returns the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from pkg.rerank.parsed_question import Parameter

MAX_ITEMS = 40  # items of a value that is made longer

Change = Callable[[Any, Random], Any]


def mutate_value(value: Any, random: Random) -> Any:
    """Return a value of the same type, changed in one position."""
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
    # Not much larger: the time of a function may be exponential in its argument.
    changed = random.choice((size + 1, size + 2, max(size - 1, 0), size // 2, random.randint(0, size + 3)))
    return sign * changed


def _mutate_float(value: float, random: Random) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        return 1.5
    return random.choice((value + 0.5, value / 2, value * 2, round(random.uniform(0, 2 * value + 1), 2)))


def _mutate_character(character: str, random: Random) -> str:
    """Return a character of the same class."""
    if character.isdigit():
        return random.choice("0123456789")
    if character.isalpha():
        letter = random.choice("abcdefghijklmnopqrstuvwxyz")
        return letter.upper() if character.isupper() else letter
    return character


def _mutate_items(items: list[Any], change: Change, random: Random) -> list[Any]:
    """Drop, repeat, swap, reorder or change items."""
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
    """Change a tuple; one of mixed types is a record, whose positions have a meaning."""
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
_POSITIONS = frozenset(
    ("i", "j", "k", "l", "r", "index", "pos", "position", "start", "end", "low", "high", "left", "right")
)
_CHARACTERS = frozenset(("c", "ch", "char", "character", "letter"))
"""Parameters that may be the length of the argument before them, a position in it, or one of its characters."""

RELATED = 0.6  # share of related arguments: most searches succeed, and some fail


def relate_arguments(parameters: Sequence[Parameter], values: Sequence[Any], random: Random) -> list[Any]:
    """Relate some arguments to the nearest text or sequence before them."""
    made: list[Any] = []
    for parameter, value in zip(parameters, values, strict=True):
        before = next((each for each in reversed(made) if isinstance(each, str | list | tuple)), None)
        is_related = before is not None and random.random() < RELATED
        made.append(_fit(parameter.name.lower(), value, before, random) if is_related else value)
    return made


def _fit(name: str, value: Any, before: Any, random: Random) -> Any:
    """Return a value related to the one before, of the same type as the value."""
    if type(value) is type(before):
        return _fit_group(name, value, before, random)
    items = [each for each in before if type(each) is type(value)]
    if type(value) is not int or not before:
        return random.choice(items) if items else value
    if name in _LENGTHS and random.random() < RELATED:
        return len(before)
    if items and name not in _POSITIONS and random.random() < RELATED:
        return random.choice(items)
    rows = [len(each) for each in before if isinstance(each, str | list | tuple)]
    return random.randrange(max(1, min(rows, default=len(before))))


def _fit_group(name: str, value: Any, before: Any, random: Random) -> Any:
    """Return a part of the text before, or a list that shares its items."""
    if isinstance(value, str) and before and (name in _CHARACTERS or random.random() < 0.5):
        start = random.randrange(len(before))
        return before[start] if name in _CHARACTERS else before[start : start + random.randint(1, 3)]
    return mutate_value(before, random)
