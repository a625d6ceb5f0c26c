"""Assemble the versions of the code that an answer shows from its pieces, most likely first (P-21, U-15).

An answer may correct a draft, complete a skeleton, or show a function and then a helper. Its last version counts,
unless that has stubs, is incomplete, or uses undefined names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

from pkg.extract.syntax import find_syntax_error, parse_code
from pkg.rerank.examples.literals import write_code
from pkg.rerank.parsed_question import Definition, Question
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


class PatchedCode(NamedTuple):
    """Code assembled from a complete definition and a correction of a part of it."""

    code: str
    is_certain: bool = True  # the correction is not just a quoted line


def drop_stubs(pieces: Sequence[Piece]) -> list[Piece]:
    """Remove from each piece the stubs of definitions that another piece implements."""
    written = {each.name for piece in pieces for each in _list_definitions(piece) if not _is_unwritten(each)}
    return [_drop_stubs(piece, written) for piece in pieces]


def _drop_stubs(piece: Piece, written: set[str]) -> Piece:
    stubs = [each for each in _list_definitions(piece) if _is_unwritten(each) and each.name in written]
    if not stubs:
        return piece
    code = remove_statements(piece.code, stubs)
    return replace(piece, code=code, tree=parse_code(code))


def _list_definitions(piece: Piece) -> list[Definition]:
    return [each for each in piece.tree.body if isinstance(each, Definition)] if piece.tree is not None else []


def _is_unwritten(definition: Definition) -> bool:
    functions = sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in ast.walk(definition))
    return count_stubs(definition) == max(1, functions)


def list_patched(pieces: Sequence[Piece], main: int, entry: str) -> Iterator[PatchedCode]:
    """Yield the code of the piece that defines the entry point, patched with partial corrections of other pieces."""
    tree = pieces[main].tree
    found = find_binding(tree, entry) if tree is not None else None
    if isinstance(found, ast.ClassDef):
        yield from _add_methods(pieces, main, found)
        yield from _derive(pieces, main, found)
    elif isinstance(found, ast.FunctionDef):
        yield from _replace_body(pieces, main, found)


def _add_methods(pieces: Sequence[Piece], main: int, found: ast.ClassDef) -> Iterator[PatchedCode]:
    """Yield the class with the methods that later pieces define outside it."""
    patches = [each for each in pieces[main + 1 :] if _list_methods(each)]
    lines = [f"{found.name}.{name} = {name}" for each in patches for name in _list_methods(each)]
    if patches:
        yield PatchedCode("\n".join((pieces[main].code, *(f"\n{each.code}\n" for each in patches), *lines)))


def _list_methods(piece: Piece) -> list[str]:
    functions = [each for each in _list_definitions(piece) if isinstance(each, ast.FunctionDef)]
    return [each.name for each in functions if each.args.args[:1] and each.args.args[0].arg == "self"]


def _derive(pieces: Sequence[Piece], main: int, found: ast.ClassDef) -> Iterator[PatchedCode]:
    """Yield a class derived from an earlier one of the same name that has its methods and more."""
    for earlier in reversed(pieces[:main]):
        whole = find_binding(earlier.tree, found.name) if earlier.tree is not None else None
        if isinstance(whole, ast.ClassDef) and not found.bases and _list_implemented(found) < _list_implemented(whole):
            yield PatchedCode(f"{earlier.code}\n\n{_write_derived(pieces[main].tree, found)}")
            return


def _list_implemented(definition: ast.ClassDef) -> set[str]:
    """Return the names of the methods of a class that are not stubs."""
    methods = [each for each in definition.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {each.name for each in methods if not count_stubs(each)}


def _write_derived(tree: ast.Module | None, definition: ast.ClassDef) -> str:
    derived = copy(definition)
    derived.body = [each for each in definition.body if not isinstance(each, ast.FunctionDef) or not count_stubs(each)]
    derived.bases = [ast.Name(definition.name, ast.Load())]
    return "\n\n".join(ast.unparse(derived if each is definition else each) for each in tree.body) if tree else ""


def _replace_body(pieces: Sequence[Piece], main: int, found: ast.FunctionDef) -> Iterator[PatchedCode]:
    """Yield the function with the body that a later piece shows alone, which may just be a quoted line."""
    for piece in reversed(pieces[main + 1 :]):
        fault = find_syntax_error(piece.text)
        if piece.tree is None and fault is not None and "outside function" in fault[0]:
            lines = pieces[main].code.split("\n")
            head = lines[: found.body[0].lineno - 1]
            tail = lines[found.end_lineno or len(lines) :]
            indent = " " * found.body[0].col_offset
            yield PatchedCode(
                "\n".join((*head, *(indent + line for line in piece.text.split("\n")), *tail)), is_certain=False
            )
            return
