"""What an expression may stand for while code is resolved: abstract values, equal ones are one object (A-12).

A set of them is what is known of a variable. Sets are small: a variable may hold any number, but what is derived from
one that holds more than MOST_VALUES is `Unknown(Reason.MANY)`.
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
"""The site of containers that annotations promise."""
MOST_VALUES = 8
"""Values of a set that something is still derived from one by one."""


class Flavour(Enum):
    """Say how it is known of which class an object is."""

    EXACT = "constructed"  # of this class, and of none derived from it
    SELF = "self"
    TYPED = "annotated"
    NARROWED = "tested"


class Value:
    """One abstract value; made by `intern` alone, so that equal ones are one object."""

    __slots__ = ()


class Function(Value):
    """A function or lambda of the repository, not bound to an object."""

    __slots__ = ("code",)
    code: Code

    def __init__(self, code: Code) -> None:
        self.code = code


class Method(Value):
    """A function that is bound to an object or a class."""

    __slots__ = ("code", "receiver")

    def __init__(self, code: Code, receiver: Value) -> None:
        self.code = code
        self.receiver = receiver


class Class(Value):
    """A class of the repository; where it is open, that class or one derived from it (`cls`)."""

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
        """Return whether it may be of a derived class."""
        return self.flavour is not Flavour.EXACT

    @property
    def is_promised(self) -> bool:
        """Return whether an annotation or a test says that it is of the class."""
        return self.flavour in (Flavour.TYPED, Flavour.NARROWED)


class Module(Value):
    """A file of the repository as a module."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class Folder(Value):
    """A package without a file of its own."""

    __slots__ = ("folder",)

    def __init__(self, folder: str) -> None:
        self.folder = folder


class Library(Value):
    """Something outside of the repository, by its dotted name; `()` stands for a result, `[]` for an item."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Constant(Value):
    """A text, number, truth value or None; without a value, any of its type."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: object) -> None:
        self.kind = kind
        self.value = value


class Text(Value):
    """A text that is put together, as far as it may name an attribute: its beginning and end."""

    __slots__ = ("beginning", "end")

    def __init__(self, beginning: str, end: str) -> None:
        self.beginning = beginning
        self.end = end


class Container(Value):
    """A list, tuple, dict, set or the like, told apart by the site that makes it."""

    __slots__ = ("code", "everything", "keyed", "keys", "kind", "ordered", "promised", "rest", "site")

    def __init__(
        self, kind: str, code: Code, site: int, promised: tuple[Values, Values, tuple[Values, ...]] | None = None
    ) -> None:
        self.kind = kind
        self.code = code
        self.site = site
        self.promised = promised  # of one that an annotation promises: items, keys, and the parts of a tuple
        self.keyed: dict[object, Variable] = {}  # by constant keys
        self.ordered = 1  # of these keys, how many stand in their order
        self.rest: Variable | None = None  # under keys that are not known
        self.keys: Variable | None = None
        self.everything: Variable | None = None


class ContainerMethod(Value):
    """A method of a container."""

    __slots__ = ("container", "name")

    def __init__(self, container: Value, name: str) -> None:
        self.container = container
        self.name = name


class Super(Value):
    """What super() gives in a class, for an object or class."""

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
    """A callable that classmethod, staticmethod or contextmanager made of another, or an object that decorates it."""

    __slots__ = ("inner", "kind", "manager")

    def __init__(self, kind: str, inner: Value, manager: Value | None = None) -> None:
        self.kind = kind
        self.inner = inner
        self.manager = manager  # which each call enters


class Signature(Value):
    """What an annotation says of a callable: the arguments that it is given, and what it gives back."""

    __slots__ = ("given", "result")

    def __init__(self, given: tuple[Values, ...], result: Values) -> None:
        self.given = given
        self.result = result


class Partial(Value):
    """A callable with some arguments given; they stand at the site that made it."""

    __slots__ = ("code", "inner", "site")

    def __init__(self, inner: Value, code: Code, site: int) -> None:
        self.inner = inner
        self.code = code
        self.site = site


class Maker(Value):
    """The constructor that is made of the fields of one class, for objects of it or of one derived from it."""

    __slots__ = ("info", "is_bound", "made")

    def __init__(self, made: ClassInfo, info: ClassInfo, is_bound: bool) -> None:
        self.made = made
        self.info = info
        self.is_bound = is_bound


class Generator(Value):
    """What calling a function with a yield gives, and for a method the object it was called on."""

    __slots__ = ("code", "is_context", "receiver")

    def __init__(self, code: Code, receiver: Value | None, is_context: bool) -> None:
        self.code = code
        self.receiver = receiver
        self.is_context = is_context


class Coroutine(Value):
    """What calling an asynchronous function gives."""

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
    """What takes further functions for a generic one, or classes for an abstract one."""

    __slots__ = ("owner",)

    def __init__(self, owner: Value) -> None:
        self.owner = owner


class Unknown(Value):
    """What cannot be told, and why."""

    __slots__ = ("reason",)

    def __init__(self, reason: Reason) -> None:
        self.reason = reason


Values = frozenset[Value]
Made = TypeVar("Made", bound=Value)

EMPTY: Values = frozenset()
_UNKNOWN = {reason: frozenset({Unknown(reason)}) for reason in Reason}


def unknown(reason: Reason) -> Values:
    """Return the set of one unknown value."""
    return _UNKNOWN[reason]


MANY = unknown(Reason.MANY)
_MOST_WITH_UNKNOWN = MOST_VALUES + len(Reason)


class Interner:
    """Make values, equal ones once."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Value] = {}

    def make(self, kind: type[Made], *parts: Any) -> Made:
        """Make a value of a kind."""
        key = (kind, *parts)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = kind(*parts)
        return found  # type: ignore[return-value]

    def list(self, kind: type[Made]) -> list[Made]:
        """List the values of a kind, in the order in which they were made."""
        return [each for each in self._made.values() if type(each) is kind]

    def clear(self) -> None:
        """Forget all values."""
        self._made.clear()

    def __len__(self) -> int:
        return len(self._made)


SortKey = tuple[Any, ...]


def make_sort_key(value: Value) -> SortKey:
    """Return what values are ordered by: where the code stands that they are of, not when they were made."""
    kind = type(value).__name__
    if isinstance(value, Function | Coroutine):
        return kind, value.code.position, 0, "", ()
    if isinstance(value, Method | Generator):
        return kind, value.code.position, 0, "", make_sort_key(value.receiver) if value.receiver is not None else ()
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
    inner = [
        getattr(value, name) for name in ("inner", "owner", "container", "getter", "setter") if hasattr(value, name)
    ]
    nested = tuple(make_sort_key(each) for each in inner if isinstance(each, Value))
    texts = [str(getattr(value, name, "")) for name in ("kind", "name", "path", "folder", "beginning", "end", "value")]
    return kind, 0, 0, "\0".join((*texts, str(getattr(value, "reason", "")))), nested


def _spell_promise(value: Container) -> SortKey:
    """Return what containers are ordered by that annotations in one scope promise."""
    if value.promised is None:
        return ()
    items, keys, parts = value.promised
    return tuple(tuple(sorted(map(make_sort_key, each))) for each in (items, keys, *parts))


def name_item(name: str) -> str:
    """Name an item of something of a library. Names end, so that loops do."""
    return name if name.endswith("[]") else f"{name.removesuffix('()')}[]"


_TEXTS = (Constant, Text)
_VAGUE = frozenset().union(*map(unknown, (Reason.PARAMETER, Reason.ARGUMENT, Reason.ITEM, Reason.RESULT)))
_CALLED = (Function, Method, Partial, Wrapped, Signature, Library, Constant, Unknown)
"""Of a set of these alone nothing is derived but by calling them, so that it may be large."""
_MOST_MERGED = 64  # values of a set whose constants are still looked at
(_NOT_FOLLOWED,) = unknown(Reason.EXPRESSION)


def merge_alike(values: Values) -> Values:
    """Leave one constant of each type among values, and one value for all of which merely nothing is known."""
    alike = [value for value in values if type(value) in _TEXTS or value in _VAGUE]
    return values.difference(alike).union(map(_find_alike, alike)) if alike else values


def _find_alike(value: Value) -> Value:
    return _NOT_FOLLOWED if isinstance(value, Unknown) else PLAIN[value.kind if isinstance(value, Constant) else "str"]


def is_none(value: Value) -> bool:
    """Return whether a value is None."""
    return isinstance(value, Constant) and value.kind == "NoneType"


def is_large(values: Collection[Value]) -> bool:
    """Return whether a set has more than MOST_VALUES values that are known."""
    if len(values) <= MOST_VALUES:
        return False
    return len(values) > _MOST_WITH_UNKNOWN or sum(type(each) is not Unknown for each in values) > MOST_VALUES


def bound(values: Values) -> Values:
    """Return what a variable gets of a large set: all callables of a set of such, as in a registry; else too many."""
    if all(type(each) in _CALLED for each in values):
        return merge_alike(values)
    merged = merge_alike(values) if len(values) < _MOST_MERGED else MANY
    return MANY if is_large(merged) else merged


class _Plain(dict[str, Constant]):
    def __missing__(self, kind: str) -> Constant:
        made = self[kind] = Constant(kind, None)
        return made


PLAIN = _Plain()
"""By type, the constant of which nothing else is known."""
