"""What resolution wants to know of every file before it looks into any: told from the text of the file alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pkg.resolve.facts.requests import is_test_file, list_requests
from pkg.resolve.facts.scope_model import ModuleScopes, Scope, name_decorator
from pkg.resolve.facts.special_names import DESCRIBING, METACLASS, SPECIAL
from pkg.units import Code, read_name


class Summary(NamedTuple):
    """The names that a file shows to others, each kind as one text with spaces between; a text is quick to read."""

    attributes: str  # names that classes bind, or assign to in their methods
    properties: str
    made: str  # attributes in the bodies of classes, each with the name of what makes or decorates it
    makers: str  # classes that tell what reading, setting or deleting an attribute does; others with each base
    operators: str  # special methods by which Python asks objects
    calls: str  # the last names of what is called or decorates, as often as that is done
    foreign: str  # attributes of something else than self, as often as they are assigned to
    imports: str  # names that are imported, and parts of names of modules
    requests: str  # of functions to pytest, for fixtures
    has_stars: bool  # star imports


class Totals(NamedTuple):
    """The names in those texts of summaries, counted over files."""

    properties: Counter[str]
    made: Counter[str]
    makers: Counter[str]
    operators: Counter[str]
    calls: Counter[str]
    foreign: Counter[str]

    @classmethod
    def of(cls, summaries: Iterable[Summary]) -> Totals:
        """Count the names of files."""
        listed = list(summaries)
        return cls(*(Counter(" ".join(getattr(each, name) for each in listed).split()) for name in cls._fields))

    def exchange(self, some: Totals, others: Totals) -> Totals:
        """Give the counts with those of some files exchanged for those of others."""
        return Totals(*(_exchange(*counts) for counts in zip(self, some, others, strict=True)))


def find_properties(totals: Totals) -> frozenset[str]:
    """Give the attributes whose reading may call a function: properties, and what a descriptor class makes."""
    makers = {"property", "cached_property"}
    makers |= {name for name in totals.makers if "<" not in name and totals.makers[name]}
    pairs = [name.split("<") for name in totals.makers if "<" in name and totals.makers[name]]
    while more := {name for name, base in pairs if base in makers and name not in makers}:
        makers |= more
    made = (name.split(":") for name in totals.made if totals.made[name])
    return frozenset(name for name in totals.properties if totals.properties[name]) | {
        name for name, maker in made if maker in makers
    }  # fmt: skip


def _exchange(counts: Counter[str], some: Counter[str], others: Counter[str]) -> Counter[str]:
    found = counts.copy()
    found.subtract(some)
    found.update(others)
    return found


def summarise(module: ModuleScopes) -> Summary:
    """Sum up a file."""
    functions = [scope for scope in module.scopes if scope.kind == "function"]
    classes = [scope for scope in module.scopes if scope.kind == "class"]
    return Summary(
        _join({name for scope in classes for name in (*scope.names, *module.fields.get(scope, ()))}),
        _join(set(_list_properties(functions, classes))),
        _join(set(_list_made(classes))),
        _join(set(_list_makers(classes))),
        _join(set(_list_special(classes))),
        _join(_list_called(module)),
        _join(name for name, stores in module.fields.get(None, {}).items() for _ in stores),
        _join(set(_list_imported(module))),
        _join(set(_list_requested(module))),
        bool(module.root.stars),
    )


_CALLED = re.compile(rb"(?:\w+\s*\.\s*)*(\w+)\s*\(")
_MADE = re.compile(rb"(?:\w+\s*\.\s*)*\w*property\s*\(")


def _list_properties(functions: Iterable[Scope], classes: Iterable[Scope]) -> Iterator[str]:
    """Give the names of properties, private ones also as Python knows them: decorated functions, and what is made."""
    for scope in functions:
        if scope.is_property:
            yield scope.name
            yield scope.parent.mangle(scope.name) if scope.parent is not None else scope.name
    for scope in classes:
        for name, bindings in scope.names.items():
            starts = (binding.start for binding in bindings if binding.code == Code.ASSIGN)
            if any(_MADE.match(scope.module.text, start) for start in starts):
                yield name


def _list_special(classes: Iterable[Scope]) -> Iterator[str]:
    """Give the special methods that classes define, and the word by which they name their metaclasses."""
    for scope in classes:
        yield from SPECIAL & scope.names.keys()
        if any(base.startswith(METACLASS) for base in scope.bases):
            yield METACLASS


def _list_made(classes: Iterable[Scope]) -> Iterator[str]:
    """Give the names in classes that a call gives a value, or that decorators may; with the last name of what does."""
    for scope in classes:
        for name, bindings in scope.names.items():
            for binding in bindings:
                if binding.scope is not None:
                    yield from (f"{name}:{maker}" for maker in binding.scope.decorator_names if maker)
                elif binding.code == Code.ASSIGN:
                    found = _CALLED.match(scope.module.text, binding.start, binding.end)
                    yield from (f"{name}:{read_name(found.group(1))}",) if found else ()


def _list_makers(classes: Iterable[Scope]) -> Iterator[str]:
    for scope in classes:
        if not DESCRIBING.isdisjoint(scope.names):
            yield scope.name
        bases = (base.partition("[")[0].partition("(")[0].rpartition(".")[2].strip() for base in scope.bases)
        yield from (f"{scope.name}<{base}" for base in bases if base.isidentifier())


def _join(names: Iterator[str] | set[str]) -> str:
    return " ".join(sorted(names))


def _list_called(module: ModuleScopes) -> Iterator[str]:
    text = module.text
    for scope in module.scopes:
        for site in scope.sites:
            if site.code == Code.CALL:
                name = read_name(text[site.start : site.end].rpartition(b".")[2].strip())
                if name.isidentifier():
                    yield name
        yield from map(name_decorator, scope.decorators)


def _list_requested(module: ModuleScopes) -> Iterator[str]:
    if b"fixture" in module.text or is_test_file(module.path):
        for scope in module.scopes:
            yield from list_requests(scope)


def _list_imported(module: ModuleScopes) -> Iterator[str]:
    for record in module.imports:
        yield from record.module.split(".")
        if record.name is not None:
            yield record.name
