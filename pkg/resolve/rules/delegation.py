"""Objects that pass on what they lack: __getattr__ that reads the attribute of another object (A-12)."""

from __future__ import annotations

import re

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Values, join
from pkg.resolve.facts.scope_model import Scope
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED_NAME, NAME

_READING = re.compile(rb"\s*getattr\s*\(\s*(" + DOTTED_NAME + rb")\s*,\s*(" + NAME + rb")\s*[,)]")


class Delegation:
    """Find what functions read attributes of by the name that they are given."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.keep(q.DELEGATES, self._derive_delegates)

    def _derive_delegates(self, function: Scope) -> Values:
        """Give the objects whose attributes a function gives back by its second parameter."""
        asked = function.parameters[1].name if len(function.parameters) > 1 else ""
        text = function.module.text
        matches = (_READING.match(text, start, end) for start, end in function.returns)
        return join(
            self._context.spell_out(function, match.group(1), match.start(1))
            for match in matches
            if match is not None and match.group(2).decode("utf-8", "replace") == asked
        )
