"""Results of library calls, and the arguments that these call (A-12).

A model is a function registered for names of callees; a name that begins with a dot matches any module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pkg.model import LIKELY, POSSIBLE
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.classes import NAMES, name_names
from pkg.resolution.program import Code
from pkg.resolution.reasons import Reason
from pkg.resolution.site_outcomes import Target
from pkg.resolution.value_sets import (
    EMPTY,
    PLAIN,
    Class,
    Constant,
    Container,
    ContainerMethod,
    Flavour,
    Function,
    Generator,
    Instance,
    Library,
    Method,
    Module,
    Namespace,
    Partial,
    Property,
    Super,
    Text,
    Unknown,
    Value,
    Values,
    Wrapped,
    unknown,
)

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

MAX_DOTS = 4  # of the dotted name of a library value
_PROPERTIES = ("property", "cached_property", "abstractproperty", "lazy_property", "reify", "hybrid_property")
_TRANSPARENT_KINDS = (Function, Class, Method, Wrapped)
_NOT_CALLING = (
    "builtins.", "logging.", "functools.", "typing.", "dataclasses.", "abc.", "warnings.", "collections.",
    "contextlib.", "operator.", "enum.", "inspect.", "types.", "copy.",
)  # fmt: skip
Model = Callable[["LibraryCalls", Arguments, int, str], Values]
_MODELS: dict[str, Model] = {}


def models(*names: str) -> Callable[[Model], Model]:
    """Register the decorated function as the model of calls of some names."""

    def register(model: Model) -> Model:
        for name in names:
            _MODELS[name] = model
        return model

    return register


_PARTIAL = 90_000_000  # added to the site of a partial, for the containers of its arguments


class LibraryCalls:
    """Call functions and classes of libraries."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.make = machine.make

    def _open_given(self, partial: Partial) -> tuple[Container, Container]:
        """Return the containers of the arguments of a partial, by position and by name."""
        site = _PARTIAL + partial.site
        containers = self.machine.containers
        return containers.open("rest", partial.code, site), containers.open("named", partial.code, site)

    def keep_partial(self, partial: Partial, arguments: Arguments) -> None:
        """Store the arguments of a partial."""
        placed, named = self._open_given(partial)
        containers = self.machine.containers
        for place, (values, is_starred) in enumerate(arguments.placed):
            if is_starred:
                containers.put(placed, None, containers.iterate(values, -1, False))
                break
            containers.put(placed, place, values)
        for name, values in arguments.named:
            if name:
                containers.put(named, name, values)
            else:
                containers.merge(named, values)

    def read_partial(self, partial: Partial) -> Arguments:
        """Return the arguments of a partial."""
        placed, named = self._open_given(partial)
        read, list_keyed = self.machine.read, self.machine.containers.list_keyed
        read(placed.everything)  # type: ignore[arg-type]  # which grows with each argument
        read(named.everything)  # type: ignore[arg-type]
        by_place = [(read(variable), False) for _, variable in list_keyed(placed)]
        if read(placed.rest):  # type: ignore[arg-type]
            by_place.append((frozenset({placed}), True))
        return Arguments(self.machine, by_place, [(name, read(variable)) for name, variable in list_keyed(named)])

    def name(self, name: str) -> Values:
        """Return a library value; the length of names is bounded, so that the analysis ends."""
        if name.count(".") > MAX_DOTS or name.count("(") > 1 or name.count("[") > 1:
            name = name.partition(".")[0] + ".*()"
        return frozenset({self.make(Library, name)})

    def read_attribute(self, value: Library, name: str) -> Values:
        """Read an attribute of a library value."""
        if value.name.endswith(".*()"):
            return frozenset({value})
        return self.name(f"{value.name}.{name}")

    def call(self, name: str, arguments: Arguments, site: int) -> Values:
        """Return the result of a library call."""
        model = self._find(name)
        if model is not None:
            return model(self, arguments, site, name)
        if not name.startswith(_NOT_CALLING):
            self.machine.calls.note_callbacks(arguments, site, LIKELY)
        if name in _TYPES:
            return frozenset({PLAIN[_TYPES[name]]})
        return self.made(name)

    def made(self, name: str) -> Values:
        """Return the result of a library call without a model."""
        return self.name(f"{name}()") if not name.endswith("()") else self.name(name)

    def _find(self, name: str) -> Model | None:
        return _MODELS.get(name) or _MODELS.get("." + name.rpartition(".")[2])

    def call_with(self, function: Values, given: list[Values], site: int, rule: str = "callback") -> Values:
        """Call functions as a library does, with known arguments."""
        arguments = Arguments(self.machine, [(each, False) for each in given], [])
        result: set[Value] = set()
        for value in self.machine.order(function):
            if isinstance(value, Library | Unknown):
                result |= self.made(value.name) if isinstance(value, Library) else {value}
            elif not isinstance(value, Constant):
                result |= self.machine.calls.call(value, arguments, site, rule, LIKELY)
        return frozenset(result)

    def items_of(self, values: Values, site: int) -> Values:
        """Return the items of iterables."""
        return self.machine.containers.iterate(values, site, False)

    def wrap(self, kind: str, value: Value, manager: Value | None = None) -> Value:
        """Wrap a callable by a builtin decorator, at most once by each kind."""
        inner: Value = value
        while isinstance(inner, Wrapped):
            if inner.kind == kind:
                return value
            inner = inner.inner
        return self.make(Wrapped, kind, value, manager)

    # Decorators.

    def decorate(self, callee: Value, made: Values) -> Values:
        """Return the result of decorating by a library's or an unknown decorator."""
        name = callee.name if isinstance(callee, Library) else ""
        last = name.rpartition(".")[2].removesuffix("()")
        if name in ("builtins.staticmethod", "builtins.classmethod"):
            return frozenset(self.wrap(last, each) for each in made)
        if last in _PROPERTIES or (last.endswith("property") and name):
            return frozenset(self.make(Property, each, None, None) for each in made)
        if name in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            return frozenset(self.wrap("contextmanager", each) for each in made)
        return made

    def extend_property(self, method: ContainerMethod, made: Values) -> Values:
        """Return a property with a setter, deleter or getter added."""
        before: Any = method.container
        result: set[Value] = set()
        for each in made:
            parts = {"getter": before.getter, "setter": before.setter, "deleter": before.deleter}
            parts[method.name] = each
            result.add(self.make(Property, parts["getter"], parts["setter"], parts["deleter"]))
        return frozenset(result)

    def enter(self, value: Library) -> Values:
        """Return the result of entering a library's context manager."""
        if value.name in ("contextlib.ExitStack()", "contextlib.AsyncExitStack()"):
            return frozenset({value})
        return frozenset({value}) if value.name.endswith("()") else self.made(value.name)

    # Attributes by name.

    def read_chosen(self, owners: Values, keys: Values) -> Values:
        """Return the attributes named by texts."""
        result: set[Value] = set()
        for key in self.machine.order(keys):
            if isinstance(key, Constant) and isinstance(key.value, str):
                for owner in self.machine.order(owners):
                    result |= self.machine.attributes.read(owner, key.value)
            elif isinstance(key, Text):
                result |= unknown(Reason.CHOSEN)
                for owner in self.machine.order(owners):
                    for name in self._list_names(owner):
                        if name.startswith(key.beginning) and name.endswith(key.end):
                            found = self.machine.attributes.read(owner, name)
                            result |= {each for each in found if not isinstance(each, Unknown)}
            else:
                result |= unknown(Reason.CHOSEN)
        return frozenset(result)

    def _list_names(self, owner: Value) -> list[str]:
        consulted = self.machine.schedule.consulted
        if isinstance(owner, Module):
            consulted.add(name_names(owner.path))
            module = self.machine.program.modules.get(owner.path)
            return sorted(module.names) if module is not None else []
        if isinstance(owner, Instance | Class | Super):
            consulted.add((owner.info, NAMES))
        if isinstance(owner, Instance | Class):
            infos = list(owner.info.order)
            if owner.is_open:
                infos += self.machine.program.hierarchy.list_derived(owner.info)
            return sorted({name for info in infos for name in (*info.members, *info.fields)})
        if isinstance(owner, Super):
            return sorted({name for info in owner.info.order[1:] for name in info.members})
        return []


_TYPES = {
    "builtins.str": "str", "builtins.int": "int", "builtins.float": "float", "builtins.bool": "bool",
    "builtins.bytes": "bytes", "builtins.len": "int", "builtins.repr": "str", "builtins.isinstance": "bool",
    "builtins.issubclass": "bool", "builtins.hasattr": "bool", "builtins.callable": "bool", "builtins.id": "int",
    "builtins.hash": "int", "builtins.ord": "int", "builtins.chr": "str", "builtins.format": "str",
    "builtins.print": "NoneType", "builtins.any": "bool", "builtins.all": "bool", "builtins.abs": "int",
}  # fmt: skip


# Builtins that call special methods of their arguments.

_CONVERTED = {
    "abs": ("__abs__",), "bool": ("__bool__", "__len__"), "bytes": ("__bytes__",), "dir": ("__dir__",),
    "complex": ("__complex__", "__float__", "__index__"), "float": ("__float__", "__index__"),
    "format": ("__format__", "__str__", "__repr__"), "hash": ("__hash__",), "hex": ("__index__",),
    "int": ("__int__", "__index__", "__trunc__"), "len": ("__len__",), "repr": ("__repr__",), "round": ("__round__",),
    "str": ("__str__", "__repr__"), "ascii": ("__repr__",), "bin": ("__index__",), "oct": ("__index__",),
    "divmod": ("__divmod__",), "pow": ("__pow__",), "aiter": ("__aiter__",), "anext": ("__anext__",),
}  # fmt: skip


@models(*(f"builtins.{name}" for name in _CONVERTED))
def _convert(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    values, short = arguments.get(0), name.removeprefix("builtins.")
    machine = library.machine
    if short == "hash":
        machine.special.note_hash(values, site)
    else:
        machine.special.note_methods(values, _CONVERTED[short], site, LIKELY)
    result: set[Value] = set()
    if short in ("abs", "round", "divmod", "pow", "aiter", "anext"):
        for value in library.machine.order(values):
            first = machine.special.find_first(value, _CONVERTED[short]) if isinstance(value, Instance) else None
            if first is not None:
                result |= machine.special.call_special(value, first, [arguments.get(1)], site)  # type: ignore[arg-type]
    if short == "str" and len(values) == 1:
        (value,) = values
        if isinstance(value, Constant) and value.kind == "str":
            return values
    if name in _TYPES and not result:
        return frozenset({PLAIN[_TYPES[name]]})
    return frozenset(result) or library.made(name)


@models("builtins.print")
def _print(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    for values, _ in arguments.placed:
        library.machine.special.note_methods(values, ("__str__", "__repr__"), site, LIKELY)
    return frozenset({PLAIN["NoneType"]})


@models("builtins.super")
def _super(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    machine = library.machine
    if arguments.placed:
        result: set[Value] = set()
        for value in library.machine.order(arguments.get(0)):
            if isinstance(value, Class):
                receivers = [each for each in arguments.get(1) if isinstance(each, Instance | Class)]
                own: list[Value] = [library.make(Instance, value.info, Flavour.SELF)]
                for each in receivers or own:
                    result.add(library.make(Super, value.info, each))
            else:
                result |= unknown(Reason.EXPRESSION)
        return frozenset(result)
    code: Code | None = machine.code
    while code is not None:
        if code.owner_class is not None:
            first, info = machine.parameter(code, 0) if code.receiver_place == 0 else EMPTY, code.owner_class
            return frozenset(library.make(Super, info, value) for value in first) or unknown(Reason.EXPRESSION)
        code = code.parent
    return unknown(Reason.EXPRESSION)


@models("builtins.type")
def _type(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    if len(arguments.placed) != 1:
        return library.made(name)
    result: set[Value] = set()
    for value in library.machine.order(arguments.get(0)):
        if isinstance(value, Instance):
            result |= library.machine.attributes.read(value, "__class__")
        elif isinstance(value, Constant):
            result.add(library.make(Library, f"builtins.{value.kind}"))
        elif isinstance(value, Class) and value.info.metaclass is not None:
            result.add(library.make(Class, value.info.metaclass, False))
        elif isinstance(value, Library) and value.name.endswith("()"):
            result.add(library.make(Library, value.name.removesuffix("()")))
        elif isinstance(value, Unknown):
            result.add(value)
        else:
            result |= library.made(name)
    return frozenset(result)


def _list_texts(library: LibraryCalls, keys: Values) -> list[str]:
    found = [each.value for each in library.machine.order(keys) if isinstance(each, Constant)]
    return [each for each in found if isinstance(each, str)]


def _list_reads(library: LibraryCalls, arguments: Arguments) -> Iterator[Target]:
    """Iterate over the calls made by reading the attributes that texts name."""
    for key in _list_texts(library, arguments.get(1)):
        for owner in library.machine.order(arguments.get(0)):
            yield from library.machine.attributes.list_called(owner, key)


@models("builtins.getattr", "inspect.getattr_static")
def _getattr(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    found = library.read_chosen(arguments.get(0), arguments.get(1))
    for target in _list_reads(library, arguments):
        library.machine.note(site, target)
    default = arguments.get(2)
    if default and any(isinstance(each, Unknown) for each in found):
        found = frozenset(each for each in found if not (isinstance(each, Unknown) and each.reason is Reason.ATTRIBUTE))
    return found | default


@models("builtins.setattr")
def _setattr(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    for key in _list_texts(library, arguments.get(1)):
        library.machine.attributes.assign(arguments.get(0), key, arguments.get(2), site)
    return frozenset({PLAIN["NoneType"]})


@models("builtins.delattr")
def _delattr(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    for key in _list_texts(library, arguments.get(1)):
        library.machine.attributes.delete(arguments.get(0), key, site)
    return frozenset({PLAIN["NoneType"]})


@models("builtins.hasattr")
def _hasattr(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    for target in _list_reads(library, arguments):
        library.machine.note(site, target._replace(confidence=POSSIBLE))
    return frozenset({PLAIN["bool"]})


@models("builtins.globals")
def _globals(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return frozenset({library.make(Namespace, library.make(Module, library.machine.code.module.path))})


@models("builtins.vars")
def _vars(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    result: set[Value] = set()
    for value in library.machine.order(arguments.get(0)):
        result |= library.machine.attributes.read(value, "__dict__")
    return frozenset(result) or library.made(name)


# Collections.


_COLLECTED = {
    "tuple": "tuple", "set": "set", "frozenset": "set", "WeakSet": "set", "iter": "iterator", "reversed": "iterator",
}  # fmt: skip


@models(".list", ".tuple", ".set", ".frozenset", ".WeakSet", ".deque", ".sorted", ".reversed", ".iter",
        "itertools.islice", "itertools.cycle")  # fmt: skip
def _collect(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    last = name.rpartition(".")[2]
    machine, values, kind = library.machine, arguments.get(0), _COLLECTED.get(last, "list")
    if not arguments.placed:
        return machine.containers.fill(kind, EMPTY, site)
    if last == "reversed":
        for value in library.machine.order(values):
            if isinstance(value, Instance) and machine.special.find_first(value, ("__reversed__",)) is not None:
                return machine.special.call_special(value, "__reversed__", [], site)
    if last == "iter" and len(arguments.placed) == 2:
        return machine.containers.fill(kind, library.call_with(values, [], site), site)
    if last == "iter" and all(isinstance(each, Generator) for each in values):
        return values
    made = machine.containers.copy(kind, values, site)
    if last == "sorted":
        items = EMPTY.union(*(machine.containers.read_everything(each) for each in made if isinstance(each, Container)))
        key = arguments.get(9, "key")
        if key:
            library.call_with(key, [items], site)
        else:
            machine.special.note_methods(items, ("__lt__",), site, LIKELY)
    elif kind == "set":
        for each in made:
            if isinstance(each, Container):
                machine.special.note_key(machine.containers.read_everything(each), site)
    return made


@models("builtins.enumerate")
def _enumerate(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    containers = library.machine.containers
    pair = containers.pair(frozenset({PLAIN["int"]}), library.items_of(arguments.get(0), site), site)
    return containers.fill("iterator", pair, site)


@models("builtins.zip", "itertools.zip_longest", "itertools.product")
def _zip(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    containers = library.machine.containers
    row = containers.open("tuple", library.machine.code, 30_000_000 + site)
    for place, (values, starred) in enumerate(arguments.placed):
        items = library.items_of(values, site)
        containers.put(row, None if starred else place, library.items_of(items, -1) if starred else items)
    return containers.fill("iterator", frozenset({row}), site)


@models("builtins.dict", ".OrderedDict", ".WeakValueDictionary", ".WeakKeyDictionary", ".ChainMap",
        "types.MappingProxyType")  # fmt: skip
def _dict(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    containers = library.machine.containers
    made = containers.copy("dict", EMPTY.union(*(values for values, _ in arguments.placed)), site)
    for each in made:
        for key, values in arguments.named:
            if isinstance(each, Container):
                containers.put(each, key, values) if key else containers.merge(each, values)
    return made


@models(".defaultdict")
def _default_dict(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    containers = library.machine.containers
    items: set[Value] = set()
    for value in library.machine.order(arguments.get(0)):
        last = value.name.rpartition(".")[2] if isinstance(value, Library) else ""
        if last in ("list", "dict", "set", "tuple", "deque", "OrderedDict"):
            kind = {"deque": "list", "OrderedDict": "dict"}.get(last, last)
            items.add(containers.open(kind, library.machine.code, 70_000_000 + site))
        else:
            items |= library.call_with(frozenset({value}), [], site)
    return containers.fill("dict", frozenset(items), site)


@models("builtins.dict.fromkeys")
def _from_keys(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    keys = library.items_of(arguments.get(0), site)
    library.machine.special.note_key(keys, site)
    return library.machine.containers.fill("dict", arguments.get(1), site, keys)


@models("itertools.chain")
def _chain(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items: set[Value] = set()
    for values, starred in arguments.placed:
        found = library.items_of(values, site)
        items |= library.items_of(found, -1) if starred else found
    return library.machine.containers.fill("iterator", frozenset(items), site)


@models("itertools.chain.from_iterable")
def _chain_all(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = library.items_of(library.items_of(arguments.get(0), site), -1)
    return library.machine.containers.fill("iterator", items, site)


@models("builtins.next", "heapq.heappop", "builtins.max", "builtins.min", "random.choice", "heapq.heappushpop",
        "heapq.heapreplace", "statistics.mode", "collections.deque().popleft")  # fmt: skip
def _pick(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    machine = library.machine
    if name == "builtins.next":
        result: set[Value] = set(arguments.get(1))
        for value in library.machine.order(arguments.get(0)):
            if isinstance(value, Instance) and machine.special.find_first(value, ("__next__",)) is not None:
                result |= machine.special.call_special(value, "__next__", [], site)
            else:
                result |= library.items_of(frozenset({value}), -1)
        return frozenset(result)
    if len(arguments.placed) > 1 and name in ("builtins.max", "builtins.min"):
        items = EMPTY.union(*(values for values, _ in arguments.placed))
    else:
        items = library.items_of(arguments.get(0), site)
    if name in ("builtins.max", "builtins.min"):
        key = arguments.get(9, "key")
        if key:
            library.call_with(key, [items], site)
        else:
            first = "__gt__" if name.endswith("max") else "__lt__"
            machine.special.note_methods(items, (first, "__lt__", "__gt__"), site, LIKELY)
        items |= arguments.get(9, "default")
    return items


@models("heapq.heappush", "bisect.insort")
def _push(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    for owner in library.machine.order(arguments.get(0)):
        if isinstance(owner, Container):
            library.machine.containers.put(owner, None, arguments.get(1))
    return frozenset({PLAIN["NoneType"]})


@models("builtins.sum")
def _sum(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = library.items_of(arguments.get(0), site)
    start = arguments.get(1, "start") or frozenset({PLAIN["int"]})
    first = library.machine.special.operate("+", start, items, site, False)
    return first | library.machine.special.operate("+", items, items, site, False)


@models("builtins.any", "builtins.all")
def _go_through(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = library.items_of(arguments.get(0), site)
    library.machine.special.note_methods(items, ("__bool__", "__len__"), site, LIKELY)
    return frozenset({PLAIN["bool"]})


# Functions that call their arguments.


@models("builtins.map", "itertools.starmap")
def _map(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    first, *others = [values for values, _ in arguments.placed] or [EMPTY]
    if first and others and all(isinstance(each, Container) for each in first):  # swapped arguments
        first, others = others[0], [first, *others[1:]]
    given = [library.items_of(values, site) for values in others]
    if name == "itertools.starmap":
        given = [library.items_of(each, -1) for each in given]
    items = library.call_with(first, given, site)
    return library.machine.containers.fill("iterator", items, site)


@models("builtins.filter", "itertools.filterfalse", "itertools.takewhile", "itertools.dropwhile")
def _filter(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = library.items_of(arguments.get(1), site)
    library.call_with(arguments.get(0), [items], site)
    return library.machine.containers.fill("iterator", items, site)


@models("itertools.groupby")
def _group(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    containers = library.machine.containers
    items = library.items_of(arguments.get(0), site)
    key = arguments.get(1, "key")
    keys = library.call_with(key, [items], site) if key else items
    return containers.fill(
        "iterator", containers.pair(keys, containers.fill("iterator", items, site + 1_000_000), site), site
    )


@models("functools.reduce")
def _reduce(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = library.items_of(arguments.get(1), site)
    start = arguments.get(2) or items
    first = library.call_with(arguments.get(0), [start, items], site)
    return library.call_with(arguments.get(0), [start | first, items], site) | start


@models("functools.partial", "functools.partialmethod")
def _partial(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    result: set[Value] = set()
    for value in library.machine.order(arguments.get(0)):
        if isinstance(value, Function | Method | Class | Wrapped | Instance):  # a partial says no more
            made = library.make(Partial, value, library.machine.code, site)
            library.keep_partial(made, arguments.cut(1))
            result.add(made)
        else:
            result.add(value)
    return frozenset(result)


@models("functools.wraps()", "functools.update_wrapper", "weakref.proxy", "copy.copy", "copy.deepcopy",
        "dataclasses.replace", "attr.evolve", "attrs.evolve", "typing.final", "functools.lru_cache()",
        "functools.total_ordering")  # fmt: skip
def _first(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    values = arguments.get(0)
    if name in ("copy.copy", "copy.deepcopy"):
        library.machine.special.note_methods(values, (f"__{name.rpartition('.')[2]}__",), site, LIKELY)
    return values


@models("builtins.staticmethod", "builtins.classmethod", ".property", ".cached_property", ".abstractproperty",
        "contextlib.contextmanager", "contextlib.asynccontextmanager")  # fmt: skip
def _make_method(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    last = name.rpartition(".")[2]
    if last in ("staticmethod", "classmethod", "contextmanager", "asynccontextmanager"):
        kind = "contextmanager" if last.endswith("contextmanager") else last
        return frozenset(library.wrap(kind, each) for each in arguments.get(0))
    parts = [arguments.get(place, key) for place, key in enumerate(("fget", "fset", "fdel"))]
    if last != "property":
        parts = [arguments.get(0, "func"), EMPTY, EMPTY]
    first, second, third = (sorted((v for v in part if not isinstance(v, Constant)), key=_order)[:1] for part in parts)
    getter, setter, deleter = (part[0] if part else None for part in (first, second, third))
    return frozenset({library.make(Property, getter, setter, deleter)})


def _order(value: Value) -> int:
    code = getattr(value, "code", None)
    return code.position if isinstance(code, Code) else -1


@models(".__new__")
def _new(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return frozenset(
        library.make(Instance, value.info, Flavour.SELF if value.is_open else Flavour.EXACT)
        for value in arguments.get(0)
        if isinstance(value, Class)
    )


@models("typing.cast", "typing_extensions.cast")
def _cast(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    made = frozenset(
        library.make(Instance, value.info, Flavour.TYPED) for value in arguments.get(0) if isinstance(value, Class)
    )
    return made or arguments.get(1)


@models("importlib.import_module", "builtins.__import__")
def _import_module(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    result: set[Value] = set()
    machine = library.machine
    for key in library.machine.order(arguments.get(0)):
        if isinstance(key, Constant) and isinstance(key.value, str):
            dotted = key.value.lstrip(".")
            level = len(key.value) - len(dotted)
            find = machine.program.map
            path = machine.code.module.path
            found = find.find_relative(path, level, dotted) if level else find.find_absolute(path, dotted)
            result |= machine.types.list_modules(found) if found else library.name(dotted)
        else:
            result |= unknown(Reason.CHOSEN)
    return frozenset(result)


@models("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext")
def _hold(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    values = arguments.get(0)
    if not name.endswith("nullcontext"):
        close = "aclose" if name.endswith("aclosing") else "close"
        for value in library.machine.order(values):
            if isinstance(value, Instance):
                library.call_with(library.machine.attributes.read(value, close), [], site, "context")
    return library.machine.containers.fill("context", values, site)


@models("contextlib.ExitStack().enter_context", "contextlib.AsyncExitStack().enter_async_context")
def _enter(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return library.machine.special.enter(arguments.get(0), name.endswith("async_context"), site)


@models("contextlib.ExitStack().callback", "contextlib.AsyncExitStack().callback",
        "contextlib.AsyncExitStack().push_async_callback")  # fmt: skip
def _call_later(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    library.call_with(arguments.get(0), [values for values, _ in arguments.placed[1:]], site)
    return arguments.get(0)


@models("dataclasses.field", "attr.ib", "attr.attrib", "attr.field", "attrs.field")
def _field(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    result: set[Value] = set(arguments.get(9, "default"))
    for key in ("default_factory", "factory"):
        given = arguments.get(9, key)
        info = library.machine.code.class_info
        if info is not None and info.record is not None:
            functions = frozenset(each for each in given if isinstance(each, _TRANSPARENT_KINDS))
            library.machine.write(info.record.factories, functions)
        for value in library.machine.order(given):
            if isinstance(value, Library):
                result |= library.call(value.name, Arguments(library.machine, [], []), site)
            else:
                result |= library.call_with(frozenset({value}), [], -1)
    return frozenset(result) or library.made(name)


@models("asyncio.gather")
def _gather(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items: set[Value] = set()
    for values, starred in arguments.placed:
        items |= library.machine.calls.await_all(library.items_of(values, -1) if starred else values, -1)
    return library.machine.containers.fill(
        "awaitable", library.machine.containers.fill("list", frozenset(items), site + 1_000_000), site
    )
