"""Put the pieces of an answer together to the versions that it shows, the one that it means first (P-21, U-15).

An answer may show a draft and then correct it, a skeleton and then fill it in, or the function and then a helper. What
it ends with is what it means, unless that is hollow, broken off, or needs what nothing gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pkg.extract.syntax import parse_code
from pkg.rerank.examples.literals import write_code
from pkg.rerank.partial_corrections import Extended, drop_hollow, list_extended
from pkg.rerank.pieces import Piece, count_hollow, find_binding, leave_lines, list_definitions
from pkg.rerank.undefined_names import find_undefined
from pkg.rerank.wanted import Definition, Question

MOST_VERSIONS = 6  # of one answer that are kept: each may be run, and no answer of a model that was seen shows more

MOST_ROUNDS = 4  # of looking for what the pieces that were found lack in turn; each parses all of them


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the code that an answer shows, complete as far as its pieces make it so."""

    code: str
    is_cut: bool
    rank: tuple[int, ...]  # smaller for what is rather meant


def list_piece_versions(pieces: Sequence[Piece], question: Question, brought: set[str]) -> list[Version]:
    """List the versions that pieces make, the one that is meant first; brought: names that the query gives."""
    return _Assembly(tuple(drop_hollow(pieces)), question, brought).list_versions()


def split_redefinitions(code: str, tree: ast.Module, question: Question) -> list[str]:
    """Give the code, and where it defines what is wanted several times the code with each of these alone.

    Python takes the last one, whatever the answer means by it: one that is hollow or repeats the query comes last.
    """
    same = [each for each in tree.body if isinstance(each, Definition) and each.name == question.entry]
    if len(same) < 2 or any(each.decorator_list for each in same):
        return [code]
    order = sorted(same, key=lambda each: (bool(count_hollow(each)), is_quoted(each, question), -each.lineno))
    alone = [leave_lines(code, [other for other in same if other is not each]) for each in order[:MOST_VERSIONS]]
    return [code, *alone[1:]] if order[0] is same[-1] else alone


def is_quoted(node: ast.stmt, question: Question) -> bool:
    """Tell whether the query itself holds this statement."""
    text = write_code(node)
    return text is not None and _squeeze(text) in _squeeze(question.text)


def _squeeze(text: str) -> str:
    return "".join(text.split()).replace('"', "'")


@dataclass(frozen=True, slots=True)
class _Assembly:
    """Pieces on the way to versions."""

    pieces: tuple[Piece, ...]
    question: Question
    brought: set[str]

    def list_versions(self) -> list[Version]:
        """Make a version of each piece that defines what is wanted, with the pieces that it stands on."""
        found: list[Version] = []
        used: set[int] = set()
        for main in reversed(self._list_mains()[-MOST_VERSIONS:]):
            if main in used and not self.question.entry:
                continue
            for places in self._list_unions(main):
                found.append(self._make_version(self._join(places), main, places))
                used |= {each for each in places if not self._list_names(each) & self._list_names(main)}
            extended = list_extended(self.pieces, main, self.question.entry) if self.question.entry else ()
            found += [self._make_version(each.code, main, [main], each) for each in extended]
        return sorted(found, key=lambda each: each.rank)[:MOST_VERSIONS]

    def _list_mains(self) -> list[int]:
        return [place for place, each in enumerate(self.pieces) if each.tree is not None and self._is_main(each.tree)]

    def _is_main(self, tree: ast.Module) -> bool:
        """Tell whether a piece defines what is wanted, or anything where that is not known."""
        if self.question.entry:
            return find_binding(tree, self.question.entry) is not None
        return bool(list_definitions(tree))

    def _list_names(self, place: int) -> set[str]:
        tree = self.pieces[place].tree
        return {each.name for each in list_definitions(tree)} if tree is not None else set()

    def _list_unions(self, main: int) -> Iterator[list[int]]:
        """Give the places of what a version is made of: with the helpers that are corrected later, and without."""
        needed = self._complete([main], main)
        later = self._list_corrections(needed, main)
        if later:
            yield self._complete(sorted({*needed, *later}), main)
        yield needed

    def _complete(self, places: list[int], main: int) -> list[int]:
        """Add the pieces that give the names which are lacking, the last one that gives a name."""
        names = self._list_names(main)
        rivals = {each for each in self._list_mains() if each > main and self._list_names(each) & names}
        for _ in range(MOST_ROUNDS):
            lacking = self._list_lacking(self._join(places))
            others = [each for each in range(len(self.pieces)) if each not in rivals and each not in places]
            givers = {name: each for each in others for name in _list_bound(self.pieces[each]) & lacking}
            if not givers:
                break
            places = sorted({*places, *givers.values()})
        return places

    def _list_corrections(self, places: list[int], main: int) -> list[int]:
        """List the later pieces that define a helper of a version again, and not what is wanted."""
        helpers = {name for each in places for name in self._list_names(each)} - {self.question.entry}
        others = {*places, *(self._list_mains() if self.question.entry else ())}
        later = range(main + 1, len(self.pieces))
        return [each for each in later if each not in others and self._list_names(each) & helpers]

    def _list_lacking(self, code: str) -> set[str]:
        tree = parse_code(code)
        return {name for name, _ in find_undefined(code, tree)} - self.brought if tree is not None else set()

    def _join(self, places: Sequence[int]) -> str:
        return "\n\n".join(self.pieces[each].code.strip("\n") for each in places)

    def _make_version(self, code: str, main: int, places: Sequence[int], extended: Extended | None = None) -> Version:
        tree = parse_code(code)
        lacks = tree is None or bool(self._list_lacking(code))
        hollow, is_told = self._judge(tree)
        piece = self.pieces[main]
        doubts = (is_told, extended is not None and not extended.is_sure, hollow, piece.is_cut, lacks)
        is_cut = any(self.pieces[each].is_cut for each in places) or _breaks_off(self.pieces[-1])
        return Version(code, is_cut, (*doubts, piece.sureness, -main, extended is None, -len(places)))

    def _judge(self, tree: ast.Module | None) -> tuple[int, bool]:
        """Count what is hollow, and tell whether the query itself holds what is wanted."""
        if tree is None:
            return 0, False
        entry = self.question.entry
        wanted = [find_binding(tree, entry)] if entry else list_definitions(tree)
        nodes: list[ast.stmt] = [each for each in wanted if each is not None]
        is_told = bool(nodes) and all(is_quoted(each, self.question) for each in nodes)
        return sum(map(count_hollow, nodes)), is_told


def _breaks_off(piece: Piece) -> bool:
    """Tell whether the last piece of an answer is broken because the answer ends there."""
    return piece.is_open and (piece.is_cut or piece.tree is None)


def _list_bound(piece: Piece) -> set[str]:
    """List the names that a piece binds at its top level."""
    names: set[str] = set()
    for each in piece.tree.body if piece.tree is not None else ():
        if isinstance(each, Definition):
            names.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in each.names}
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            names |= {node.id for node in ast.walk(each) if isinstance(node, ast.Name) and not _is_read(node)}
    return names


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
