"""Guess what a call means by the words of its name: the last rule of A-12, for calls that nothing else binds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pkg.model import Label, Node, NodeFilter, RelationType
from pkg.resolve.values import Reason
from pkg.retrieval.reached import Loose, Reached
from pkg.retrieval.shown import BUILTINS
from pkg.units import format_id, hash_key

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

NAME_FLOOR = 0.99
"""Least cosine of two names. Of the calls of django 5.2 that are bound for sure and written by a name that no function
has (an alias, a variable), the nearest name is the callee's in 7 of 22 above it, in 2 of 42 from 0.90 to 0.99."""
NAME_SEARCHES = 3  # of a question: each costs as much as the search for the hits, and most find nothing
NEAREST = 5  # names looked at: several may consist of the same words, and only one of them may be meant

_OPEN = frozenset((Reason.UNDEFINED, Reason.MODULE_ATTRIBUTE, Reason.ATTRIBUTE, Reason.LIBRARY_BASE, Reason.DYNAMIC))
"""Why a call may mean a function that stands elsewhere. What a parameter, an item or a result is called says nothing:
in a graph of five packages, eight of 59 such calls found a function of the name, and none of these was meant."""

_NAME = re.compile(r"(?:(?:self|cls)\.)?([^\W\d]\w*)")
"""Names that may hold a function. An attribute of any other object has the name of the method itself: no such name, no
such method in the source. A capital letter begins a class, and only functions have a name to search."""


class NameGuesser:
    """Search function names for those of calls, each only once and only so many."""

    def __init__(self, store: GraphStore, encoder: Encoder) -> None:
        self._store = store
        self._encoder = encoder
        self._found: dict[tuple[str, str], Node | None] = {}

    def guess(self, loose: Loose) -> Reached | None:
        """Give the one function whose name has the words of what is called; None for all that is not as clear."""
        matched = _NAME.fullmatch(loose.expression) if loose.reason in _OPEN else None
        if matched is None or matched[1] in BUILTINS or matched[1].startswith("__") or matched[1][0].isupper():
            return None
        key = loose.source, matched[1]
        if key not in self._found:
            if len(self._found) == NAME_SEARCHES:
                return None
            self._found[key] = self._search(*key)
        node = self._found[key]
        if node is None or ("." in node.qualname and "." not in loose.expression):  # a method needs its object
            return None
        reason = f"called as {loose.expression} at {loose.path}:{loose.line}, which is not bound"
        return Reached(node, f"{reason} (a guess by name alone)")

    def _search(self, source: str, name: str) -> Node | None:
        vector = self._encoder.encode([name.encode("utf-8", "replace")])[0]
        if not vector.any():  # a name without words is like every other
            return None
        found = self._store.vector_search(Label.FUNCTION_NAME, vector, NEAREST, NodeFilter(source), NAME_FLOOR)
        near = [match.id for match in found.matches]
        same = format_id(hash_key(source, Label.FUNCTION_NAME.value, name))
        wanted = [same] if same in near else near
        ends = [edge.end for edge in self._store.neighbours(wanted, (RelationType.NAMES,), "out")] if wanted else []
        return self._store.get(ends)[0] if len(ends) == 1 else None
