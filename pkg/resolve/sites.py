"""The sites of a repository: every place whose code calls something, or may (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Key
from pkg.resolve.facts.requests import list_requests
from pkg.resolve.facts.scope_model import ModuleScopes, Scope, Site
from pkg.resolve.facts.special_names import CREATION, Asked, find_asked
from pkg.units import Code, read_name


def list_sites(
    module: ModuleScopes,
    properties: frozenset[str],
    answered: frozenset[Asked],
    lacks: Callable[[Scope, str], bool] | None = None,
) -> Iterator[Site]:
    """Give the sites of a file by scope; those of decorators stand in the scope around, of fixtures in who asks.

    Attributes that no class of the repository defines as a property are not looked at, nor is what no special method
    answers; but those of self that its class lacks, and makes by __getattr__.
    """
    read, text = _encode(properties), module.text
    for scope in module.scopes:
        for site in scope.sites:
            if site.code == Code.READ:
                name = text[text.rfind(b".", 0, site.end) + 1 : site.end].strip()
                is_property = (name if name.isascii() else read_name(name).encode()) in read
                if is_property or (lacks is not None and _is_made(site, lacks)):
                    yield site
            elif site.code == Code.ERASE:
                if site.name in properties:
                    yield site
            elif (asked := find_asked(site)) is None or asked in answered:
                yield site
    yield from _list_writes(module, properties)
    for scope in module.scopes:
        is_asking = scope.kind == "class" and CREATION in answered
        if (scope.decorators or is_asking) and scope.parent is not None:
            yield Site(scope.parent, Code.DEFINITION, *scope.head, definition=scope)
        if list_requests(scope):
            yield Site(scope, Code.REQUEST, *scope.head)


def list_keys(module: ModuleScopes, sites: Iterable[Site]) -> Iterator[Key]:
    """Give the sets by which a file is resolved: of sites that deliver, of what it puts into items, of its imports."""
    for site in sites:
        if site.delivers:
            yield q.SITE, site
    for store in module.item_stores:
        yield q.STORE, store
    for place in range(len(module.imports)):
        yield q.IMPORTED, module.root, place


def _is_made(site: Site, lacks: Callable[[Scope, str], bool]) -> bool:
    """Tell whether an attribute of self is read that its class makes at run time."""
    receiver, _, name = site.text.partition(b".")
    method = site.scope.owner
    if (
        method.parent is None
        or method.receiver is None
        or read_name(receiver.strip()) != method.receiver
        or b"." in name
    ):
        return False
    return lacks(method.parent, site.scope.mangle(read_name(name.strip())))


@lru_cache(maxsize=1)
def _encode(names: frozenset[str]) -> frozenset[bytes]:
    return frozenset(name.encode("utf-8", "replace") for name in names)


def _list_writes(module: ModuleScopes, properties: frozenset[str]) -> Iterator[Site]:
    """Give the assignments to attributes that are properties somewhere."""
    for name, stores in module.stores.items():
        for store in stores if name in properties else ():
            yield Site(store.scope, Code.ASSIGN, store.start, store.end, name=name)
