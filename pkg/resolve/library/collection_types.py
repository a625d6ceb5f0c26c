"""Collections that are made by calls: lists and the like of the items of others, dicts of what is given (A-12)."""

from __future__ import annotations

from pkg.resolve.abstract_values import CONTAINER, EMPTY, GENERATOR, LIBRARY, OBJECTS, Values, join
from pkg.resolve.arguments import Arguments
from pkg.resolve.containers import PAIR, Columns
from pkg.resolve.library.plugins import Library, gives, make_object

_FOLLOWED = (CONTAINER, GENERATOR, *OBJECTS)  # what a copy or a list of it keeps items of


@gives(".list", ".tuple", ".set", ".frozenset", ".sorted", ".reversed", ".iter", ".enumerate", ".deque",
       "itertools.islice", "itertools.cycle", "builtins.aiter")  # fmt: skip
def collect(library: Library, name: str, arguments: Arguments) -> Values:
    """Collect what the first argument holds."""
    if not arguments.nodes:
        return library.containers.collect((*arguments.place, ""), EMPTY)
    items = library.items.iterate(frozenset(value for value in arguments.derive(0) if value[0] in _FOLLOWED))
    if name.endswith("enumerate"):
        items = library.containers.collect((*arguments.place, PAIR), items)
    return make_object(name) | library.containers.collect((*arguments.place, ""), items)


@gives("itertools.chain")
def chain(library: Library, name: str, arguments: Arguments) -> Values:
    """Collect what all arguments hold."""
    items = join(library.items.iterate(arguments.derive_node(node)) for node in arguments.nodes)
    return library.containers.collect((*arguments.place, ""), items)


@gives("itertools.chain.from_iterable")
def chain_all(library: Library, name: str, arguments: Arguments) -> Values:
    """Collect what is held by what the argument holds."""
    items = library.items.iterate(library.items.iterate(arguments.derive(0)))
    return library.containers.collect((*arguments.place, ""), items)


@gives("builtins.zip", "itertools.zip_longest")
def pair(library: Library, name: str, arguments: Arguments) -> Values:
    """Collect rows that have an item of each argument."""
    columns = Columns(tuple(map(arguments.write, arguments.nodes)))
    return library.containers.collect(
        (*arguments.place, ""), library.containers.note((*arguments.place, "row"), columns)
    )


@gives("builtins.dict", ".OrderedDict", ".WeakValueDictionary")
def make_mapping(library: Library, name: str, arguments: Arguments) -> Values:
    """Give a dict of what is given by name, and of what the first argument holds."""
    call = arguments.call
    if call is None:
        return make_object(name)
    return library.containers.note((*arguments.place, ""), arguments.write(call))


@gives(".defaultdict", calls=True)
def make_default(library: Library, name: str, arguments: Arguments) -> Values:
    """Give a dict whose items a function makes that it is given first."""
    inner = library.containers.collect((*arguments.place, "made"), EMPTY)  # of a list, say
    made = [library.methods.call(each) if each[0] != LIBRARY else inner for each in arguments.derive(0)]
    return library.containers.collect((*arguments.place, ""), join(made) if arguments.nodes else inner)


@gives("builtins.dict.fromkeys")
def fill(library: Library, name: str, arguments: Arguments) -> Values:
    """Give a dict that holds the second argument."""
    return library.containers.collect((*arguments.place, ""), arguments.derive(1))


@gives("copy.copy", "copy.deepcopy")
def copy(library: Library, name: str, arguments: Arguments) -> Values:
    """Give what is like the argument."""
    return frozenset(value for value in arguments.derive(0) if value[0] in _FOLLOWED) | make_object(name)
