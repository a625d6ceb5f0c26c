"""Reasons why a call site is unbound."""

from __future__ import annotations

from enum import Enum


class Reason(str, Enum):
    """Reason why a call site is unbound."""

    PARAMETER = "parameter without a known type"
    ARGUMENT = "parameter to which the known callers give nothing that is known"
    UNDEFINED = "name that nothing here defines"
    ATTRIBUTE = "attribute that the class does not define"
    LIBRARY_BASE = "attribute of a class with a base outside the repository"
    MODULE_ATTRIBUTE = "name that the module does not define"
    DYNAMIC = "attribute made at run time (__getattr__)"
    CHOSEN = "attribute whose name is made at run time (getattr)"
    ITEM = "item of a container"
    RESULT = "result of a call that is not bound"
    EXPRESSION = "expression that is not followed"
    MANY = "too many possible values"
    NOTHING = "None alone, or nothing that passes the tests before it"
    METHOD = "special method that an object does not have"
    FAULT = "internal error while it was worked out; pkg stats lists it"
