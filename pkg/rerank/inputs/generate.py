"""Generate the inputs on which candidates are compared; they do not depend on the order of the candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Any

from pkg.rerank.candidates import Example
from pkg.rerank.examples.calls import list_calls
from pkg.rerank.examples.constructors import CONSTRUCTORS, MODULES, PLAIN
from pkg.rerank.examples.literals import NotLiteral, evaluate, write_value
from pkg.rerank.inputs.input_values import LiteralPool, make_value
from pkg.rerank.inputs.parameter_types import ArgumentTypes
from pkg.rerank.parsed_question import Parameter

_TRIES = 20  # per required input: mutations of short values repeat often
_SEVERAL = 0.3  # share of inputs in which all arguments are mutated, not one

Arguments = tuple[Any, ...]
MAX_ITEMS = 40  # items of a value that is made longer

Change = Callable[[Any, Random], Any]


def vary_inputs(seed: str, seen: Sequence[Arguments], count: int) -> tuple[str, ...]:
    """Return the arguments of up to `count` calls, mutated from those in the query and different from them."""
    made = _vary_all(seen, _start(seed)) if seen else iter(())
    return _write_some(made, count, {_write(each) for each in seen})


def guess_inputs(
    seed: str, parameters: Sequence[Parameter], profile: ArgumentTypes, pool: LiteralPool, count: int
) -> tuple[str, ...]:
    """Return the arguments of up to `count` calls of some types, from short to long.

    Code that hangs is soon given up, so long inputs come last.
    """
    made = _guess_all(parameters, profile, pool, _start(seed)) if parameters else iter(())
    return tuple(sorted(_write_some(made, count, set()), key=len))


def _start(seed: str) -> Random:
    return Random(sha256(seed.encode("utf-8", "replace")).digest())


def _write_some(made: Iterator[Arguments], count: int, known: set[str]) -> tuple[str, ...]:
    """Return the source of up to `count` distinct arguments that are not known."""
    fresh = (text for text in map(_write, islice(made, count * _TRIES)) if text not in known)
    return tuple(islice(dict.fromkeys(fresh), count))


def _write(arguments: Arguments) -> str:
    return ", ".join(map(write_value, arguments))


def _vary_all(seen: Sequence[Arguments], random: Random) -> Iterator[Arguments]:
    """Mutate the arguments of each call in turn; sometimes combine the arguments of two calls."""
    lengths = _find_lengths(seen)
    turn = 0
    while True:
        arguments = list(deepcopy(seen[turn % len(seen)]))
        turn += 1
        if not arguments:
            return
        if random.random() < _SEVERAL:
            arguments = [mutate_value(each, random) for each in arguments]
        else:
            index = random.randrange(len(arguments))
            arguments[index] = mutate_value(_borrow(arguments, index, seen, random), random)
        for index, measured in lengths:
            if index < len(arguments) and measured < len(arguments):
                arguments[index] = len(arguments[measured])
        yield tuple(arguments)


def _borrow(arguments: list[Any], index: int, seen: Sequence[Arguments], random: Random) -> Any:
    """Return the argument at an index, or that of another call if it has the same type."""
    other = random.choice(seen)
    if index < len(other) and type(other[index]) is type(arguments[index]) and random.random() < 0.5:
        return deepcopy(other[index])
    return arguments[index]


def _find_lengths(seen: Sequence[Arguments]) -> list[tuple[int, int]]:
    """Find pairs of arguments of which one is the length of the other in every call, as in `count(items, n)`."""
    width = min(map(len, seen))
    return [
        (index, measured)
        for index in range(width)
        for measured in range(width)
        if all(_is_length(each[index], each[measured]) for each in seen)
    ]


def _is_length(number: Any, measured: Any) -> bool:
    return type(number) is int and isinstance(measured, str | list | tuple) and number == len(measured)


def _guess_all(
    parameters: Sequence[Parameter], profile: ArgumentTypes, pool: LiteralPool, random: Random
) -> Iterator[Arguments]:
    while True:
        values = [make_value(kind, random, pool) for kind in profile]
        yield tuple(relate_arguments(parameters, values, random))


_IMPORTED = frozenset((*MODULES, *(CONSTRUCTORS.keys() - PLAIN)))  # their source would need an import


def list_arguments(examples: Iterable[Example], entry: str) -> list[Arguments]:
    """List the arguments of the calls of the entry point in examples, if they are plain literals."""
    found = []
    for call in list_calls(examples, entry):
        with suppress(NotLiteral):
            found.append(tuple(evaluate(each, _IMPORTED) for each in call.args))
    return found


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
    """Relate some arguments to the nearest text or sequence before them.

    In real calls a number beside a list is an item, an index or its length, a text beside a text is a part of it, and
    two lists share items. On unrelated arguments most code, correct or not, returns the same.
    """
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
