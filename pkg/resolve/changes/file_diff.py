"""The difference of two versions of a file: found once, it tells what is as it was of what others depend on."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from tokenize import COMMENT, INDENT, NEWLINE, NL, STRING, TokenError, tokenize
from typing import TypeVar

from pkg.resolve.changes.dependency_record import BODY, FIELD, NAME, Piece, Received, Taken
from pkg.resolve.changes.places import find_top, list_holders, list_offsets, parse_name
from pkg.resolve.changes.written_names import match_name, normalise
from pkg.resolve.facts.binding_order import list_final, stands_alone
from pkg.resolve.facts.scope_model import Binding, ModuleScopes, Scope, Store

_SILENT, _SHAPES = (COMMENT, NL), (INDENT, NEWLINE)
_SPEAKING = rb"(?<![.\w])(?<!def )(?<!class )(?:%s)(?!\w)(?!\s*[:=][^=])"  # of names, not where they get values
_DOCSTRING = [INDENT, STRING, NEWLINE]
_NAMED = ("module", "class", "function")

Key = TypeVar("Key", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What differs between two versions of a file, without regard to where it stands; all by qualified names."""

    before: ModuleScopes
    counts: frozenset[str]  # definitions that there are more of, or fewer
    heads: frozenset[str]  # definitions of both versions that are called in another way
    texts: frozenset[str]  # outermost functions that are new, gone, or of another text
    bodies: frozenset[str]  # those of them in which more than comments and docstrings differs
    names: frozenset[tuple[str, str]]  # names of the module and of classes that get other values
    fields: frozenset[tuple[str, str]]  # attributes of self that the methods of classes assign to otherwise
    brought: frozenset[str]  # names of both versions of the module that other star imports may bring last
    spoken: frozenset[str]  # classes whose code speaks of a name that they have in one version alone
    has_same_text: bool  # around all outermost functions, but for spaces
    same_length: int | None  # bytes of that text up to which both versions are the same, where they are not

    def keeps(self, taken: Taken) -> bool:
        """Tell whether nothing differs that other files were worked out from, but perhaps bases of its classes.

        What the file defines beside, or no longer, is found by name.
        """
        if self.heads or self.brought or self.spoken:
            return False
        holding = _list_holding(taken)
        return not any(self._has(piece, holding) for piece in taken.pieces) and self._has_moved_nothing(taken)

    def find_other(self, taken: Taken) -> OtherParts:
        """Find the parts of the file that are not as they were."""
        holding = _list_holding(taken)
        found = {name for name in self.texts if self._has((BODY, name, ""), holding)}
        return OtherParts(self.before, frozenset(found if self.has_same_text else {"", *found}))

    def _has(self, piece: Piece, holding: set[str]) -> bool:
        """Tell whether a piece differs: of functions, comments say nothing, unless they hold containers."""
        kind, qualname, name = piece
        if kind == BODY:
            return qualname in self.bodies or (qualname in self.texts and qualname in holding)
        if kind == NAME:
            return qualname in self.counts or (qualname, name) in self.names
        return (qualname, name) in self.fields if kind == FIELD else not self.has_same_text

    def _has_moved_nothing(self, taken: Taken) -> bool:
        """Tell whether what others deliver to outside of functions stands where it stood: it is known by its place."""
        received = chain.from_iterable(taken.received.values())
        offsets = (offset for each in received for offset in list_offsets(each.name, self.before))
        return self.same_length is None or all(offset < self.same_length for offset in offsets)


@dataclass(frozen=True, slots=True)
class OtherParts:
    """The parts of a file that are not as they were: outermost functions, and by an empty name the text around them."""

    before: ModuleScopes
    names: frozenset[str]

    def covers(self, received: Received) -> bool:
        """Tell whether a set is of such a part."""
        try:
            name = parse_name(received.name, self.before.path, {self.before.path: self.before})
        except KeyError:  # it speaks of a scope of another file
            return False
        top = find_top(name, {self.before.path: self.before})
        return top is not None and top.qualname in self.names

    def cut_kept(self, now: ModuleScopes) -> bytes:
        """Give the text of the file as it is now without the functions among such parts."""
        kept = (_cut_whole(top) for top in now.outermost if top.qualname not in self.names)
        return b"\n".join([*_list_around(now), *kept])

    def leave_out(self, received: Mapping[str, list[Received]]) -> dict[str, list[Received]]:
        """Give sets by place without those that are of such parts."""
        kept = {place: [each for each in sets if not self.covers(each)] for place, sets in received.items()}
        return {place: sets for place, sets in kept.items() if sets}


def compare_files(before: ModuleScopes, now: ModuleScopes) -> FileDiff:
    """Compare two versions of a file."""
    old, new = _group_scopes(before), _group_scopes(now)
    tops = {top.qualname for top in chain(before.outermost, now.outermost)}
    texts = {name for name in tops if _cut_all(old, name) != _cut_all(new, name)}
    around, around_now = b"".join(_list_around(before)), b"".join(_list_around(now))
    return FileDiff(
        before,
        frozenset(name for name in old.keys() | new.keys() if len(old.get(name, ())) != len(new.get(name, ()))),
        _find_differing(_describe_heads(old, new), _describe_heads(new, old)),
        frozenset(texts),
        frozenset(name for name in texts if _differ_in_words(old.get(name, []), new.get(name, []))),
        _find_differing(_describe_names(old), _describe_names(new)),
        _find_differing(_describe_fields(before), _describe_fields(now)),
        _find_brought(before.root, now.root),
        _find_spoken(old, now),
        b" ".join(_list_around(before)).split() == b" ".join(_list_around(now)).split(),
        _count_same(around, around_now) if around != around_now else None,
    )  # fmt: skip


def _group_scopes(module: ModuleScopes) -> dict[str, list[Scope]]:
    found: dict[str, list[Scope]] = {}
    for scope in module.scopes:
        if scope.kind in _NAMED:
            found.setdefault(scope.qualname, []).append(scope)
    return found


def _find_differing(old: dict[Key, object], new: dict[Key, object]) -> frozenset[Key]:
    return frozenset(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))


def _describe_heads(scopes: dict[str, list[Scope]], among: Container[str]) -> dict[str, object]:
    return {name: list(map(_describe_head, found)) for name, found in scopes.items() if name in among}


def _describe_head(scope: Scope) -> object:
    """Describe what tells how a definition is called; Python looks for special names though no text speaks of them."""
    if scope.kind == "function":
        text: object = scope.module.text[slice(*scope.head)], scope.receiver, scope.takes_class
    else:
        text = sorted(name for name in scope.names if name.startswith("__"))
    is_node, is_abstract = scope.definition >= 0, scope.kind == "function" and scope.is_abstract
    is_loose = is_abstract or (scope.kind == "class" and scope.is_protocol)
    return scope.kind, is_node, text, scope.decorators, bool(scope.yields), bool(scope.returns), is_loose


def _describe_names(scopes: dict[str, list[Scope]]) -> dict[tuple[str, str], object]:
    """Describe what gives values to the names of the module and of classes."""
    found: dict[tuple[str, str], list[object]] = {}
    for scope in chain.from_iterable(scopes.values()):
        for name, bindings in scope.names.items() if scope.kind != "function" else ():
            described = [(stands_alone(scope, each), _describe_binding(scope.module, each)) for each in bindings]
            found.setdefault((scope.qualname, name), []).append(described)
    return dict(found)


def _describe_binding(module: ModuleScopes, binding: Binding) -> object:
    if binding.scope is not None:
        return binding.scope.kind, binding.scope.qualname
    if binding.record is not None:
        return binding.record.statement
    return str(binding.code), module.text[binding.start : binding.end], binding.path


def _describe_fields(module: ModuleScopes) -> dict[tuple[str, str], object]:
    """Describe the assignments to attributes that stand inside of each class."""
    found: dict[tuple[str, str], list[object]] = {}
    for name, stores in module.stores.items():
        for store in stores:
            for qualname in _list_classes_around(store):
                value = _describe_binding(module, store.binding)
                described = store.scope.qualname, module.text[store.start : store.end], value
                found.setdefault((qualname, name), []).append(described)
    return dict(found)


def _list_classes_around(store: Store) -> Iterator[str]:
    each = store.scope.parent
    while each is not None:
        if each.kind == "class":
            yield each.qualname
        each = each.parent


def _find_brought(before: Scope, now: Scope) -> frozenset[str]:
    """Find the names that both versions of a module bind and behind which other star imports stand."""
    if not before.stars and not now.stars:
        return frozenset()
    names = before.names.keys() & now.names.keys()
    return frozenset(name for name in names if _list_behind(before, name) != _list_behind(now, name))


def _list_behind(root: Scope, name: str) -> list[bool]:
    """Tell of each star import whether it stands behind all bindings of a name that count."""
    last = max((each.at for each in list_final(root, name)), default=-1)
    return [each.span.start > last for each in root.stars]


def _find_spoken(old: dict[str, list[Scope]], now: ModuleScopes) -> frozenset[str]:
    """Find the classes whose code speaks of a name that they have only before, or only now."""
    classes = (scope for scope in chain.from_iterable(old.values()) if scope.kind == "class")
    names_before = {scope.qualname: scope.names.keys() for scope in classes}
    found = set()
    for scope in now.scopes:
        if scope.kind == "class" and scope.qualname in names_before:
            differing = names_before[scope.qualname] ^ scope.names.keys()
            names = b"|".join(map(match_name, sorted(differing)))
            if names and re.search(_SPEAKING % names, normalise(_cut_class(scope))):
                found.add(scope.qualname)
    return frozenset(found)


def _count_same(before: bytes, now: bytes) -> int:
    """Count the bytes with which two texts begin alike."""
    shorter = min(len(before), len(now))
    return bisect_left(range(1, shorter + 1), True, key=lambda length: before[:length] != now[:length])


def _list_holding(taken: Taken) -> set[str]:
    """Give the functions that hold containers which something is made of: these are known by their places in them."""
    received = chain.from_iterable(taken.received.values())
    return {name for each in received for name in list_holders(each.name)}


def _cut_all(scopes: dict[str, list[Scope]], qualname: str) -> list[bytes]:
    return list(map(_cut_whole, scopes.get(qualname, ())))


def _differ_in_words(old: list[Scope], new: list[Scope]) -> bool:
    """Tell whether functions differ in more than comments and docstrings; what this Python does not know does."""
    words = list(map(_split_words, old))
    return None in words or words != list(map(_split_words, new))


def _split_words(scope: Scope) -> list[tuple[int, str]] | None:
    """Give the words of a function without comments and docstrings; nothing for what this Python does not know."""
    text, start = scope.module.text, scope.head[0]
    margin = text[text.rfind(b"\n", 0, start) + 1 : start]
    try:
        found = [(each.type, each.string) for each in tokenize(BytesIO(margin + _cut_whole(scope)).readline)]
    except (TokenError, SyntaxError):
        return None
    words = [(kind, "" if kind in _SHAPES else word) for kind, word in found if kind not in _SILENT]
    kinds = [kind for kind, _ in words]
    docstrings = {place for place in range(1, len(kinds)) if kinds[place - 1 : place + 2] == _DOCSTRING}
    return [word for place, word in enumerate(words) if docstrings.isdisjoint((place, place - 1))]


def _cut_class(scope: Scope) -> bytes:
    """Give the text of a class without the bodies of its functions."""
    text, position, parts = scope.module.text, scope.head[0], []
    for top in scope.module.outermost:
        if scope.head[0] <= top.head[0] < scope.code_end:
            parts.append(text[position : top.head[1]])
            position = top.code_end
    return b" ".join([*parts, text[position : scope.code_end]])


def _list_around(module: ModuleScopes) -> Iterator[bytes]:
    """Give the text of a file without the functions that stand in no other, in pieces."""
    position = 0
    for top in module.outermost:
        yield module.text[position : top.head[0]]
        position = top.code_end
    yield module.text[position:]


def _cut_whole(scope: Scope) -> bytes:
    """Give the text of a function from its head to its end."""
    return scope.module.text[scope.head[0] : scope.code_end]
