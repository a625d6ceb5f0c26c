"""Evaluate the operations of frames over sets of values until a fixpoint (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from pkg.extract.summary import operations as o
from pkg.model import CERTAIN, LIKELY
from pkg.resolution.attribute_access import Attributes
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.call_values import Calls
from pkg.resolution.container_values import Containers
from pkg.resolution.library import LibraryCalls
from pkg.resolution.narrowed_values import narrow
from pkg.resolution.program import BUILTINS, MODULE_TEXTS, Code, ModuleInfo, Program
from pkg.resolution.pytest_fixtures import Fixtures
from pkg.resolution.reasons import Reason
from pkg.resolution.site_outcomes import FALLBACK, Outcome, Target, Unbound
from pkg.resolution.special import Special
from pkg.resolution.types import Promise, Types
from pkg.resolution.value_sets import (
    EMPTY,
    MOST_VALUES,
    PLAIN,
    Class,
    Constant,
    Container,
    Flavour,
    Function,
    Generator,
    Instance,
    Library,
    Text,
    Unknown,
    Value,
    Values,
    is_large,
    make_sort_key,
    merge_alike,
    unknown,
)
from pkg.resolution.variables import Home, Variable

_CLASS_TAKING = frozenset(("__new__", "__init_subclass__", "__class_getitem__"))
_ADDING = frozenset(("add", "append", "appendleft", "put"))
_MOST_OPEN = 16_000  # frames kept unpacked between rounds, some 3 KB each
_MOST_STEPS = 20  # average evaluations of an operation within one evaluation of its frame

Outcomes = dict[int, list[Outcome]]
Narrowed = dict[tuple[Values, str, Values, bool], tuple[Values, set[object]]]


class Machine:
    """Solver of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.schedule = program.schedule
        self.read = program.schedule.read
        self.write = program.schedule.write
        self.make = program.interner.make
        self.types = Types(program)
        self.code: Code = None  # type: ignore[assignment]  # being evaluated
        self.outcomes: Outcomes = {}  # by site, of the code being evaluated
        self.number = 0  # of the operation being evaluated
        self.steps = 0  # operations evaluated
        self.containers = Containers(self)
        self.attributes = Attributes(self)
        self.calls = Calls(self)
        self.special = Special(self)
        self.library = LibraryCalls(self)
        self.fixtures = Fixtures(self)
        self._ordered: dict[Values, list[Value]] = {}
        self._shared: dict[Values, Values] = {}  # equal sets as one object
        self.narrowed: Narrowed = {}  # results by set and test
        self._open: dict[Code, int] = {}  # unpacked code, and the round of its last evaluation
        self._noted: dict[Outcome, Outcome] = {}  # equal outcomes as one object
        self._globals: dict[tuple[ModuleInfo, str], Any] = {}
        self._handlers = self._list_handlers()

    def solve(self) -> None:
        """Prepare and evaluate all code until nothing grows."""
        self.prepare()
        self.run()

    def run(self) -> None:
        """Evaluate all code until nothing grows."""
        for each in self.program.list_codes():
            self.schedule.add(each)
        while homes := self.schedule.take_round():
            for home in homes:
                self._evaluate_module(home)
            self.schedule.end_round()
            self._forget_round()

    def _forget_round(self) -> None:
        """Clear caches of sets, most of which have grown since, and pack code that is quiet."""
        self._close([code for code, at in self._open.items() if at < self.schedule.rounds - 1])
        self._ordered.clear()
        self._shared.clear()
        self.narrowed.clear()
        self.attributes.distinct.clear()
        self.special.distinct.clear()
        self.calls.promised.clear()

    def prepare(self) -> None:
        """Find bases, record classes and signatures before solving."""
        self.types.find_bases()
        self.program.outline_modules()
        self.program.hierarchy.order()
        self.types.register_classes()
        self.types.find_signatures()
        self.attributes.prepare()
        self.schedule.consulted = set()

    def evaluate_again(self, home: Home) -> None:
        """Evaluate a module; the evaluation of another one may be suspended."""
        if isinstance(home, ModuleInfo) and home.is_outlined:
            home.is_outlined = False
            self.types.consult_bases(home)
        before = self.code, self.outcomes, self.number, self.calls.depth
        self.calls.depth = 0
        self._evaluate_module(home)
        self.code, self.outcomes, self.number, self.calls.depth = before

    def _evaluate_module(self, home: Home) -> None:
        """Evaluate the code of a module until nothing grows inside it."""
        self.schedule.enter(home)
        while (code := self.schedule.take()) is not None:
            try:
                self.evaluate(code)
            except Exception as fault:
                self._drop(code, fault)
            self._open[code] = self.schedule.rounds
        self.schedule.leave()
        if len(self._open) > _MOST_OPEN:
            self._close(code for code in getattr(home, "codes", ()) if code in self._open)

    def _close(self, codes: Iterable[Code]) -> None:
        """Pack code until it is evaluated again."""
        for code in codes:
            del self._open[code]
            code.pack()
            for found in code.outcomes.values():
                found[:] = [self._noted.setdefault(each, each) for each in found]

    def _drop(self, code: Code, fault: Exception) -> None:
        """Replace a failed operation by an unknown value, and evaluate the others again."""
        nodes = code.summary.nodes
        place = SITES.get(nodes[self.number][0])
        site = nodes[self.number][place] if place is not None else -1
        start = code.module.find_place(code, site)[0] if site >= 0 else 0
        line = code.module.unit.text.count(b"\n", 0, start) + 1 if site >= 0 else 0
        self.program.errors.note(fault, "resolve", code.module.path, line)
        code.summary.replace(self.number, (o.UNKNOWN, site))
        code.values = code.users = None
        self.schedule.add(code)

    def evaluate(self, code: Code) -> None:
        """Evaluate the operations of a frame: all at first, then those whose operands have changed.

        Raises RuntimeError where they do not converge, which is a fault of the rules.
        """
        self.code, self.outcomes = code, code.outcomes
        nodes, handlers, base, schedule = code.summary.nodes, self._handlers, code.base, self.schedule
        shared = self._shared
        values = code.values
        dirty, code.dirty = code.dirty, set()
        if values is None:
            values = code.values = [EMPTY] * (len(nodes) + 1)  # the last is of a missing operand, -1
            code.outcomes = self.outcomes = {}
            for number, node in enumerate(nodes):
                self.number = number
                schedule.node = base + number
                found = handlers[node[0]](node, values)
                values[number] = shared.setdefault(found, found)
            self.steps += len(nodes)
            if not code.summary.loops:
                return
            dirty = {n for n, node in enumerate(nodes) if node[0] == o.PHI and any(each > n for each in node[1:])}
        users = code.open_users()
        waiting = sorted(dirty)
        steps = 0
        while waiting:
            steps += 1
            self.steps += 1
            if steps > _MOST_STEPS * len(nodes) + 1000:
                raise RuntimeError(f"{code!r} has no fixpoint")
            number = heappop(waiting)
            dirty.discard(number)
            node = nodes[number]
            self.number = number
            schedule.node = base + number
            site = SITES.get(node[0])
            for each in node[site:] if site is not None else ():
                if each >= 0:
                    self.outcomes.pop(each, None)
            after = handlers[node[0]](node, values)
            before = values[number]
            if node[0] == o.PHI:
                after |= before
                if is_large(after) or number in code.merged:
                    code.merged.add(number)
                    after = merge_alike(after)
            if after != before:
                values[number] = shared.setdefault(after, after)
                for user in users[number]:
                    if user not in dirty:
                        dirty.add(user)
                        heappush(waiting, user)

    def order(self, values: Values) -> Iterable[Value]:
        """Sort values by source position, so that every run handles them in the same order."""
        if len(values) < 2:
            return values
        found = self._ordered.get(values)
        if found is None:
            found = self._ordered[values] = sorted(values, key=make_sort_key)
        return found

    def note(self, site: int, outcome: Outcome) -> None:
        """Record an outcome of a site."""
        if site >= 0:
            found = self.outcomes.get(site)
            if found is None:
                self.outcomes[site] = [outcome]
            else:
                found.append(outcome)

    def count_outcomes(self, site: int) -> int:
        """Return the number of outcomes of a site."""
        return len(self.outcomes.get(site, ()))

    def forget_reasons(self, site: int, start: int) -> None:
        """Drop reasons recorded while modelling a library call: its callee is known."""
        found = self.outcomes.get(site)
        if found is not None and len(found) > start:
            found[start:] = [each for each in found[start:] if not isinstance(each, Unbound)]

    # Plain operations.

    def _constant(self, node: Sequence[Any], values: list[Values]) -> Values:
        kind, value = node[1], node[2]
        if value is None or (isinstance(value, str) and len(value) > 60):
            return frozenset({PLAIN[kind]})
        return frozenset({self.make(Constant, kind, value)})

    def parameter(self, code: Code, place: int) -> Values:
        """Return the values of a parameter."""
        name, kind, _, annotation = code.summary.parameters[place]
        info = code.owner_class
        if place == code.receiver_place and info is not None:
            if code.name == "__init_subclass__":
                derived = self.program.hierarchy.list_derived(info)
                if 0 < len(derived) <= MOST_VALUES:
                    return frozenset(self.make(Class, each, False) for each in derived)
            if code.name in _CLASS_TAKING or "classmethod" in code.decorators:
                return frozenset({self.make(Class, info, True)})
            return frozenset({self.make(Instance, info, Flavour.SELF)})
        if kind in (o.REST, o.NAMED_REST):
            return frozenset({self.containers.open_rest(code, place, kind)})
        promised, is_open = self.types.promise(code.parent, annotation)
        if not is_open:
            return self._add_containers(promised, code, place)
        fixture = self.fixtures.read_parameter(code, name)
        if fixture is not None:
            return fixture
        return promised | self.read(code.parameters[place]) | unknown(Reason.PARAMETER)

    def _add_containers(self, promised: Values, code: Code, place: int) -> Values:
        """Add the containers passed by callers to a promised one, whose items are less precise."""
        if any(isinstance(each, Container) for each in promised):
            given = self.read(code.parameters[place])
            return promised.union(each for each in given if isinstance(each, Container))
        return promised

    def global_name(self, code: Code, name: str) -> Values:
        """Return the values of a name of the module, or of a builtin."""
        key = code.module, name
        found = self._globals.get(key)
        if found is None:
            found = self._globals[key] = self._find_global(code.module, name)
        if isinstance(found, Variable):
            values = self.read(found)
            if not values and name in BUILTINS:
                return frozenset({self.make(Library, f"builtins.{name}")})
            return values
        if isinstance(found, tuple):
            return self._read_stars(found, name)
        if name == "__class__":
            each: Code | None = code
            while each is not None and each.owner_class is None:
                each = each.parent
            if each is not None and each.owner_class is not None:
                return frozenset({self.make(Class, each.owner_class, False)})
        return found

    def _find_global(self, module: ModuleInfo, name: str) -> Variable | Values | tuple[str, ...]:
        """Return the variable of a name, its constant values, or the modules that a star import takes it from."""
        own = module.names.get(name)
        if own is not None:
            return own
        star = self.program.find_star(module.path, name) if module.stars else ()
        if star:
            return star
        if name in BUILTINS:
            return frozenset({self.make(Library, f"builtins.{name}")})
        if name in MODULE_TEXTS:
            return frozenset({PLAIN["str"]})
        for record in module.stars:
            if not self.program.map.find_import(module.path, record) and not record.level:
                return frozenset({self.make(Library, f"{record.module}.{name}")})
        return unknown(Reason.UNDEFINED)

    def import_values(self, module: ModuleInfo, number: int) -> Values:
        """Return the values that an import binds."""
        record = module.unit.imports[number]
        if record.name is None:
            return self.types.find_import(module, number)
        found = self.program.find_bound(module.path, number)
        if not found:
            if record.level:
                return unknown(Reason.MODULE_ATTRIBUTE)
            return frozenset({self.make(Library, f"{record.module}.{record.name}")})
        result = EMPTY
        for each in found.list_all():
            if not each:
                result |= {self.make(Library, f"{record.module}.{record.name}")}
            elif each.module is not None:
                result |= self.member_of(each.module, record.name, module.path)
            else:
                inner = self.program.map.step(each, record.name)
                result |= self.types.list_modules(inner) if inner else unknown(Reason.MODULE_ATTRIBUTE)
        if found.may_be_library:  # which may define names that a module elsewhere lacks
            result -= unknown(Reason.MODULE_ATTRIBUTE)
        return result

    def member_of(self, path: str, name: str, importer: str = "") -> Values:
        """Return the values of a module's name, read from another module."""
        module = self.program.modules.get(path)
        self.schedule.consulted.add(name)
        if module is None:
            return unknown(Reason.MODULE_ATTRIBUTE)
        own = module.names.get(name)
        values = self.read(own) if own is not None and path != importer else EMPTY
        if values or (name in module.bindings and path != importer):
            return values
        if own is None:
            star = self.program.find_star(path, name) if module.stars else ()
            if star:
                return self._read_stars(star, name)
        inner = self.program.map.step(self.program.map.open(path), name)
        if inner:
            return self.types.list_modules(inner)
        if own is not None:
            return self.read(own)
        if name in MODULE_TEXTS:
            return frozenset({PLAIN["str"]})
        fallback = self._find_fallback(module)
        if fallback is not None:
            result = self.attributes.call_fallback(self.read(fallback), name)
            return result | unknown(Reason.CHOSEN if result else Reason.DYNAMIC)
        for record in module.stars:
            if not self.program.map.find_import(path, record) and not record.level:
                return frozenset({self.make(Library, f"{record.module}.{name}")})
        return unknown(Reason.MODULE_ATTRIBUTE)

    def _find_fallback(self, module: ModuleInfo) -> Variable | None:
        """Return the variable of a module's `__getattr__`."""
        self.schedule.consulted.add(FALLBACK)
        return module.names.get(FALLBACK)

    def list_fallback(self, path: str, name: str) -> Iterator[Target]:
        """Return the module's `__getattr__` functions that a read of a missing name calls."""
        module = self.program.modules.get(path)
        fallback = self._find_fallback(module) if module is not None and name not in module.names else None
        if module is None or fallback is None or name in MODULE_TEXTS or name == "__dict__":
            return
        is_found = bool(module.stars) and self.program.find_star(path, name)
        if not is_found and not self.program.map.step(self.program.map.open(path), name):
            for value in self.read(fallback):
                if isinstance(value, Function):
                    yield Target(value.code, FALLBACK, LIKELY)

    def _star_bound(self, node: Sequence[Any], values: list[Values]) -> Values:
        star = self.program.find_brought(self.code.module.path, node[3], node[1])
        return self._read_stars(star, node[1]) if star else values[node[2]]

    def _read_stars(self, paths: tuple[str, ...], name: str) -> Values:
        """Return the values of a name that star imports take from one of some modules."""
        return EMPTY.union(*(self.member_of(path, name) for path in paths))

    def _join(self, node: Sequence[Any], values: list[Values]) -> Values:
        return EMPTY.union(*(values[each] for each in node[1:]))

    def _narrow(self, node: Sequence[Any], values: list[Values]) -> Values:
        return narrow(self, values[node[1]], node[2], bool(node[3]), values) if node[1] >= 0 else EMPTY

    def _function(self, node: Sequence[Any], values: list[Values]) -> Values:
        made = self.code.module.codes[node[1]]
        for place, number in node[2]:
            if number >= 0:
                self.write(made.parameters[place], values[number])
                if place in made.defaults:
                    self.write(made.defaults[place], values[number])
        return frozenset({self.make(Function, made)})

    def _class(self, node: Sequence[Any], values: list[Values]) -> Values:
        info = self.code.module.codes[node[1]].class_info
        if info is None:
            return EMPTY
        self.calls.note_class_creation(info, node[4])
        return frozenset({self.make(Class, info, False)})

    def combine(self, promise: Promise, given: Values) -> Values:
        """Combine the promise of an annotation with known values."""
        promised, is_open = promise
        if is_open or not promised:
            return promised | given
        known = frozenset(each for each in given if not isinstance(each, Unknown | Library))
        return known if any(isinstance(each, Instance) for each in known) else promised | known

    def _text(self, node: Sequence[Any], values: list[Values]) -> Values:
        parts = [values[each] for each in node[1] if each >= 0]
        beginning, is_whole = "", True
        for part in parts:
            text = _read_text(part)
            if text is None:
                is_whole = False
                break
            beginning += text
        if is_whole:
            return frozenset({self.make(Constant, "str", beginning)})
        end = (_read_text(parts[-1]) if parts else None) or ""
        return frozenset({self.make(Text, beginning, end) if beginning or end else PLAIN["str"]})

    def _unknown(self, node: Sequence[Any], values: list[Values]) -> Values:
        if len(node) > 1:  # replaces an operation that failed
            self.note(node[1], Unbound(Reason.FAULT))
            return unknown(Reason.FAULT)
        return unknown(Reason.EXPRESSION)

    def _caught(self, node: Sequence[Any], values: list[Values]) -> Values:
        result: set[Value] = set()
        for value in self.containers.list_classes(values[node[1]]):
            if isinstance(value, Class):
                result.add(self.make(Instance, value.info, Flavour.TYPED))
            elif isinstance(value, Library):
                result.add(self.make(Library, f"{value.name}()"))
            else:
                result.add(value)
        return frozenset(result)

    # Attributes and items.

    def _set_attribute(self, node: Sequence[Any], values: list[Values]) -> Values:
        self.attributes.assign(values[node[1]], node[2], values[node[3]], node[4])
        return EMPTY

    def _delete_attribute(self, node: Sequence[Any], values: list[Values]) -> Values:
        self.attributes.delete(values[node[1]], node[2], node[3])
        return EMPTY

    def _set_item(self, node: Sequence[Any], values: list[Values]) -> Values:
        self.containers.assign(values[node[1]], values[node[2]], values[node[3]], node[4])
        return EMPTY

    def _delete_item(self, node: Sequence[Any], values: list[Values]) -> Values:
        if node[1] >= 0:
            owners, key = values[node[1]], values[node[2]]
            self.special.call_first(owners, ("__delitem__",), (key,), node[3])
            if any(isinstance(each, Container) for each in owners):
                self.special.note_key(key, node[3])
        return EMPTY

    # Names.

    def _set_global(self, node: Sequence[Any], values: list[Values]) -> Values:
        self.write(self.code.module.names[node[1]], values[node[2]])
        return EMPTY

    def _set_cell(self, node: Sequence[Any], values: list[Values]) -> Values:
        if node[3] >= 0:
            cell = self.code.module.codes[node[1]].cell(node[2])
            self.write(cell, values[node[3]])
            self._copy_parameter(node[3], values, cell)
        return EMPTY

    def _copy_parameter(self, number: int, values: list[Values], *variables: Variable | None) -> None:
        """Copy each value of a large parameter to other variables."""
        node = self.code.summary.nodes[number] if number >= 0 else (o.UNKNOWN,)
        if node[0] != o.PARAM or not is_large(values[number]):
            return
        given = self.code.parameters[node[1]]
        for each in variables:
            if each is not None and each not in (given.copies or ()):
                for value in self.order(values[number]):
                    self.write(each, frozenset({value}))
                self.schedule.copy(given, each)

    def _member(self, node: Sequence[Any], values: list[Values]) -> Values:
        info = self.code.class_info
        if info is not None and node[2] >= 0:
            self.write(info.members[node[1]], values[node[2]])
        return EMPTY

    # Returns.

    def _return(self, node: Sequence[Any], values: list[Values]) -> Values:
        cases = self.code.cases
        for each in node[1]:
            if each >= 0:
                self.write(self.code.result, values[each])
                if cases:
                    self.write(cases[node[2]], values[each])
        return EMPTY

    def _yield(self, node: Sequence[Any], values: list[Values]) -> Values:
        self.write(self.code.yielded, values[node[1]])
        return unknown(Reason.EXPRESSION)

    def _yield_from(self, node: Sequence[Any], values: list[Values]) -> Values:
        if node[1] < 0:
            return EMPTY
        self.write(self.code.yielded, self.containers.iterate(values[node[1]], node[2], False))
        result = EMPTY
        for value in self.order(values[node[1]]):
            if isinstance(value, Generator):
                result |= self.read(value.code.result)
        return result or unknown(Reason.EXPRESSION)

    # Calls.

    def _call(self, node: Sequence[Any], values: list[Values]) -> Values:
        if node[1] < 0:
            return EMPTY
        callees = values[node[1]]
        arguments = Arguments.of(self, node[2], node[3], values)
        rule, confidence = self.calls.find_rule(self.code, node[1])
        return self.calls.call_all(callees, arguments, node[4], rule, confidence)

    def _call_attribute(self, node: Sequence[Any], values: list[Values]) -> Values:
        if node[1] < 0:
            return EMPTY
        arguments = Arguments.of(self, node[3], node[4], values)
        if node[2] in _ADDING and len(node[3]) == 1:
            for owner in self.order(values[node[1]]):
                if isinstance(owner, Container):
                    self._copy_parameter(node[3][0][0], values, owner.everything, owner.rest)
        return self.calls.call_member(values[node[1]], node[2], arguments, node[5])

    def _decorate(self, node: Sequence[Any], values: list[Values]) -> Values:
        return self.calls.decorate(node, values) if node[1] >= 0 else EMPTY

    def _raise(self, node: Sequence[Any], values: list[Values]) -> Values:
        for value in self.order(values[node[1]]):
            if isinstance(value, Class):
                self.calls.call(value, Arguments(self, [], []), node[2], "raise", CERTAIN)
        return EMPTY

    def _list_handlers(self) -> list[Callable[[Sequence[Any], list[Values]], Values]]:
        calls, attributes, containers, special = self.calls, self.attributes, self.containers, self.special
        table: dict[int, Callable[[Sequence[Any], list[Values]], Values]] = {
            o.CONST: self._constant, o.CALL: self._call, o.CALL_ATTR: self._call_attribute, o.PHI: self._join,
            o.NARROW: self._narrow, o.FUNC: self._function, o.CLASS: self._class, o.YIELD: self._yield,
            o.YIELD_FROM: self._yield_from, o.DECORATE: self._decorate, o.TEXT: self._text, o.UNKNOWN: self._unknown,
            o.RETURN: self._return, o.SET_ATTR: self._set_attribute, o.SET_ITEM: self._set_item,
            o.DEL_ATTR: self._delete_attribute, o.DEL_ITEM: self._delete_item, o.SET_GLOBAL: self._set_global,
            o.SET_CELL: self._set_cell, o.MEMBER: self._member, o.RAISE: self._raise, o.CAUGHT: self._caught,
            o.STAR_BOUND: self._star_bound,
            o.PARAM: lambda node, _: self.parameter(self.code, node[1]),
            o.GLOBAL: lambda node, _: self.global_name(self.code, node[1]),
            o.CELL: lambda node, _: self.read(self.code.module.codes[node[1]].cell(node[2])),
            o.IMPORT: lambda node, _: self.import_values(self.code.module, node[1]),
            o.STAR: lambda node, _: EMPTY,
            o.DECLARE: lambda node, values: self.combine(self.types.promise(self.code, node[1]), values[node[2]]),
            o.ATTR: lambda node, values: attributes.read_all(values[node[1]], node[2], node[3:]),
            o.ITEM: lambda node, values: containers.read_item(values[node[1]], values[node[2]], node[3]),
            o.ITER: lambda node, values: containers.iterate(values[node[1]], node[3], bool(node[2])),
            o.UNPACK: lambda node, values: containers.unpack(values[node[1]], *node[2:6]),
            o.COLLECT: lambda node, values: frozenset({containers.collect(node, values, self.number)}),
            o.AWAIT: lambda node, values: calls.await_all(values[node[1]], node[2]),
            o.BINARY: lambda node, values: special.operate(node[1], values[node[2]], values[node[3]], node[4], False),
            o.INPLACE: lambda node, values: special.operate(node[1], values[node[2]], values[node[3]], node[4], True),
            o.UNARY: lambda node, values: special.apply_unary(node[1], values[node[2]], node[3]),
            o.COMPARE: lambda node, values: special.compare(node[1], values[node[2]], values[node[3]], node[4]),
            o.PROTOCOL: lambda node, values: special.call_protocol(node[1], values[node[2]], node[3]),
            o.ENTER: lambda node, values: special.enter(values[node[1]], bool(node[2]), node[3]),
        }  # fmt: skip
        return [table[code] for code in range(len(table))]

    def release(self) -> None:
        """Break reference cycles."""
        self.program.release()
        vars(self).clear()


SITES = {
    o.ATTR: 3, o.CALL: 4, o.CALL_ATTR: 5, o.ITEM: 3, o.ITER: 3, o.UNPACK: 5, o.BINARY: 4, o.INPLACE: 4, o.UNARY: 3,
    o.COMPARE: 4, o.CLASS: 4, o.AWAIT: 2, o.YIELD_FROM: 2, o.PROTOCOL: 3, o.ENTER: 3, o.DECORATE: 3, o.SET_ATTR: 4,
    o.SET_ITEM: 4, o.DEL_ATTR: 3, o.DEL_ITEM: 3, o.RAISE: 2,
}  # fmt: skip
"""Index of the first site in an operation, by operation code; reads of attributes may have several."""


def _read_text(values: Values) -> str | None:
    """Return the text of a constant; None for any other value."""
    if len(values) != 1:
        return None
    (value,) = values
    return value.value if isinstance(value, Constant) and isinstance(value.value, str) else None
