"""Bind the calls of corpus rows by name: rows have no links, for what a row refers to lies in no repository (A-12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.model import Call, Label, Node
from pkg.resolve.values import Reason
from pkg.retrieval.imports import ModuleImports, list_globals
from pkg.retrieval.reached import Calls, Loose, Reached
from pkg.retrieval.shown import BUILTINS, Shown, list_scopes

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

RECEIVERS = ("self", "cls")


class NamedCalls:
    """The calls of texts, bound where only one function of the name can be meant; names are looked up together."""

    def __init__(self, store: GraphStore, imports: ModuleImports) -> None:
        self._store = store
        self._imports = imports
        self._defined: dict[tuple[str, str], list[Node]] = {}  # by source and name

    def read(self, texts: Sequence[Shown]) -> list[Calls]:
        """Give the calls of each text, each expression once."""
        kept = [list(self._list_calls(shown)) for shown in texts]
        for source in sorted({shown.node.source for shown in texts}):
            of_source = (calls for shown, calls in zip(texts, kept, strict=True) if shown.node.source == source)
            self._find(source, {_split(call)[1] for calls in of_source for call in calls})
        self._imports.read(
            shown.node
            for shown, calls in zip(texts, kept, strict=True)
            if any(self._may_leave(shown.node, call) for call in calls)
        )
        return [self._bind_all(shown, calls) for shown, calls in zip(texts, kept, strict=True)]

    def _list_calls(self, shown: Shown) -> Iterator[Call]:
        """Give the first call of each expression that names a function: bare, or an attribute of self or cls."""
        seen: set[str] = set()
        for call in self._store.calls(shown.node.id):
            if shown.has_line(call.line) and call.expression not in seen and _split(call)[0] in ("", *RECEIVERS):
                seen.add(call.expression)
                yield call

    def _find(self, source: str, names: set[str]) -> None:
        missing = sorted(name for name in names if (source, name) not in self._defined)
        if missing:
            self._defined |= {(source, name): [] for name in missing}
            for node in self._store.find_names(missing, source):
                self._defined[source, node.name].append(node)

    def _bind_all(self, shown: Shown, every: Sequence[Call]) -> Calls:
        calls = Calls()
        leaving = [call for call in every if self._may_leave(shown.node, call)]
        open_names = self._list_open(shown.node) if leaving else frozenset()
        for call in every:
            found = self._bind_inside(shown.node, call)
            if call in leaving and ("." in call.expression or call.expression in open_names):
                found = self._bind_outside(shown.node, call)
            if found is not None:
                self._take(shown, call, *found, calls)
        return calls

    def _take(self, shown: Shown, call: Call, nodes: Sequence[Node], where: str, calls: Calls) -> None:
        """Note what one call may mean: a single function, several, or none."""
        place = f"{shown.node.path}:{call.line}"
        functions = [node for node in nodes if node.label is Label.FUNCTION]
        if len(functions) == 1:
            calls.bound += 1
            calls.reached.append(Reached(functions[0], f"called at {place}; the only function of this name {where}"))
        elif functions:
            calls.possible += 1
            told = f"{call.expression} at {place} not guessed: {len(functions)} functions of this name {where}"
            calls.explain.append(told)
        elif not nodes:
            calls.loose.append(Loose(call.expression, shown.node.source, shown.node.path, call.line, Reason.UNDEFINED))

    def _list_open(self, node: Node) -> frozenset[str]:
        """List the names that may mean what another row defines: neither local, nor imported from the library."""
        return list_globals(node) - self._imports.list_of_library(node)

    def _bind_inside(self, caller: Node, call: Call) -> tuple[list[Node], str] | None:
        """Give what a call means in its own row, and where that was found; None where nothing there can be meant."""
        receiver, name = _split(call)
        local = [node for node in self._defined[caller.source, name] if node.path == caller.path]
        for scope in list_scopes(caller):
            inside = [node for node in local if node.qualname == f"{scope}.{name}"]
            if found := [node for node in inside if (node.kind == "method") == bool(receiver)]:
                return found, f"in class {scope}" if receiver else f"in {scope}"
        top = [] if receiver else [node for node in local if node.qualname == name]
        return (top, "in the same row") if top else None

    def _may_leave(self, caller: Node, call: Call) -> bool:
        return call.expression not in BUILTINS and self._bind_inside(caller, call) is None

    def _bind_outside(self, caller: Node, call: Call) -> tuple[list[Node], str]:
        """Give the functions of other rows that a call may mean."""
        receiver, name = _split(call)
        functions = [node for node in self._defined[caller.source, name] if node.label is Label.FUNCTION]
        plain = [node for node in functions if node.qualname == name and not receiver]
        return plain or functions, f"in {caller.source}" if plain else f"in {caller.source} (a guess by name alone)"


def _split(call: Call) -> tuple[str, str]:
    receiver, _, name = call.expression.rpartition(".")
    return receiver, name
