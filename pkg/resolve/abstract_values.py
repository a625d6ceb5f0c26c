"""What an expression may stand for while code is resolved: tuples, the first item says which kind.

| kind      | rest             | what it is |
|-----------|------------------|------------|
| FUNCTION  | scope            | a function, method or lambda of the repository, not bound to an object |
| CLASS     | scope            | a class of the repository |
| SUBCLASS  | scope            | `cls`: a class of the repository or one derived from it |
| INSTANCE  | scope            | an object of exactly this class, made by calling it |
| SELF      | scope            | `self`: an object of this class or of one derived from it |
| TYPED     | scope            | an object that an annotation promises: of this class or of one derived from it |
| NARROWED  | scope            | an object that passed a test for this class: of it or of one derived from it |
| METHOD    | scope, value     | a function bound to an object or a class; without a scope, a method of a container |
| PROPERTY  | role, value      | a property, by one of the functions that it is made of: its getter, setter or deleter |
| PARTIAL   | value, count, bound to | a callable with so many arguments given; of None, they are not followed |
| REGISTER  | scope            | what takes further functions for a generic one, or classes for an abstract one |
| MAKER     | scope, class, count | the constructor that a class has from its fields, for another; what is filled |
| SUPER     | scope, value     | what super() gives in a class, for an object |
| GENERATOR | scope            | what calling a function with a yield gives |
| MODULE    | path             | a file of the repository as a module |
| FOLDER    | path             | a namespace package |
| LIBRARY   | dotted name      | anything of another package or a builtin; "()" stands for the result of a call |
| CONSTANT  | value            | a text or number, as a key of a container; "bool" stands behind a truth value |
| TEXT      | beginning, end, is whole | a text put together, as far as it may name an attribute (text_ends.py) |
| NAMESPACE | value            | the names that a module, class or object has, as a dict |
| MANY      | key of a set     | all values of that set: one that is large is handed on by its name (solver.py) |
| CONTAINER | name             | a list, tuple, dict or the like, by the place where it is made |
| UNKNOWN   | reason           | what cannot be told, and why |
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from pkg.resolution.reasons import Reason

FUNCTION, CLASS, SUBCLASS, METHOD, PROPERTY, SUPER = "F", "C", "CS", "B", "P", "U"
INSTANCE, SELF, TYPED, NARROWED = "I", "S", "T", "TN"
GENERATOR, MODULE, FOLDER, LIBRARY, CONSTANT, CONTAINER, UNKNOWN = "G", "M", "N", "X", "K", "L", "?"
TEXT, PARTIAL, REGISTER, NAMESPACE, MAKER, MANY = "W", "A", "R", "D", "Q", "*"

UNBOUND, OBJECT, ITS_CLASS = "", "object", "class"  # what a callable is bound to that is read from an object
GETTER, SETTER, DELETER = "getter", "setter", "deleter"  # roles of the functions of a property
OBJECTS = (INSTANCE, SELF, TYPED, NARROWED)
PROMISED = (TYPED, NARROWED)  # of which the code says what they are
CLASSES = (CLASS, SUBCLASS)
OF_CLASSES = (*OBJECTS, *CLASSES)  # objects of classes of the repository, and these

Value = tuple[Any, ...]

Key = tuple[Any, ...]
"""A kept query (queries.py) and what it is given: the name of one set."""


class Many(NamedTuple):
    """All values of a set that is too large to be handed on one by one."""

    kind: str  # MANY
    name: Key  # of the set


class Group(NamedTuple):
    """All calls of an attribute of what is in one large set: they call the same."""

    key: Key
    name: str


Values = frozenset[Value]


def unknown(reason: Reason) -> Values:
    """Give the set of one unknown value."""
    return _UNKNOWN[reason]


def bare(value: Value) -> Value:
    """Give what a value calls in the end, without the arguments that it brings."""
    while value[0] == PARTIAL:
        value = value[1]
    return value


def is_own_function(value: Value) -> bool:
    """Return whether a value is a function of the repository, bound or not; a method of a container has no scope."""
    return value[0] in (FUNCTION, METHOD) and value[1] is not None


def target_of(value: Value) -> Any:
    """Give the function or class of the repository that calling a value runs, None where there is none."""
    value = bare(value)
    return value[1] if value[0] in (FUNCTION, METHOD, CLASS, SUBCLASS) else None


def join(sets: Iterable[Values]) -> Values:
    """Give all values of several sets."""
    return EMPTY.union(*sets)


def merge_constants(values: Values) -> Values:
    """Leave one of the texts and numbers of each type among values: but for the names of attributes they are alike."""
    kept = [value for value in values if value[0] not in (CONSTANT, TEXT)]
    if len(kept) == len(values):
        return values
    return frozenset((*kept, *((CONSTANT, type(value[1])()) for value in values if value[0] in (CONSTANT, TEXT))))


@lru_cache(100_000)
def library(name: str) -> Value:
    """Give a value of a library. Names end, so that loops do: of the result of a call one attribute is told apart."""
    if ".*" in name:
        return (LIBRARY, name.partition(".*")[0] + ".*")
    if name.count(".") >= MAX_DOTS or not _LIBRARY_NAME.fullmatch(name):
        return (LIBRARY, name.partition(".")[0] + ".*")
    return (LIBRARY, name)


EMPTY: Values = frozenset()
TRUE: Value = (CONSTANT, True, "bool")
FALSE: Value = (CONSTANT, False, "bool")
UNGIVEN: Value = (UNKNOWN, Reason.ARGUMENT)
MAX_DOTS = 4  # of the dotted name of something in a library
_LIBRARY_NAME = re.compile(r"[^()\[\]]*(?:\(\)|\[\])?|(?:builtins|contextlib)\.\w+(?:\(\)|\[\])\.[^.()\[\]]*")
_UNKNOWN = {reason: frozenset({(UNKNOWN, reason)}) for reason in Reason}
