"""Which files a change can reach: found by names, by what is derived from what, and by what files were worked out from.

A file is resolved again when it has changed itself, when it speaks of a name that was defined, removed or counted
otherwise, or when its links were worked out from such a file. What is not known for sure counts as changed; where names
alone cannot tell, everything is resolved again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.containers import REST
from pkg.graph.resolve.mentions import Wanted, find_mentions
from pkg.graph.resolve.model import ModuleScopes, Scope
from pkg.graph.resolve.modules import INIT, STUB_INIT, ModuleMap
from pkg.graph.resolve.operators import has_same_operators
from pkg.graph.resolve.parameters import MAX_USES
from pkg.graph.resolve.pieces import has_same_outside
from pkg.graph.resolve.records import Basis, hash_text
from pkg.graph.resolve.statics import Item, count_calls, count_statics, describe_exports, list_defined

MAX_NAMES = 300  # changed names that are looked for; with more, everything is resolved again


class Unforeseen(Exception):  # noqa: N818  # no error: everything is resolved again
    """Say that names do not tell what a change reaches."""


@dataclass(slots=True)
class Past:
    """What is known from the last resolution."""

    bases: Mapping[str, Basis]  # of every file that was there
    modules: Mapping[str, ModuleScopes]  # of the files that changed or are gone, as they were


def find_changed_names(modules: Mapping[str, ModuleScopes], past: Past, changed: Iterable[str]) -> Wanted:
    """Compare the files that changed with what they were, before anything is resolved; give the names that differ."""
    wanted = Wanted(_compare_paths(modules, past))
    if not has_same_operators(modules, past.modules, changed):
        raise Unforeseen  # sites of an operator may count that did not, or no longer
    lost: Counter[Item] = Counter()
    gained: Counter[Item] = Counter()
    for path in changed:
        before, now = past.modules.get(path), modules.get(path)
        if before is not None and now is not None and describe_exports(before) != describe_exports(now):
            raise Unforeseen
        old, new = count_statics(before), count_statics(now)
        went, came = old - new, new - old
        for item in went | came:
            if item[:2] == ("binds", ""):
                wanted.of_modules.setdefault(item[-1], set()).add(hash_text(path))
            elif item[0] != "defines":
                wanted.names.add(item[-1])
        lost += went
        gained += came
    wanted.names |= _find_guessed(modules, lost, gained)
    return wanted


def _find_guessed(modules: Mapping[str, ModuleScopes], lost: Counter[Item], gained: Counter[Item]) -> set[str]:
    """Find the names that one method alone had, or has now: calls of it are guesses by the name."""
    names = {item[-1] for item in (*lost, *gained) if item[0] == "defines"}
    if not names:
        return set()
    now = Counter(item for module in modules.values() for item in list_defined(module) if item[-1] in names)
    return _find_single_methods(now) | _find_single_methods((now + lost) - gained)


def _find_single_methods(items: Counter[Item]) -> set[str]:
    """Find the names that one method has and no other function or class."""
    defined = {item: count for item, count in items.items() if item[0] == "defines"}
    counts: Counter[str] = Counter()
    for item, count in defined.items():
        counts[item[-1]] += count
    return {item[-1] for item in defined if item[1:3] == ("function", "class") and counts[item[-1]] == 1}


def _compare_paths(modules: Mapping[str, ModuleScopes], past: Past) -> set[str]:
    """Give the names of modules that came or went."""
    moved = past.bases.keys() ^ modules.keys()
    if not moved:
        return set()
    before, now = ModuleMap(past.bases), ModuleMap(modules)
    if before.roots != now.roots or any(path.endswith((INIT, STUB_INIT)) for path in moved):
        raise Unforeseen
    return {part for path in moved for part in path.removesuffix(".pyi").removesuffix(".py").split("/")[-2:]}


def find_reached(binder: Binder, past: Past, changed: set[str], wanted: Wanted) -> set[str]:
    """Give the files to which a change comes by names, when classes are ordered and patches found."""
    wanted.paths |= changed & binder.modules.keys()
    _compare_counts(binder, past, changed, wanted)
    for path, module in binder.modules.items():
        _compare_classes(binder, module, past.bases.get(path), wanted)
        _compare_patches(binder, path, past.bases.get(path), wanted)
    for path in past.bases.keys() - binder.modules.keys():
        if any(value % 2 for value in past.bases[path].classes.values()):
            raise Unforeseen
        wanted.names |= past.bases[path].patches.keys()
    for path in changed:
        _compare_members(binder, past.modules.get(path), binder.modules.get(path), wanted)
    if wanted.size > MAX_NAMES:
        raise Unforeseen
    reach = {path: basis.reach for path, basis in past.bases.items()}
    return wanted.paths | set(find_mentions(binder.modules.values(), wanted, reach))


def _compare_counts(binder: Binder, past: Past, changed: set[str], wanted: Wanted) -> None:
    """Find the names whose calls became too many to follow their arguments, or few enough."""
    old = count_calls(past.modules.values())
    new = count_calls(binder.modules[path] for path in changed if path in binder.modules)
    for name in old.keys() | new.keys():
        now = binder.parameters.uses[name]
        if min(now, MAX_USES + 1) != min(now - new[name] + old[name], MAX_USES + 1):
            wanted.counts.add(name)


def describe_classes(binder: Binder, module: ModuleScopes) -> dict[str, int]:
    """Hash what each class of a file is derived from; the number is odd where a class in its order has several bases.

    Of classes of one name in a file the last counts, with all of them.
    """
    described: dict[str, int] = {}
    for scope in module.scopes:
        if scope.kind != "class":
            continue
        facts = binder.hierarchy.facts(scope)
        bases = [(base.module.path, base.qualname) for base in facts.bases]
        metaclass = facts.metaclass and (facts.metaclass.module.path, facts.metaclass.qualname)
        parts = bases, facts.places, facts.libraries, facts.has_unknown, metaclass, described.get(scope.qualname)
        described[scope.qualname] = hash_text(*parts) // 2 * 2 + _is_mixed(binder, scope)
    return described


def _is_mixed(binder: Binder, scope: Scope) -> bool:
    return any(len(binder.hierarchy.facts(each).bases) > 1 for each in binder.hierarchy.order(scope))


def _compare_classes(binder: Binder, module: ModuleScopes, basis: Basis | None, wanted: Wanted) -> None:
    """Find the classes whose bases changed: all that they and their heirs define may be found anew, or no longer."""
    old = basis.classes if basis is not None else {}
    new = describe_classes(binder, module)
    if old == new:
        return
    if any(value % 2 and new.get(name) != value for name, value in old.items()):
        raise Unforeseen  # its order may have led from one of its bases to another
    wanted.paths.add(module.path)
    for scope in module.scopes:
        if scope.kind == "class" and old.get(scope.qualname) != new[scope.qualname]:
            for each in (scope, *binder.hierarchy.list_derived(scope)):
                wanted.names |= each.names.keys() | set(_list_fields(each))
                _reach_siblings(binder, each, wanted)


def _list_fields(scope: Scope) -> Iterator[str]:
    for name, stores in scope.module.stores.items():
        if any(store.stands_in(scope.qualname) for store in stores):
            yield name


def _reach_siblings(binder: Binder, scope: Scope, wanted: Wanted) -> None:
    """Reach the bases of a class of several: what super() means in them depends on it."""
    if _is_mixed(binder, scope):
        order = binder.hierarchy.order(scope)
        wanted.paths |= {each.module.path for each in order[1:] if b"super" in each.module.text}


def _compare_members(binder: Binder, before: ModuleScopes | None, now: ModuleScopes | None, wanted: Wanted) -> None:
    """Find the classes that define other names than before: super() may lead from a sibling to them."""
    old = {scope.qualname: scope.names.keys() for scope in before.scopes if scope.kind == "class"} if before else {}
    for scope in now.scopes if now is not None else ():
        if scope.kind == "class" and old.get(scope.qualname, set()) != scope.names.keys():
            for each in (scope, *binder.hierarchy.list_derived(scope)):
                _reach_siblings(binder, each, wanted)


def describe_patches(binder: Binder, path: str) -> dict[str, int]:
    """Hash what a file assigns to attributes of classes and modules, by attribute."""
    described: dict[str, list[str]] = {}
    for target, name, store in binder.bindings.patches_of.get(path, ()):
        text = store.scope.module.text[store.binding.start : store.binding.end]
        described.setdefault(name, []).append(f"{target.module.path}:{target.qualname}:{text!r}")
    return {name: hash_text(*sorted(texts)) for name, texts in described.items()}


def _compare_patches(binder: Binder, path: str, basis: Basis | None, wanted: Wanted) -> None:
    old = basis.patches if basis is not None else {}
    new = describe_patches(binder, path)
    if old != new:
        wanted.names |= {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _is_same_outside(binder: Binder, past: Past, path: str) -> bool:
    before, now = past.modules.get(path), binder.modules.get(path)
    if before is None or now is None or describe_classes(binder, now) != past.bases[path].classes:
        return False
    basis = past.bases[path]
    return has_same_outside(before, now, basis.pieces) and _are_in_place(before.text, now.text, basis)


def _are_in_place(before: bytes, now: bytes, basis: Basis) -> bool:
    """Tell whether containers of a file that others deliver to, known by their places, stand where they stood."""
    shorter = min(len(before), len(now))
    same = next((place for place in range(shorter) if before[place] != now[place]), shorter)
    names = (each.name[1] for sets in basis.received.values() for each in sets)
    return all(_find_end(name) < same for name in names if isinstance(name, list) and name[0] != REST)


def _find_end(name: Any) -> int:
    """Give the highest number in the name of a container: behind it lies nothing that tells where it stands."""
    if isinstance(name, list):
        return max(map(_find_end, name), default=0)
    return name if isinstance(name, int) else 0


def find_dependants(binder: Binder, past: Past, paths: Iterable[str]) -> set[str]:
    """Give the files whose links were worked out from any of some files, but for what is the same there as before."""
    wanted = {hash_text(path) for path in paths if not _is_same_outside(binder, past, path)}
    return {path for path, basis in past.bases.items() if not wanted.isdisjoint(basis.reach)}
