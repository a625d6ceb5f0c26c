"""The operations of a summary: each frame is a list of them, and each refers to earlier ones by their numbers (A-12).

A frame is the code of a module, class, function or lambda. Its names are in static single assignment form: which
binding a name has at a place is decided when the summary is made, and a join of several is a `PHI`. In a loop, a `PHI`
refers to later operations as well. Whatever depends on other files is symbolic: parameters, attributes, names of
modules, results of calls.

An operation is a tuple: its code, then the items in the comments below. `n` is the number of an operation in the same
frame, `s` that of a site (a place that calls, or may call), -1 for none.
"""

from __future__ import annotations

from typing import Any

Operation = tuple[Any, ...]

(
    CONST,  # kind, value: a constant; kinds are names of builtin types
    PARAM,  # index
    GLOBAL,  # name: of the module, or a builtin
    CELL,  # frame, name: a variable of an enclosing function
    ATTR,  # n, name, s of each read of it that gives the same
    CALL,  # n, positional, keywords, s
    CALL_ATTR,  # n, name, positional, keywords, s
    ITEM,  # n, key n, s
    ITER,  # n, is asynchronous, s
    UNPACK,  # n, place, count of targets, place of the starred target or -1, s
    BINARY,  # operator, n, n, s
    INPLACE,  # operator, n, n, s
    UNARY,  # special method, n, s
    COMPARE,  # operator, n, n, s
    COLLECT,  # kind, elements, s: a display or comprehension, distinguished by its site
    PHI,  # several n
    NARROW,  # n, test, whether it holds
    FUNC,  # frame, defaults as (place of the parameter, n)
    CLASS,  # frame, bases, keywords, s
    AWAIT,  # n, s
    YIELD,  # n
    YIELD_FROM,  # n, s
    PROTOCOL,  # name, n, s: an implicit call, such as the truth of a value
    ENTER,  # n, is asynchronous, s
    IMPORT,  # number of the import among those of the file
    DECLARE,  # annotation, n or -1
    DECORATE,  # n of the definition, decorators as (n, whether it is the result of a call), s
    TEXT,  # n of each part of an interpolated string
    UNKNOWN,  # unknown value
    RETURN,  # several n, tests of parameters as (index, test, whether it passed)
    SET_ATTR,  # n, name, n of the value, s
    SET_ITEM,  # n, key n, n of the value, s
    DEL_ATTR,  # n, name, s
    DEL_ITEM,  # n, key n, s
    SET_GLOBAL,  # name, n
    SET_CELL,  # frame, name, n
    MEMBER,  # name, n: the value of a class attribute at the end of the body
    RAISE,  # n, s
    STAR,  # number of a star import
    CAUGHT,  # n: an instance of an exception class
    STAR_BOUND,  # name, n, numbers of later star imports: the name's value is n unless one of them binds it
) = range(41)

PURE = frozenset((
    CONST, PARAM, GLOBAL, CELL, PHI, NARROW, FUNC, IMPORT, DECLARE, TEXT, UNKNOWN, UNPACK, CAUGHT, STAR_BOUND,
))  # fmt: skip
"""Operations without side effects, which are dropped if nothing uses them."""

UNBOUND = -1
"""The operation of a name that was deleted, or that no earlier statement has bound."""

MODULE, CLASS_BODY, FUNCTION, LAMBDA = range(4)
"""Kinds of frames."""

IS_ASYNC, IS_STUB, IS_RAISING, IS_GENERATOR = 1, 2, 4, 8
"""Flags of a frame: it is a coroutine, its body does nothing, its body raises NotImplementedError, it yields."""

HAS_RECEIVER, TAKES_CALLABLES, MAKES_CLASSES, REGISTERS, SETS_ANY, FORWARDS, HAS_STARS = 16, 32, 64, 128, 256, 512, 1024
"""More flags: its first parameter is the object or class that it is called on, an annotation of a parameter is that of
a callable, a class is made in it, one may be registered for an abstract one, setattr() is called, a __getattr__ reads
another object, a star import is in it."""

FORWARDED = ".forwarded"
"""The name under which the head of a __getattr__ has the object that it reads the requested attribute of."""

PLACED, BY_NAME, REST, NAMED_REST = range(4)
"""Kinds of parameters: positional or keyword, keyword only, *args, **kwargs."""

SITE_CALL, SITE_READ, SITE_OTHER, SITE_DEFINITION = range(4)
"""Kinds of sites: a call, the read of an attribute, an implicit call, the code around a definition."""
