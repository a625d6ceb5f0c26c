"""Assemble the versions of the code that an answer shows from its pieces, most likely first (P-21, U-15).

An answer may correct a draft, complete a skeleton, or show a function and then a helper. Its last version counts,
unless that has stubs, is incomplete, or uses undefined names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pkg.extract.syntax import parse_code
from pkg.rerank.examples.literals import write_code
from pkg.rerank.parsed_question import Definition, Question
from pkg.rerank.partial_corrections import PatchedCode, drop_stubs, list_patched
from pkg.rerank.pieces import Piece, count_stubs, find_binding, list_definitions, remove_statements
from pkg.rerank.undefined_names import find_undefined

MAX_VERSIONS = 6  # of one answer: each may be run, and no recorded answer of a model shows more

MAX_ROUNDS = 4  # of adding pieces that define undefined names; each parses all of them


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the code of an answer."""

    code: str
    is_cut: bool
    rank: tuple[int, ...]  # lower is more likely


def list_piece_versions(pieces: Sequence[Piece], question: Question, query_names: set[str]) -> list[Version]:
    """List the versions assembled from pieces, most likely first; query_names: names that the query defines."""
    return _Assembly(tuple(drop_stubs(pieces)), question, query_names).list_versions()


def split_redefinitions(code: str, tree: ast.Module, question: Question) -> list[str]:
    """Return the code, and if it defines the entry point several times, the code with each of these definitions alone.

    Stubs and repetitions of the query are ordered last.
    """
    same = [each for each in tree.body if isinstance(each, Definition) and each.name == question.entry]
    if len(same) < 2 or any(each.decorator_list for each in same):
        return [code]
    order = sorted(same, key=lambda each: (bool(count_stubs(each)), is_quoted(each, question), -each.lineno))
    alone = [remove_statements(code, [other for other in same if other is not each]) for each in order[:MAX_VERSIONS]]
    return [code, *alone[1:]] if order[0] is same[-1] else alone


def is_quoted(node: ast.stmt, question: Question) -> bool:
    """Return whether the query contains this statement."""
    text = write_code(node)
    return text is not None and _squeeze(text) in _squeeze(question.text)


def _squeeze(text: str) -> str:
    return "".join(text.split()).replace('"', "'")


@dataclass(frozen=True, slots=True)
class _Assembly:
    """Assembles versions from pieces, which it refers to by index."""

    pieces: tuple[Piece, ...]
    question: Question
    query_names: set[str]

    def list_versions(self) -> list[Version]:
        """Return a version for each piece that defines the entry point, with the pieces that it depends on."""
        found: list[Version] = []
        used: set[int] = set()
        for main in reversed(self._list_mains()[-MAX_VERSIONS:]):
            if main in used and not self.question.entry:
                continue
            for indices in self._list_unions(main):
                found.append(self._make_version(self._join(indices), main, indices))
                used |= {each for each in indices if not self._list_names(each) & self._list_names(main)}
            patch = list_patched(self.pieces, main, self.question.entry) if self.question.entry else ()
            found += [self._make_version(each.code, main, [main], each) for each in patch]
        return sorted(found, key=lambda each: each.rank)[:MAX_VERSIONS]

    def _list_mains(self) -> list[int]:
        return [index for index, each in enumerate(self.pieces) if each.tree is not None and self._is_main(each.tree)]

    def _is_main(self, tree: ast.Module) -> bool:
        """Return whether a piece defines the entry point, or anything if that is unknown."""
        if self.question.entry:
            return find_binding(tree, self.question.entry) is not None
        return bool(list_definitions(tree))

    def _list_names(self, index: int) -> set[str]:
        tree = self.pieces[index].tree
        return {each.name for each in list_definitions(tree)} if tree is not None else set()

    def _list_unions(self, main: int) -> Iterator[list[int]]:
        """Yield the pieces of a version: with later corrections of its helpers, and without."""
        needed = self._complete([main], main)
        later = self._list_corrections(needed, main)
        if later:
            yield self._complete(sorted({*needed, *later}), main)
        yield needed

    def _complete(self, indices: list[int], main: int) -> list[int]:
        """Add the pieces that define undefined names, for each name the last one."""
        names = self._list_names(main)
        rivals = {each for each in self._list_mains() if each > main and self._list_names(each) & names}
        for _ in range(MAX_ROUNDS):
            lacking = self._list_undefined(self._join(indices))
            others = [each for each in range(len(self.pieces)) if each not in rivals and each not in indices]
            providers = {name: each for each in others for name in _list_bound(self.pieces[each]) & lacking}
            if not providers:
                break
            indices = sorted({*indices, *providers.values()})
        return indices

    def _list_corrections(self, indices: list[int], main: int) -> list[int]:
        """List the later pieces that redefine a helper of a version, but not the entry point."""
        helpers = {name for each in indices for name in self._list_names(each)} - {self.question.entry}
        others = {*indices, *(self._list_mains() if self.question.entry else ())}
        later = range(main + 1, len(self.pieces))
        return [each for each in later if each not in others and self._list_names(each) & helpers]

    def _list_undefined(self, code: str) -> set[str]:
        tree = parse_code(code)
        return {name for name, _ in find_undefined(code, tree)} - self.query_names if tree is not None else set()

    def _join(self, indices: Sequence[int]) -> str:
        return "\n\n".join(self.pieces[each].code.strip("\n") for each in indices)

    def _make_version(self, code: str, main: int, indices: Sequence[int], patch: PatchedCode | None = None) -> Version:
        tree = parse_code(code)
        has_undefined = tree is None or bool(self._list_undefined(code))
        stubs, is_quoted_from_query = self._judge(tree)
        piece = self.pieces[main]
        faults = (is_quoted_from_query, patch is not None and not patch.is_certain, stubs, piece.is_cut, has_undefined)
        is_cut = any(self.pieces[each].is_cut for each in indices) or _breaks_off(self.pieces[-1])
        return Version(code, is_cut, (*faults, piece.priority, -main, patch is None, -len(indices)))

    def _judge(self, tree: ast.Module | None) -> tuple[int, bool]:
        """Count the stubs, and return whether the query contains the required definitions."""
        if tree is None:
            return 0, False
        entry = self.question.entry
        required = [find_binding(tree, entry)] if entry else list_definitions(tree)
        nodes: list[ast.stmt] = [each for each in required if each is not None]
        is_quoted_from_query = bool(nodes) and all(is_quoted(each, self.question) for each in nodes)
        return sum(map(count_stubs, nodes)), is_quoted_from_query


def _breaks_off(piece: Piece) -> bool:
    """Return whether the last piece of an answer is incomplete because the answer was truncated."""
    return piece.is_open and (piece.is_cut or piece.tree is None)


def _list_bound(piece: Piece) -> set[str]:
    """Return the names that a piece binds at its top level."""
    names: set[str] = set()
    for each in piece.tree.body if piece.tree is not None else ():
        if isinstance(each, Definition):
            names.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in each.names}
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = [node for node in ast.walk(each) if isinstance(node, ast.Name)]
            names |= {node.id for node in targets if not isinstance(node.ctx, ast.Load)}
    return names
