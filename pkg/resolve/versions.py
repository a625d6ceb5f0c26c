"""Two versions of a file: what of it is as it was, so that the links that were worked out from that stay (A-12).

A file may have changed in nothing that the links of other files were worked out from: these are left alone then. Where
nor its own functions were worked out from what has changed, only those are resolved again that have changed themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import chain
from tokenize import COMMENT, INDENT, NEWLINE, NL, STRING, TokenError, tokenize

from pkg.resolve.basis import Basis, Received
from pkg.resolve.model import Binding, ModuleScopes, Scope, Store
from pkg.resolve.names import list_final, stands_alone
from pkg.resolve.pieces import BODY, NAME, TEXT, Piece
from pkg.resolve.places import list_holders, list_offsets
from pkg.resolve.requests import MARKS

_SILENT, _SHAPES = (COMMENT, NL), (INDENT, NEWLINE)
_SPEAKING = rb"(?<![.\w])(?<!def )(?<!class )(?:%s)(?!\w)(?!\s*[:=][^=])"  # of names, not where they get values
_DOCSTRING = [INDENT, STRING, NEWLINE]


class Version:
    """One version of a file, its pieces described without regard to where they stand."""

    def __init__(self, module: ModuleScopes) -> None:
        self._module = module
        self._scopes: dict[str, list[Scope]] = {}
        for scope in module.scopes:
            if scope.kind in ("module", "class", "function"):
                self._scopes.setdefault(scope.qualname, []).append(scope)

    def list_heads(self) -> dict[str, object]:
        """Give the heads of all definitions by their qualified names: what tells how they are called.

        Special names count as part of a head: Python looks for them though no text speaks of them.
        """
        return {name: [self._describe_head(scope) for scope in scopes] for name, scopes in self._scopes.items()}

    def list_marks(self) -> dict[str, object]:
        """Give the marks by which the tests of the file, and those of its classes, ask pytest for fixtures."""
        marked = [name for name, scopes in self._scopes.items() if any(MARKS in scope.names for scope in scopes)]
        return {name: self.describe((NAME, name, MARKS)) for name in marked}

    def _describe_head(self, scope: Scope) -> object:
        if scope.kind == "function":
            text: object = self._module.text[slice(*scope.head)]
        else:
            text = sorted(name for name in scope.names if name.startswith("__"))
        is_node, is_abstract = scope.definition >= 0, scope.kind == "function" and scope.is_abstract
        return scope.kind, is_node, text, scope.decorators, bool(scope.yields), bool(scope.returns), is_abstract

    def describe(self, piece: Piece) -> object:
        """Describe a piece; equal descriptions mean the same wherever the file is not looked into otherwise."""
        kind, qualname, name = piece
        if kind == TEXT:
            return self._read_around()
        scopes = self._scopes.get(qualname, [])
        if kind == BODY:
            return list(map(read_whole, scopes))
        if kind == NAME:
            return [
                [(stands_alone(scope, each), self._describe_binding(each)) for each in scope.names.get(name, ())]
                for scope in scopes
            ]
        return [self._describe_store(store) for store in self._list_fields(scopes, name)]

    def read_words(self, qualname: str) -> list[list[tuple[int, str]] | None]:
        """Give the words of functions without comments and docstrings; None for what this Python does not know."""
        return [_read_words(scope) for scope in self._scopes.get(qualname, ())]

    def _read_around(self) -> list[bytes]:
        """Give the words of the file without the functions that stand in no other."""
        return b" ".join(list_around(self._module)).split()

    def _describe_binding(self, binding: Binding) -> object:
        if binding.scope is not None:
            return binding.scope.kind, binding.scope.qualname
        if binding.record is not None:
            return binding.record.statement
        return str(binding.code), self._module.text[binding.start : binding.end], binding.path

    def _describe_store(self, store: Store) -> object:
        return store.scope.qualname, self._module.text[store.start : store.end], self._describe_binding(store.binding)

    def _list_fields(self, scopes: list[Scope], name: str) -> Iterator[Store]:
        for store in self._module.stores.get(name, ()):
            if any(store.stands_in(scope.qualname) for scope in scopes):
                yield store


class Versions:
    """A file as it was and as it is now."""

    def __init__(self, before: ModuleScopes, now: ModuleScopes, basis: Basis) -> None:
        self.before, self.now, self._basis = before, now, basis
        self._old, self._new = Version(before), Version(now)

    def has_same_outside(self) -> bool:
        """Tell whether nothing has changed that others were worked out from, but perhaps bases of its classes.

        What the file defines beside, or no longer, is found by name.
        """
        heads = self._new.list_heads()
        if any(heads.get(name) != head for name, head in self._old.list_heads().items() if name in heads):
            return False
        if self._list_last(self.before) != self._list_last(self.now) or self._has_other_names():
            return False
        return all(map(self._is_same, self._basis.taken.pieces)) and self._are_in_place()

    def _has_other_names(self) -> bool:
        """Tell whether code of a class speaks of a name that the class has only before, or only now."""
        old = {scope.qualname: scope.names.keys() for scope in self.before.scopes if scope.kind == "class"}
        for scope in self.now.scopes:
            if scope.kind == "class" and scope.qualname in old:
                names = "|".join(map(re.escape, old[scope.qualname] ^ scope.names.keys())).encode("utf-8", "replace")
                if names and re.search(_SPEAKING % names, _read_class(scope)):
                    return True
        return False

    def _list_last(self, module: ModuleScopes) -> list[tuple[str, list[bool]]]:
        """Tell for names that the module binds before and now which star imports stand behind all that counts."""
        root, names = module.root, self.before.root.names.keys() & self.now.root.names.keys()
        if not root.stars:
            return []
        lasts = [(name, max((each.at for each in list_final(root, name)), default=-1)) for name in sorted(names)]
        return [(name, [each.span.start > last for each in root.stars]) for name, last in lasts]

    def _has_same_inside(self) -> bool:
        """Tell whether nothing has changed that other parts of the file itself were worked out from."""
        tops = chain(self.before.outermost, self.now.outermost)
        if any(top.definition < 0 for top in tops):  # whose links begin at the file
            return False
        return self._old.list_marks() == self._new.list_marks() and all(map(self._is_same, self._basis.taken.own))

    def compare_parts(self) -> Parts:
        """Tell what has changed, function by function."""
        names = {top.qualname for top in chain(self.before.outermost, self.now.outermost)}
        changed = frozenset(name for name in names if self._differ((BODY, name, "")))
        other = frozenset(name for name in changed if not self._is_same((BODY, name, "")))
        return Parts(self.before, self.now, changed, other, self._is_same((TEXT, "", "")), self._has_same_inside())

    def _differ(self, piece: Piece) -> bool:
        return self._old.describe(piece) != self._new.describe(piece)

    def _is_same(self, piece: Piece) -> bool:
        """Tell whether what was worked out from a piece stays: of functions, comments and docstrings say nothing."""
        if not self._differ(piece):
            return True
        kind, name, _ = piece
        if kind != BODY or name in self._holding:
            return False
        words = self._old.read_words(name)
        return None not in words and words == self._new.read_words(name)

    @cached_property
    def _holding(self) -> set[str]:
        """The functions that hold containers which something is made of: these are known by their places in them."""
        return {name for each in self._list_received() for name in list_holders(each.name)}

    def _list_received(self) -> Iterator[Received]:
        return chain.from_iterable(self._basis.taken.received.values())

    def _are_in_place(self) -> bool:
        """Tell whether what others deliver to outside of functions stands where it stood: it is known by its place."""
        before, now = _join_around(self.before), _join_around(self.now)
        if before == now:
            return True
        shorter = min(len(before), len(now))
        same = bisect_left(range(1, shorter + 1), True, key=lambda length: before[:length] != now[:length])
        return all(offset < same for each in self._list_received() for offset in list_offsets(each.name, self.before))


@dataclass(frozen=True, eq=False)
class Parts:
    """The functions of a file that are new or other than before; where it is resolved in parts, these are.

    The code of the module, which every decorator stands in, is resolved again with them.
    """

    before: ModuleScopes = field(repr=False)
    now: ModuleScopes = field(repr=False)
    names: frozenset[str]  # of outermost functions that are new, gone, or have another text than before
    other: frozenset[str]  # those of them in which more has changed than comments
    has_same_text: bool  # around all functions
    has_same_inside: bool  # all that other parts of the file were worked out from

    def covers(self, top: Scope) -> bool:
        """Tell whether the code of an outermost function or of the module is resolved again, or that of one gone."""
        return self.covers_name(top.qualname)

    def covers_name(self, qualname: str) -> bool:
        """Tell the same by the name of a function, which the module has none of."""
        return not qualname or qualname in self.names

    def is_other(self, top: Scope) -> bool:
        """Tell whether a function, or the text around all, is other than before."""
        return top.qualname in self.other if top.parent is not None else not self.has_same_text

    @cached_property
    def kept_text(self) -> bytes:
        """The text around all functions, and of those that are as they were but for comments."""
        kept = (read_whole(top) for top in self.now.outermost if not self.is_other(top))
        return b"\n".join([*list_around(self.now), *kept])

    @cached_property
    def is_local(self) -> bool:
        """Whether classes, imports and what is assigned to from outside are as they were."""
        if not self.has_same_text or self._list_kept(self.before) != self._list_kept(self.now):
            return False
        return not any(map(self._reaches_out, (self.before, self.now)))

    def _list_kept(self, module: ModuleScopes) -> list[str]:
        return [top.qualname for top in module.outermost if not self.covers(top)]

    def _reaches_out(self, module: ModuleScopes) -> bool:
        """Tell whether functions that changed hold a class or an import, or assign to attributes of others."""
        stores = chain.from_iterable(module.fields.get(None, {}).values())
        tops = chain(
            (store.scope.top for store in stores),
            (module.find_top(each.span.start) for each in module.imports),
            (scope.top for scope in module.scopes if scope.kind == "class"),
        )
        return any(top.parent is not None and self.covers(top) for top in tops)

    @cached_property
    def has_same_classes(self) -> bool:
        """Whether the classes of the file are those that they were, and define the names that they defined."""
        return self.is_local and _list_members(self.before) == _list_members(self.now)


def _read_words(scope: Scope) -> list[tuple[int, str]] | None:
    """Give the words of a function without comments and docstrings; nothing for what this Python does not know."""
    text, start = scope.module.text, scope.head[0]
    margin = text[text.rfind(b"\n", 0, start) + 1 : start]
    try:
        found = [(each.type, each.string) for each in tokenize(BytesIO(margin + read_whole(scope)).readline)]
    except (TokenError, SyntaxError):
        return None
    words = [(kind, "" if kind in _SHAPES else word) for kind, word in found if kind not in _SILENT]
    kinds = [kind for kind, _ in words]
    docstrings = {place for place in range(1, len(kinds)) if kinds[place - 1 : place + 2] == _DOCSTRING}
    return [word for place, word in enumerate(words) if docstrings.isdisjoint((place, place - 1))]


def _read_class(scope: Scope) -> bytes:
    """Give the text of a class without the bodies of its functions."""
    text, position, parts = scope.module.text, scope.head[0], []
    for top in scope.module.outermost:
        if scope.head[0] <= top.head[0] < scope.code_end:
            parts.append(text[position : top.head[1]])
            position = top.code_end
    return b" ".join([*parts, text[position : scope.code_end]])


def _list_members(module: ModuleScopes) -> list[tuple[str, list[str]]]:
    return [(scope.qualname, sorted(scope.names)) for scope in module.scopes if scope.kind == "class"]


def list_around(module: ModuleScopes) -> Iterator[bytes]:
    """Give the text of a file without the functions that stand in no other, in pieces."""
    position = 0
    for top in module.outermost:
        yield module.text[position : top.head[0]]
        position = top.code_end
    yield module.text[position:]


def _join_around(module: ModuleScopes) -> bytes:
    return b"".join(list_around(module))


def read_whole(scope: Scope) -> bytes:
    """Give the text of a function from its head to its end."""
    return scope.module.text[scope.head[0] : scope.code_end]
