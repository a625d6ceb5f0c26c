"""The queries: all that the rules ask one another, what each is given, and what its answer is (A-12).

Who asks knows the query alone, never the rule that answers it: the context finds that.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    import ast
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from pkg.model import Import
    from pkg.resolution.module_map import Found
    from pkg.resolve.abstract_values import Group, Key, Value, Values
    from pkg.resolve.arguments import Arguments
    from pkg.resolve.facts.scope_model import Binding, Scope, Site, Store
    from pkg.resolve.facts.special_names import Operation
    from pkg.resolve.facts.tested_names import Applied, Part
    from pkg.resolve.origins import Rest, Written
    from pkg.resolve.outcomes import Callees, Run, Target

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)

Reaching = tuple[int, ...]
"""Bindings of a name by their numbers in the order of the text."""


class Query(Generic[Given, Answer_co]):
    """Something that can be asked, by a name that tells what the answer is."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return repr(self.name)


class Kept(Query[Given, "Values"]):
    """A query whose answers are sets that the solver keeps, and computes again when they may have grown."""

    __slots__ = ("is_about_many", "is_of_many")

    def __init__(self, name: str, *, is_of_many: bool = False, is_about_many: bool = False) -> None:
        super().__init__(name)
        KEPT[name] = self
        self.is_of_many = is_of_many  # made of a large set, which it is given first
        self.is_about_many = is_of_many or is_about_many  # of a large set, though its values are something else


class TestKind(str, Enum):
    """What a test looks at: what a value is an object of, what a class is derived from, a class itself, a call."""

    INSTANCE = "isinstance"
    SUBCLASS = "issubclass"
    TYPE = "type"
    CALL = "callable"


KEPT: dict[str, Kept[...]] = {}
"""By name, to read what was written of sets the last time."""

# Names: what they may stand for.
NAME: Query[[Scope, str, int | None], Values] = Query("name")  # where it stands, as far as the position is known
MEMBER: Query[[Scope, str], Values] = Query("member")  # of a module or class, when its code has run
WHOLE_NAME: Query[[Scope, str], Values] = Query("whole name")  # without regard to the order of its bindings
OWNER: Query[[Scope, str], Scope] = Query("owner")  # the scope that a name belongs to
IN_FORCE: Query[[Scope, str, int], tuple[Scope, Sequence[Binding]]] = Query("in force")  # bindings, and whose
PICKED: Query[[Scope, str, Reaching], Sequence[Binding]] = Query("picked")  # bindings, by their numbers
VARIABLE: Kept[[Scope, str]] = Kept("variable")  # by all bindings
FINAL: Kept[[Scope, str]] = Kept("final")  # when the code of its scope has run
REACHING: Kept[[Scope, str, Reaching]] = Kept("reaching")  # where bindings of some numbers are in force
NARROWED_NAME: Kept[[Scope, str, tuple[Part, ...]]] = Kept("narrowed")  # where these were tested
ALIAS: Kept[[Scope, str]] = Kept("alias")  # of an annotation

# Imports and modules.
IMPORT: Query[[str, Import], Values] = Query("import")  # what one binds its name to, in a file
IMPORTED: Kept[[Scope, int]] = Kept("imported")  # by number, what one of the repository brings into a module
MODULE_NAME: Query[[Found, str], Values] = Query("module name")
MODULE_MEMBER: Query[[Value, str], Values] = Query("module member")  # of one that stands as a value
UNBOUND_NAME: Query[[Scope, str], Values] = Query("unbound name")  # that a module does not bind itself
STAR: Query[[Scope, str, int], Found | None] = Query("star")  # the last star import behind a position that brings it

# Attributes and methods.
ATTRIBUTE: Query[[Value, str], Values] = Query("attribute")
ATTRIBUTES: Query[[Values, str], Values] = Query("attributes")  # of every value of a set
OBJECT_ATTRIBUTE: Kept[[Value, str]] = Kept("object attribute")
CLASS_ATTRIBUTE: Kept[[Value, str]] = Kept("class attribute")
ATTRIBUTE_OF_MANY: Kept[[Key, str]] = Kept("attribute of many", is_of_many=True)
CHOSEN: Query[[Values, Values], Values] = Query("chosen")  # attributes by texts
CHOSEN_ATTRIBUTE: Kept[[Value, Value]] = Kept("chosen attribute")  # by one that is known in part
FALLBACK_METHODS: Query[[Value, str], Values] = Query("fallback methods")  # __getattr__ that makes an attribute
DELEGATES: Kept[[Scope]] = Kept("delegates")  # objects whose attributes a function gives back by its parameter
FIELD: Kept[[Scope, str]] = Kept("field")  # what the methods of a class assign to an attribute of self
CLASS_FIELD: Kept[[Scope, str]] = Kept("class field")  # what its class methods assign
FOREIGN_FIELD: Kept[[Scope, str]] = Kept("foreign field")  # what code elsewhere assigns
ASSIGNED: Kept[[Store]] = Kept("assigned")  # by one such assignment
RECEIVERS: Kept[[str]] = Kept("receivers")  # classes to an attribute of which code elsewhere assigns
STORED: Kept[[Scope, str, Reaching]] = Kept("stored")  # at a place, by assignments of some numbers
BOUND: Query[[Values, Value], Values] = Query("bound")  # what a class holds, read from a receiver
DESCRIBED: Query[[Value], Values] = Query("described")  # what a class holds, read from the class
FUNCTIONS: Query[[Scope, str, Scope | None], Iterator[Scope]] = Query("functions")  # of a name, behind one in the order
SPECIAL_METHODS: Query[[Value, str], Values] = Query("special")  # methods of a special name
BASES: Kept[[Scope]] = Kept("bases")
PATCHES: Kept[[str]] = Kept("patches")  # what a file assigns to attributes of classes and modules

# Calls: what goes in, and what comes out.
CALL: Query[[Value], Values] = Query("call")  # of a value of the repository: what it gives back
FIRST_CALL: Query[[Value, Iterable[str]], Values | None] = Query("first call")  # of the first method that there is
RESULT: Kept[[Scope]] = Kept("result")  # of a function
RESULT_OF_MANY: Kept[[Key]] = Kept("result of many", is_of_many=True)
OUTSIDE_OF_MANY: Kept[[Key]] = Kept("outside of many", is_about_many=True)  # those of which the arguments decide
CHOSEN_RESULT: Kept[[Scope]] = Kept("chosen result")  # of what was registered for a generic function
YIELD: Kept[[Scope]] = Kept("yield")
PARAMETER: Query[[Scope, str], Values] = Query("parameter")
GIVEN_FIELD: Query[[Scope, str, ast.expr | None], Values] = Query("given field")  # to a constructor made of fields
GIVEN_REST: Query[[Rest, Value | None], Values] = Query("given rest")  # to *args or **kwargs, under a key
GIVEN: Kept[[Scope, int | str]] = Kept("given")  # by all callers
GIVEN_TOGETHER: Kept[[Group, int, str, bool]] = Kept("given together")  # by many calls that call the same
ARGUMENT: Kept[[Site, int | str | tuple[int, int]]] = Kept("argument")  # of one call
REGISTERED: Kept[[Scope]] = Kept("registered")  # functions for a generic one, classes for an abstract one
FIXTURE: Query[[Scope, str], Values | None] = Query("fixture")  # what pytest gives a parameter
RENAMED_FIXTURE: Kept[[Scope, str]] = Kept("renamed fixture")
DEFINED: Query[[Scope], Values] = Query("defined")  # what a definition gives its name
DECORATOR: Query[[Scope, str], Values] = Query("decorator")  # of a definition, by its text
HANDED: Query[[Value, Values], None] = Query("handed")  # let a decorator be given what it decorates
CONTAINER_CALL: Query[[Value, Arguments], Values] = Query("container call")  # of a method of a container
CONTAINER_CHANGE: Query[[Value, Arguments], None] = Query("container change")  # let such a call put something in
CONTAINER_METHOD: Query[[Value], str] = Query("container method")  # its name
LIBRARY_CALL: Query[[str, Arguments], Values] = Query("library call")
MAY_CALL: Query[[str], bool] = Query("may call")  # whether such a call may call what it is given
LIBRARY_RUNS: Query[[str, Arguments], Iterator[Run]] = Query("library runs")  # what such a call calls itself

# Containers.
TAKEN: Query[[Values, Value | None], Values] = Query("taken")  # an item of every value of a set, under a key
TAKEN_UNDER: Query[[Values, Values], Values] = Query("taken under")  # under several
UNPACKED: Query[[Values, int | str], Values] = Query("unpacked")  # what one of several targets takes
ITERATED: Query[[Values, bool], Values] = Query("iterated")  # what a loop goes through, an asynchronous one or not
ENTERED: Query[[Values, bool], Values] = Query("entered")  # what a with statement binds its target to
ITEM: Kept[[Hashable, Value | None]] = Kept("item")  # of one container
WRITTEN_ITEM: Kept[[Hashable, Value]] = Kept("written")  # with which it is made
KEYS: Kept[[Hashable]] = Kept("keys")
PUT: Kept[[Hashable]] = Kept("put")  # into it, under keys that are not known
PART: Kept[[Written]] = Kept("part")  # one thing that is put into containers
ITEM_OF_MANY: Kept[[Key]] = Kept("item of many", is_of_many=True)
ITEMS_OF_MANY: Kept[[Key, bool]] = Kept("items of many", is_of_many=True)
ENTERED_OF_MANY: Kept[[Key, str]] = Kept("entered of many", is_of_many=True)

# Expressions, and what is known of them where they stand.
EXPRESSION: Query[[Scope, int, int], Values] = Query("expression")  # by its span
NODE: Query[[Scope, ast.expr, int], Values] = Query("node")  # parsed, with the offset from which its text was
PLAIN_TEXT: Query[[Scope, str], Values] = Query("plain text")  # of an expression of which no position is known
DOTTED_NAME: Query[[Scope, bytes, int | None], Values] = Query("dotted name")
AUGMENTED: Query[[Scope, int, int, int], Values] = Query("augmented")  # by an assignment with an operator
AWAITED: Query[[Scope, int, int], Values] = Query("awaited")
OPERATED: Query[[Values, Values, Operation], Values] = Query("operated")
COMPARED: Query[[Values, Values, Operation], Values] = Query("compared")
SIGNED: Query[[Values, str], Values] = Query("signed")
ANSWERS_OF_MANY: Kept[[Key, tuple[str, ...]]] = Kept("answers of many", is_of_many=True)
REST_OF_MANY: Kept[[Key, tuple[str, ...]]] = Kept("rest of many", is_about_many=True)
PROMISED: Query[[Scope, ast.expr | None], Values] = Query("promised")  # by an annotation
PROMISE: Query[[Scope, ast.expr | None], Values | None] = Query("promise")  # None where it says nothing
LEFT_OPEN: Query[[Scope, ast.expr | None], bool] = Query("left open")  # whether there may be something else besides
BOUNDS: Query[[Scope, ast.expr], Values] = Query("bounds")  # of type variables in an annotation
TEST: Query[[Value, Value, TestKind, bool], Values] = Query("test")  # what is left of a value that passed it, or failed
NARROWED: Query[[Values, str, Applied], Values] = Query("narrowed by")  # what is left of values behind conditions
TESTED: Kept[[Scope, int, int]] = Kept("tested")  # classes in a condition
REFINED: Query[[Scope, str, int, Values], Values] = Query("refined")  # by what is known of a place in a line
STORED_LAST: Query[[Scope, str, int], Values | None] = Query("stored last")  # None where that is not known
STILL_PASSING: Query[[Scope, str, int, Values], Values] = Query("still passing")  # tests of a place

# Sites: what they call.
SITE: Kept[[Site]] = Kept("site")
STORE: Kept[[Store]] = Kept("store")  # an assignment to an item, whose set is empty
QUIET_SITES: Kept[[Scope]] = Kept("quiet sites")  # sites of an outermost function or module that deliver nothing
CALLEES: Query[[Site], Iterator[Callees]] = Query("callees")
CALLEES_OF_MANY: Kept[[Key, str]] = Kept("callees of many", is_about_many=True)
CALLED_OF_MANY: Kept[[Group]] = Kept("called of many")
CONSTRUCTED: Query[[Site, Value, str], Iterator[Target]] = Query("constructed")  # what makes an object of a class
PROPERTY_CALLS: Query[[Value, str, str], Iterator[Target]] = Query("property calls")  # of an object, in a role
CLASS_PROPERTY_CALLS: Query[[Value, str], Iterator[Target]] = Query("class property calls")
FALLBACK_CALLS: Query[[Value, str], Iterator[Target]] = Query("fallback calls")
KEY_CALLS: Query[[Values], Iterator[Target]] = Query("key calls")  # what a dict or set asks of its keys
BUILTIN_CALLS: Query[[Site, str], Iterator[Target]] = Query("builtin calls")  # by which it asks its arguments

# The solver's own.
SPREAD: Kept[[Key]] = Kept("spread", is_about_many=True)  # the values of a large set one by one
GATHERED: Kept[[Key]] = Kept("gathered", is_about_many=True)  # of other large sets only their names
