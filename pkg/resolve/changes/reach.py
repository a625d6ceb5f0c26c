"""Which files a change can reach: found by names, by what is derived from what, and by what files were worked out from.

A file is resolved again when it has changed itself, when it speaks of a name that was defined, removed or counted
otherwise, or when its links were worked out from such a file. What is not known for sure counts as changed; where names
alone cannot tell, everything is resolved again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from pkg.local_errors import Unwinding
from pkg.resolution.module_map import INIT, STUB_INIT, ModuleMap
from pkg.resolve.binder import Binder
from pkg.resolve.changes.class_cache import ClassCache, describe_classes
from pkg.resolve.changes.dependency_record import ClassRow
from pkg.resolve.changes.file_diff import compare_files
from pkg.resolve.changes.mentions import Wanted, find_mentions
from pkg.resolve.changes.past import Past
from pkg.resolve.facts.exported_names import count_exported, describe_exports
from pkg.resolve.facts.file_records import hash_text
from pkg.resolve.facts.repository_files import Files
from pkg.resolve.facts.scope_model import SUBCLASS_HOOK, ModuleScopes, Scope
from pkg.resolve.facts.special_names import find_answered
from pkg.resolve.facts.summary import Totals, find_properties
from pkg.resolve.following import Following, rate_uses
from pkg.resolve.patches import Patch
from pkg.resolve.record_classes import describe_fields

_UNNAMED = frozenset(("__call__", "__instancecheck__", "__subclasscheck__", "__prepare__"))
"""Methods of a class of classes that Python asks for where nothing names them."""
MAX_NAMES = 300  # changed names that are looked for; with more, everything is resolved again


Counted = TypeVar("Counted")


class Unforeseen(Unwinding):  # everything is resolved again
    """Say that names do not tell what a change reaches."""


def find_reached(binder: Binder, past: Past) -> set[str]:
    """Give the files to which a change comes by names, those that changed included.

    The binder then knows the classes and patches of all files. Only the files that the change may have come to are read
    for theirs; those of all others are as they were. Unforeseen says that names do not tell what the change reaches.
    """
    files = binder.modules
    wanted = _compare_exported(files, past, binder.context.following)
    _compare_files(files, past)
    suspects = _find_suspects(files, past, wanted)
    class_cache = ClassCache(files, {path: past.snapshot[path].classes for path in files.keys() - suspects})
    if class_cache.list_missing(past.files):
        raise Unforeseen
    binder.order_classes(suspects, class_cache)
    for path in sorted(suspects):
        _compare_classes(binder, class_cache, files[path], past, wanted)
    for path in past.changed:
        _compare_members(binder, past.files.get(path), files.get(path), wanted)
    suspects = _find_suspects(files, past, wanted)
    patches = {path: past.snapshot[path].patches for path in files.keys() - suspects}
    if any(patch.target[0] in past.files and files.find(patch.target) is None for patch in chain(*patches.values())):
        raise Unforeseen
    binder.find_patches(suspects, patches)
    for path in suspects:
        old = past.snapshot[path].patches if path in past.snapshot else ()
        for name, target in _list_repatched(old, binder.context.patches.by_file[path]):
            wanted.names.add(name)
            wanted.paths.add(target)
    return _find_named(files, past, wanted)


def _compare_files(files: Files, past: Past) -> None:
    """Find what is not as it was in the files that changed; in some, others were worked out from nothing of that."""
    for path in sorted(past.changed):
        before, now, dependencies = past.files.get(path), files.get(path), past.snapshot.get(path)
        if before is None or now is None or dependencies is None:
            continue
        diff = compare_files(before, now)
        past.other[path] = diff.find_other(dependencies.taken)
        if diff.keeps(dependencies.taken):
            past.same.add(path)


def _find_suspects(files: Files, past: Past, wanted: Wanted) -> set[str]:
    """Give the files to which a change comes by names, and those that were worked out from one of these."""
    found = _find_named(files, past, wanted)
    dependants = find_dependants(past, found | past.files.keys())
    return files.keys() & (found | dependants)


def _find_named(files: Files, past: Past, wanted: Wanted) -> set[str]:
    """Give the files that changed, and those to which a change comes by names.

    From one that changed, something else than before may come now if it speaks of a name itself.
    """
    if wanted.size > MAX_NAMES:
        raise Unforeseen
    asking = wanted.paths | find_mentions(
        files, wanted, past.snapshot, {path: past.other[path].cut_kept for path in past.same}
    )
    past.same -= asking
    return asking | past.changed


def find_dependants(past: Past, paths: Iterable[str]) -> set[str]:
    """Give the files whose links were worked out from any of some files, but for what is the same there as before."""
    wanted = {hash_text(path) for path in paths if path not in past.same}
    return {path for path, dependencies in past.snapshot.items() if not wanted.isdisjoint(dependencies.reach)}


def _compare_exported(files: Files, past: Past, following: Following) -> Wanted:
    """Compare the files that changed with what they were, before anything is resolved; give the names that differ."""
    wanted = Wanted(_compare_paths(files, past))
    came = Totals.of(files.summaries[path] for path in past.changed if path in files)
    totals = files.totals.exchange(came, past.files.totals)
    if find_answered(files.totals.operators) != find_answered(totals.operators):
        raise Unforeseen  # sites of an operator may count that did not, or no longer
    for path in past.changed:
        before, now = past.files.get(path), files.get(path)
        if before is not None and now is not None and describe_exports(before) != describe_exports(now):
            raise Unforeseen
        for item in _find_differing(count_exported(before), count_exported(now)):
            if item[:2] == ("binds", ""):
                wanted.of_modules.setdefault(item[-1], set()).add(hash_text(path))
            else:
                wanted.names.add(item[-1])
    wanted.names |= find_properties(totals) ^ find_properties(files.totals)
    wanted.counts |= {
        name
        for name in came.calls.keys() | past.files.totals.calls.keys()
        if rate_uses(totals.calls[name], following) != rate_uses(files.totals.calls[name], following)
    }
    for path in past.snapshot.keys() - files.keys():
        if any(row.is_mixed for row in past.snapshot[path].classes):
            raise Unforeseen
        wanted.names |= {patch.name for patch in past.snapshot[path].patches}
    return wanted


def _find_differing(old: Counter[Counted], new: Counter[Counted]) -> set[Counted]:
    """Give what is there more often than it was, or less often."""
    return {*(old - new), *(new - old)}


def _compare_paths(files: Files, past: Past) -> set[str]:
    """Give the names of modules that came or went."""
    moved = past.snapshot.keys() ^ files.keys()
    if not moved:
        return set()
    before, now = ModuleMap(past.snapshot), ModuleMap(files)
    if before.folders != now.folders or any(path.endswith((INIT, STUB_INIT)) for path in moved):
        raise Unforeseen
    return {part for path in moved for part in path.removesuffix(".pyi").removesuffix(".py").split("/")[-2:]}


def _compare_classes(binder: Binder, class_cache: ClassCache, module: ModuleScopes, past: Past, wanted: Wanted) -> None:
    """Find the classes whose bases changed: all that they and their heirs define may be found anew, or no longer."""
    dependencies = past.snapshot.get(module.path)
    old = _group_rows(dependencies.classes if dependencies is not None else ())
    new = _group_rows(describe_classes(binder.hierarchy, module))
    for name, rows in old.items():
        if new.get(name) != rows:  # who is worked out from the file is no longer left alone
            wanted.paths.add(module.path)
            if any(row.is_mixed for row in rows):
                raise Unforeseen  # its order may have led from one of its bases to another
            for base in chain.from_iterable(row.bases for row in rows):
                _reach_receivers(binder, binder.modules.find(base), wanted)
    for scope in module.scopes:
        if scope.kind == "class" and old.get(scope.qualname) != new[scope.qualname]:
            for each in (scope, *binder.hierarchy.list_derived(scope)):
                wanted.names |= each.names.keys() | set(_list_fields(each))
                _reach_siblings(binder, each, wanted)
                _reach_receivers(binder, each, wanted)
                _compare_order(binder, class_cache, each, wanted)


def _group_rows(rows: Iterable[ClassRow]) -> dict[str, list[ClassRow]]:
    found: dict[str, list[ClassRow]] = {}
    for row in rows:
        found.setdefault(row.qualname, []).append(row)
    return found


def _compare_order(binder: Binder, class_cache: ClassCache, scope: Scope, wanted: Wanted) -> None:
    """Find whether the order of a class leads over several bases now, or no longer."""
    before = class_cache.find_row(scope)
    if before is not None and before.is_mixed != binder.hierarchy.is_mixed(scope):
        if before.is_mixed:
            raise Unforeseen
        wanted.paths.add(scope.module.path)


def _list_fields(scope: Scope) -> Iterator[str]:
    for name, stores in scope.module.stores.items():
        if any(store.stands_in(scope.qualname) for store in stores):
            yield name


def _reach_siblings(binder: Binder, scope: Scope, wanted: Wanted) -> None:
    """Reach the bases of a class of several: what super() means in them depends on it."""
    if binder.hierarchy.is_mixed(scope):
        order = binder.hierarchy.order(scope)
        wanted.paths |= {each.module.path for each in order if each is not scope and b"super" in each.module.text}


def _reach_receivers(binder: Binder, scope: Scope | None, wanted: Wanted) -> None:
    """Reach what is handed the classes that are derived from a class: its own hook, or one of a base."""
    for each in binder.hierarchy.order(scope) if scope is not None else ():
        if SUBCLASS_HOOK in each.names:
            wanted.paths.add(each.module.path)


def _compare_members(binder: Binder, before: ModuleScopes | None, now: ModuleScopes | None, wanted: Wanted) -> None:
    """Find the classes that define other names than before: super() may lead from a sibling to them.

    And their heirs that define those names as well: they override others now. What a class of classes is asked by
    itself, and what the constructors of heirs take, no text names: then everything is resolved again.
    """
    old = {scope.qualname: scope for scope in before.scopes if scope.kind == "class"} if before is not None else {}
    left = {scope.qualname for scope in now.scopes} if now is not None else set()
    if any(
        name not in left and not _UNNAMED.isdisjoint(each.names) and _is_of_classes(each) for name, each in old.items()
    ):
        raise Unforeseen
    for scope in now.scopes if now is not None else ():
        if scope.kind != "class":
            continue
        earlier = old.get(scope.qualname)
        differing = (earlier.names.keys() if earlier is not None else set()) ^ scope.names.keys()
        heirs = binder.hierarchy.list_derived(scope)
        if not _UNNAMED.isdisjoint(differing) and binder.hierarchy.makes_classes(scope):
            raise Unforeseen
        if heirs and earlier is not None and describe_fields(earlier) != describe_fields(scope):
            raise Unforeseen
        for each in (scope, *heirs) if differing else ():
            _reach_siblings(binder, each, wanted)
            if each is not scope and not differing.isdisjoint(each.names):
                wanted.paths.add(each.module.path)


def _is_of_classes(scope: Scope) -> bool:
    """Tell whether a class that is gone may have been one of classes, by what its head says."""
    head = scope.module.text[slice(*scope.head)]
    return b"type" in head or b"Meta" in head


def _list_repatched(old: Sequence[Patch], new: Sequence[Patch]) -> set[tuple[str, str]]:
    """Give the names that are assigned to otherwise than before, wherever that stands, with whose file each is of."""
    before, now = (Counter((each.name, each.target, each.value) for each in patches) for patches in (old, new))
    return {(name, target[0]) for name, target, _ in _find_differing(before, now)}
