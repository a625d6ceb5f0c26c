"""What classes are derived from, told from the names of their bases (A-12)."""

from __future__ import annotations

from pkg.model import Class
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CLASS, CLASSES, EMPTY, LIBRARY, UNKNOWN, Value, Values
from pkg.resolve.facts.scope_model import Scope
from pkg.resolve.hierarchy import ClassFacts, place_class
from pkg.resolve.resolution_context import Context


class Bases:
    """Find the bases of classes, before anything is known of calls: a base is a name or an attribute of one."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._found = context.class_facts
        context.keep(q.BASES, self._derive_bases)

    def _derive_bases(self, scope: Scope) -> Values:
        """Follow the bases of a class; nobody reads the set itself."""
        self._found[scope] = self._find_bases(scope)
        return EMPTY

    def _find_bases(self, scope: Scope) -> ClassFacts:
        definition = scope.module.definitions[scope.definition] if scope.definition >= 0 else None
        facts = ClassFacts(scope)
        bases, places, libraries = [], [], []
        for place, text in enumerate(definition.bases if isinstance(definition, Class) else (), 1):
            name, is_keyword, value_text = text.partition("(")[0].partition("[")[0].partition("=")
            if is_keyword:
                if name.strip() == "metaclass":
                    found = self._ask(q.PLAIN_TEXT, scope.parent or scope, value_text.strip())
                    classes = (each[1] for each in found if each[0] == CLASS)
                    facts.metaclass = min(classes, key=place_class, default=None)
                continue
            text = text.partition("[")[0]
            for value in sorted(self._ask(q.PLAIN_TEXT, scope.parent or scope, text), key=_order_value):
                if value[0] in CLASSES and value[1] is not scope and value[1] not in bases:
                    bases.append(value[1])
                    places.append(place)
                elif value[0] == LIBRARY:
                    libraries.append(value[1])
                elif value[0] == UNKNOWN:
                    facts.has_unknown = True
        facts.bases, facts.places = tuple(bases), tuple(places)
        facts.libraries = tuple(
            name for name in libraries if name not in ("builtins.object", "typing.Generic", "typing.Protocol")
        )
        return facts


def _order_value(value: Value) -> tuple[str, int]:
    """Order values by what they are; two classes of one name in a file by where they stand."""
    return str(value), value[1].head[0] if isinstance(value[1], Scope) else 0
