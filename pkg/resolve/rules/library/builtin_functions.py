"""Builtins whose result depends on their arguments, but for collections (A-12)."""

from __future__ import annotations

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    DELETER,
    GETTER,
    INSTANCE,
    MODULE,
    NAMESPACE,
    PROPERTY,
    SELF,
    SETTER,
    SUPER,
    UNKNOWN,
    Value,
    Values,
    join,
    target_of,
    unknown,
)
from pkg.resolve.arguments import Arguments
from pkg.resolve.containers import BOUND
from pkg.resolve.facts.scope_model import Scope
from pkg.resolve.plugins import gives, make_object
from pkg.resolve.resolution_context import Context

_ROLES = (GETTER, SETTER, DELETER)  # of the arguments of property
_ROLES_BY_NAME = {"fget": GETTER, "fset": SETTER, "fdel": DELETER, "func": GETTER}


@gives("builtins.super")
def make_super(context: Context, name: str, arguments: Arguments) -> Values:
    """Give what is behind a class in the order of an object."""
    if arguments.nodes:
        return frozenset(
            (SUPER, value[1], (SELF, value[1])) if value[0] in CLASSES else (UNKNOWN, Reason.EXPRESSION)
            for value in arguments.derive(0)
        )
    each: Scope | None = arguments.scope
    while each is not None and each.parent is not None:
        if each.kind == "function" and each.parent.kind == "class":
            return frozenset({(SUPER, each.parent, (SELF, each.parent))})
        each = each.parent
    return unknown(Reason.EXPRESSION)


@gives("builtins.type")
def read_type(context: Context, name: str, arguments: Arguments) -> Values:
    """Give the class of an object."""
    if len(arguments.nodes) != 1:
        return make_object(name)
    return context.ask(q.ATTRIBUTES, arguments.derive(0), "__class__")


@gives("builtins.getattr")
def read_attribute(context: Context, name: str, arguments: Arguments) -> Values:
    """Give the attributes that a text names, or the default."""
    if len(arguments.nodes) < 2:
        return make_object(name)
    return context.ask(q.CHOSEN, arguments.derive(0), arguments.derive(1)) | arguments.derive(2)


@gives("builtins.globals")
def read_globals(context: Context, name: str, arguments: Arguments) -> Values:
    """Give the names of the module in which this stands."""
    return frozenset({(NAMESPACE, (MODULE, arguments.scope.module.path))})


@gives("builtins.vars")
def read_names(context: Context, name: str, arguments: Arguments) -> Values:
    """Give the names that an object, class or module has."""
    return context.ask(q.ATTRIBUTES, arguments.derive(0), "__dict__") if arguments.nodes else make_object(name)


@gives("builtins.next")
def advance(context: Context, name: str, arguments: Arguments) -> Values:
    """Give an item of what is gone through, or the default."""
    return context.ask(q.ITERATED, arguments.derive(0), False) | arguments.derive(1)


@gives("builtins.map")
def map_items(context: Context, name: str, arguments: Arguments) -> Values:
    """Collect what the functions among the arguments give back."""
    items: set[Value] = set()
    for node in arguments.nodes:
        items |= join(context.ask(q.CALL, value) for value in arguments.derive_node(node) if target_of(value))
    return context.containers.collect((*arguments.place, ""), frozenset(items))


@gives("builtins.filter", "itertools.filterfalse", "itertools.takewhile", "itertools.dropwhile", calls=True)
def filter_items(context: Context, name: str, arguments: Arguments) -> Values:
    """Collect the items that are let through."""
    return context.containers.collect((*arguments.place, ""), context.ask(q.ITERATED, arguments.derive(1), False))


@gives("builtins.max", "builtins.min", "random.choice")
def pick(context: Context, name: str, arguments: Arguments) -> Values:
    """Give one of several arguments, or of the items of one."""
    if len(arguments.nodes) > 1:
        return join(map(arguments.derive_node, arguments.nodes))
    return context.ask(q.ITERATED, arguments.derive(0), False)


@gives(".property", ".cached_property", ".abstractproperty")
def make_property(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a property of the functions that are given by position or name."""
    given = [*zip(_ROLES, arguments.nodes, strict=False)]
    given += [(_ROLES_BY_NAME[each.arg], each.value) for each in arguments.keywords if each.arg in _ROLES_BY_NAME]
    found = frozenset((PROPERTY, role, value) for role, node in given for value in arguments.derive_node(node))
    return found if given else make_object(name)


@gives(".__new__")
def make_new(context: Context, name: str, arguments: Arguments) -> Values:
    """Give an object of the class that is given first."""
    return frozenset(
        (INSTANCE if value[0] == CLASS else SELF, value[1]) for value in arguments.derive(0) if value[0] in CLASSES
    )


@gives("functools.wraps()", "functools.update_wrapper", "types.MappingProxyType", "weakref.proxy")
def keep_first(context: Context, name: str, arguments: Arguments) -> Values:
    """Give the first argument, or something that stands for it."""
    return arguments.derive(0)


@gives("typing.TypeVar", "typing_extensions.TypeVar")
def make_variable(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a type variable, and what it is bound to."""
    bounds = (each.value for each in arguments.keywords if each.arg == "bound")
    promised = join(context.ask(q.PROMISED, arguments.scope, bound) for bound in bounds)
    return make_object(name) | context.containers.collect((*arguments.place, BOUND), promised)


@gives("typing.cast", "typing_extensions.cast")
def cast(context: Context, name: str, arguments: Arguments) -> Values:
    """Give what is promised."""
    return context.ask(q.PROMISED, arguments.scope, arguments.nodes[0]) if arguments.nodes else make_object(name)
