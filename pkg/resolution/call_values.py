"""Call values: pass arguments to functions, construct objects, return results (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.extract.summary.frame_heads import Guards
from pkg.extract.summary.operations import IS_RAISING, IS_STUB
from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.attribute_access import is_placeholder
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.classes import ClassInfo, Lookup, has_base
from pkg.resolution.narrowed_values import may_pass, narrow
from pkg.resolution.program import Code
from pkg.resolution.reasons import Reason
from pkg.resolution.record_fields import AFTER_INIT, Field, find_generated, list_parameters
from pkg.resolution.site_outcomes import MADE_DECORATOR, External, Outcome, Overriding, Target, Unbound
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
    Maker,
    Method,
    Module,
    Partial,
    Property,
    Register,
    Signature,
    Super,
    Unknown,
    Value,
    Values,
    Wrapped,
    is_large,
    is_none,
    unknown,
)
from pkg.resolution.variables import Substitutes, Variable

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

_RULES: dict[type[Value], str] = {Module: "module attribute", Super: "super", Container: "container"}
_FLAVOURS = {
    Flavour.EXACT: "constructed object", Flavour.SELF: "self", Flavour.TYPED: "annotated type",
    Flavour.NARROWED: "narrowed type",
}  # fmt: skip
_NONE = frozenset({PLAIN["NoneType"]})
_KIND_NAMES = {"rest": "tuple", "named": "dict"}
_DEFINED = (o.FUNC, o.CLASS, o.DECORATE)
_GENERIC = frozenset(("singledispatch", "singledispatchmethod"))


class _Plan(NamedTuple):
    """A resolved call of a method that is plainly defined in the class of its receiver."""

    member: Variable | None  # of the method; None where no plan is made
    changes: Variable | None  # classes whose attribute of this name is assigned from outside
    code: Code
    outcomes: tuple[Outcome, ...]


class Calls:
    """Call values."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._make = machine.make
        self._hierarchy = machine.program.hierarchy
        self._records: dict[ClassInfo, list[Field]] = {}
        self.depth = 0
        self.promised: dict[tuple[Values, Values], Values] = {}
        self._plans: dict[tuple[Instance, str], _Plan] = {}
        self._overriding: dict[tuple[ClassInfo, str], tuple[Code, ...]] = {}
        self._copied: set[tuple[Code, Code]] = set()  # methods, and overriding ones that receive their arguments
        machine.schedule.substitute = self._link_overrides

    # Rules of calls by name.

    def find_rule(self, code: Code, number: int) -> tuple[str, str]:
        """Return the rule that binds a callee other than an attribute, and its confidence."""
        node = code.summary.nodes[number]
        operation = node[0]
        if operation == o.GLOBAL:
            return self._find_global_rule(code, node[1])
        if operation == o.CELL:
            return self._find_cell_rule(code.module.codes[node[1]], node[2])
        if operation == o.PARAM:
            return "argument", LIKELY
        if operation in _DEFINED:
            return ("same module" if code.number == 0 else "enclosing scope"), CERTAIN
        if operation == o.IMPORT:
            return "import", CERTAIN
        if operation == o.NARROW:
            return self.find_rule(code, node[1]) if node[1] >= 0 else ("assigned value", LIKELY)
        if operation == o.PHI:
            kinds = {code.summary.nodes[each][0] for each in node[1:] if each >= 0}
            if kinds <= {o.IMPORT}:
                return "import", LIKELY
            return ("same module" if kinds <= set(_DEFINED) else "assigned value"), LIKELY
        if operation in (o.ATTR, o.ITEM, o.ITER, o.UNPACK, o.COLLECT, o.DECLARE, o.ENTER):
            return "assigned value", CERTAIN
        return "result", CERTAIN

    def _find_global_rule(self, code: Code, name: str) -> tuple[str, str]:
        module = code.module
        root, numbers = module.root, module.bindings.get(name)
        if numbers is None or root is None:
            return ("star import", CERTAIN) if name not in module.names else ("assigned value", LIKELY)
        nodes = [self._skip_stars(root, each) for each in numbers]
        joined = [each for node in nodes if node[0] == o.PHI for each in node[1:] if each >= 0]
        parts = [root.summary.nodes[each] for each in joined] + [node for node in nodes if node[0] != o.PHI]
        confidence = CERTAIN if len(parts) == 1 else LIKELY
        if all(node[0] in _DEFINED for node in parts):
            return "same module", confidence
        if all(node[0] == o.IMPORT for node in parts):
            return "import", confidence
        return ("star import" if all(node[0] == o.STAR for node in parts) else "assigned value"), confidence

    def _skip_stars(self, root: Code, number: int) -> Any:
        """Return the operation that binds a name, unless a later star import does."""
        node = root.summary.nodes[number]
        if node[0] != o.STAR_BOUND:
            return node
        star = self._machine.program.find_brought(root.module.path, node[3], node[1])
        return root.summary.nodes[node[2]] if not star else (o.STAR,)

    def _find_cell_rule(self, owner: Code, name: str) -> tuple[str, str]:
        stored = [node for node in owner.summary.nodes if node[0] == o.SET_CELL and node[2] == name]
        nodes = [owner.summary.nodes[node[3]] for node in stored if node[3] >= 0]
        confidence = CERTAIN if len(nodes) == 1 else LIKELY
        if any(node[0] == o.PARAM for node in nodes):
            return "argument", LIKELY
        if all(node[0] in _DEFINED for node in nodes):
            return "enclosing scope", confidence
        if all(node[0] == o.IMPORT for node in nodes):
            return "import", confidence
        return "assigned value", confidence

    # Calls of sets of values.

    def call_all(self, callees: Values, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        """Call every value."""
        callees -= _NONE
        result: set[Value] = set()
        unread = arguments.want(False) if is_large(callees) else arguments
        for value in self._machine.order(callees):
            overrides = self._list_overrides(value)
            sure = LIKELY if overrides and confidence == CERTAIN else confidence
            result |= self.call(value, arguments if isinstance(value, Class) else unread, site, rule, sure)
            if overrides:
                self._note_overrides(value, value.receiver.info, overrides, site)  # type: ignore[attr-defined]
        return self._limit(callees, result)

    def _list_overrides(self, value: Value) -> tuple[Code, ...]:
        """List the overriding methods of a bound method, whose receiver may be of a subclass."""
        if not isinstance(value, Method):
            return ()
        receiver = value.receiver
        if not isinstance(receiver, Instance | Class) or not receiver.is_open:
            return ()
        return self.list_overriding(receiver.info, value.code.name)

    def call_member(self, receivers: Values, name: str, arguments: Arguments, site: int) -> Values:
        """Call an attribute of every value."""
        machine = self._machine
        machine.schedule.consulted.add(name)
        result: set[Value] = set()
        if is_large(receivers):
            apart: Iterable[Value] = machine.attributes.list_distinct(receivers, name)
            arguments = arguments.want(False)
        else:
            apart = machine.order(receivers)
        for receiver in apart:
            came = self._call_planned(receiver, name, arguments, site) if isinstance(receiver, Instance) else None
            result |= self._call_member(receiver, name, arguments, site) if came is None else came
        return MANY if is_large(receivers) else frozenset(result)

    def _call_member(self, receiver: Value, name: str, arguments: Arguments, site: int) -> Values:
        machine = self._machine
        found = machine.attributes.read(receiver, name)
        if isinstance(receiver, Container):
            return self._call_values(found, arguments, site, "container", CERTAIN)
        for target in machine.attributes.list_called(receiver, name):
            machine.note(site, target)
        if not isinstance(receiver, Instance | Class | Super):
            rule = _RULES.get(type(receiver), "value")
            if name == "format" and isinstance(receiver, Constant) and isinstance(receiver.value, str):
                machine.note(site, External("builtins.str().format"))
                return machine.special.format_text(receiver.value, name, [values for values, _ in arguments.placed])
            return self._call_values(found, arguments, site, rule, CERTAIN)
        if isinstance(receiver, Super):
            result = self._call_values(found, arguments, site, "super", CERTAIN)
            self._note_siblings(receiver, name, site)
            return result
        return self._call_of_class(receiver, name, found, arguments, site)

    def _call_planned(self, receiver: Instance, name: str, arguments: Arguments, site: int) -> Values | None:
        """Call a method that is plainly defined in a class, which is the common case; None for anything else."""
        key = receiver, name
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._make_plan(receiver, name)
        if plan.member is None:
            return None
        machine = self._machine
        if len(machine.read(plan.member)) != 1 or (plan.changes is not None and machine.read(plan.changes)):
            return None
        for outcome in plan.outcomes:
            machine.note(site, outcome)
        code = plan.code
        if plan.outcomes[1:]:
            self._note_receiver(code, receiver.info)
        return self.run(code, receiver, arguments)

    def run(self, code: Code, receiver: Value | None, arguments: Arguments) -> Values:
        """Pass arguments to a function, and return its result if that is wanted."""
        self.pass_arguments(code, receiver, arguments)
        for place, signature in code.signatures.items():
            self._pass_promised(self._machine.read(code.parameters[place]), signature)
        if not arguments.wants_result:
            return EMPTY
        return self.result_of(code, receiver, self._list_results(code, receiver, arguments) if code.defaults else None)

    def _make_plan(self, receiver: Instance, name: str) -> _Plan:
        info = receiver.info
        lookup = self._hierarchy.look_up(info, name, receiver.is_open)
        owner = lookup.owner
        code = owner.methods.get(name) if owner is not None and not lookup.fields else None
        if owner is None or code is None or code.decorators or is_placeholder(code) or name.startswith("__init_sub"):
            return _Plan(None, None, code, ())  # type: ignore[arg-type]
        if code.summary.flags & (IS_STUB | IS_RAISING):
            return _Plan(None, None, code, ())
        overrides = self.list_overriding(info, name) if lookup.overrides else ()
        confidence = LIKELY if receiver.is_open and (receiver.is_promised or lookup.overrides) else CERTAIN
        outcomes: list[Outcome] = [Target(code, _FLAVOURS[receiver.flavour], confidence)]
        if overrides:
            outcomes.append(Overriding(overrides))
        return _Plan(owner.members[name], self._machine.attributes.find_changes(name), code, tuple(outcomes))

    def _call_of_class(
        self, receiver: Instance | Class, name: str, found: Values, arguments: Arguments, site: int
    ) -> Values:
        """Call an attribute of an object or class, overriding methods included."""
        rule = (
            _FLAVOURS[receiver.flavour]
            if isinstance(receiver, Instance)
            else "cls"
            if receiver.is_open
            else "class attribute"
        )
        if not receiver.is_open:
            return self._call_values(found, arguments, site, rule, CERTAIN)
        lookup = self._hierarchy.look_up(receiver.info, name, True)
        if lookup.owner is None and not lookup.fields:
            return self._call_values(found, arguments, site, "derived class", POSSIBLE)
        promised = isinstance(receiver, Instance) and receiver.is_promised
        abstract = [each for each in found if isinstance(each, Method) and is_placeholder(each.code)]
        overrides = self.list_overriding(receiver.info, name) if lookup.overrides else ()
        exchanged = self._list_replaced(lookup, name) if any(isinstance(each, Class) for each in found) else EMPTY
        confidence = LIKELY if promised or overrides or exchanged else CERTAIN
        if exchanged and lookup.owner is not None:
            found -= exchanged - self._machine.read(lookup.owner.members[name])
        for each in self._machine.order(exchanged):
            self.call(each, arguments, site, "override", POSSIBLE)
        result = (
            self._call_values(found.difference(abstract) if abstract else found, arguments, site, rule, confidence)
            if len(abstract) < len(found) or not abstract
            else EMPTY
        )
        if abstract:
            result |= self._call_values(frozenset(abstract), arguments, site, rule, POSSIBLE)
        is_empty = all(isinstance(each, Method) and each.code.summary.flags & (IS_STUB | IS_RAISING) for each in found)
        for each in self._machine.order(found):
            self._note_overrides(each, receiver.info, overrides, site)
        if is_empty and overrides and arguments.wants_result:
            if len(overrides) > MOST_VALUES:
                return result | MANY
            for code in overrides:
                result |= self.result_of(code, self._take_derived(receiver, code))
        return result

    def _take_derived(self, receiver: Instance | Class, code: Code) -> Value:
        """Narrow a receiver to the class that defines a method."""
        info = code.owner_class or receiver.info
        if isinstance(receiver, Instance):
            return self._make(Instance, info, receiver.flavour)
        return self._make(Class, info, True)

    def _list_replaced(self, lookup: Lookup, name: str) -> Values:
        """List the classes that subclasses hold under an attribute whose value is a class."""
        members = (self._machine.read(each.members[name]) for each in lookup.overrides[:MOST_VALUES])
        return frozenset(value for values in members for value in values if isinstance(value, Class))

    def list_overriding(self, info: ClassInfo, name: str) -> tuple[Code, ...]:
        """List the overriding methods of a name in subclasses."""
        key = info, name
        self._machine.schedule.consulted.add(name)
        found = self._overriding.get(key)
        if found is None:
            overrides = self._hierarchy.look_up(info, name, True).overrides
            codes = (each.methods[name] for each in overrides if name in each.methods)
            found = self._overriding[key] = tuple(each for each in codes if not is_property(each))
        return found

    def _note_overrides(self, value: Value, info: ClassInfo, overrides: tuple[Code, ...], site: int) -> None:
        """Record the overriding methods of a call, and pass them the arguments of the overridden one."""
        if not overrides:
            return
        self._machine.note(site, Overriding(overrides))
        base = _code_of(value)
        if base is not None:
            self._note_receiver(base, info)

    def _note_receiver(self, base: Code, info: ClassInfo) -> None:
        """Record that a method is called on objects of a class or its subclasses."""
        if base.substitutes is None:
            base.substitutes = Substitutes(base)
        self._machine.write(base.substitutes, frozenset({self._make(Class, info, True)}))

    def _link_overrides(self, base: Code, receivers: Values) -> None:
        """Pass the arguments of a method on to its overriding methods in subclasses of some classes."""
        for receiver in self._machine.order(receivers):
            for code in self.list_overriding(receiver.info, base.name):  # type: ignore[attr-defined]
                if (base, code) not in self._copied:
                    self._copied.add((base, code))
                    self._copy_parameters(base, code)

    def _copy_parameters(self, base: Code, code: Code) -> None:
        """Copy the values of parameters to those of another method, by position or by name."""
        places = {name: place for place, (name, _, _, _) in enumerate(code.summary.parameters)}
        for place, (name, kind, _, _) in enumerate(base.summary.parameters):
            if kind == o.PLACED and place < len(code.summary.parameters):
                if place > 0 and code.summary.parameters[place][1] == o.PLACED:
                    self._machine.schedule.copy(base.parameters[place], code.parameters[place])
            elif kind == o.BY_NAME and name in places:
                self._machine.schedule.copy(base.parameters[place], code.parameters[places[name]])

    def _note_siblings(self, value: Super, name: str, site: int) -> None:
        """Record the methods that super() reaches in the MRO of subclasses: with several bases, siblings."""
        own = self._hierarchy.find(value.info, name, after=value.info)
        for owner in self._hierarchy.find_siblings(value.info, name):
            if owner is not own:
                for member in self._machine.order(self._machine.read(owner.members[name])):
                    if isinstance(member, Function):
                        self._machine.note(site, Target(member.code, "super", POSSIBLE))

    def _call_values(self, values: Values, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        values -= _NONE
        result: set[Value] = set()
        for value in self._machine.order(values):
            result |= self.call(value, arguments, site, rule, confidence)
        return self._limit(values, result)

    def _limit(self, callees: Values, result: set[Value]) -> Values:
        """Return the result of calling a large set: only objects of its classes are followed."""
        if not is_large(callees):
            return frozenset(result)
        infos = {each.info for each in callees if isinstance(each, Class)}
        made = frozenset(each for each in result if isinstance(each, Instance) and each.info in infos)
        return made if len(infos) == len(callees) else made | MANY

    # Calls of one value.

    def call(self, value: Value, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        """Call one value: record its targets, and return the result."""
        caller = _CALLERS.get(type(value))
        if caller is None or self.depth > 40:
            if is_none(value):
                return EMPTY
            self._machine.note(site, Unbound(Reason.EXPRESSION))
            return unknown(Reason.RESULT)
        self.depth += 1
        try:
            return caller(self, value, arguments, site, rule, confidence)
        finally:
            self.depth -= 1

    def call_bound(self, function: Value, receiver: Value) -> Values:
        """Call a function of a class with an object as its only argument."""
        arguments = Arguments(self._machine, [], [])
        result: Values = EMPTY
        for each in self._machine.order(self._machine.attributes.bind(frozenset({function}), receiver)):
            result |= self.call(each, arguments, -1, "property", CERTAIN)
        return result

    def _call_function(self, value: Function, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        return self._enter(value.code, None, arguments, site, rule, confidence)

    def _call_method(self, value: Method, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        return self._enter(value.code, value.receiver, arguments, site, rule, confidence)

    def _enter(
        self, code: Code, receiver: Value | None, arguments: Arguments, site: int, rule: str, confidence: str
    ) -> Values:
        is_generic = not code.decorators.isdisjoint(_GENERIC)
        self._machine.note(site, Target(code, rule, LIKELY if is_generic and confidence == CERTAIN else confidence))
        result = self.run(code, receiver, arguments)
        if is_generic:
            for each in self._machine.order(self._machine.read(code.cell(".registered"))):
                sure = POSSIBLE if confidence == POSSIBLE else LIKELY
                if isinstance(each, Function) and receiver is not None and each.code.parent is code.parent:
                    result |= self._enter(each.code, receiver, arguments, site, "generic function", sure)
                else:
                    result |= self.call(each, arguments, site, "generic function", sure)
        return result

    def _list_results(self, code: Code, receiver: Value | None, arguments: Arguments) -> Values:
        """Return the result of a function for the arguments of a call."""
        machine, given = self._machine, dict[int, Values]()
        for place in code.defaults:
            name, kind, _, _ = code.summary.parameters[place]
            values = arguments.find(place - (receiver is not None) if kind == o.PLACED else -1, name)
            if values is None:
                values = machine.read(code.parameters[place] if arguments.is_open else code.defaults[place])
            given[place] = values
        result = EMPTY if code.cases else machine.read(code.result)
        for guards, variable in code.cases.items():
            if _may_come(machine, guards, given):
                result |= machine.read(variable)
        for place, tests, guards in code.passed:
            values, annotation = given[place], code.summary.parameters[place][3]
            if not _may_come(machine, guards, given):
                continue
            if annotation is not None:
                values = machine.combine(machine.types.promise(code.parent, annotation), values)
            for test, holds in tests:
                values = narrow(machine, values, test, holds, [])
            result |= values
        return result

    def result_of(self, code: Code, receiver: Value | None, found: Values | None = None) -> Values:
        """Return the result of a call from the values that a function returns for its arguments."""
        self._machine.schedule.consulted.add(code.name)
        if code.is_generator:
            return frozenset({self._make(Generator, code, receiver, False)})
        if code.is_async:
            return frozenset({self._make(Coroutine, code, receiver)})
        return self.returned(code, receiver, found)

    def returned(self, code: Code, receiver: Value | None, found: Values | None = None) -> Values:
        """Return the values that a function returns, combined with its annotation."""
        if found is None:
            found = self._machine.read(code.result)
        if code.summary.returns is not None:
            promised, is_open = self._machine.types.promise(code.parent, code.summary.returns)
            if promised:
                found = self._keep_promise(found, promised, is_open)
        return self.adapt(found, receiver) if receiver is not None else found

    def _keep_promise(self, found: Values, promised: Values, is_open: bool) -> Values:
        """Combine the returned values with the promised ones."""
        if is_open:
            return found | promised
        key = found, promised
        result = self.promised.get(key)
        if result is None:
            known = frozenset(each for each in found if not isinstance(each, Unknown | Library))
            is_exact = any(isinstance(each, Instance) for each in known) and _covers(known, promised)
            result = self.promised[key] = known if is_exact else promised | known
        return result

    def adapt(self, values: Values, receiver: Value) -> Values:
        """Replace self by the receiver: a method that returns self keeps the type of its receiver."""
        info = getattr(receiver, "info", None)
        if info is None or not values:
            return values
        if isinstance(receiver, Super):
            return self.adapt(values, receiver.receiver)
        changed: set[Value] | None = None
        for value in values:
            own: Value | None = None
            if isinstance(value, Instance) and value.flavour is Flavour.SELF and has_base(info, value.info):
                if isinstance(receiver, Instance):
                    own = receiver
                elif isinstance(receiver, Class):
                    own = self._make(Instance, info, Flavour.SELF if receiver.is_open else Flavour.EXACT)
            elif isinstance(value, Class) and value.is_open and has_base(info, value.info):
                own = self._machine.attributes.take_class(receiver)
            if own is not None and own is not value:
                if changed is None:
                    changed = set(values)
                changed.discard(value)
                changed.add(own)
        return values if changed is None else frozenset(changed)

    def pass_arguments(self, code: Code, receiver: Value | None, arguments: Arguments) -> None:
        """Write arguments to the parameters of a function."""
        self._machine.schedule.consulted.add(code.name)
        parameters = code.summary.parameters
        write, variables = self._machine.write, code.parameters
        place = 0
        if receiver is not None and parameters and parameters[0][1] == o.PLACED:
            if code.receiver_place != 0:
                write(variables[0], frozenset({receiver}))
            place = 1
        for values, starred in arguments.placed:
            if starred:
                self._pass_starred(code, arguments, values, place)
                break
            if place < len(parameters) and parameters[place][1] == o.PLACED:
                write(variables[place], values)
                place += 1
            else:
                rest = next((i for i, each in enumerate(parameters) if each[1] == o.REST), -1)
                if rest >= 0:
                    container = self._machine.containers.open_rest(code, rest, o.REST)
                    self._machine.containers.put(container, place - rest, values)
                    place += 1
        for name, values in arguments.named:
            self._pass_named(code, arguments, name, values)

    def _pass_promised(self, values: Values, signature: Signature) -> None:
        """Write the arguments that an annotation promises to a callable to its parameters."""
        arguments = Arguments(self._machine, [(each, False) for each in signature.given], [])
        for value in self._machine.order(values):
            if isinstance(value, Function | Method):
                self.pass_arguments(value.code, value.receiver if isinstance(value, Method) else None, arguments)

    def _pass_starred(self, code: Code, arguments: Arguments, values: Values, place: int) -> None:
        """Write the items of a starred argument to the parameters from a position on."""
        containers = self._machine.containers
        parameters = code.summary.parameters
        for index in range(place, len(parameters)):
            if parameters[index][1] == o.PLACED:
                self._machine.write(code.parameters[index], arguments.read_item(values, index - place))
            elif parameters[index][1] == o.REST:
                containers.put_all(containers.open_rest(code, index, o.REST), values, index - place)

    def _pass_named(self, code: Code, arguments: Arguments, name: str, values: Values) -> None:
        containers = self._machine.containers
        rest = -1
        for index, (own, kind, _, _) in enumerate(code.summary.parameters):
            if kind == o.NAMED_REST:
                rest = index
            elif kind != o.REST:
                if name and own == name:
                    self._machine.write(code.parameters[index], values)
                    return
                if not name and index != code.receiver_place:
                    found = arguments.read_item(values, own)
                    if found:
                        self._machine.write(code.parameters[index], found)
        if rest >= 0:
            container = containers.open_rest(code, rest, o.NAMED_REST)
            if name:
                containers.put(container, name, values)
            else:
                containers.merge(container, values)

    # Classes.

    def _call_class(self, value: Class, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        info, arguments = value.info, arguments.want(True)
        self._machine.note(site, Target(info.code, rule, confidence))
        own: Value = self._make(Instance, info, Flavour.SELF if value.is_open else Flavour.EXACT)
        result: set[Value] = set()
        if info.metaclass is not None:
            made = self._hierarchy.find(info.metaclass, "__call__")
            for method in self._machine.order(self._machine.read(made.members["__call__"])) if made is not None else ():
                if isinstance(method, Function):
                    came = self._enter(method.code, value, arguments, site, "metaclass", confidence)
                    result |= {each for each in came if not isinstance(each, Unknown | Library)}
            if made is not None and confidence == CERTAIN:
                confidence = LIKELY
        if not result:
            result |= self._make_new(value, own, arguments, site, confidence)
        if any(isinstance(each, Instance) and has_base(each.info, info) for each in result):
            self._initialise(info, own, arguments, site, confidence)
        kind = self._find_kind(info) if info.is_open else ""
        return self._machine.library.call(kind, arguments, -1) if kind else frozenset(result)

    def _find_kind(self, info: ClassInfo) -> str:
        """Return the builtin decorator that a class extends without a `__get__` of its own."""
        names = (name for each in info.order for name in each.libraries)
        found = next((f"builtins.{name}" for name in names if name in ("property", "classmethod", "staticmethod")), "")
        return found if self._hierarchy.find(info, "__get__") is None else ""

    def _make_new(self, value: Class, own: Value, arguments: Arguments, site: int, confidence: str) -> set[Value]:
        made = find_generated(value.info, "__new__")
        if made is not None:
            self._fill(made, value.info, arguments, site, confidence)
            return {own}
        owner = self._hierarchy.find(value.info, "__new__")
        makers = self._machine.attributes.read_foreign(value.info, "__new__")
        if owner is not None:
            makers |= self._machine.read(owner.members["__new__"])
        result: set[Value] = set()
        for maker in self._machine.order(frozenset(makers)):
            function = maker.inner if isinstance(maker, Wrapped) else maker
            if not isinstance(function, Function):
                result.add(own)
                continue
            came = self._enter(function.code, value, arguments, site, "constructor", confidence)
            known = {each for each in came if not isinstance(each, Unknown | Library)}
            result |= known
            if len(known) < len(came) or not known:
                result.add(own)
        return result or {own}

    def _initialise(self, info: ClassInfo, own: Value, arguments: Arguments, site: int, confidence: str) -> None:
        made = find_generated(info, "__init__")
        if made is not None:
            self._fill(made, info, arguments, site, confidence)
            return
        owner = self._hierarchy.find(info, "__init__")
        if owner is None and isinstance(own, Instance):
            self._machine.containers.fill_object(own, arguments)
        for member in self._machine.order(self._machine.read(owner.members["__init__"])) if owner is not None else ():
            for method in self._machine.order(self._machine.attributes.bind(frozenset({member}), own)):
                self.call(method, arguments, site, "constructor", confidence)

    def _call_maker(self, value: Maker, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        self._machine.note(site, External(f"{value.made.name}.__init__"))
        self._fill(value.made, value.info, arguments if value.is_bound else arguments.cut(1), site, confidence)
        return frozenset({self._make(Instance, value.info, Flavour.SELF)})

    def _fill(self, made: ClassInfo, info: ClassInfo, arguments: Arguments, site: int, confidence: str) -> None:
        """Call a generated constructor: the fields of the class take the arguments."""
        machine, none = self._machine, Arguments(self._machine, [], [])
        for place, each in enumerate(self._list_parameters(made)):
            values = arguments.get(-1 if each.is_by_name else place, each.parameter)
            if values:
                machine.write(each.owner.fields[each.name], values)
        machine.schedule.consulted.update(each.name for each in made.order)
        for record in (each.record for each in made.order if each.record is not None):
            for value in machine.order(machine.read(record.factories)):
                self.call(value, none, site, "constructor", LIKELY)
        own = self._make(Instance, info, Flavour.EXACT)
        for name in AFTER_INIT:
            found = self._hierarchy.find(info, name)
            members = machine.read(found.members[name]) if found is not None else EMPTY
            for member in machine.order(members):
                if isinstance(member, Function):
                    self._enter(member.code, own, none, site, "constructor", confidence)

    def _list_parameters(self, made: ClassInfo) -> list[Field]:
        found = self._records.get(made)
        if found is None:
            found = self._records[made] = list_parameters(made)
        return found

    # Other callables.

    def _call_instance(self, value: Instance, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        owner = self._hierarchy.find(value.info, "__call__")
        if owner is None and any("ContextDecorator" in name for each in value.info.order for name in each.libraries):
            self._machine.note(site, External("contextlib.ContextDecorator.__call__"))
            return frozenset(self._machine.library.wrap("context", each, value) for each in arguments.get(0))
        if owner is None:
            self._machine.note(site, Unbound(Reason.RESULT))
            return unknown(Reason.RESULT)
        sure = LIKELY if value.is_promised else confidence
        result: Values = EMPTY
        members = self._machine.read(owner.members["__call__"])
        for method in self._machine.order(self._machine.attributes.bind(members, value)):
            is_abstract = value.is_open and isinstance(method, Method) and is_placeholder(method.code)
            result |= self.call(method, arguments, site, "__call__", POSSIBLE if is_abstract else sure)
        if value.is_open:
            for member in self._machine.order(self._machine.read(owner.members["__call__"])):
                self._note_overrides(member, value.info, self.list_overriding(value.info, "__call__"), site)
        return result

    def _call_library(self, value: Library, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        self._machine.note(site, External(value.name))
        start = self._machine.count_outcomes(site)
        result = self._machine.library.call(value.name, arguments, site)
        self._machine.forget_reasons(site, start)
        return result

    def _call_container_method(
        self, value: ContainerMethod, arguments: Arguments, site: int, rule: str, confidence: str
    ) -> Values:
        kind = value.container.kind if isinstance(value.container, Container) else ""
        name = f"{_KIND_NAMES.get(kind, kind)}().{value.name}" if kind else value.name
        self._machine.note(site, External(f"builtins.{name}"))
        start = self._machine.count_outcomes(site)
        result = self._machine.containers.call_method(value, arguments, site)
        self._machine.forget_reasons(site, start)
        return result

    def _call_container(self, value: Container, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        if value.kind != "reference":
            self._machine.note(site, Unbound(Reason.EXPRESSION))
            return unknown(Reason.RESULT)
        self._machine.note(site, External("weakref.ref()"))
        return self._machine.containers.read_everything(value)

    def _call_unknown(self, value: Unknown, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        self._machine.note(site, Unbound(value.reason))
        self.note_callbacks(arguments, site, POSSIBLE)
        return unknown(Reason.RESULT)

    def _call_partial(self, value: Partial, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        given = self._machine.library.read_partial(value)
        return self.call(value.inner, given.join(arguments), site, rule, confidence)

    def _call_wrapped(self, value: Wrapped, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        if isinstance(value.inner, Constant):
            return self._get_by(value.kind, value.inner, arguments, site)
        if value.kind == "comparison":
            arguments = arguments.shift(arguments.get(0))
        came = self.call(value.inner, arguments, site, rule, confidence)
        if value.manager is not None:
            self._machine.special.enter(frozenset({value.manager}), False, site)
        if value.kind != "contextmanager":
            return came
        return frozenset(
            self._make(Generator, each.code, each.receiver, True) if isinstance(each, Generator) else each
            for each in came
        )

    def _get_by(self, kind: str, key: Constant, arguments: Arguments, site: int) -> Values:
        """Return the result of an attrgetter, itemgetter or methodcaller."""
        machine, values = self._machine, arguments.get(0)
        machine.note(site, External(f"operator.{kind}()"))
        if kind == "itemgetter":
            return machine.containers.read_item(values, frozenset({key}), site)
        if not isinstance(key.value, str):
            return unknown(Reason.CHOSEN)
        if kind == "attrgetter":
            return machine.attributes.read_all(values, key.value, (site,))
        return self.call_member(values, key.value, arguments.cut(1), site)

    def _call_register(self, value: Register, arguments: Arguments, site: int, rule: str, confidence: str) -> Values:
        self._machine.note(site, External("functools.singledispatch().register"))
        owner = value.owner
        if isinstance(owner, Class):
            return arguments.get(0)
        given = arguments.get(1)
        functions = frozenset(each for each in given if isinstance(each, Function | Class))
        functions = functions or frozenset(each for each in arguments.get(0) if isinstance(each, Function))
        if functions:
            self.register(owner, functions)
            return functions
        return frozenset({value})

    def register(self, owner: Value, functions: Values) -> None:
        """Register implementations of a generic function."""
        code = owner.code  # type: ignore[attr-defined]
        self._machine.write(code.cell(".registered"), functions)

    def note_callbacks(self, arguments: Arguments, site: int, confidence: str) -> None:
        """Record the functions passed to a callee outside of the repository as callbacks."""
        if site < 0:
            return
        for values in (*(values for values, _ in arguments.placed), *(values for _, values in arguments.named)):
            for value in values:
                code = _code_of(value)
                if code is not None:
                    self._machine.note(site, Target(code, "callback", confidence))

    # Coroutines.

    def await_all(self, values: Values, site: int) -> Values:
        """Return the results of awaiting values."""
        result: set[Value] = set()
        for value in self._machine.order(values):
            if isinstance(value, Coroutine):
                result |= self.returned(value.code, value.receiver)
            elif isinstance(value, Instance):
                for came in self._machine.special.call_special(value, "__await__", [], site):
                    result |= self._machine.read(came.code.result) if isinstance(came, Generator) else {came}
            elif isinstance(value, Container):
                result |= self._machine.containers.read_everything(value)
            elif isinstance(value, Library):
                result.add(self._make(Library, f"{value.name}()") if not value.name.endswith("()") else value)
            else:
                result.add(value)
        return frozenset(result)

    # Definitions.

    def decorate(self, node: Sequence[Any], values: list[Values]) -> Values:
        """Call the decorators of a definition, the innermost first."""
        made = original = values[node[1]]
        is_kept = False
        for index, (number, is_made) in enumerate(reversed(node[2])):
            callees = values[number]
            arguments = Arguments(self._machine, [(made, False)], [])
            came: set[Value] = set()
            for callee in self._machine.order(callees):
                if isinstance(callee, Register) and not isinstance(callee.owner, Class):
                    self.register(
                        callee.owner, frozenset(each for each in original if isinstance(each, Function | Class))
                    )
                    came |= made
                elif isinstance(callee, Unknown | Library) or not callees:
                    came |= self._machine.library.decorate(callee, made)
                elif isinstance(callee, ContainerMethod) and isinstance(callee.container, Property):
                    came |= self._machine.library.extend_property(callee, made)
                else:
                    result = self._call_decorator(callee, arguments, node[3], bool(is_made), index)
                    result = frozenset(each for each in result if not _is_made_beside(each, callee))
                    known = frozenset(each for each in result if not isinstance(each, Unknown | Library))
                    if made <= known:  # other results come from other uses of the decorator
                        known = frozenset(each for each in known if each in made or not _is_given(each, callee))
                    came |= known
                    if len(known) < len(result) or not (result or _returns(callee)):
                        came |= made
                    if self._is_property(callee):
                        came |= {self._make(Property, each, None, None) for each in made}
                    else:
                        is_kept |= self._is_wrapper(known, callee)
            made = frozenset(came)
        kept: Values = made | original if is_kept or not made else made
        return kept

    def _call_decorator(self, callee: Value, arguments: Arguments, site: int, is_made: bool, index: int) -> Values:
        machine = self._machine
        outcomes = machine.outcomes
        rule = MADE_DECORATOR if is_made else "decorator"
        if site < 0:
            return self.call(callee, arguments, -1, rule, CERTAIN)
        kept = outcomes.pop(site, [])
        result = self.call(callee, arguments, site, rule, CERTAIN)
        own = [
            each._replace(group=index) if isinstance(each, Target) and each.rule == rule else each
            for each in outcomes.get(site, ())
        ]
        outcomes[site] = kept + [each for each in own if isinstance(each, Target)]
        return result

    def _is_property(self, decorator: Value) -> bool:
        """Return whether a class of the repository makes properties, judged by its name."""
        if not isinstance(decorator, Class):
            return False
        name = decorator.info.name.lower()
        is_named = name.endswith("property") and not name.startswith("class")
        return is_named and self._hierarchy.find(decorator.info, "__get__") is not None

    def _is_wrapper(self, made: Values, decorator: Value) -> bool:
        """Return whether calling the result of a decorator finally runs the decorated function."""
        code = getattr(decorator, "code", None)
        if isinstance(decorator, Instance):
            owner = self._hierarchy.find(decorator.info, "__call__")
            code = owner.methods.get("__call__") if owner is not None else None
        inner = (_code_of(each) for each in made)
        return any(isinstance(each, Instance | Partial) for each in made) or any(
            each is not None and code is not None and _stands_in(each, code) for each in inner
        )

    def note_class_creation(self, info: ClassInfo, site: int) -> None:
        """Record the calls that create a class: of its metaclass, `__init_subclass__` and `__set_name__`."""
        machine, find = self._machine, self._hierarchy.find
        self._note_creation(find(info, "__init_subclass__", after=info), "__init_subclass__", site)
        for name in ("__prepare__", "__new__", "__init__") if info.metaclass is not None else ():
            self._note_creation(find(info.metaclass, name), name, site)  # type: ignore[arg-type]
        for variable in info.members.values() if "__set_name__" in machine.program.special_names else ():
            for value in machine.read(variable):
                if isinstance(value, Instance):
                    self._note_creation(find(value.info, "__set_name__"), "__set_name__", site)

    def _note_creation(self, owner: ClassInfo | None, name: str, site: int) -> None:
        """Record a method that Python calls to create a class."""
        for member in self._machine.read(owner.members[name]) if owner is not None else ():
            code = _code_of(member)
            if code is not None:
                self._machine.note(site, Target(code, "class creation", CERTAIN))


def is_property(code: Code) -> bool:
    """Return whether reading a function as an attribute calls it."""
    return any(name.endswith("property") or name in ("setter", "deleter", "getter") for name in code.decorators)


def _covers(known: Values, promised: Values) -> bool:
    """Return whether all known values are of the promised classes, so that the promise adds nothing."""
    infos = [each.info for each in promised if isinstance(each, Instance)]
    return bool(infos) and all(
        (isinstance(each, Instance) and any(has_base(each.info, info) for info in infos))
        or (isinstance(each, Constant) and each in promised)
        for each in known
    )


def _code_of(value: Value) -> Code | None:
    if isinstance(value, Function | Method):
        return value.code
    if isinstance(value, Wrapped | Partial):
        return _code_of(value.inner)
    return _code_of(value.getter) if isinstance(value, Property) and value.getter is not None else None


def _is_made_beside(made: Value, decorator: Value) -> bool:
    """Return whether a decorator and its result are defined in one function, for calls with and without options."""
    inner, code = _code_of(made), _code_of(decorator)
    parent = code.parent if code is not None else None
    return inner is not None and parent is not None and inner.parent is parent and parent.summary.kind == o.FUNCTION


def _is_given(value: Value, decorator: Value) -> bool:
    """Return whether a function or class is not defined inside of a decorator."""
    inner = value.info.code if isinstance(value, Class) else _code_of(value)
    outer = _code_of(decorator)
    return inner is not None and not (outer is not None and _stands_in(inner, outer))


def _returns(value: Value) -> bool:
    code = _code_of(value)
    return code is not None and any(node[0] == o.RETURN for node in code.summary.nodes)


def _may_come(machine: Machine, guards: Guards, given: dict[int, Values]) -> bool:
    """Return whether arguments may pass the tests before a return; unknown ones count only where all are."""
    for place, test, holds in guards:
        known = frozenset(each for each in given[place] if not isinstance(each, Unknown))
        if not any(may_pass(machine, each, test, holds) for each in machine.order(known or given[place])):
            return False
    return True


def _stands_in(inner: Code, outer: Code) -> bool:
    each: Code | None = inner
    while each is not None:
        if each is outer:
            return True
        each = each.parent
    return False


_CALLERS: dict[type[Value], Callable[[Calls, Any, Arguments, int, str, str], Values]] = {
    Function: Calls._call_function,
    Method: Calls._call_method,
    Class: Calls._call_class,
    Instance: Calls._call_instance,
    Library: Calls._call_library,
    Container: Calls._call_container,
    ContainerMethod: Calls._call_container_method,
    Unknown: Calls._call_unknown,
    Partial: Calls._call_partial,
    Wrapped: Calls._call_wrapped,
    Maker: Calls._call_maker,
    Signature: lambda calls, value, *_: value.result,
    Register: Calls._call_register,
}
