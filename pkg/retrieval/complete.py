"""Add the functions that a retrieved text calls, so that it is self-contained (P-06, A-12 in its simple form)."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkg.model import Cut, Helper, Label, Node

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

_BUILTINS = frozenset(dir(builtins))
_RECEIVERS = ("self", "cls")


def complete_calls(
    store: GraphStore, node: Node, hops: int, cuts: Sequence[Cut] = ()
) -> tuple[list[Helper], list[str]]:
    """Find the functions that a node calls, and theirs, up to ``hops`` levels, breadth first in the order of calls.

    Calls on lines that pruning cut away are left out. Names that are not bound for certain are not guessed: the
    second list says which, and how many functions bear them.
    """
    walk = _Walk(store, [node])
    level = [(node, tuple(cuts))]
    for _ in range(hops):
        found = [helper for caller, gone in level for helper in walk.follow_calls(caller, gone)]
        level = [(helper, ()) for helper in found]
        if not level:
            break
    return walk.helpers, walk.explain


@dataclass(slots=True)
class _Walk:
    """One walk over calls: what is in the context already, what was added, and what was not guessed."""

    store: GraphStore
    known: list[Node]
    helpers: list[Helper] = field(default_factory=list)
    explain: list[str] = field(default_factory=list)
    _defined: dict[tuple[str, str], list[Node]] = field(default_factory=dict)

    def follow_calls(self, caller: Node, cuts: Sequence[Cut]) -> list[Node]:
        """Add the functions that one node calls and give those that are new."""
        found: list[Node] = []
        lines: dict[str, int] = {}
        for call in self.store.calls(caller.id):
            if not any(cut.start_line <= call.line <= cut.end_line for cut in cuts):
                lines.setdefault(call.expression, call.line)
        for expression, line in lines.items():
            candidates, where = self._resolve(caller, expression)
            if len(candidates) > 1:
                place = f"{expression} at {caller.path}:{line}"
                self._note(f"{place} not guessed: {len(candidates)} functions of this name {where}")
            elif candidates and not any(_contains(node, candidates[0]) for node in self.known):
                reason = f"called at {caller.path}:{line}; the only function of this name {where}"
                found.append(self._add(candidates[0], reason))
        return found

    def _note(self, line: str) -> None:
        if line not in self.explain:
            self.explain.append(line)

    def _add(self, node: Node, reason: str) -> Node:
        self.known.append(node)
        self.helpers.append(
            Helper(node.id, node.path, node.qualname, node.start_line, node.end_line, node.content, reason)
        )
        return node

    def _resolve(self, caller: Node, expression: str) -> tuple[list[Node], str]:
        """Give the functions that an expression may stand for, and where they were looked for, in words."""
        receiver, dot, name = expression.rpartition(".")
        if not dot:
            return self._resolve_bare(caller, name)
        if receiver in _RECEIVERS:
            return self._resolve_method(caller, name)
        return [], ""

    def _resolve_bare(self, caller: Node, name: str) -> tuple[list[Node], str]:
        nodes = self._find(name, caller.source)
        local = [node for node in nodes if node.path == caller.path]
        for scope in _scopes(caller):
            nested = [node for node in local if node.qualname == f"{scope}.{name}"]
            if nested and not self._is_class(caller, scope):
                return _functions(nested), f"in {scope}"
        if top := [node for node in local if node.qualname == name]:
            return _functions(top), "in the same file"
        if name in _BUILTINS:
            return [], ""
        elsewhere = [node for node in _functions(nodes) if node.qualname == name]
        return elsewhere, f"in {caller.source}"

    def _resolve_method(self, caller: Node, name: str) -> tuple[list[Node], str]:
        """Look in the class nearest to the caller: a function inside a method sees the method's ``self``."""
        local = [node for node in self._find(name, caller.source) if node.path == caller.path]
        for scope in _scopes(caller)[1:]:
            if self._is_class(caller, scope):
                return _functions([node for node in local if node.qualname == f"{scope}.{name}"]), f"in class {scope}"
        return [], ""

    def _is_class(self, caller: Node, qualname: str) -> bool:
        nodes = self._find(qualname.rpartition(".")[2], caller.source)
        return any(n.label is Label.CLASS and n.path == caller.path and n.qualname == qualname for n in nodes)

    def _find(self, name: str, source: str) -> list[Node]:
        key = name, source
        if key not in self._defined:
            self._defined[key] = self.store.find_name(name, source)
        return self._defined[key]


def _scopes(node: Node) -> list[str]:
    """List the qualified names around the code of a node, innermost first: a.b.c, a.b, a."""
    parts = node.qualname.partition("/")[0].split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _functions(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if node.label is Label.FUNCTION]


def _contains(outer: Node, inner: Node) -> bool:
    if outer.source != inner.source or outer.path != inner.path:
        return False
    return outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
