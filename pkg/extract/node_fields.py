"""Numbers of the fields of syntax nodes: tree-sitter compares a name with all names of fields."""

from __future__ import annotations

from pkg.extract.parser import PYTHON


def _number(name: str) -> int:
    number = PYTHON.field_id_for_name(name)
    assert number is not None, f"the grammar has no field '{name}'"
    return number


ALIAS = _number("alias")
ALTERNATIVE = _number("alternative")
ARGUMENT = _number("argument")
ARGUMENTS = _number("arguments")
ATTRIBUTE = _number("attribute")
BODY = _number("body")
CONDITION = _number("condition")
CONSEQUENCE = _number("consequence")
DEFINITION = _number("definition")
FUNCTION = _number("function")
GUARD = _number("guard")
KEY = _number("key")
LEFT = _number("left")
NAME = _number("name")
OBJECT = _number("object")
OPERATOR = _number("operator")
OPERATORS = _number("operators")
PARAMETERS = _number("parameters")
RETURN_TYPE = _number("return_type")
RIGHT = _number("right")
SUBJECT = _number("subject")
SUBSCRIPT = _number("subscript")
SUPERCLASSES = _number("superclasses")
TYPE = _number("type")
TYPE_PARAMETERS = _number("type_parameters")
VALUE = _number("value")
