"""Functions that are made of functions: functools, operator, contextlib (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import ITS_CLASS, OBJECT, PARTIAL, UNBOUND, Value, Values, join, target_of
from pkg.resolve.arguments import Arguments
from pkg.resolve.outcomes import Run
from pkg.resolve.plugins import gives, make_object, runs
from pkg.resolve.resolution_context import Context

KEPT = ""  # no confidence: the library calls nothing itself, but the arguments are handed over


@gives("functools.partial", "functools.partialmethod")
def bind_arguments(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a callable with the arguments behind the first; of one that has some, no more are counted: loops end so."""
    given, binding = max(len(arguments.nodes) - 1, 0), OBJECT if name.endswith("method") else UNBOUND
    return frozenset(_make_partial(value, given, binding) for value in arguments.derive(0))


@gives("builtins.staticmethod", "builtins.classmethod")
def make_method(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a method that takes the class, or one that takes neither that nor an object."""
    binding = ITS_CLASS if name.endswith("classmethod") else UNBOUND
    return frozenset(_make_partial(value, 0, binding) for value in arguments.derive(0))


def _make_partial(value: Value, given: int, binding: str) -> Value:
    """Give a callable that is made of another; of one that is made so itself no more is told: loops end so."""
    return (PARTIAL, value, given, binding) if value[0] != PARTIAL and target_of(value) is not None else value


@runs("functools.partial", "functools.partialmethod")
def hand_arguments(context: Context, name: str, arguments: Arguments) -> Iterator[Run]:
    """Hand the arguments behind the first to what is called later."""
    shift = 0 if name.endswith("method") else -1
    return (Run(value, shift, "partial", KEPT) for value in arguments.derive(0) if target_of(value) is not None)


@gives("functools.reduce", calls=True)
def fold(context: Context, name: str, arguments: Arguments) -> Values:
    """Give what the function gives back that is given first."""
    made = make_object(name)
    given = [context.ask(q.CALL, each) if target_of(each) is not None else made for each in arguments.derive(0)]
    return join(given) | arguments.derive(2)


@gives("dataclasses.field", "attr.ib", "attr.attrib", "attr.field", "attrs.field")
def make_field(context: Context, name: str, arguments: Arguments) -> Values:
    """Give the default of a field, or what makes it gives back."""
    found = make_object(name)
    for each in arguments.keywords:
        if each.arg == "default":
            found |= arguments.derive_node(each.value)
        elif each.arg in ("default_factory", "factory"):
            found |= join(context.ask(q.CALL, value) for value in arguments.derive_node(each.value))
    return found


@gives("dataclasses.replace", "attr.evolve", "attrs.evolve")
def replace(context: Context, name: str, arguments: Arguments) -> Values:
    """Give an object like the first argument."""
    return arguments.derive(0)
