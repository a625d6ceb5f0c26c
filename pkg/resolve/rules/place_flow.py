"""What is known of attributes and items where they stand: what was stored there last, what was tested (A-12).

A place is a name with attributes and items behind it, `self.x` or `table["key"]`. What was stored in a straight line
before counts alone up to the next call of something that may store there as well: of all but builtins and libraries
that are not given the object. From there on everything counts that is stored there anywhere. What a test told holds on
until the object is given to a call, or something is stored there by another name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Values
from pkg.resolve.facts.binding_order import is_passed
from pkg.resolve.facts.scope_model import Binding, Scope, Site, Store, StoredPlace
from pkg.resolve.facts.tested_names import Known, list_known
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED, DOTTED_NAME, NAME, Code, read_name, read_place

_STEP = re.compile(r"(?:\.[^.\[]+|\[[^\]]+\])\Z")
_CHANGING = re.compile(rb"\b(?:super|del|yield|await)\b")
_FUNCTION = re.compile(rb"(?:[(,*]|[^=!<>]=)\s*(?:lambda\b|(?!(?:None|True|False)\b)" + DOTTED_NAME + rb"\s*[,)])")
"""An argument that may be a function: what has a name, or is written there."""
_QUIET = frozenset((
    "abs", "bool", "bytes", "callable", "chr", "dict", "divmod", "enumerate", "float", "format", "frozenset", "getattr",
    "hasattr", "hash", "hex", "id", "int", "isinstance", "issubclass", "len", "list", "object", "ord", "pow", "print",
    "range", "repr", "reversed", "round", "set", "slice", "str", "sum", "tuple", "type", "vars", "zip",
))  # fmt: skip
"""Builtins that store nothing in what they are not given, and call no function."""


class Others(NamedTuple):
    """What may be stored at a place by another name: where, in order, and whether a function inside does so."""

    starts: list[int]
    is_inside: bool


class PlaceFlow:
    """Follow attributes and items through straight lines."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._map = context.map
        self._properties = context.modules.totals.properties
        self._calls: dict[Scope, list[int]] = {}
        self._others: dict[tuple[Scope, str], Others] = {}
        context.forget_with(self._calls.clear)  # there may be more names now
        context.forget_with(self._others.clear)
        context.answer(q.REFINED, self.refine)
        context.answer(q.STORED_LAST, self.find_stored)
        context.answer(q.STILL_PASSING, self.narrow)

    def refine(self, scope: Scope, place: str, at: int, values: Values) -> Values:
        """Give what is known of a place at a position, of which elsewhere in the text some values are known."""
        stored = self.find_stored(scope, place, at)
        return self.narrow(scope, place, at, values if stored is None else stored)

    def narrow(self, scope: Scope, place: str, at: int, values: Values) -> Values:
        """Give what is left of the values of a place by the conditions that hold or fail at a position."""
        if place not in scope.module.tested:
            return values
        runner = scope.runner
        known = [each for each in list_known(scope, runner, place, at) if not self._is_over(runner, place, each, at)]
        return self._ask(q.NARROWED, values, place, tuple((each.scope, each.number) for each in known))

    def find_stored(self, scope: Scope, place: str, at: int) -> Values | None:
        """Give what was stored last at a place before a position; nothing where that cannot be told."""
        runner = scope.runner
        stored = runner.module.list_stored(runner, place)
        numbers = self._find_reaching(runner, place, stored, at) if stored.stores else None
        return self._solver.hand(q.STORED, runner, place, numbers) if numbers is not None else None

    def _find_reaching(self, runner: Scope, place: str, stored: StoredPlace, at: int) -> tuple[int, ...] | None:
        before = (stored.stores[number].binding for number in range(stored.find(at) - 1, -1, -1))
        last = next((each for each in before if _is_over_at(runner, each, place, at)), None)
        if last is None or place.rpartition(".")[2] in self._properties:
            return None
        end = _find_end(runner, last.at, at)
        if self._may_change(runner, place, last.end_position, end, is_careful=True):
            return None
        return tuple(sorted({*stored.declared, *range(stored.find(last.at), stored.find(end))}))

    def _is_over(self, runner: Scope, place: str, known: Known, at: int) -> bool:
        """Tell whether a place may have got another value since a condition was tested."""
        condition = known.condition
        start = condition.since if any(step.stays for step in condition.steps) else condition.start
        end = _find_end(runner, condition.start - 1, at)
        if runner.module.list_stored(runner, place).holds_between(condition.since, end):
            return True
        return self._may_change(runner, place, start, end, is_careful=False)

    def _may_change(self, runner: Scope, place: str, start: int, end: int, *, is_careful: bool) -> bool:
        """Tell whether code between two positions may store something at a place, otherwise than by its name.

        Where it is careful, any call of something that may run code of the repository may.
        """
        root = re.split(r"[.\[]", place, maxsplit=1)[0]
        owner = self._ask(q.OWNER, runner, root)
        if any(start <= each.at < end or each.is_foreign(owner) for each in owner.names.get(root, ())):
            return True
        module = runner.module
        if any(module.list_stored(runner, each).holds_between(start, end) for each in _list_prefixes(place)):
            return True
        others = self._find_others(runner, place)
        if others.is_inside or bisect_left(others.starts, start) < bisect_left(others.starts, end):
            return True
        if is_careful and self._runs_code(runner, start, end):
            return True
        text = runner.module.text[start:end]
        if b"(" not in text and not _CHANGING.search(text):
            return False
        return bool(_CHANGING.search(text)) or bool(_match_giving(root).search(text))

    def _find_others(self, runner: Scope, place: str) -> Others:
        """Find what is stored in a file at what may be the same place by another name; of items, at their container."""
        key = runner, _STEP.sub("", place) + "[" if place.endswith("]") else place
        found = self._others.get(key)
        if found is None:
            stores = list(_list_others(runner, place))
            found = Others(sorted(each.start for each in stores), any(_is_inside(each, runner) for each in stores))
            self._others[key] = found
        return found

    def _runs_code(self, runner: Scope, start: int, end: int) -> bool:
        """Tell whether a call that ends between two positions may run code of the repository."""
        calls = self._calls.get(runner)
        if calls is None:
            sites = (site for scope in runner.module.scopes_by_runner.get(runner, ()) for site in scope.sites)
            calls = sorted(site.more[1] for site in sites if site.code == Code.CALL and not self._is_quiet(site))
            self._calls[runner] = calls
        place = bisect_left(calls, start + 1)
        return place < len(calls) and calls[place] <= end

    def _is_quiet(self, site: Site) -> bool:
        """Tell whether a call is one of a builtin, or of something of a library that is given nothing to call."""
        text = site.text
        if not DOTTED.match(text):
            return False
        name = read_name(text).partition(".")[0].strip()
        owner = self._ask(q.OWNER, site.scope, name)
        bindings = owner.names.get(name, ())
        if name in owner.parameter_names or not bindings:
            return name in _QUIET and name not in owner.parameter_names and not owner.stars
        records = [binding.record for binding in bindings]
        path = owner.module.path
        is_outside = all(record is not None and not self._map.find_import(path, record) for record in records)
        return is_outside and _FUNCTION.search(site.scope.module.text, *site.more) is None


@lru_cache(maxsize=1000)
def _match_giving(root: str) -> re.Pattern[bytes]:
    """Match an object where it is given to something, or one of its methods is called."""
    name = re.escape(root.encode("utf-8", "replace"))
    return re.compile(rb"(?<![\w.])" + name + rb"\b(?!\s*[.\[])|(?<![\w.])" + name + rb"\s*\.\s*" + NAME + rb"\s*\(")


def _is_over_at(runner: Scope, binding: Binding, place: str, at: int) -> bool:
    """Tell whether a position is reached with what an assignment has stored, as far as that alone tells."""
    is_over = binding.code != Code.ANNOTATE and binding.end_position <= at
    return is_over and is_passed(runner, binding, place, at)


def _list_others(runner: Scope, place: str) -> Iterator[Store]:
    """Give what is stored in a file at what may be the same place by another name."""
    module = runner.module
    if place.endswith("]"):
        container = _STEP.sub("", place)
        for store in module.item_stores:
            other = read_place(module.text[store.start : store.end])
            if _STEP.sub("", other) != container or other not in module.stored_items:
                yield store
        return
    receiver, _, name = place.rpartition(".")
    for store in module.stores.get(name, ()):
        if not store.scope.runs_in(runner) or read_place(module.text[store.start : store.end]) != receiver:
            yield store


def _is_inside(store: Store, runner: Scope) -> bool:
    """Tell whether a function inside of a scope stores something, whenever that is called."""
    inside = runner.kind == "function" and runner.head[0] <= store.start < runner.code_end
    return inside and not store.scope.runs_in(runner)


def _find_end(runner: Scope, position: int, at: int) -> int:
    """Find how far code comes before a position that is run after an earlier one: around in loops behind that."""
    ends = [end for start, end in runner.loops if position < start <= at < end]
    return max([at, *ends])


def _list_prefixes(place: str) -> Iterator[str]:
    """Give the places that a place is behind."""
    prefix = _STEP.sub("", place)
    while prefix.endswith("]") or "." in prefix:
        yield prefix
        prefix = _STEP.sub("", prefix)
