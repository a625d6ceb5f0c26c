"""The summary of a text that is too long to summarise whole: only its definitions and imports (A-12)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pkg.extract.summary import operations as o
from pkg.extract.summary.file_summary import write_summary
from pkg.extract.summary.frame_operations import Frame, Parameter
from pkg.model import Class, Function, Import

_DOTTED = re.compile(r"\w+(?:\s*\.\s*\w+)*")
_ANY: list[Parameter] = [("", o.REST, False, None), ("", o.NAMED_REST, False, None)]


def summarise_outline(definitions: Sequence[Class | Function], imports: Sequence[Import]) -> bytes:
    """Summarise definitions, parents before children; bodies and results of functions are unknown."""
    module = Frame(o.MODULE, "", 0, None, b"")
    frames = [module]
    for number, record in enumerate(imports):
        if record.name == "*":
            module.add(o.STAR, number)
        else:
            module.add(o.SET_GLOBAL, record.bound_name, module.add(o.IMPORT, number))
    for number, each in enumerate(definitions):
        parent = frames[each.parent + 1] if each.parent is not None else module
        frames.append(_define(parent, each, len(frames), number))
    return write_summary(frames, imports)


def _define(parent: Frame, definition: Class | Function, place: int, number: int) -> Frame:
    """Open the frame of a definition, and bind its name in the one around."""
    site = parent.add_site(o.SITE_DEFINITION, definition.span.start, definition.span.start)
    if isinstance(definition, Class):
        frame = Frame(o.CLASS_BODY, definition.name, place, parent, b"", number)
        bases = [_read(parent, each) for each in definition.bases if "=" not in each]
        value = parent.add(o.CLASS, place, bases, [], site)
    else:
        frame = Frame(o.FUNCTION, definition.name, place, parent, b"", number)
        receiver = [("self", o.PLACED, False, None)] if definition.is_method else []
        frame.parameters = [*receiver, *_ANY]
        frame.add(o.RETURN, [frame.add(o.UNKNOWN)], [])
        value = parent.add(o.FUNC, place, [])
    if definition.decorators:
        decorators = [(_read(parent, each), int(each.endswith(")"))) for each in definition.decorators]
        value = parent.add(o.DECORATE, value, decorators, site)
    if parent.kind == o.MODULE:
        parent.add(o.SET_GLOBAL, definition.name, value)
    elif parent.kind == o.CLASS_BODY:
        parent.add(o.MEMBER, definition.name, value)
    return frame


def _read(frame: Frame, expression: str) -> int:
    """Read a dotted name; of a call or a subscripted class, that of the callee or class."""
    found = _DOTTED.match(expression)
    if found is None:
        return frame.add(o.UNKNOWN)
    first, *rest = (each.strip() for each in found[0].split("."))
    value = frame.add(o.GLOBAL, first)
    for name in rest:
        value = frame.add(o.ATTR, value, name, -1)
    return value if found.end() == len(expression) or expression[found.end()] == "[" else frame.add(o.UNKNOWN)
