"""Find the nodes that a git diff touches: functions, classes and constants, and the module code of its files."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from pkg.errors import NodeNotFoundError, QueryError
from pkg.extract.diffs import Diff, FileChange, read_diff
from pkg.extract.discovery import split_revision
from pkg.extract.files import restore_path
from pkg.extract.python import extract_unit
from pkg.model import Class, CodeUnit, Import, Label, Node, Source, Status
from pkg.retrieval.deps.answer import Change, DepsOptions
from pkg.retrieval.deps.names import DEFINITIONS, Target
from pkg.retrieval.deps.paths import list_sources, name_unit

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


UNREADABLE_NOTE = "its change cannot be read, so all of it counts as changed"
SHOWN = 5  # names of one kind in a note
DELETED_NOTE = "no longer in the graph, so its dependents are unknown; use a graph of the revision before"

_NAMED = (*DEFINITIONS, Label.CONSTANT)
Key = tuple[Label, str]  # label and qualified name; module code has the label Module and no name
MODULE_CODE: Key = (Label.MODULE, "")


class Changed(NamedTuple):
    """Nodes that a diff touches, with notes on changes missing from the graph and on the state of the graph."""

    source: Source
    targets: tuple[Target, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def find_changed(store: GraphStore, options: DepsOptions) -> Changed:
    """Compare two states of a source's git repository, and look up the differences.

    Raises QueryError if the source is not in a git work tree or the diff has no Python code, and PathError if git lacks
    a revision.
    """
    source = _choose_source(store, options.source)
    diff = read_diff(_find_folder(source), options.diff, options.staged)
    if not diff.files:
        others = f"; {diff.others:,} other files differ" if diff.others else ""
        raise QueryError(f"no Python file differs between {options.diff or 'HEAD'} and {diff.new}{others}")
    return _Lookup(store, source).find(diff)


def _find_folder(source: Source) -> str:
    """Return the folder of the repository of a source, also if it was built from a revision."""
    root = restore_path(source.root)
    parts = None if source.revision is None else split_revision(root)
    return root if parts is None else parts[0]


def _choose_source(store: GraphStore, name: str | None) -> Source:
    """Return the source that a diff is of: the named one, or the one around the current folder."""
    sources = list_sources(store, name)
    repositories = [each for each in sources if each.kind == "repository"]
    if len(repositories) > 1:
        here = os.path.realpath(os.getcwd())
        inside = [each for each in repositories if _is_inside(here, os.path.realpath(each.root))]
        repositories = inside or repositories
    if len(repositories) == 1:
        return repositories[0]
    known = ", ".join(each.name for each in sources)
    raise QueryError(f"a diff is of one repository, and the graph has: {known}; expected --source with one of them")


def _is_inside(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)


class _Lookup:
    """Lookup of the pieces of one diff in a graph."""

    def __init__(self, store: GraphStore, source: Source) -> None:
        self._store = store
        self._source = source
        self._states: Counter[str] = Counter()
        self._notes: dict[str, list[str]] = defaultdict(list)

    def find(self, diff: Diff) -> Changed:
        """Find the targets of each file of the diff."""
        targets: list[Target] = []
        changes: list[Change] = []
        for file in diff.files:
            for target, change in self._find_file(file):
                changes.append(change)
                targets += [target] if target is not None else []
        return Changed(self._source, tuple(targets), tuple(changes), (*self._list_notes(diff),))

    def _find_file(self, file: FileChange) -> Iterator[tuple[Target | None, Change]]:
        """Yield the changes of a file with their targets; None for those missing from the graph."""
        unit = self._find_unit(file)
        if file.fault is not None:
            self._notes[UNREADABLE_NOTE].append(f"{file.path} ({file.fault})")
            yield (None if unit is None else self._make_whole_target(unit)), Change(file.path, "", "cannot be read")
            return
        found = compare_code(file.old, file.new)
        is_renamed = file.status == "renamed"  # every import of the old name fails
        if found.is_whole:
            self._notes[f"{found.misfit}: its functions cannot be compared, so all of it counts as changed"].append(
                file.path
            )
        if not found.pieces and not found.is_whole and not is_renamed:
            self._notes["differs in comments, docstrings or order alone"].append(file.path)
        if unit is None:
            if found.pieces:
                note = DELETED_NOTE if file.status == "deleted" else "not in the graph"
                self._notes[note].append(f"{file.path} ({file.status})")
            yield from ((None, Change(file.path, each.qualname, each.how)) for each in found.pieces)
            return
        if found.is_whole or is_renamed:
            yield self._make_whole_target(unit), Change(file.path, "", found.misfit if found.is_whole else "renamed")
            return
        named: dict[tuple[Label, str], list[Node]] = defaultdict(list)
        for node in self._store.subtree(unit.id):
            if node.label in _NAMED:
                named[node.label, node.qualname].append(node)
        for piece in found.pieces:
            yield self._find_piece(file, unit, named, piece)

    def _make_whole_target(self, unit: Node) -> Target:
        """Return a file with all its definitions as changed."""
        return Target((unit,), tuple(node for node in self._store.subtree(unit.id) if node.label in DEFINITIONS))

    def _find_piece(
        self, file: FileChange, unit: Node, named: dict[tuple[Label, str], list[Node]], piece: Piece
    ) -> tuple[Target | None, Change]:
        change = Change(file.path, piece.qualname, piece.how)
        key = piece.label, piece.qualname
        if key == MODULE_CODE:
            return Target((unit,), ()), change
        if key not in named:
            note = DELETED_NOTE if piece.how == "deleted" else "not in the graph"
            self._notes[note].append(f"{piece.qualname} ({piece.how})")
            return None, change
        return Target(tuple(named[key]), ()), change

    def _find_unit(self, file: FileChange) -> Node | None:
        """Return the file in the graph, under its new or its old path, and record which state it has."""
        for path in (file.new_path, file.old_path):
            if path is None:
                continue
            with suppress(NodeNotFoundError):
                (node,) = self._store.get([name_unit(self._source.name, path)])
                if file.fault is not None:
                    return node
                stored = dict(self._store.texts(self._source.name, [path])).get(path)
                sides = [side for side, other in (("new", file.new), ("old", file.old)) if stored == other]
                self._states[sides[0] if sides else "neither"] += 1
                if not sides:
                    self._notes["differs in the graph from both sides of the diff"].append(path)
                return node
        return None

    def _list_notes(self, diff: Diff) -> Iterator[str]:
        # A build reads the files: it does not bring a graph to the staged state or a revision.
        advice = "; run: pkg build" if diff.is_of_files and self._source.revision is None else ""
        if self._states["neither"]:
            yield f"the graph is of another state than the diff, see below; lines and links may be off{advice}"
        elif self._states["old"] and self._states["new"]:
            yield f"of some files the graph has the state before the diff, of others that after it{advice}"
        elif self._states["old"]:
            yield "the graph is of the state before the diff: what was added is not in it"
        for what, names in self._notes.items():
            more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
            yield f"{what}: {', '.join(names[:SHOWN])}{more}"
        if diff.others:
            yield f"{diff.others:,} of the files that differ are not Python; their dependents are unknown"


class Piece(NamedTuple):
    """One piece of code that differs, and how: changed, added, deleted, or uses a changed import."""

    label: Label
    qualname: str
    how: str


class CodeDifference(NamedTuple):
    """The pieces that differ, by name; if a text cannot be parsed, the whole file does."""

    pieces: tuple[Piece, ...]
    misfit: str = ""  # the side that does not parse, so that pieces cannot be compared

    @property
    def is_whole(self) -> bool:
        """Return whether the whole file counts as changed."""
        return bool(self.misfit)


@dataclass(slots=True)
class _Code:
    """The code of one text, each piece without its inner pieces."""

    texts: dict[Key, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # bound name -> statements
    is_sound: bool = True


def compare_code(old: bytes | None, new: bytes | None) -> CodeDifference:
    """Compare two texts of a file, None if there is none, by their functions, classes, constants and module code.

    Changes of comments, docstrings and blank lines, and moves, are not differences.
    """
    before, after = _read_code(old), _read_code(new)
    pieces = dict(_list_changed(before, after))
    for key in _list_users(_compare_imports(before, after), before, after):
        pieces.setdefault(key, "uses a changed import")
    found = (Piece(*key, how) for key, how in sorted(pieces.items(), key=lambda each: (each[0][1], each[0][0].value)))
    misfit = "does not parse" if not after.is_sound else "did not parse" if not before.is_sound else ""
    return CodeDifference(tuple(found), misfit)


def _list_changed(before: _Code, after: _Code) -> Iterator[tuple[Key, str]]:
    """Yield the pieces whose texts differ, and how."""
    for key in before.texts.keys() | after.texts.keys():
        if before.texts.get(key) != after.texts.get(key):
            is_changed = key in before.texts and key in after.texts
            yield key, "changed" if is_changed else "added" if key in after.texts else "deleted"


def _compare_imports(before: _Code, after: _Code) -> set[str]:
    """Return the names whose import by module code differs or is gone."""
    names = before.imports.keys() | after.imports.keys()
    return {name for name in names if before.imports.get(name) != after.imports.get(name)}


def _list_users(names: set[str], before: _Code, after: _Code) -> Iterator[Key]:
    """Yield the pieces whose text has one of some names; a star import may provide any of them."""
    if "*" in names:
        yield MODULE_CODE
    wanted = sorted(names - {"*"})
    if not wanted:
        return
    word = re.compile(rb"(?<![\w.])(?:%s)(?!\w)" % b"|".join(re.escape(name.encode()) for name in wanted))
    for key, texts in chain(before.texts.items(), after.texts.items()):
        if any(word.search(text) for text in texts):
            yield key


def _read_code(text: bytes | None) -> _Code:
    code = _Code()
    if text is None:
        return code
    unit = extract_unit(text, with_summary=False)
    code.is_sound = unit.status is Status.OK
    holes = _list_holes(unit)
    for number, definition in enumerate(unit.definitions):
        label = Label.CLASS if isinstance(definition, Class) else Label.FUNCTION
        span = definition.span.start, definition.span.end
        code.texts[label, definition.qualname].append(_cut(text, span, holes[number]))
    for constant in unit.constants:
        span = constant.span.start, constant.span.end
        code.texts[Label.CONSTANT, constant.qualname].append(_cut(text, span, unit.comments))
    left = _cut(text, (0, len(text)), holes[None])
    if left:
        code.texts[MODULE_CODE].append(left)
    for each in _list_imports(unit):
        code.imports[each.bound_name].add(each.statement)
    return code


def _list_imports(unit: CodeUnit) -> Iterator[Import]:
    """List the imports of module code; those inside definitions are part of these."""
    inner = [each.span for each in unit.definitions if each.parent is None]
    for each in unit.imports:
        if not any(span.start <= each.span.start < span.end for span in inner):
            yield each


def _list_holes(unit: CodeUnit) -> dict[int | None, list[tuple[int, int]]]:
    """Return the spans, by definition, None for the module, that are not part of its own code."""
    holes: dict[int | None, list[tuple[int, int]]] = defaultdict(list)
    for each in chain(unit.definitions, unit.constants):
        holes[each.parent].append((each.span.start, each.span.end))
    for number, definition in enumerate(unit.definitions):
        docstring = definition.docstring
        holes[number] += [(docstring.start, docstring.end)] if docstring else []
        holes[number] += unit.comments
    holes[None] += [(each.span.start, each.span.end) for each in _list_imports(unit)]
    holes[None] += unit.comments
    if unit.module is not None and unit.module.docstring is not None:
        holes[None].append((unit.module.docstring.start, unit.module.docstring.end))
    return holes


def _cut(text: bytes, span: tuple[int, int], holes: Iterable[tuple[int, int]]) -> bytes:
    """Return the text of a span without holes, blank lines and trailing white space."""
    parts, place = [], span[0]
    for start, end in sorted(each for each in holes if span[0] <= each[0] and each[1] <= span[1]):
        if start >= place:
            parts.append(text[place:start])
            place = end
    lines = b"".join([*parts, text[place : span[1]]]).splitlines()
    return b"\n".join(line.rstrip() for line in lines if line.strip(b" \t\f\r\n;"))
