"""Collections that are made by calls: lists and the like of the items of others, dicts of what is given (A-12)."""

from __future__ import annotations

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CONTAINER, EMPTY, GENERATOR, LIBRARY, OBJECTS, Values, join
from pkg.resolve.arguments import Arguments
from pkg.resolve.containers import PAIR
from pkg.resolve.origins import Columns
from pkg.resolve.plugins import gives, make_object
from pkg.resolve.resolution_context import Context

_FOLLOWED = (CONTAINER, GENERATOR, *OBJECTS)  # what a copy or a list of it keeps items of


@gives(".list", ".tuple", ".set", ".frozenset", ".sorted", ".reversed", ".iter", ".enumerate", ".deque",
       "itertools.islice", "itertools.cycle", "builtins.aiter")  # fmt: skip
def collect(context: Context, name: str, arguments: Arguments) -> Values:
    """Collect what the first argument holds."""
    if not arguments.nodes:
        return context.containers.collect((*arguments.place, ""), EMPTY)
    items = context.ask(q.ITERATED, frozenset(value for value in arguments.derive(0) if value[0] in _FOLLOWED), False)
    if name.endswith("enumerate"):
        items = context.containers.collect((*arguments.place, PAIR), items)
    return make_object(name) | context.containers.collect((*arguments.place, ""), items)


@gives("itertools.chain")
def chain(context: Context, name: str, arguments: Arguments) -> Values:
    """Collect what all arguments hold."""
    items = join(context.ask(q.ITERATED, arguments.derive_node(node), False) for node in arguments.nodes)
    return context.containers.collect((*arguments.place, ""), items)


@gives("itertools.chain.from_iterable")
def chain_all(context: Context, name: str, arguments: Arguments) -> Values:
    """Collect what is held by what the argument holds."""
    items = context.ask(q.ITERATED, context.ask(q.ITERATED, arguments.derive(0), False), False)
    return context.containers.collect((*arguments.place, ""), items)


@gives("builtins.zip", "itertools.zip_longest")
def pair(context: Context, name: str, arguments: Arguments) -> Values:
    """Collect rows that have an item of each argument."""
    columns = Columns(tuple(map(arguments.write, arguments.nodes)))
    return context.containers.collect(
        (*arguments.place, ""), context.containers.note((*arguments.place, "row"), columns)
    )


@gives("builtins.dict", ".OrderedDict", ".WeakValueDictionary")
def make_mapping(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a dict of what is given by name, and of what the first argument holds."""
    call = arguments.call
    if call is None:
        return make_object(name)
    return context.containers.note((*arguments.place, ""), arguments.write(call))


@gives(".defaultdict", calls=True)
def make_default(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a dict whose items a function makes that it is given first."""
    inner = context.containers.collect((*arguments.place, "made"), EMPTY)  # of a list, say
    made = [context.ask(q.CALL, each) if each[0] != LIBRARY else inner for each in arguments.derive(0)]
    return context.containers.collect((*arguments.place, ""), join(made) if arguments.nodes else inner)


@gives("builtins.dict.fromkeys")
def fill(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a dict that holds the second argument."""
    return context.containers.collect((*arguments.place, ""), arguments.derive(1))


@gives("copy.copy", "copy.deepcopy")
def copy(context: Context, name: str, arguments: Arguments) -> Values:
    """Give what is like the argument."""
    return frozenset(value for value in arguments.derive(0) if value[0] in _FOLLOWED) | make_object(name)
