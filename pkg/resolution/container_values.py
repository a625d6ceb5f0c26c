"""Items of containers, by the site that creates them (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pkg.extract.summary import operations as o
from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.holders import HOLDERS
from pkg.resolution.program import Code
from pkg.resolution.reasons import Reason
from pkg.resolution.site_outcomes import Target
from pkg.resolution.value_sets import (
    EMPTY,
    MANY,
    MOST_VALUES,
    PLAIN,
    Class,
    Constant,
    Container,
    ContainerMethod,
    Coroutine,
    Flavour,
    Function,
    Generator,
    Instance,
    Library,
    Namespace,
    Property,
    Text,
    Unknown,
    Value,
    Values,
    is_large,
    name_item,
    unknown,
)
from pkg.resolution.variables import Variable, find_key, open_container

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

_REST, _NAMED = -1_000_000, -2_000_000
_ANY_ARGUMENT = unknown(Reason.PARAMETER)
_NUMBERED = ("tuple", "list", "rest")
_MOST_KEYS = 64  # constant keys that are distinguished in one container


def _place_key(keyed: tuple[Any, Variable]) -> tuple[str, Any]:
    """Return a sort key of constant keys: by type, then value."""
    key = keyed[0]
    return type(key).__name__, key if isinstance(key, int | str) else repr(key)


class Containers:
    """Read and change containers."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._make = machine.make

    # Contents of one container.

    def open(self, kind: str, code: Code, site: int) -> Container:
        """Return the container that a site creates."""
        return open_container(self._make(Container, kind, code, site))

    def list_keyed(self, container: Container) -> list[tuple[Any, Variable]]:
        """List the constant keys of a container, as the evaluated module sees it."""
        schedule = self.machine.schedule
        keyed = schedule.open_items(container)
        if len(keyed) > container.ordered:
            keyed = container.keyed = dict(sorted(keyed.items(), key=_place_key))
            container.ordered = len(keyed)
        if container.code.module is schedule.home:
            return [each for each in keyed.items() if each[1].values]
        return [each for each in list(keyed.items()) if schedule.see(each[1])]

    def find_keyed(self, container: Container, key: object) -> Variable | None:
        """Return the variable of a constant key; None where it is empty."""
        variable = self.machine.schedule.open_items(container).get(key)
        return variable if variable is not None and self.machine.schedule.see(variable) else None

    def open_rest(self, code: Code, place: int, kind: int) -> Container:
        """Return the container of *args or **kwargs of a function."""
        is_named = kind == o.NAMED_REST
        container = self.open("named" if is_named else "rest", code, (_NAMED if is_named else _REST) - place)
        annotation = code.summary.parameters[place][3]
        if annotation is not None:
            promised = self.machine.types.promise(code.parent, annotation)[0]
            if promised:
                self.machine.write(container.everything, promised)  # type: ignore[arg-type]
                self.machine.write(container.rest, promised)  # type: ignore[arg-type]
        return container

    def put(self, container: Container, key: object, values: Values) -> None:
        """Put values under a key; None is an unknown key."""
        write = self.machine.write
        write(container.everything, values)  # type: ignore[arg-type]
        if key is None:
            write(container.rest, values)  # type: ignore[arg-type]
            return
        keyed = self.machine.schedule.open_items(container)
        if len(keyed) > _MOST_KEYS and self.find_keyed(container, key) is None:
            see = self.machine.schedule.see
            if sum(1 for each in list(keyed.values()) if see(each)) > _MOST_KEYS:
                write(container.rest, values)  # type: ignore[arg-type]
                return
        write(find_key(container, key), values)

    def put_all(self, container: Container, values: Values, start: int, place: int = 0) -> None:
        """Put the items of other containers from a position on; place: their first position in the container."""
        for value in self.machine.order(values):
            keyed = self._list_placed(value)
            if isinstance(value, Container) and keyed:
                for key, variable in keyed:
                    if isinstance(key, int) and key >= start:
                        self.put(container, place + key - start, self.machine.read(variable))
                self.put(container, None, self.machine.read(value.rest))  # type: ignore[arg-type]
            else:
                self.put(container, None, self._iterate_one(value, -1, False))

    def _list_placed(self, value: Value) -> list[tuple[Any, Variable]]:
        """List the items of a tuple or list by known position, and read it so that growth is noticed."""
        if not isinstance(value, Container) or value.kind not in _NUMBERED:
            return []
        self.machine.read(value.everything)  # type: ignore[arg-type]
        return self.list_keyed(value)

    def _is_placed(self, value: Container) -> bool:
        """Return whether any position of a tuple or list is known, and read it so that growth is noticed."""
        if value.kind not in _NUMBERED:
            return False
        self.machine.read(value.everything)  # type: ignore[arg-type]
        schedule = self.machine.schedule
        return any(map(schedule.see, list(schedule.open_items(value).values())))  # which may get more meanwhile

    def merge(self, container: Container, values: Values) -> None:
        """Put the keys and items of mappings."""
        for value in self.machine.order(values):
            if isinstance(value, Container):
                self.machine.read(value.everything)  # type: ignore[arg-type]  # which grows with each further key
                for key, variable in self.list_keyed(value):
                    self.put(container, key, self.machine.read(variable))
                self.put(container, None, self.machine.read(value.rest))  # type: ignore[arg-type]
                self.machine.write(container.keys, self.machine.read(value.keys))  # type: ignore[arg-type]
            elif isinstance(value, Unknown):
                self.put(container, None, frozenset({value}))

    def read_everything(self, container: Container) -> Values:
        """Return all items of a container."""
        return self.machine.read(container.everything)  # type: ignore[arg-type]

    def read_keyed(self, container: Container, key: object) -> Values:
        """Return the values under a constant key."""
        read = self.machine.read
        variable = self.find_keyed(container, key)
        if variable is None:
            if isinstance(key, int) and key < 0 and container.kind in _NUMBERED:
                last = max((each for each, _ in self.list_keyed(container) if isinstance(each, int)), default=-1)
                variable = self.find_keyed(container, last + 1 + key)
            if variable is None:
                if isinstance(key, int) and container.kind not in ("dict", "named"):
                    return read(container.everything)  # type: ignore[arg-type]
                variable = find_key(container, key)
        return read(variable) | read(container.rest)  # type: ignore[arg-type]

    def read_place(self, values: Values, place: int) -> Values:
        """Return the items at a position of starred arguments."""
        result: set[Value] = set()
        for value in self.machine.order(values):
            if isinstance(value, Container) and self._is_placed(value):
                result |= self.machine.read(find_key(value, place))
                result |= self.machine.read(value.rest)  # type: ignore[arg-type]
            else:
                result |= self._iterate_one(value, -1, False)
        return frozenset(result)

    def read_key(self, values: Values, key: str) -> Values:
        """Return the values of mappings under a text."""
        result: set[Value] = set()
        for value in self.machine.order(values):
            if isinstance(value, Container):
                result |= self.read_keyed(value, key)
            elif isinstance(value, Unknown):
                result.add(value)
        return frozenset(result)

    # Operations of a frame.

    def collect(self, node: Sequence[Any], values: list[Values], number: int) -> Container:
        """Create the container of a display."""
        kind = node[1]
        container = self.open(kind, self.machine.code, number)
        place: int | None = 0
        for element in node[2]:
            star, first = element[0], element[1]
            found = values[first]
            key = values[element[2]] if len(element) > 2 else EMPTY
            if star == 0:
                if kind == "dict":
                    self._put_entry(container, key, found)
                else:
                    self.put(container, place if kind in _NUMBERED else None, found)
                    place = place + 1 if place is not None else None
            elif star == 1:
                if place is not None and kind in _NUMBERED:
                    self.put_all(container, found, 0, place)
                else:
                    self.put(container, None, self.iterate(found, -1, False))
                place = None
            elif star == 2:
                self.merge(container, found)
            else:
                self.put(container, None, found)
                if key:
                    self.machine.write(container.keys, key)  # type: ignore[arg-type]
        return container

    def _put_entry(self, container: Container, key: Values, values: Values) -> None:
        constants = (each for each in self.machine.order(key) if isinstance(each, Constant))
        known = [each.value for each in constants if each.value is not None]
        if known and len(known) == len(key):
            for each in known:
                self.put(container, each, values)
        else:
            self.put(container, None, values)
        self.machine.write(container.keys, key)  # type: ignore[arg-type]

    def read_item(self, owners: Values, key: Values, site: int) -> Values:
        """Return an item of every value, calling `__getitem__` or `__class_getitem__` where defined."""
        if not owners:
            return EMPTY
        result: set[Value] = set()
        for owner in self.machine.order(owners):
            result |= self._read_one(owner, key, site)
        self.machine.special.note_missing(owners, site)
        return MANY if is_large(owners) else frozenset(result)

    def _read_one(self, owner: Value, key: Values, site: int) -> Values:
        machine = self.machine
        if isinstance(owner, Container):
            if _is_slice(key):
                return self._slice(owner, key, site)
            if owner.kind in ("generator", "iterator", "set"):
                return self.read_everything(owner)
            machine.special.note_key(key, site)
            known = [each.value for each in key if isinstance(each, Constant) and each.value is not None]
            others = len(key) - len(known)
            if known and (not others or (owner.kind in _NUMBERED and key >= _ANY_ARGUMENT and others == 1)):
                return EMPTY.union(*(self.read_keyed(owner, each) for each in known))
            return self.read_everything(owner)
        if isinstance(owner, Instance):
            if machine.program.hierarchy.find(owner.info, "__getitem__") is not None:
                return machine.special.call_special(owner, "__getitem__", [key], site)
            held = self.held_in(owner)
            found: Values = EMPTY
            if machine.program.hierarchy.find(owner.info, "__missing__") is not None:
                found = machine.special.call_special(owner, "__missing__", [key], site)
            return found | self.read_everything(held) if held is not None else found or unknown(Reason.ITEM)
        if isinstance(owner, Class):
            made = machine.program.hierarchy.find(owner.info, "__class_getitem__")
            if made is not None:
                for member in machine.read(made.members["__class_getitem__"]):
                    if isinstance(member, Function):
                        machine.note(site, Target(member.code, "special method", CERTAIN))
                return frozenset({owner})
            if owner.info.is_enumeration:
                return frozenset({self._make(Instance, owner.info, Flavour.EXACT)})
            if owner.info.metaclass is not None:
                found = machine.special.call_of_metaclass(owner, "__getitem__", [key], site)
                return found or frozenset({owner})
            return frozenset({owner})
        if isinstance(owner, Library):
            is_type = "." in owner.name and not owner.name.endswith("()")
            return frozenset({owner if is_type else self._make(Library, name_item(owner.name))})
        if isinstance(owner, Namespace):
            return self.read_namespace(owner, key)
        if isinstance(owner, Constant | Text):
            return frozenset({PLAIN[owner.kind if isinstance(owner, Constant) else "str"]})
        return frozenset({owner}) if isinstance(owner, Unknown) else unknown(Reason.ITEM)

    def _slice(self, owner: Container, key: Values, site: int) -> Values:
        """Return the items of a list from a position on."""
        starts = [each.value for each in key if isinstance(each, Constant)]
        if owner.kind not in _NUMBERED or starts == [0]:
            return frozenset({owner})
        made = self.open("tuple" if owner.kind == "tuple" else "list", self.machine.code, 80_000_000 + site)
        if len(starts) == 1 and isinstance(starts[0], int):
            self.put_all(made, frozenset({owner}), starts[0])
        else:
            self.put(made, None, self.read_everything(owner))
        return frozenset({made})

    def read_namespace(self, owner: Namespace, key: Values) -> Values:
        """Return the values of names read from a namespace as a dict."""
        result: set[Value] = set()
        for each in key:
            if isinstance(each, Constant) and isinstance(each.value, str):
                result |= self.machine.attributes.read(owner.owner, each.value)
            else:
                result |= unknown(Reason.CHOSEN)
        return frozenset(result) or unknown(Reason.CHOSEN)

    def held_in(self, owner: Instance) -> Container | None:
        """Return the container of an object whose class extends a builtin container; None for others."""
        for each in owner.info.order:
            for name in each.libraries:
                kind = _KINDS.get(name.rpartition(".")[2])
                if kind is not None:
                    return self.open(kind, each.code, -3_000_000)
        return None

    def fill_object(self, owner: Instance, arguments: Arguments) -> None:
        """Put constructor arguments into the container of an object whose class extends a builtin container."""
        held = self.held_in(owner) if arguments.placed or arguments.named else None
        if held is None:
            return
        values = arguments.get(0)
        if held.kind == "dict":
            self.merge(held, values)
            for name, given in arguments.named:
                self.put(held, name, given)
        else:
            self.put(held, None, self.iterate(values, -1, False))

    def assign(self, owners: Values, key: Values, values: Values, site: int) -> None:
        """Assign to an item of every value."""
        self.machine.special.note_missing(owners, site)
        for owner in self.machine.order(owners):
            if isinstance(owner, Container):
                self.machine.special.note_key(key, site)
                if owner.kind in ("dict", "named"):
                    self._put_entry(owner, key, values)
                elif _is_slice(key):
                    self.put(owner, None, self.iterate(values, -1, False))
                else:
                    known = [each.value for each in key if isinstance(each, Constant) and isinstance(each.value, int)]
                    self.put(owner, known[0] if len(known) == 1 and self.find_keyed(owner, known[0]) else None, values)
            elif isinstance(owner, Instance):
                if self.machine.program.hierarchy.find(owner.info, "__setitem__") is not None:
                    self.machine.special.call_special(owner, "__setitem__", [key, values], site)
                elif (held := self.held_in(owner)) is not None:
                    self._put_entry(held, key, values)
            elif isinstance(owner, Namespace):
                for each in key:
                    if isinstance(each, Constant) and isinstance(each.value, str):
                        self.machine.attributes.assign_one(owner.owner, each.value, values, -1)

    def iterate(self, values: Values, site: int, is_async: bool) -> Values:
        """Return the items of every value, calling `__iter__` and `__next__`."""
        result: set[Value] = set()
        for value in self.machine.order(values):
            result |= self._iterate_one(value, site, is_async)
        self.machine.special.note_missing(values, site)
        return frozenset(result)

    def _iterate_one(self, value: Value, site: int, is_async: bool) -> Values:
        machine = self.machine
        if isinstance(value, Container):
            if value.kind in ("dict", "named"):
                keys = machine.read(value.keys)  # type: ignore[arg-type]
                machine.read(value.everything)  # type: ignore[arg-type]  # which grows with each further key
                names = [key for key, _ in self.list_keyed(value) if isinstance(key, str)] if not keys else ()
                named = frozenset(self._make(Constant, "str", key) for key in names)
                return keys or named or frozenset({PLAIN["str"]})
            return self.read_everything(value)
        if isinstance(value, Generator):
            return (
                machine.calls.adapt(machine.read(value.code.yielded), value.receiver)
                if value.receiver is not None
                else machine.read(value.code.yielded)
            )
        if isinstance(value, Instance):
            return self._iterate_object(value, site, is_async)
        if isinstance(value, Class):
            if value.info.metaclass is not None:
                came = machine.special.call_of_metaclass(value, "__iter__", [], site)
                if came:
                    return self.iterate(came, -1, False)
            if value.info.is_enumeration:
                return frozenset({self._make(Instance, value.info, Flavour.EXACT)})
            return unknown(Reason.ITEM)
        if isinstance(value, Library):
            return frozenset({self._make(Library, name_item(value.name))})
        if isinstance(value, Constant | Text):
            kind = value.kind if isinstance(value, Constant) else "str"
            return frozenset({PLAIN["str" if kind == "str" else "int"]}) if kind in ("str", "bytes") else EMPTY
        if isinstance(value, Coroutine):
            return machine.read(value.code.result)
        return frozenset({value}) if isinstance(value, Unknown) else unknown(Reason.ITEM)

    def _iterate_object(self, value: Instance, site: int, is_async: bool) -> Values:
        special, find = self.machine.special, self.machine.program.hierarchy.find
        first, following = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        if find(value.info, first) is None:
            if not is_async and find(value.info, "__getitem__") is not None:
                return special.call_special(value, "__getitem__", [frozenset({PLAIN["int"]})], site)
            held = self.held_in(value)
            return self._iterate_one(held, site, is_async) if held is not None else unknown(Reason.ITEM)
        result: set[Value] = set()
        for iterator in special.call_special(value, first, [], site):
            if isinstance(iterator, Instance):
                if find(iterator.info, following) is not None:
                    came = special.call_special(iterator, following, [], site)
                    result |= self.machine.calls.await_all(came, -1) if is_async else came
                else:
                    held = self.held_in(iterator)
                    result |= self.read_everything(held) if held is not None else unknown(Reason.ITEM)
            else:
                result |= self._iterate_one(iterator, -1, is_async)
        return frozenset(result)

    def unpack(self, values: Values, place: int, count: int, starred: int, site: int) -> Values:
        """Return the values that one target of an unpacking gets."""
        result: set[Value] = set()
        for value in self.machine.order(values):
            if isinstance(value, Container) and self._is_placed(value):
                if place == starred:
                    result |= self.read_everything(value)
                elif starred < 0 or place < starred:
                    result |= self.read_keyed(value, place)
                else:
                    result |= self.read_keyed(value, place - count)
            else:
                result |= self._iterate_one(value, site, False)
        if place != starred:
            return frozenset(result)
        made = self.open("list", self.machine.code, 10_000_000 + self.machine.number)
        self.put(made, None, frozenset(result))
        return frozenset({made})

    def list_classes(self, values: Values) -> Values:
        """Return values with tuples flattened, as isinstance() takes classes."""
        result = set(values)
        waiting = [value for value in values if isinstance(value, Container)]
        for container in waiting:
            found = self.read_everything(container)
            waiting += [each for each in found if isinstance(each, Container) and each not in result]
            result |= found
        return frozenset(each for each in result if not isinstance(each, Container)) if waiting else values

    def copy(self, kind: str, values: Values, site: int) -> Values:
        """Return a new container of a kind with the items of others."""
        made = self.open(kind, self.machine.code, 20_000_000 + site)
        if kind == "dict":
            for value in self.machine.order(values):
                if isinstance(value, Container) and value.kind in ("dict", "named"):
                    self.merge(made, frozenset({value}))
                else:
                    for pair in self.machine.order(self._iterate_one(value, -1, False)):
                        key = self._read_one(pair, frozenset({self._make(Constant, "int", 0)}), -1)
                        item = self._read_one(pair, frozenset({self._make(Constant, "int", 1)}), -1)
                        self._put_entry(made, key, item)
        else:
            for value in self.machine.order(values):
                if kind in _NUMBERED and self._list_placed(value):
                    self.put_all(made, frozenset({value}), 0)
                else:
                    self.put(made, None, self._iterate_one(value, site, False))
        return frozenset({made})

    def fill(self, kind: str, items: Values, site: int, keys: Values = EMPTY) -> Values:
        """Return a new container of a kind that holds some values."""
        made = self.open(kind, self.machine.code, 20_000_000 + site)
        self.put(made, None, items)
        if keys:
            self.machine.write(made.keys, keys)  # type: ignore[arg-type]
        return frozenset({made})

    def pair(self, first: Values, second: Values, site: int, offset: int = 30_000_000) -> Values:
        """Return a new tuple of two."""
        made = self.open("tuple", self.machine.code, offset + site)
        self.put(made, 0, first)
        self.put(made, 1, second)
        return frozenset({made})

    # Methods of containers.

    def call_method(self, method: ContainerMethod, arguments: Arguments, site: int) -> Values:
        """Call a method of a container, generator or namespace."""
        owner, name = method.container, method.name
        if isinstance(owner, Namespace):
            if name in ("get", "pop", "setdefault", "__getitem__"):
                return self.read_namespace(owner, arguments.get(0))
            return unknown(Reason.CHOSEN if name in ("values", "items", "keys") else Reason.RESULT)
        if isinstance(owner, Property):
            return self.machine.library.extend_property(method, arguments.get(0))
        if isinstance(owner, Generator):
            if name in ("__next__", "send", "__anext__", "asend", "throw"):
                return self._iterate_one(owner, -1, False)
            return frozenset({owner}) if name in ("__iter__", "__aiter__") else self.machine.read(owner.code.result)
        if not isinstance(owner, Container):
            return unknown(Reason.RESULT)
        methods = HOLDERS.get(owner.kind)
        handler = methods.get(name) if methods is not None else _METHODS.get(name)
        if handler is not None:
            return handler(self, owner, arguments, site)
        return frozenset({self._make(Library, f"builtins.{owner.kind}().{name}()")})

    def _append(self, owner: Container, arguments: Arguments, site: int) -> Values:
        values = arguments.get(0)
        self.put(owner, None, values)
        if owner.kind == "set":
            self.machine.special.note_key(values, site)
        return frozenset({PLAIN["NoneType"]})

    def _insert(self, owner: Container, arguments: Arguments, site: int) -> Values:
        self.put(owner, None, arguments.get(1))
        return frozenset({PLAIN["NoneType"]})

    def _extend(self, owner: Container, arguments: Arguments, site: int) -> Values:
        if owner.kind in ("dict", "named"):
            for values, _ in arguments.placed:
                self.merge(owner, values)
            for name, values in arguments.named:
                self.put(owner, name, values)
        else:
            for values, _ in arguments.placed:
                self.put(owner, None, self.iterate(values, site, False))
        return frozenset({PLAIN["NoneType"]})

    def _get(self, owner: Container, arguments: Arguments, site: int) -> Values:
        return self._read_one(owner, arguments.get(0), site) | arguments.get(1)

    def _pop(self, owner: Container, arguments: Arguments, site: int) -> Values:
        key = arguments.get(0)
        if not arguments.placed or owner.kind == "set":
            return self.read_everything(owner)
        return self._read_one(owner, key, site) | arguments.get(1)

    def _set_default(self, owner: Container, arguments: Arguments, site: int) -> Values:
        self._put_entry(owner, arguments.get(0), arguments.get(1))
        return self._read_one(owner, arguments.get(0), site)

    def _values(self, owner: Container, arguments: Arguments, site: int) -> Values:
        return self.fill("list", self.read_everything(owner), site)

    def _keys(self, owner: Container, arguments: Arguments, site: int) -> Values:
        return self.fill("list", self._iterate_one(owner, -1, False), site)

    def _items(self, owner: Container, arguments: Arguments, site: int) -> Values:
        made = self.open("list", self.machine.code, 40_000_000 + site)
        pairs = set[Value]()
        keyed = self.list_keyed(owner)
        for key, variable in keyed[:MOST_VALUES]:
            kind = "str" if isinstance(key, str) else "int"
            pair = self.open("tuple", self.machine.code, 50_000_000 + site * 64 + len(pairs))
            self.put(pair, 0, frozenset({self._make(Constant, kind, key)}))
            self.put(pair, 1, self.machine.read(variable))
            pairs.add(pair)
        rest = self.machine.read(owner.rest)  # type: ignore[arg-type]
        if rest or len(keyed) > MOST_VALUES or not pairs:
            pairs = set(self.pair(self._iterate_one(owner, -1, False), self.read_everything(owner), site))
        self.put(made, None, frozenset(pairs))
        return frozenset({made})

    def _pop_item(self, owner: Container, arguments: Arguments, site: int) -> Values:
        return self.pair(self._iterate_one(owner, -1, False), self.read_everything(owner), site)

    def _pair_all(self, owner: Container, arguments: Arguments, site: int) -> Values:
        return self.fill("list", self._pop_item(owner, arguments, site), site)

    def _copy_own(self, owner: Container, arguments: Arguments, site: int) -> Values:
        kind = owner.kind if owner.kind in ("dict", "set", "list", "tuple") else "list"
        return self.copy(kind, frozenset({owner}), site)

    def _combine(self, owner: Container, arguments: Arguments, site: int) -> Values:
        made = self.copy("set", frozenset({owner}), site)
        for values, _ in arguments.placed:
            for container in made:
                self.put(container, None, self.iterate(values, site, False))  # type: ignore[arg-type]
        return made

    def _sort(self, owner: Container, arguments: Arguments, site: int) -> Values:
        items = self.read_everything(owner)
        key = arguments.get(9, "key")
        if key:
            arguments = Arguments(self.machine, [(items, False)], [])
            for value in key:
                self.machine.calls.call(value, arguments, site, "callback", POSSIBLE)
        else:
            self.machine.special.note_methods(items, ("__lt__",), site, LIKELY)
        return frozenset({PLAIN["NoneType"]})

    def _find(self, owner: Container, arguments: Arguments, site: int) -> Values:
        self.machine.special.note_methods(arguments.get(0), ("__eq__",), site, LIKELY)
        return frozenset({PLAIN["int"]})

    def _remove(self, owner: Container, arguments: Arguments, site: int) -> Values:
        name = ("__hash__", "__eq__") if owner.kind == "set" else ("__eq__",)
        for each in name:
            confidence = LIKELY if each == "__hash__" else POSSIBLE
            self.machine.special.note_methods(arguments.get(0), (each,), site, confidence)
        return frozenset({PLAIN["NoneType"]})

    def _set_item(self, owner: Container, arguments: Arguments, site: int) -> Values:
        self.assign(frozenset({owner}), arguments.get(0), arguments.get(1), site)
        return frozenset({PLAIN["NoneType"]})


def _is_slice(key: Values) -> bool:
    return any(isinstance(each, Constant) and each.kind == "slice" for each in key)


_KINDS = {
    "dict": "dict", "OrderedDict": "dict", "defaultdict": "dict", "UserDict": "dict", "Counter": "dict", "list": "list",
    "UserList": "list", "tuple": "tuple", "set": "set", "frozenset": "set", "deque": "list",
}  # fmt: skip
_METHODS: dict[str, Callable[[Containers, Container, Arguments, int], Values]] = {
    "append": Containers._append, "add": Containers._append, "appendleft": Containers._append,
    "put": Containers._append,
    "put_nowait": Containers._append, "insert": Containers._insert, "extend": Containers._extend,
    "update": Containers._extend, "extendleft": Containers._extend, "get": Containers._get, "pop": Containers._pop,
    "popleft": Containers._pop, "get_nowait": Containers._pop, "setdefault": Containers._set_default,
    "values": Containers._values, "keys": Containers._keys, "items": Containers._items,
    "popitem": Containers._pop_item, "most_common": Containers._pair_all, "elements": Containers._keys,
    "copy": Containers._copy_own, "union": Containers._combine,
    "intersection": Containers._copy_own, "difference": Containers._copy_own,
    "symmetric_difference": Containers._combine,
    "sort": Containers._sort, "index": Containers._find, "count": Containers._find, "remove": Containers._remove,
    "discard": Containers._remove, "__setitem__": Containers._set_item, "__next__": Containers._pop,
    "__getitem__": lambda containers, owner, arguments, site: containers._read_one(owner, arguments.get(0), site),
    "__iter__": lambda containers, owner, *_: frozenset({owner}),
}  # fmt: skip
