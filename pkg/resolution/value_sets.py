"""Abstract values of expressions; equal values are one object (A-12).

A variable holds a set of them, of any size; but whatever is derived from a set of more than MOST_VALUES is
`Unknown(Reason.MANY)`.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from pkg.resolution.reasons import Reason

if TYPE_CHECKING:
    from pkg.resolution.classes import ClassInfo
    from pkg.resolution.program import Code
    from pkg.resolution.variables import Variable

PROMISED = -1
"""Site of containers promised by annotations."""
MOST_VALUES = 8
"""Largest set whose values are followed one by one."""


class Flavour(Enum):
    """Evidence for the class of an object."""

    EXACT = "constructed"  # of this class, and of no subclass
    SELF = "self"
    TYPED = "annotated"
    NARROWED = "tested"


class Value:
    """An abstract value; created only by `Interner.make`, so that equal values are one object."""

    __slots__ = ()


class Function(Value):
    """An unbound function or lambda of the repository."""

    __slots__ = ("code",)
    code: Code

    def __init__(self, code: Code) -> None:
        self.code = code


class Method(Value):
    """A function bound to an object or a class."""

    __slots__ = ("code", "receiver")

    def __init__(self, code: Code, receiver: Value) -> None:
        self.code = code
        self.receiver = receiver


class Class(Value):
    """A class of the repository; if open, that class or a subclass (`cls`)."""

    __slots__ = ("info", "is_open")

    def __init__(self, info: ClassInfo, is_open: bool) -> None:
        self.info = info
        self.is_open = is_open


class Instance(Value):
    """An object of a class of the repository."""

    __slots__ = ("flavour", "info")

    def __init__(self, info: ClassInfo, flavour: Flavour) -> None:
        self.info = info
        self.flavour = flavour

    @property
    def is_open(self) -> bool:
        """Return whether the object may be of a subclass."""
        return self.flavour is not Flavour.EXACT

    @property
    def is_promised(self) -> bool:
        """Return whether the class comes from an annotation or a test."""
        return self.flavour in (Flavour.TYPED, Flavour.NARROWED)


class Module(Value):
    """A file of the repository as a module."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class Folder(Value):
    """A package without an `__init__.py`."""

    __slots__ = ("folder",)

    def __init__(self, folder: str) -> None:
        self.folder = folder


class Library(Value):
    """A value from outside of the repository, by dotted name; `()` stands for a result, `[]` for an item."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Constant(Value):
    """A text, number, truth value or None; without a value, any of that type."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: object) -> None:
        self.kind = kind
        self.value = value


class Text(Value):
    """A computed text that may name an attribute: its beginning and end."""

    __slots__ = ("beginning", "end")

    def __init__(self, beginning: str, end: str) -> None:
        self.beginning = beginning
        self.end = end


class Container(Value):
    """A list, tuple, dict, set or similar, identified by the site that creates it."""

    __slots__ = ("code", "everything", "keyed", "keys", "kind", "ordered", "promised", "rest", "site")

    def __init__(
        self, kind: str, code: Code, site: int, promised: tuple[Values, Values, tuple[Values, ...]] | None = None
    ) -> None:
        self.kind = kind
        self.code = code
        self.site = site
        self.promised = promised  # of a promised one: items, keys, and parts of a tuple
        self.keyed: dict[object, Variable] = {}  # by constant keys
        self.ordered = 1  # number of leading keys in sorted order
        self.rest: Variable | None = None  # under unknown keys
        self.keys: Variable | None = None
        self.everything: Variable | None = None


class ContainerMethod(Value):
    """A method of a container."""

    __slots__ = ("container", "name")

    def __init__(self, container: Value, name: str) -> None:
        self.container = container
        self.name = name


class Super(Value):
    """The result of super() in a class, for an object or class."""

    __slots__ = ("info", "receiver")

    def __init__(self, info: ClassInfo, receiver: Value) -> None:
        self.info = info
        self.receiver = receiver


class Property(Value):
    """A property, with the functions that read, set and delete it."""

    __slots__ = ("deleter", "getter", "setter")

    def __init__(self, getter: Value | None, setter: Value | None, deleter: Value | None) -> None:
        self.getter = getter
        self.setter = setter
        self.deleter = deleter


class Wrapped(Value):
    """A callable wrapped by classmethod, staticmethod, contextmanager or a decorating object."""

    __slots__ = ("inner", "kind", "manager")

    def __init__(self, kind: str, inner: Value, manager: Value | None = None) -> None:
        self.kind = kind
        self.inner = inner
        self.manager = manager  # entered by each call


class Signature(Value):
    """The signature of a callable in an annotation: arguments and result."""

    __slots__ = ("given", "result")

    def __init__(self, given: tuple[Values, ...], result: Values) -> None:
        self.given = given
        self.result = result


class Partial(Value):
    """A callable with some arguments bound, which are stored by its site."""

    __slots__ = ("code", "inner", "site")

    def __init__(self, inner: Value, code: Code, site: int) -> None:
        self.inner = inner
        self.code = code
        self.site = site


class Maker(Value):
    """A generated constructor of a record class, for objects of that or a subclass."""

    __slots__ = ("info", "is_bound", "made")

    def __init__(self, made: ClassInfo, info: ClassInfo, is_bound: bool) -> None:
        self.made = made
        self.info = info
        self.is_bound = is_bound


class Generator(Value):
    """The result of calling a generator function, with the receiver of a method."""

    __slots__ = ("code", "is_context", "receiver")

    def __init__(self, code: Code, receiver: Value | None, is_context: bool) -> None:
        self.code = code
        self.receiver = receiver
        self.is_context = is_context


class Coroutine(Value):
    """The result of calling an async function."""

    __slots__ = ("code", "receiver")

    def __init__(self, code: Code, receiver: Value | None) -> None:
        self.code = code
        self.receiver = receiver


class Namespace(Value):
    """The names of a module, class or object as a dict."""

    __slots__ = ("owner",)

    def __init__(self, owner: Value) -> None:
        self.owner = owner


class Register(Value):
    """The `register` method of a generic function or an ABC."""

    __slots__ = ("owner",)

    def __init__(self, owner: Value) -> None:
        self.owner = owner


class Unknown(Value):
    """An unknown value, and the reason."""

    __slots__ = ("reason",)

    def __init__(self, reason: Reason) -> None:
        self.reason = reason


Values = frozenset[Value]
Made = TypeVar("Made", bound=Value)

EMPTY: Values = frozenset()
_UNKNOWN = {reason: frozenset({Unknown(reason)}) for reason in Reason}


def unknown(reason: Reason) -> Values:
    """Return a set of one unknown value."""
    return _UNKNOWN[reason]


MANY = unknown(Reason.MANY)
_MOST_WITH_UNKNOWN = MOST_VALUES + len(Reason)


class Interner:
    """Factory of values, equal ones once."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Value] = {}

    def make(self, kind: type[Made], *parts: Any) -> Made:
        """Return the value of a kind and parts."""
        key = (kind, *parts)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = kind(*parts)
        return found  # type: ignore[return-value]

    def list(self, kind: type[Made]) -> list[Made]:
        """List the values of a kind in order of creation."""
        return [each for each in self._made.values() if type(each) is kind]

    def clear(self) -> None:
        """Forget all values."""
        self._made.clear()

    def __len__(self) -> int:
        return len(self._made)


SortKey = tuple[Any, ...]
_NESTED = ("inner", "manager", "owner", "container", "getter", "setter", "deleter")


def make_sort_key(value: Value) -> SortKey:
    """Return a sort key of values: by position of their code, not by creation."""
    kind = type(value).__name__
    if isinstance(value, Function):
        return kind, value.code.position, 0, "", ()
    if isinstance(value, Method | Generator | Coroutine):
        is_context = int(isinstance(value, Generator) and value.is_context)
        return kind, value.code.position, is_context, "", _spell_optional(value.receiver)
    if isinstance(value, Class):
        return kind, value.info.position, int(value.is_open), "", ()
    if isinstance(value, Instance):
        return kind, value.info.position, 0, value.flavour.value, ()
    if isinstance(value, Super):
        return kind, value.info.position, 0, "", make_sort_key(value.receiver)
    if isinstance(value, Container):
        return kind, value.code.position, value.site, value.kind, _spell_promise(value)
    if isinstance(value, Partial):
        return kind, value.code.position, value.site, "", make_sort_key(value.inner)
    if isinstance(value, Maker):
        return kind, value.made.position, value.info.position, str(value.is_bound), ()
    if isinstance(value, Signature):
        return kind, 0, 0, "", _spell_sets(*value.given, value.result)
    nested = tuple(_spell_optional(getattr(value, name)) for name in _NESTED if hasattr(value, name))
    texts = [str(getattr(value, name, "")) for name in ("kind", "name", "path", "folder", "beginning", "end", "value")]
    return kind, 0, 0, "\0".join((*texts, str(getattr(value, "reason", "")))), nested


def _spell_promise(value: Container) -> SortKey:
    """Return a sort key of the promised containers of one scope."""
    if value.promised is None:
        return ()
    items, keys, parts = value.promised
    return _spell_sets(items, keys, *parts)


def _spell_optional(value: Value | None) -> SortKey:
    return make_sort_key(value) if value is not None else ()


def _spell_sets(*sets: Values) -> SortKey:
    return tuple(tuple(sorted(map(make_sort_key, each))) for each in sets)


def name_item(name: str) -> str:
    """Return the name of an item of a library value; bounded, so that the analysis ends."""
    return name if name.endswith("[]") else f"{name.removesuffix('()')}[]"


_TEXTS = (Constant, Text)
_VAGUE = frozenset().union(*map(unknown, (Reason.PARAMETER, Reason.ARGUMENT, Reason.ITEM, Reason.RESULT)))
_CALLED = (Function, Method, Partial, Wrapped, Signature, Library, Constant, Unknown)
"""A set of these alone is only called, so that it may be large."""
_MOST_MERGED = 64  # largest set whose constants are merged
(_NOT_FOLLOWED,) = unknown(Reason.EXPRESSION)


def merge_alike(values: Values) -> Values:
    """Merge the constants of each type, and the unknown values, into one each."""
    alike = [value for value in values if type(value) in _TEXTS or value in _VAGUE]
    return values.difference(alike).union(map(_find_alike, alike)) if alike else values


def _find_alike(value: Value) -> Value:
    return _NOT_FOLLOWED if isinstance(value, Unknown) else PLAIN[value.kind if isinstance(value, Constant) else "str"]


def is_none(value: Value) -> bool:
    """Return whether a value is None."""
    return isinstance(value, Constant) and value.kind == "NoneType"


def is_large(values: Collection[Value]) -> bool:
    """Return whether a set has more than MOST_VALUES known values."""
    if len(values) <= MOST_VALUES:
        return False
    return len(values) > _MOST_WITH_UNKNOWN or sum(type(each) is not Unknown for each in values) > MOST_VALUES


def bound(values: Values) -> Values:
    """Return the bounded form of a large set: unchanged if all are callables, as in a registry; else MANY."""
    if all(type(each) in _CALLED for each in values):
        return merge_alike(values)
    merged = merge_alike(values) if len(values) < _MOST_MERGED else MANY
    return MANY if is_large(merged) else merged


class _Plain(dict[str, Constant]):
    def __missing__(self, kind: str) -> Constant:
        made = self[kind] = Constant(kind, None)
        return made


PLAIN = _Plain()
"""Constants without a value, by type."""
