"""Generate the inputs on which candidates are compared; they do not depend on the order of the candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from pkg.rerank.inputs.mutate import mutate_value, relate_arguments
from pkg.rerank.inputs.parameter_types import ArgumentTypes
from pkg.rerank.parsed_question import Parameter

_TRIES = 20  # per required input: mutations of short values repeat often
_SEVERAL = 0.3  # share of inputs in which all arguments are mutated, not one

Arguments = tuple[Any, ...]


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
