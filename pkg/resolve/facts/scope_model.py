"""The nouns of resolution: modules with their scopes, what gives values to names, the sites that call (A-12)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import NamedTuple
from unicodedata import normalize

from pkg.extract.code_pieces import Parameter, Signature, parse_signature
from pkg.model import Class, Function, Import
from pkg.units import IS_PLACE, NAME, Code, read_name, read_place

DEFINITION, IMPORT = "definition", "import"  # codes of bindings that are no facts
STATIC, CLASS_METHOD = "staticmethod", "classmethod"
SUBCLASS_HOOK = "__init_subclass__"

_MADE_METHOD = re.compile(rb"(staticmethod|classmethod)\s*\(\s*(" + NAME + rb")\s*\)")
_TAKING_CLASS = frozenset(("__new__", "__init_subclass__", "__class_getitem__"))
_GENERIC = frozenset(("singledispatch", "singledispatchmethod"))
_ATTRS = frozenset(("define", "mutable", "frozen", "attrs", "s"))  # decorators that make records
_RECORDS = _ATTRS | {"dataclass"}
_CLASS_VARIABLE, _SENTINEL = b"ClassVar", re.compile(rb"(?:\w+\s*\.\s*)*KW_ONLY")  # of fields of records
_ATTRIBUTE = re.compile(rb"(?:\w+\s*\.\s*)*(?:ib|attrib)\s*\(")  # makes a name a field without an annotation
_LEFT_OUT = re.compile(rb"\binit\s*=\s*False\b")
_BY_NAME = re.compile(rb"\bkw_only\s*=\s*(True|False)\b")
_DELIVERING = (Code.RAISE, Code.DEFINITION)
_TAKING = ("function", "lambda")  # scopes that have parameters

_TEXT = rb"[rR]?(?P<quotes>\"{3}|'{3}|\"|')(?:(?!(?P=quotes)).)*(?P=quotes)\s*"
_FINALLY = re.compile(rb"[ \t]*finally\s*:\s*(?:#.*)?")
_EMPTY_BODY = re.compile(rb"\s*(?:" + _TEXT + rb")?(?:\.\.\.|pass)?\s*(?:#[^\n]*\s*)*", re.DOTALL)
_RAISING = re.compile(rb"\s*(?:" + _TEXT + rb")?raise\s+NotImplementedError\b", re.DOTALL)

Path = tuple["int | str", ...]
"""The way to a part of a value that is unpacked: positions, and "from:to" for what a starred target takes."""


class Binding(NamedTuple):
    """One way by which a name gets a value: a fact with the span of the value, a definition, or an import."""

    code: Code | str
    start: int = 0
    end: int = 0
    path: Path = ()
    scope: Scope | None = None  # of a definition
    record: Import | None = None
    place: int = -1  # of the import among those of the module
    at: int = 0  # where the statement begins
    within: Scope | None = None  # where the value stands, if that is another scope than the one that has the name

    @property
    def end_position(self) -> int:
        """Give from where on the binding is in force: behind its value, or the head of its definition."""
        return self.scope.head[1] if self.scope is not None else max(self.at, self.end)

    def is_foreign(self, owner: Scope) -> bool:
        """Tell whether it stands in another function than the one that has the name, and may run at any time."""
        return self.within is not None and self.within.owner is not owner.owner


class FieldKind(Enum):
    """Say how a constructor that is made of fields takes one."""

    PLACED = "by place or name"
    BY_NAME = "by name alone"
    LEFT_OUT = "not at all"


class Step(NamedTuple):
    """One test among those that are made one after the other: a condition, or the pattern of a case."""

    start: int
    end: int
    stays: bool  # whether who passes it comes into the region
    subject: str = ""  # of a pattern


@dataclass(slots=True, eq=False)
class Condition:
    """A region of which it is known what who comes there was tested by."""

    start: int
    end: int
    since: int  # what is bound from here to the end was not tested
    steps: list[Step]
    is_open: bool  # whether who passes none of the tests comes into the region


class Store(NamedTuple):
    """An assignment to an attribute or an item: the receiver's span, the key of an item, and the value."""

    scope: Scope
    start: int
    end: int
    binding: Binding

    def stands_in(self, qualname: str) -> bool:
        """Tell whether it stands somewhere inside a definition of this qualified name."""
        return self.scope.qualname.startswith(qualname + ".")


class StoredPlace(NamedTuple):
    """What is stored at an attribute or item, in the order of the text, and the numbers of what only declares it."""

    stores: Sequence[Store]
    declared: tuple[int, ...]

    def find(self, position: int) -> int:
        """Give the number of the first assignment that does not stand before a position."""
        return bisect_left(self.stores, position, key=_place_store)

    def holds_between(self, start: int, end: int) -> bool:
        """Tell whether an assignment stands between two positions."""
        return self.find(start) < self.find(end)


def _place_store(store: Store) -> int:
    """Give where an assignment begins, to order assignments by."""
    return store.binding.at


def _order_stores(stores: Sequence[Store]) -> StoredPlace:
    ordered = sorted(stores, key=_place_store)
    return StoredPlace(ordered, tuple(i for i, each in enumerate(ordered) if each.binding.code == Code.ANNOTATE))


_NOT_STORED = StoredPlace((), ())


@dataclass(slots=True, eq=False)
class Site:
    """A place that calls, or may call: a call, a read attribute, a loop, a context manager, a raise, a decorator."""

    scope: Scope
    code: Code
    start: int
    end: int
    more: tuple[int, int] = (0, 0)  # of a call, its arguments; of an operator, its right side; of an item, its key
    name: str = ""  # of an attribute that is assigned to
    definition: Scope | None = None  # that decorators stand before

    @property
    def text(self) -> bytes:
        """Give what stands there; of a call, the callee."""
        return self.scope.module.text[self.start : self.end]

    @property
    def delivers(self) -> bool:
        """Tell whether it may hand something on: only what calls does, and a call that gives no arguments does not."""
        if self.code == Code.CALL:
            return self.more[1] - self.more[0] > len("()")
        return self.code in _DELIVERING


NO_CONDITIONS: dict[str, list[Condition]] = {}  # of most scopes; nobody writes into it


class Scope:
    """A module, class, function, lambda or comprehension: names, and the sites whose code runs in it."""

    __slots__ = (
        "__dict__", "code_end", "conditions", "definition", "global_names", "head", "kind", "loops", "module", "name",
        "names", "nonlocal_names", "parent", "qualname", "returns", "runner", "sites", "stars", "stored", "top",
        "yields",
    )  # fmt: skip

    def __init__(
        self, module: ModuleScopes, kind: str, name: str, parent: Scope | None, head: tuple[int, int], end: int
    ) -> None:
        self.module = module
        self.kind = kind  # module, class, function, lambda or comprehension
        self.name = name
        self.parent = parent
        self.qualname: str = f"{parent.qualname}.{name}" if parent is not None and parent.qualname else name
        is_piece = parent is None or (kind == "function" and parent.top.parent is None)
        self.top: Scope = self if is_piece or parent is None else parent.top  # the outermost function, else the module
        self.runner: Scope = (
            parent.runner if parent is not None and kind == "comprehension" else self
        )  # that runs its code
        self.head = head
        self.code_end = end
        self.definition = -1  # place among the definitions of the module
        self.names: dict[str, list[Binding]] = {}
        self.global_names: AbstractSet[str] = frozenset()
        self.nonlocal_names: AbstractSet[str] = frozenset()
        self.stars: list[Import] = []
        self.returns: list[tuple[int, int]] = []
        self.yields: list[tuple[int, int, bool]] = []  # span, and whether it delegates
        self.sites: list[Site] = []
        self.loops: list[tuple[int, int]] = []
        self.stored: AbstractSet[str] = frozenset()  # attributes that its code assigns to
        self.conditions: dict[str, list[Condition]] = NO_CONDITIONS  # by what they test: names, dotted or not

    def __repr__(self) -> str:
        return f"<{self.kind} {self.module.path}:{self.qualname}>"

    @cached_property
    def signature(self) -> Signature:
        """Read the head; a class or module has no parameters."""
        if self.kind not in _TAKING:
            return Signature()
        signature = parse_signature(self.module.text[slice(*self.head)])
        if not any(is_private(each.name) for each in signature.parameters):
            return signature
        parameters = tuple(each._replace(name=self.mangle(each.name)) for each in signature.parameters)
        return signature._replace(parameters=parameters)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Give the parameters of a function or lambda."""
        return self.signature.parameters

    @cached_property
    def parameter_names(self) -> frozenset[str]:
        """Give the names of the parameters."""
        return frozenset(parameter.name for parameter in self.parameters)

    @property
    def decorators(self) -> tuple[str, ...]:
        """Give the decorators as they are written."""
        return self.module.definitions[self.definition].decorators if self.definition >= 0 else ()

    @cached_property
    def decorator_names(self) -> frozenset[str]:
        """Give the last names of the decorators."""
        decorators = self.decorators
        return frozenset(map(name_decorator, decorators)) if decorators else frozenset()

    @cached_property
    def is_property(self) -> bool:
        """Tell whether reading it as an attribute calls it."""
        return any(name.endswith("property") for name in self.decorator_names)

    @property
    def bases(self) -> tuple[str, ...]:
        """Give the bases of a class as they are written, and what is given by name beside them."""
        definition = self.module.definitions[self.definition] if self.definition >= 0 else None
        return tuple(definition.bases) if isinstance(definition, Class) else ()

    @cached_property
    def is_record(self) -> bool:
        """Tell whether the constructor of a class may be made of the names that are annotated in it."""
        return not _RECORDS.isdisjoint(self.decorator_names) or self.is_named_tuple

    @cached_property
    def is_named_tuple(self) -> bool:
        """Tell whether a class is a tuple whose items have names."""
        return any(_name_base(each) == "NamedTuple" for each in self.bases)

    @cached_property
    def is_attrs(self) -> bool:
        """Tell whether a class is a record of the package attrs."""
        return not _ATTRS.isdisjoint(self.decorator_names)

    @property
    def _record_options(self) -> bytes:
        """Give what the decorator is given that makes a class a record."""
        options = (each.partition("(")[2] for each in self.decorators if name_decorator(each) in _RECORDS)
        return "".join(options).encode("utf-8", "replace")

    @property
    def generated(self) -> str:
        """Give the name of the constructor that a class gets from its fields; nothing where it gets none."""
        if self.is_named_tuple:
            return "__new__"
        return "__init__" if self.is_record and not _LEFT_OUT.search(self._record_options) else ""

    @cached_property
    def record_fields(self) -> dict[str, FieldKind]:
        """Give how a constructor takes what is annotated in a record, in the order of the text."""
        if not self.is_record:
            return {}
        starts = {
            name: next((each.at for each in bindings if self.declares_field(each)), -1)
            for name, bindings in self.names.items()
        }  # fmt: skip
        is_by_name = _is_by_name(_BY_NAME.search(self._record_options), False)
        found: dict[str, FieldKind] = {}
        for name in sorted(starts, key=lambda name: starts[name]):
            texts = [
                (each.code, self.module.text[each.start : each.end]) for each in self.names[name] if starts[name] >= 0
            ]
            if any(code == Code.ANNOTATE and _SENTINEL.fullmatch(text) for code, text in texts):
                is_by_name = True
            elif texts:
                found[name] = _judge_field(texts, is_by_name)
        return found

    def declares_field(self, binding: Binding) -> bool:
        """Tell whether a binding in a record makes its name a field: an annotation, or attr.ib()."""
        if binding.code == Code.ANNOTATE:
            return True
        is_made = self.is_attrs and binding.code == Code.ASSIGN
        return is_made and _ATTRIBUTE.match(self.module.text, binding.start, binding.end) is not None

    @cached_property
    def is_generic(self) -> bool:
        """Tell whether a function is one of several that are chosen among by what they are given."""
        return not _GENERIC.isdisjoint(self.decorator_names)

    @cached_property
    def is_protocol(self) -> bool:
        """Tell whether a class says of itself that what it stands for need not be derived from it."""
        return any(_name_base(each) == "Protocol" for each in self.bases)

    @cached_property
    def is_abstract(self) -> bool:
        """Tell whether a method is there to be overridden: it says so, or does nothing but raise."""
        if "abstractmethod" in self.decorator_names:
            return True
        text, start, end = self.module.text, self.head[1], self.code_end
        if self.parent is not None and self.parent.is_protocol:
            return _EMPTY_BODY.fullmatch(text, start, end) is not None
        return text.find(b"NotImplementedError", start, end) >= 0 and _RAISING.match(text, start, end) is not None

    @cached_property
    def receiver(self) -> str | None:
        """Give the name of self or cls: of the first parameter of a method that is not static."""
        if self.kind != "function" or self.parent is None or self.parent.kind != "class":
            return None
        first = next(iter(self.parameters), None)
        is_static = STATIC in self.decorator_names or self.parent.made_methods.get(self.name) == STATIC
        return first.name if first and not first.kind and not is_static else None

    @cached_property
    def takes_class(self) -> bool:
        """Tell whether the first parameter of a method is the class."""
        if CLASS_METHOD in self.decorator_names or self.name in _TAKING_CLASS:
            return True
        return self.parent is not None and self.parent.made_methods.get(self.name) == CLASS_METHOD

    @cached_property
    def made_methods(self) -> dict[str, str]:
        """Give the functions that the body of a class makes static or class methods of by a call, and which."""
        text, found = self.module.text, {}
        for binding in chain.from_iterable(self.names.values()) if self.kind == "class" else ():
            if binding.code == Code.ASSIGN:
                match = _MADE_METHOD.fullmatch(text, binding.start, binding.end)
                found.update({read_name(match[2]): match[1].decode()} if match is not None else {})
        return found

    @cached_property
    def _private_prefix(self) -> str:
        """What Python puts before private names: the name of the innermost class around them."""
        each: Scope | None = self
        while each is not None and each.kind != "class":
            each = each.parent
        name = each.name.lstrip("_") if each is not None else ""
        return f"_{name}" if name else ""

    def mangle(self, name: str) -> str:
        """Give a name that is written here as Python knows it: of a private one, the class is a part."""
        return f"{self._private_prefix}{name}" if is_private(name) else name

    @cached_property
    def margin(self) -> int:
        """Count the columns before the statements of the scope that stand in no branch."""
        if self.parent is None:
            return 0
        body = self.head[1]
        return body - self.module.text.rfind(b"\n", 0, body) - 1

    @cached_property
    def owner(self) -> Scope:
        """Give the function or module whose code a site in this scope is of."""
        scope = self
        while scope.kind in ("class", "lambda", "comprehension") and scope.parent is not None:
            scope = scope.parent
        return scope

    def runs_in(self, owner: Scope) -> bool:
        """Tell whether the code here runs where it stands among that of a scope around it, or is that of the scope."""
        each: Scope | None = self
        while each is not owner and each is not None and each.kind == "comprehension":
            each = each.parent
        return each is owner

    def find_loop(self, at: int) -> tuple[int, int] | None:
        """Find the outermost loop of the scope around a position."""
        return next((loop for loop in self.loops if loop[0] <= at < loop[1]), None)

    def find_owner(self, name: str) -> Scope:
        """Find the scope that a name belongs to where it stands here; the module's where none binds it."""
        each: Scope | None = self
        while each is not None and each.parent is not None:
            if name in each.global_names:
                break
            if (each.kind != "class" or each is self) and each.binds(name):
                return each
            each = each.parent
        return self.module.root

    def binds(self, name: str) -> bool:
        """Tell whether a name is local here."""
        if name in self.global_names or name in self.nonlocal_names:
            return False
        return name in self.names or (self.kind in _TAKING and name in self.parameter_names)


Reference = tuple[str, str, int]
"""A class or module: its file, its qualified name (none for the module), its number among those of that name there."""


@dataclass(eq=False)
class ModuleScopes:
    """One file: its scopes in the order of the text, the module's own first."""

    path: str
    text: bytes
    definitions: Sequence[Class | Function]
    imports: Sequence[Import]
    scopes: list[Scope] = field(default_factory=list)
    lambdas: dict[int, Scope] = field(default_factory=dict)  # by the position of their body
    comprehensions: dict[tuple[int, int], Scope] = field(default_factory=dict)  # by their span
    stores: dict[str, list[Store]] = field(default_factory=dict)  # by attribute
    item_stores: list[Store] = field(default_factory=list)
    _block_ends: dict[int, int] = field(default_factory=dict)
    tested: set[str] = field(default_factory=set)  # names, dotted or not, that a condition anywhere is about

    @cached_property
    def namesakes(self) -> dict[tuple[str, str], list[Scope]]:
        """The scopes of each kind and qualified name, in the order of the text."""
        found: dict[tuple[str, str], list[Scope]] = {}
        for scope in self.scopes:
            found.setdefault((scope.kind, scope.qualname), []).append(scope)
        return found

    def list_stored(self, runner: Scope, place: str) -> StoredPlace:
        """Give what the code of a scope stores at an attribute or item, in the order of the text."""
        return self._stored_places.get((runner, place), _NOT_STORED)

    @cached_property
    def _stored_places(self) -> dict[tuple[Scope, str], StoredPlace]:
        """What is stored at each attribute and item, by the scope among whose code that stands."""
        found: dict[tuple[Scope, str], list[Store]] = {}
        for name, stores in self.stores.items():
            for store in stores:
                place = f"{read_place(self.text[store.start : store.end])}.{name}"
                found.setdefault((store.scope.runner, place), []).append(store)
        for place, stores in self.stored_items.items():
            for store in stores:
                found.setdefault((store.scope.runner, place), []).append(store)
        return {key: _order_stores(stores) for key, stores in found.items()}

    @cached_property
    def scopes_by_runner(self) -> dict[Scope, list[Scope]]:
        """The scopes whose code runs where it stands among that of another, by that; itself among them."""
        found: dict[Scope, list[Scope]] = {}
        for scope in self.scopes:
            found.setdefault(scope.runner, []).append(scope)
        return found

    @cached_property
    def _doubles(self) -> dict[Scope, int]:
        """The place among its namesakes of each scope that is not the first of them."""
        counts: Counter[tuple[str, str]] = Counter()
        found = {}
        for scope in self.scopes:
            name = scope.kind, scope.qualname
            if counts[name]:
                found[scope] = counts[name]
            counts[name] += 1
        return found

    def find_block_end(self, position: int) -> int:
        """Find up to where whoever comes from a statement has gone through it: in the rest of its block.

        That of `finally` is a part of the block around it. -1 stands for a statement that does not begin its line. The
        first line counts as the end that stands further to the left, though it may be a part of a text or in brackets.
        """
        found = self._block_ends.get(position)
        if found is None:
            found = self._block_ends[position] = self._match_block_end(position)
        return found

    def _match_block_end(self, position: int) -> int:
        line = self.text.rfind(b"\n", 0, position) + 1
        if self.text[line:position].strip():
            return -1
        match = _match_left_of(position - line).search(self.text, position)
        end = match.start() if match is not None else len(self.text)
        head = self.text.rfind(b"finally", 0, position)
        if head >= 0 and self.text[head:line].rstrip().endswith(b":") and self._is_head(head, position - line, line):
            return max(end, self.find_block_end(head))
        return end

    def _is_head(self, head: int, column: int, line: int) -> bool:
        """Tell whether the block of a line begins at a head before it."""
        start = self.text.rfind(b"\n", 0, head) + 1
        is_whole = _FINALLY.fullmatch(self.text, start, self.text.find(b"\n", head)) is not None
        return is_whole and head - start < column and _match_left_of(column).search(self.text, head, line) is None

    def count_before(self, scope: Scope) -> int:
        """Give the place of a scope among those of its kind and qualified name."""
        return self._doubles.get(scope, 0)

    @cached_property
    def tested_attributes(self) -> frozenset[str]:
        """The last names of the attributes that a condition anywhere is about."""
        return frozenset(place.rpartition(".")[2] for place in self.tested if "." in place)

    @cached_property
    def stored_items(self) -> dict[str, list[Store]]:
        """The assignments to items under keys that are written out, by what is assigned to (read_place)."""
        found: dict[str, list[Store]] = {}
        for store in self.item_stores:
            text = self.text[store.start : store.end]
            if IS_PLACE.match(text):
                found.setdefault(read_place(text), []).append(store)
        return found

    @cached_property
    def fields(self) -> dict[Scope | None, dict[str, list[Store]]]:
        """The assignments by attribute, by the class whose methods make them to self; None for those elsewhere."""
        found: dict[Scope | None, dict[str, list[Store]]] = {}
        for name, stores in self.stores.items():
            for store in stores:
                found.setdefault(_find_class(store), {}).setdefault(name, []).append(store)
        return found

    @cached_property
    def outermost(self) -> list[Scope]:
        """The functions that stand in no other, in the order of the text."""
        return [scope for scope in self.scopes if scope.top is scope and scope.parent is not None]

    @cached_property
    def _cuts(self) -> tuple[list[int], list[int]]:
        """Where the outermost functions begin, and how much text those before each take up, and all of them."""
        taken = accumulate((scope.code_end - scope.head[0] for scope in self.outermost), initial=0)
        return [scope.head[0] for scope in self.outermost], list(taken)

    def find_top(self, position: int) -> Scope:
        """Find the outermost function around a position, else the module's own scope."""
        place = bisect_right(self._cuts[0], position) - 1
        found = self.outermost[place] if place >= 0 else self.root
        return found if position < found.code_end else self.root

    def find_base(self, top: Scope, position: int) -> int:
        """Give from where positions in an outermost function count; in the module, as if there were no functions."""
        if top.parent is not None:
            return top.head[0]
        starts, taken = self._cuts
        place = bisect_left(starts, position)
        return taken[place]

    def find_position(self, top: Scope, offset: int) -> int:
        """Give the position that an offset from such a base means."""
        if top.parent is not None:
            return top.head[0] + offset
        starts, taken = self._cuts
        place = bisect_left(range(len(starts)), offset, key=lambda each: starts[each] - taken[each])
        return offset + taken[place]

    @property
    def root(self) -> Scope:
        """Give the module's own scope."""
        return self.scopes[0]

    def find(self, kind: str, qualname: str, number: int) -> Scope | None:
        """Find a scope by its kind and name, and by its number among those; nothing where it is no longer there."""
        namesakes = self.namesakes.get((kind, qualname), ())
        return namesakes[number] if number < len(namesakes) else None

    def release(self) -> None:
        """Take the scopes apart, which refer to one another; nothing can be asked afterwards."""
        for scope in self.scopes:
            scope.names.clear()
            scope.sites.clear()
            scope.__dict__.clear()  # the owner of a function is itself
            del scope.top, scope.runner
        for name in (
            "_doubles", "_stored_places", "fields", "namesakes", "outermost", "scopes_by_runner", "stored_items",
            "tested_attributes",
        ):  # fmt: skip
            self.__dict__.pop(name, None)
        for held in (self.scopes, self.lambdas, self.comprehensions, self.stores, self.item_stores):
            held.clear()


@lru_cache(maxsize=100)
def _match_left_of(column: int) -> re.Pattern[bytes]:
    """Match the end of a line before one that begins left of a column."""
    return re.compile(rb"\n[ \t]{0,%d}[^\s#]" % (column - 1)) if column else re.compile(rb"\Z")


def refer_to(scope: Scope) -> Reference:
    """Name a class or module from outside of its file."""
    return scope.module.path, scope.qualname, scope.module.count_before(scope)


def refer_to_module(path: str) -> Reference:
    """Name a module, whose file need not be read for it."""
    return path, "", 0


def _find_class(store: Store) -> Scope | None:
    """Find the class whose method assigns to an attribute of its first parameter."""
    text = store.scope.module.text[store.start : store.end]
    if b"." in text or b"(" in text:
        return None
    receiver = read_name(text)
    method = store.scope.find_owner(receiver)
    return method.parent if method.receiver == receiver else None


def _judge_field(texts: Sequence[tuple[Code | str, bytes]], is_by_name: bool) -> FieldKind:
    """Tell how a constructor takes a field, by its annotation and what is assigned to it."""
    for code, text in texts:
        if code == Code.ANNOTATE and _CLASS_VARIABLE in text:
            return FieldKind.LEFT_OUT
        if code == Code.ASSIGN and _LEFT_OUT.search(text):
            return FieldKind.LEFT_OUT
        if code == Code.ASSIGN:
            is_by_name = _is_by_name(_BY_NAME.search(text), is_by_name)
    return FieldKind.BY_NAME if is_by_name else FieldKind.PLACED


def _is_by_name(match: re.Match[bytes] | None, otherwise: bool) -> bool:
    return match[1] == b"True" if match is not None else otherwise


def _name_base(text: str) -> str:
    """Give the last name of a base."""
    return text.partition("[")[0].rpartition(".")[2].strip()


def name_decorator(text: str) -> str:
    """Return the last name of a decorator without its arguments; an empty text for an expression that ends in none."""
    name = normalize("NFKC", text.partition("(")[0].rpartition(".")[2].strip())
    return name if name.isidentifier() else ""


def is_private(name: str) -> bool:
    """Tell whether Python makes the class a part of a name that is written in it."""
    return name.startswith("__") and not name.endswith("__")
