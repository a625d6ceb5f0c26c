"""Static meaning of annotations and names, before solving: classes, modules, libraries (A-12).

Bases and types are read from the operations that bind their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pkg.extract.summary import operations as o
from pkg.extract.summary.annotation_trees import OTHER, Annotation, is_named
from pkg.resolution.classes import ClassInfo, is_protocol
from pkg.resolution.module_map import Found
from pkg.resolution.program import BUILTINS, Code, ModuleInfo, Program
from pkg.resolution.reasons import Reason
from pkg.resolution.value_sets import (
    EMPTY,
    PLAIN,
    PROMISED,
    Class,
    Container,
    Flavour,
    Folder,
    Function,
    Instance,
    Library,
    Module,
    Signature,
    Value,
    Values,
    make_sort_key,
    unknown,
)
from pkg.resolution.variables import find_key, open_container

_DEEPEST = 30
_PLAIN_TYPES = frozenset(("str", "int", "float", "bool", "bytes", "complex", "NoneType", "None"))
_LISTS = {
    "list": "list", "List": "list", "Sequence": "list", "MutableSequence": "list", "Iterable": "list",
    "Collection": "list", "Reversible": "list", "Container": "list", "tuple": "tuple", "Tuple": "tuple", "set": "set",
    "Set": "set", "FrozenSet": "set", "frozenset": "set", "AbstractSet": "set", "MutableSet": "set", "deque": "list",
    "Deque": "list", "Iterator": "iterator", "Generator": "iterator", "AsyncIterator": "iterator",
    "AsyncIterable": "iterator", "AsyncGenerator": "iterator", "KeysView": "set", "ValuesView": "list",
    "Queue": "queue", "LifoQueue": "queue", "PriorityQueue": "queue", "SimpleQueue": "queue",
    "ContextVar": "variable", "ReferenceType": "reference", "ref": "reference", "Awaitable": "awaitable",
    "Coroutine": "awaitable", "Future": "awaitable", "Task": "awaitable",
    "ContextManager": "context", "AbstractContextManager": "context", "AsyncContextManager": "context",
    "AbstractAsyncContextManager": "context",
}  # fmt: skip
_MAPPINGS = frozenset((
    "dict", "Dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict", "ChainMap",
    "ItemsView", "Counter", "WeakKeyDictionary", "WeakValueDictionary",
))  # fmt: skip
_CONTAINING = ("builtins.", "typing.", "collections", "queue.", "asyncio.", "multiprocessing.", "concurrent.",
               "contextvars.", "weakref.")  # fmt: skip
_SAME = frozenset((
    "Optional", "ClassVar", "Final", "Annotated", "Required", "NotRequired", "ReadOnly", "InitVar", "TypeGuard",
    "Concatenate", "Unpack",
))  # fmt: skip
_OPEN = frozenset(("Any", "object", "TypeVar", "ParamSpec", "AnyStr", "Hashable", "Callable", "T", "TypeAlias"))
_PROTOCOLS = frozenset(("typing.Protocol", "typing_extensions.Protocol"))
_MAKING_BASES = frozenset(("with_metaclass", "add_metaclass"))
Promise = tuple[Values, bool]
"""Values that an annotation promises, and whether others are possible."""
OPEN: Promise = (EMPTY, True)


def _place_base(value: Value) -> tuple[int, str]:
    """Return a sort key of possible bases: classes by position, others by name."""
    if isinstance(value, Class):
        return value.info.position, ""
    return -1, value.name if isinstance(value, Library) else ""


class Types:
    """Static values of annotations, bases and names."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._make = program.interner.make
        self._schedule = program.schedule
        self._promises: dict[tuple[int, int], tuple[Promise, set[object]]] = {}  # with their lookups
        self._kept: list[Any] = []
        self._names: dict[tuple[ModuleInfo, str], tuple[Values, set[object]]] = {}
        self._open_names: set[tuple[ModuleInfo, str]] = set()
        self._heads: dict[ClassInfo, tuple[Code, Any]] = {}  # of classes without bases so far
        self._is_ordered = False
        self._nested = 0

    # Static names.

    def find_bases(self) -> None:
        """Find the bases of all classes."""
        for code in self._program.list_codes():
            for node in code.summary.nodes if code.summary.flags & o.MAKES_CLASSES else ():
                if node[0] == o.CLASS:
                    info = code.module.codes[node[1]].class_info
                    if info is not None:
                        self._heads[info] = code, node
        for info in list(self._heads):
            self._open_bases(info)
        self._is_ordered = True

    def _open_bases(self, info: ClassInfo) -> None:
        """Find the bases of a class, once."""
        head = self._heads.pop(info, None)
        if head is not None:
            before, self._schedule.consulted = self._schedule.consulted, info.module.consulted
            self._find_bases(*head, info)
            self._schedule.consulted = before

    def consult_bases(self, module: ModuleInfo) -> None:
        """Record the lookups for the known bases of the classes of a module."""
        self._schedule.consulted = module.consulted
        for code in module.codes:
            for node in code.summary.nodes if code.summary.flags & o.MAKES_CLASSES else ():
                if node[0] == o.CLASS:
                    self._find_bases(code, node, ClassInfo(module, ""))

    def _list_order(self, info: ClassInfo) -> Iterable[ClassInfo]:
        """Iterate over a class and its bases, found on demand."""
        return info.order if self._is_ordered else self._walk_bases(info)

    def _walk_bases(self, info: ClassInfo) -> Iterator[ClassInfo]:
        waiting, seen = [info], set[ClassInfo]()
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                yield each
                if self._nested < _DEEPEST:
                    self._nested += 1
                    self._open_bases(each)
                    self._nested -= 1
                waiting += reversed(each.bases)

    def _find_bases(self, code: Code, node: Any, info: ClassInfo) -> None:
        bases: dict[ClassInfo, int] = {}
        libraries: list[str] = []
        for place, number in enumerate(node[2], 1):
            values = self._find_base(code, number, info)
            if not values:
                info.has_unknown = True
            for value in sorted(values, key=_place_base):
                if isinstance(value, Class):
                    if value.info is not info:
                        bases.setdefault(value.info, place)
                elif isinstance(value, Library):
                    libraries.append(value.name.removeprefix("builtins."))
                else:
                    info.has_unknown = True
        info.is_protocol = not _PROTOCOLS.isdisjoint(libraries)
        info.bases, info.places = tuple(bases), tuple(bases.values())
        info.libraries = tuple(
            each for each in libraries if each not in _PROTOCOLS and each not in ("object", "typing.Generic")
        )
        for name, number in node[3]:
            if name == "metaclass":
                found = self.find(code, number)
                info.metaclass = next((each.info for each in found if isinstance(each, Class)), None)
                if info.metaclass is None and any(isinstance(each, Library) for each in found):
                    is_plain = all(isinstance(each, Library) and each.name.endswith("ABCMeta") for each in found)
                    info.has_unknown |= not is_plain

    def register_classes(self) -> None:
        """Find the classes registered for ABCs by a call or decorator."""
        pairs: list[tuple[ClassInfo, ClassInfo]] = []
        for code in self._program.list_codes():
            self._schedule.consulted = code.module.consulted
            for node in code.summary.nodes if code.summary.flags & o.REGISTERS else ():
                if node[0] == o.CALL_ATTR and node[2] == "register" and len(node[3]) == 1:
                    pairs += self._pair_classes(code, node[1], node[3][0][0])
                elif node[0] == o.DECORATE:
                    for number, _ in node[2]:
                        decorator = code.summary.nodes[number] if number >= 0 else [o.UNKNOWN]
                        if decorator[0] == o.ATTR and decorator[2] == "register":
                            pairs += self._pair_classes(code, decorator[1], node[1])
        self._program.hierarchy.register(pairs)

    def _pair_classes(self, code: Code, abstract: int, registered: int) -> list[tuple[ClassInfo, ClassInfo]]:
        infos = [each.info for each in self.find(code, registered) if isinstance(each, Class)]
        owners = self.find(code, abstract) if infos else EMPTY
        return [(each.info, info) for each in owners if isinstance(each, Class) for info in infos]

    def _find_base(self, code: Code, number: int, info: ClassInfo) -> Values:
        node: Any = code.summary.nodes[number] if number >= 0 else [o.UNKNOWN]
        if node[0] == o.CALL:
            callee = code.summary.nodes[node[1]]
            name = callee[1] if callee[0] == o.GLOBAL else ""
            if name in _MAKING_BASES or (name == "" and callee[0] == o.ATTR and callee[2] in _MAKING_BASES):
                for value in self.find(code, node[2][0][0]) if node[2] else ():
                    if isinstance(value, Class):
                        info.metaclass = value.info
                found = frozenset().union(*(self.find(code, each) for each, _ in node[2][1:])) if node[2] else EMPTY
                return found or frozenset({self._make(Library, "object")})
        if node[0] == o.CALL_ATTR and node[2] in _MAKING_BASES and node[3]:
            for value in self.find(code, node[3][0][0]):
                if isinstance(value, Class):
                    info.metaclass = value.info
            found = frozenset().union(*(self.find(code, each) for each, _ in node[3][1:]))
            return found or frozenset({self._make(Library, "object")})
        return self.find(code, number)

    def find(self, code: Code, number: int, depth: int = 0) -> Values:
        """Return the static values of an operation."""
        if number < 0 or depth > _DEEPEST:
            return EMPTY
        nodes = code.summary.nodes
        node = nodes[number]
        operation = node[0]
        if operation == o.GLOBAL:
            return self.find_name(code.module, node[1], depth + 1)
        if operation == o.CLASS:
            info = code.module.codes[node[1]].class_info
            return frozenset({self._make(Class, info, False)}) if info is not None else EMPTY
        if operation == o.FUNC:
            return frozenset({self._make(Function, code.module.codes[node[1]])})
        if operation == o.IMPORT:
            return self.find_import(code.module, node[1], depth + 1)
        if operation == o.ATTR:
            return self.find_attribute(self.find(code, node[1], depth + 1), node[2], depth + 1)
        if operation == o.PHI:
            return frozenset().union(*(self.find(code, each, depth + 1) for each in node[1:]))
        if operation == o.STAR_BOUND:
            star = self._program.find_brought(code.module.path, node[3], node[1])
            if not star:
                return self.find(code, node[2], depth + 1)
            members = (self._find_member(self._program.map.open(each), node[1], depth + 1) for each in star)
            return frozenset().union(*members)
        if operation in (o.ITEM, o.NARROW, o.DECORATE):
            return self.find(code, node[1], depth + 1)
        if operation == o.CELL:
            return self._find_cell(code.module.codes[node[1]], node[2], depth + 1)
        if operation == o.CALL:
            return self._find_called(self.find(code, node[1], depth + 1), code, node[2], depth + 1)
        if operation == o.CALL_ATTR:
            callee = self.find_attribute(self.find(code, node[1], depth + 1), node[2], depth + 1)
            return self._find_called(callee, code, node[3], depth + 1)
        if operation == o.DECLARE and node[2] >= 0:
            return self.find(code, node[2], depth + 1)
        return EMPTY

    def _find_called(self, callees: Values, code: Code, placed: Any, depth: int) -> Values:
        found: set[Any] = set()
        for value in callees:
            if isinstance(value, Library):
                if value.name.endswith("NewType") and len(placed) > 1:
                    found |= self.find(code, placed[1][0], depth)
                elif value.name.removeprefix("builtins.") == "type" and len(placed) == 3:
                    found |= self._find_typed(code, placed[1][0], depth)
                else:
                    found.add(self._make(Library, f"{value.name}()"))
            elif isinstance(value, Function):
                self._schedule.consulted.add(value.code.name)
                for node in value.code.summary.nodes:
                    for number in node[1] if node[0] == o.RETURN else ():
                        came = self.find(value.code, number, depth + 5)
                        found |= {each for each in came if isinstance(each, Class | Library)}
        return frozenset(found)

    def _find_typed(self, code: Code, number: int, depth: int) -> Values:
        node: Any = code.summary.nodes[number] if number >= 0 else [o.UNKNOWN]
        if node[0] != o.COLLECT:
            return EMPTY
        return frozenset().union(*(self.find(code, each[1], depth) for each in node[2]))

    def _find_cell(self, code: Code, name: str, depth: int) -> Values:
        found: set[Any] = set()
        for node in code.summary.nodes:
            if node[0] == o.SET_CELL and node[2] == name:
                found |= self.find(code, node[3], depth)
        return frozenset(found)

    def find_name(self, module: ModuleInfo, name: str, depth: int = 0) -> Values:
        """Return the static values of a module's name after its code has run."""
        key = module, name
        found = self._names.get(key)
        if found is not None:
            self._schedule.consulted |= found[1]
            return found[0]
        if key in self._open_names or depth > _DEEPEST:
            return EMPTY
        self._open_names.add(key)
        before, self._schedule.consulted = self._schedule.consulted, {name}
        values: set[Any] = set()
        root = module.root
        if name in module.bindings and root is not None:
            for number in module.bindings[name]:
                values |= self.find(root, number, depth + 1)
        elif name not in module.names:
            star = self._program.find_star(module.path, name)
            for path in star:
                values |= self._find_member(self._program.map.open(path), name, depth + 1)
            if not star and name in BUILTINS:
                values.add(self._make(Library, f"builtins.{name}"))
        self._open_names.discard(key)
        result = frozenset(values)
        consulted, self._schedule.consulted = self._schedule.consulted, before
        before |= consulted
        if not self._open_names:
            self._names[key] = result, consulted
        return result

    def find_import(self, module: ModuleInfo, number: int, depth: int = 0) -> Values:
        """Return the static values of an import."""
        record = module.unit.imports[number]
        found = self._program.find_bound(module.path, number)
        if record.name is None:
            if not found:
                name = record.module if record.alias else record.module.partition(".")[0]
                return frozenset({self._make(Library, name)})
            return self.list_modules(found)
        if not found:
            return EMPTY if record.level else frozenset({self._make(Library, f"{record.module}.{record.name}")})
        values: set[Any] = set()
        for each in found.list_all():
            if each:
                values |= self._find_member(each, record.name, depth + 1)
            elif not record.level:
                values.add(self._make(Library, f"{record.module}.{record.name}"))
        return frozenset(values)

    def list_modules(self, found: Found) -> Values:
        """Return the modules and folders of a search result as values."""
        values: set[Any] = set()
        for each in found.list_all():
            if each.module is not None:
                values.add(self._make(Module, each.module))
            elif each.folder is not None:
                values.add(self._make(Folder, each.folder))
        return frozenset(values)

    def _find_member(self, found: Found, name: str, depth: int) -> Values:
        self._schedule.consulted.add(name)
        module = self._program.modules.get(found.module) if found.module is not None else None
        if module is not None:
            values = self.find_name(module, name, depth)
            if values or name in module.names:
                return values
        inner = self._program.map.step(found, name)
        return self.list_modules(inner) if inner else EMPTY

    def find_attribute(self, values: Values, name: str, depth: int = 0) -> Values:
        """Return the static values of an attribute."""
        self._schedule.consulted.add(name)
        found: set[Any] = set()
        for value in values:
            if isinstance(value, Library):
                found.add(self._make(Library, f"{value.name}.{name}"))
            elif isinstance(value, Module):
                found |= self._find_member(self._program.map.open(value.path), name, depth)
            elif isinstance(value, Folder):
                found |= self.list_modules(self._program.map.step(Found(folder=value.folder), name))
            elif isinstance(value, Class):
                owner = next((each for each in self._list_order(value.info) if name in each.members), None)
                for node in owner.code.summary.nodes if owner is not None else ():
                    if node[0] == o.MEMBER and node[1] == name:
                        found |= self.find(owner.code, node[2], depth)  # type: ignore[union-attr]
        return frozenset(found)

    # Annotations.

    def promise(self, code: Code | None, annotation: Any) -> Promise:
        """Return the promise of an annotation in a frame or the head of a function."""
        if annotation is None or code is None:
            return OPEN
        key = id(annotation), code.position
        if key not in self._promises:
            self._kept.append(annotation)
        return self._schedule.remember(self._promises, key, lambda: self._read(code, annotation, 0))

    def _read(self, code: Code, annotation: Any, depth: int) -> Promise:
        kind = annotation[0]
        if depth > _DEEPEST:
            return OPEN
        if kind == "n":
            return self._read_name(code, annotation[1], depth)
        if kind == "o":
            return self._join([self._read(code, each, depth + 1) for each in annotation[1]])
        if kind == "s":
            return self._read_subscription(code, annotation, depth)
        if kind == "l":
            return EMPTY, False
        return OPEN

    def _join(self, promises: list[Promise]) -> Promise:
        return EMPTY.union(*(values for values, _ in promises)), any(is_open for _, is_open in promises)

    def resolve(self, code: Code, name: str) -> Values:
        """Return the static values of a dotted name in an annotation."""
        first, *rest = name.split(".")
        values: Values = EMPTY
        each: Code | None = code
        while each is not None and not values:
            values = self._find_local(each, first)
            each = each.parent
        for part in rest:
            values = self.find_attribute(values, part, 0)
        return values

    def _find_local(self, code: Code, name: str) -> Values:
        if code.number == 0:
            return self.find_name(code.module, name)
        if code.class_info is not None:
            if name in code.class_info.members:
                for node in code.summary.nodes:
                    if node[0] == o.MEMBER and node[1] == name:
                        return self.find(code, node[2])
            return EMPTY
        found: set[Any] = set()
        for inner in code.module.codes:
            if inner.parent is code and inner.class_info is not None and inner.name == name:
                found.add(self._make(Class, inner.class_info, False))
        return frozenset(found) or self._find_cell(code, name, 0)

    def _read_name(self, code: Code, name: str, depth: int) -> Promise:
        if name in _PLAIN_TYPES:
            return frozenset({PLAIN["NoneType" if name == "None" else name]}), False
        last = name.rpartition(".")[2]
        if last == "Self" or name == "Self":
            return self._read_self(code)
        alias = self._find_alias(code.module, name, 0)
        if alias is not None:
            return self._read(alias[0], self._spell(*alias, 0), depth + 1)
        values = self.resolve(code, name)
        return self._join([self._read_value(code, value) for value in values]) if values else OPEN

    def _read_self(self, code: Code) -> Promise:
        each: Code | None = code
        while each is not None:
            info = each.class_info or each.owner_class
            if info is not None:
                return frozenset({self._make(Instance, info, Flavour.SELF)}), False
            each = each.parent
        return OPEN

    def _read_value(self, code: Code, value: Any) -> Promise:
        if isinstance(value, Class):
            return frozenset({self._make(Instance, value.info, Flavour.TYPED)}), is_protocol(value.info)
        if isinstance(value, Library):
            name = value.name
            short = name.rpartition(".")[2]
            if name.endswith("()"):  # such as a type variable
                return OPEN
            if short in _PLAIN_TYPES and name.startswith("builtins."):
                return frozenset({PLAIN[short]}), False
            if short in _OPEN or short in _SAME or short in ("Union", "type", "Type"):
                return OPEN
            if name.startswith(_CONTAINING) and (short in _LISTS or short in _MAPPINGS):
                return frozenset({self._make_container(code, _LISTS.get(short, "dict"), EMPTY, EMPTY)}), False
            return frozenset({self._make(Library, f"{name}()")}), False
        return OPEN

    def _spell(self, code: Code, number: int, depth: int) -> Annotation:
        """Convert a type written as an expression to an annotation."""
        node = code.summary.nodes[number] if number >= 0 and depth <= _DEEPEST else (o.UNKNOWN,)
        operation = node[0]
        if operation == o.GLOBAL:
            return ["n", node[1]]
        if operation in (o.CLASS, o.FUNC):
            return ["n", code.module.codes[node[1]].name]
        if operation == o.IMPORT:
            return ["n", code.module.unit.imports[node[1]].bound_name]
        if operation == o.ATTR:
            base = self._spell(code, node[1], depth + 1)
            return ["n", f"{base[1]}.{node[2]}"] if base[0] == "n" else OTHER
        if operation == o.CONST:
            is_name = node[1] == "str" and isinstance(node[2], str) and node[2].replace(".", "").isidentifier()
            return ["n", "None"] if node[1] == "NoneType" else ["n", node[2]] if is_name else OTHER
        if operation == o.ITEM:
            keys: Any = code.summary.nodes[node[2]] if node[2] >= 0 else (o.UNKNOWN,)
            parts = [each[1] for each in keys[2]] if keys[0] == o.COLLECT and keys[1] == "tuple" else [node[2]]
            return ["s", self._spell(code, node[1], depth + 1), [self._spell(code, each, depth + 1) for each in parts]]
        if operation == o.BINARY and node[1] == "|":
            return ["o", [self._spell(code, each, depth + 1) for each in node[2:4]]]
        return OTHER

    def _find_alias(self, module: ModuleInfo, name: str, depth: int) -> tuple[Code, int] | None:
        """Return the operation that builds the type alias of a module's name."""
        numbers, root = module.bindings.get(name, ()), module.root
        if depth > _DEEPEST or root is None or len(numbers) != 1:
            return None
        node = root.summary.nodes[numbers[0]]
        if node[0] in (o.ITEM, o.BINARY):
            return root, numbers[0]
        if node[0] != o.IMPORT or module.unit.imports[node[1]].name in (None, "*"):
            return None
        record = module.unit.imports[node[1]]
        found = self._program.map.find_import(module.path, record)
        inner = self._program.modules.get(found.module) if found.module is not None else None
        return self._find_alias(inner, str(record.name), depth + 1) if inner is not None else None

    def _read_subscription(self, code: Code, annotation: Any, depth: int) -> Promise:
        base, arguments = annotation[1], annotation[2]
        if base[0] != "n" or not arguments:
            return OPEN
        last = base[1].rpartition(".")[2]
        values = self.resolve(code, base[1])
        if any(isinstance(each, Class) for each in values):
            return self._read_name(code, base[1], depth)
        if last == "Union":
            return self._join([self._read(code, each, depth + 1) for each in arguments])
        if last in _SAME:
            found, is_open = self._read(code, arguments[0], depth + 1)
            return (found | {PLAIN["NoneType"]} if last == "Optional" and found else found), is_open
        if last in ("type", "Type"):
            found, is_open = self._read(code, arguments[0], depth + 1)
            return self._list_classes(found), is_open
        if last == "Literal":
            return frozenset({PLAIN["str"]}), False
        if last in _MAPPINGS:
            keys = self._read(code, arguments[0], depth + 1)[0]
            items = self._read(code, arguments[-1], depth + 1)[0]
            return frozenset({self._make_container(code, "dict", items, keys)}), False
        if last in _LISTS:
            if _LISTS[last] == "tuple":
                return frozenset({self._make_tuple(code, arguments, depth)}), False
            items = self._read(code, arguments[-1 if last == "Coroutine" else 0], depth + 1)[0]
            return frozenset({self._make_container(code, _LISTS[last], items, EMPTY)}), False
        if last == "Callable" and len(arguments) == 2:
            return self._read_signature(code, arguments[0], arguments[1], depth)
        return OPEN if not values else self._read_name(code, base[1], depth)

    def _read_signature(self, code: Code, given: Any, result: Any, depth: int) -> Promise:
        """Return the promise of Callable, beside which other values are possible."""
        parts = given[1] if given[0] == "l" else []
        known = tuple(self._read(code, each, depth + 1)[0] for each in parts)
        came = self._read(code, result, depth + 1)[0]
        if not (came or any(known)):
            return OPEN
        return frozenset({self._make(Signature, known if any(known) else (), came)}), True

    def find_signatures(self) -> None:
        """Find the signatures of callable parameters in annotations."""
        for code in self._program.list_codes():
            self._schedule.consulted = code.module.consulted
            takes_any = code.summary.flags & o.TAKES_CALLABLES
            for place, (_, _, _, annotation) in enumerate(code.summary.parameters) if takes_any else ():
                promised = self.promise(code.parent, annotation)[0] if is_named(annotation, "Callable") else EMPTY
                for value in sorted(promised, key=make_sort_key):
                    if isinstance(value, Signature) and value.given:
                        code.signatures[place] = value

    def _list_classes(self, values: Values) -> Values:
        return frozenset(self._make(Class, each.info, True) for each in values if isinstance(each, Instance))

    def _make_container(self, code: Code, kind: str, items: Values, keys: Values) -> Container:
        """Return the promised container of an annotation, at a site of its own."""
        return promise_container(self._make, code, kind, items if items else unknown(Reason.ITEM), keys)

    def _make_tuple(self, code: Code, arguments: list[Any], depth: int) -> Container:
        parts = [self._read(code, each, depth + 1)[0] or unknown(Reason.ITEM) for each in arguments]
        if len(arguments) == 2 and arguments[1] == ["k", ""]:
            return self._make_container(code, "tuple", parts[0], EMPTY)
        return promise_container(self._make, code, "tuple", EMPTY, EMPTY, tuple(parts))


def promise_container(
    make: Callable[..., Any], code: Code, kind: str, items: Values, keys: Values, parts: tuple[Values, ...] = ()
) -> Container:
    """Return the promised container of a scope, shared by annotations with equal contents."""
    made: Container = make(Container, kind, code, PROMISED, (items, keys, parts))
    if made.everything is None:
        open_container(made)
        made.everything.preset(items.union(*parts))  # type: ignore[attr-defined]
        made.rest.preset(items)  # type: ignore[union-attr]
        made.keys.preset(keys)  # type: ignore[union-attr]
        for place, values in enumerate(parts):
            find_key(made, place).preset(values)
    return made
