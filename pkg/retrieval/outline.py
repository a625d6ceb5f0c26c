"""Outline a repository, a folder or a file: its files, classes and functions, the most important within a budget.

The weight of a file is its import centrality; a definition has a share of that, by its number of callers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from posixpath import commonpath, dirname, join
from typing import TYPE_CHECKING

from pkg.model import Edge, Label, Node, RelationType, is_bound
from pkg.retrieval.deps.neighbours import join_imports
from pkg.retrieval.deps.paths import name_unit
from pkg.retrieval.freshness import StaleMarks, find_stale
from pkg.retrieval.heads import find_header, find_text, summarise
from pkg.retrieval.outline_answer import (
    CodeOutline,
    DefinitionOutline,
    FileOutline,
    FolderOutline,
    format_definition,
    format_file,
    format_folder,
)
from pkg.retrieval.outline_scope import Scope, find_scope
from pkg.retrieval.query_options import OUTLINE_BUDGET, check_minimum
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


DEFINITION_PART = 0.5  # of the weight of a file, for its definition with the most callers
PRIVATE_PART = 0.1  # of the weight of a public definition
MIN_TOKENS = 8  # of a line: with fewer tokens left, none will fit
FOLDER_PART = 4  # at most a quarter of the budget for folders
SHOWN_TARGETS = 3  # folders that a folder imports from

_DEFINITIONS = (Label.CLASS, Label.FUNCTION)
DAMPING = 0.85  # as in the paper
ROUNDS = 40  # the error falls by the damping in each: a thousandth remains


def run_outline(
    store: GraphStore, path: str | None = None, source: str | None = None, budget: int = OUTLINE_BUDGET
) -> CodeOutline:
    """Outline a file, a folder or, without a path, a whole source, from one generation of the graph.

    budget: tokens; 0 for no limit. Raises QueryError for a path that is missing or ambiguous, and without a path if
    there are several sources.
    """
    check_minimum("budget", budget, 0)
    with store.snapshot():
        scope = find_scope(store, path, source)
        outline = outline_text(store, scope, budget) if scope.is_text else _outline_code(store, scope, budget)
        return mark_outline(store, outline)


def mark_outline(store: GraphStore, outline: CodeOutline) -> CodeOutline:
    """Mark the files of an outline that have changed since the build."""
    stale = find_stale(store, ((outline.source, each.path) for each in outline.files))
    marks = StaleMarks(stale)
    files = tuple(replace(each, is_stale=marks.holds(outline.source, each.path)) for each in outline.files)
    return replace(outline, files=files, stale=stale)


def _outline_code(store: GraphStore, scope: Scope, budget: int) -> CodeOutline:
    outliner = _Outliner(scope, _read_code(store, scope), budget)
    outliner.choose()
    return outliner.finish()


@dataclass(slots=True)
class _Code:
    """Data for the outlines of a source."""

    imports: ImportGraph
    definitions: dict[str, list[Node]]  # by path, in text order
    callers: dict[str, set[str]]  # by id of their callee
    summaries: dict[str, str]  # by path
    classes: dict[str, Node]  # by id of a definition: the innermost class around it


def _read_code(store: GraphStore, scope: Scope) -> _Code:
    """Read the definitions of a source, and the imports and calls between them."""
    nodes = list(store.nodes((*_DEFINITIONS, Label.MODULE), scope.source))
    edges = list(store.edges((RelationType.IMPORTS, RelationType.RESOLVES_TO, RelationType.CALLS), scope.source))
    paths = {node.id: node.path for node in nodes} | {name_unit(scope.source, path): path for path in scope.all_files}
    steps = join_imports(edge for edge in edges if edge.type is not RelationType.CALLS)
    pairs = {(paths[step.start], paths[step.end]) for step in steps if step.start in paths and step.end in paths}
    definitions = _sort_definitions(nodes)
    classes = {inner: outer for found in definitions.values() for inner, outer in _find_classes(found)}
    imports = ImportGraph(scope.all_files, pairs)
    return _Code(imports, definitions, _list_callers(edges), _summarise(nodes), classes)


def _find_classes(definitions: Iterable[Node]) -> Iterator[tuple[str, Node]]:
    """Yield each sorted definition of a file that is inside a class, with the innermost class."""
    around: list[Node] = []
    for node in definitions:
        while around and around[-1].end < node.end:
            around.pop()
        if around:
            yield node.id, around[-1]
        around.append(node)


def _list_callers(edges: Iterable[Edge]) -> dict[str, set[str]]:
    callers: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.type is RelationType.CALLS and is_bound(edge.confidence) and edge.start != edge.end:
            callers[edge.end].add(edge.start)
    return callers


def _summarise(nodes: Iterable[Node]) -> dict[str, str]:
    """Return the first sentence of the docstring of each file that has one."""
    docstrings = ((node.path, find_text(node, "docstring")) for node in nodes if node.label is Label.MODULE)
    return {path: summarise(docstring) for path, docstring in docstrings if docstring}


def _sort_definitions(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    """Sort the definitions of each file, without those inside functions."""
    by_path: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.label is not Label.MODULE:
            by_path[node.path].append(node)
    return {path: _drop_local(found) for path, found in by_path.items()}


def _drop_local(nodes: Iterable[Node]) -> list[Node]:
    """Sort the definitions of a file, without those inside functions."""
    end, kept = 0, []
    for node in sorted(nodes, key=lambda node: (node.start, -node.end, node.id)):
        if node.start >= end:
            kept.append(node)
            end = node.end if node.label is Label.FUNCTION else end
    return kept


@dataclass(slots=True)
class _Outliner:
    """Selection of outline parts by weight within a budget."""

    scope: Scope
    code: _Code
    budget: int
    tokens: int = 0
    _folders: list[FolderOutline] = field(default_factory=list)
    _files: dict[str, FileOutline] = field(default_factory=dict)  # shown files, by path
    _chosen: dict[str, DefinitionOutline] = field(default_factory=dict)  # shown definitions, by id

    def choose(self) -> None:
        """Add folders, for a part of the budget, then files and definitions while they fit."""
        for folder in self._list_folders():
            if self.budget and self.tokens + count_tokens(format_folder(folder)) > self.budget // FOLDER_PART:
                break
            self._folders.append(folder)
            self.tokens += count_tokens(format_folder(folder))
        for _, path, node in self._weigh_all():
            if self.budget and self.budget - self.tokens < MIN_TOKENS:
                break
            self._add(path, node)

    def finish(self) -> CodeOutline:
        """Return the outline of the chosen parts, files by decreasing centrality."""
        order = sorted(self._files, key=lambda path: (-self.code.imports.centrality[path], path))
        files = tuple(replace(self._files[path], definitions=self._list_chosen(path)) for path in order)
        total = sum(len(self.code.definitions.get(path, ())) for path in self.scope.files)
        return CodeOutline(
            source=self.scope.source,
            path=self.scope.path,
            folders=tuple(self._folders),
            files=files,
            total_files=len(self.scope.files),
            total_definitions=total,
            tokens=self.tokens,
            budget=self.budget,
        )

    def _list_chosen(self, path: str) -> tuple[DefinitionOutline, ...]:
        nodes = self.code.definitions.get(path, ())
        return tuple(self._chosen[node.id] for node in nodes if node.id in self._chosen)

    def _weigh_all(self) -> list[tuple[float, str, Node | None]]:
        """List files (with None) and definitions by decreasing weight, no definition before its file."""
        weighed: list[tuple[float, str, Node | None]] = []
        for path in self.scope.files:
            centrality = self.code.imports.centrality[path]
            weighed.append((centrality, path, None))
            weights = [(self._weigh(node), node) for node in self.code.definitions.get(path, ())]
            best = max((weight for weight, _ in weights), default=0)
            weighed += [(DEFINITION_PART * centrality * weight / best, path, node) for weight, node in weights]
        return sorted(weighed, key=lambda each: (-each[0], each[1], -1 if each[2] is None else each[2].start))

    def _weigh(self, node: Node) -> float:
        is_private = any(name.startswith("_") for name in node.qualname.split("."))
        return (1 + len(self.code.callers.get(node.id, ()))) * (PRIVATE_PART if is_private else 1)

    def _add(self, path: str, node: Node | None) -> None:
        """Add a file or a definition with its file and classes, if all of them fit."""
        file = self._files.get(path) or self._outline_file(path)
        around = [] if node is None else [each for each in self._list_around(node) if each.id not in self._chosen]
        definitions = [self._outline_definition(each) for each in around]
        lines = [format_definition(each) for each in definitions] + ([] if path in self._files else [format_file(file)])
        cost = sum(map(count_tokens, lines))
        if self.budget and self.tokens + cost > self.budget:
            return
        self.tokens += cost
        self._files[path] = file
        self._chosen.update((each.id, each) for each in definitions)

    def _list_around(self, node: Node) -> list[Node]:
        """List a definition and the classes around it, the outermost first."""
        found = [node]
        while outer := self.code.classes.get(found[-1].id):
            found.append(outer)
        return found[::-1]

    def _outline_file(self, path: str) -> FileOutline:
        imports = self.code.imports
        return FileOutline(
            path=path,
            centrality=imports.centrality[path],
            importers=imports.count_importers(path),
            imports=len(imports.targets(path)),
            total=len(self.code.definitions.get(path, ())),
            summary=self.code.summaries.get(path),
        )

    def _outline_definition(self, node: Node) -> DefinitionOutline:
        signature = _join_lines(find_header(node.content, node.start_col) or node.name)
        docstring = find_text(node, "docstring") if self.scope.is_file else None
        return DefinitionOutline(
            id=node.id,
            label=node.label.value,
            qualname=node.qualname,
            start_line=node.start_line,
            end_line=node.end_line,
            signature=signature,
            summary=summarise(docstring) if docstring else None,
            callers=len(self.code.callers.get(node.id, ())),
        )

    def _list_folders(self) -> list[FolderOutline]:
        """List the folders of the scope's files, the most central first; none if there is only one."""
        names = _name_folders(self.scope.files)
        files = Counter(names.values())
        if len(files) < 2:
            return []
        ranks: dict[str, float] = defaultdict(float)
        targets: dict[str, Counter[str]] = defaultdict(Counter)
        for path, name in sorted(names.items()):
            ranks[name] += self.code.imports.centrality[path]
            ends = (names.get(end, name) for end in self.code.imports.targets(path))
            targets[name].update(end for end in ends if end != name)
        first = {name: tuple(end for end, _ in targets[name].most_common(SHOWN_TARGETS)) for name in files}
        found = [FolderOutline(name, files[name], ranks[name], first[name]) for name in files]
        return sorted(found, key=lambda folder: (-folder.centrality, folder.path))


def _join_lines(header: str) -> str:
    """Join the lines of a header."""
    return re.sub(r",? \)", ")", " ".join(header.split()).replace("( ", "("))


def _name_folders(paths: Sequence[str]) -> dict[str, str]:
    """Return for each file the folder directly below the common one, or the common one itself."""
    common = commonpath([dirname(path) for path in paths]) if paths else ""
    names = {}
    for path in paths:
        first, separator, _ = path.removeprefix(f"{common}/").partition("/")
        names[path] = join(common, first) if separator else common or "."
    return names


class ImportGraph:
    """Files of a source and their imports, each pair once."""

    def __init__(self, paths: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
        """Build the graph from paths, and pairs of a file and one that it imports; self-imports are ignored."""
        self._targets: dict[str, set[str]] = {path: set() for path in paths}
        self._starts: dict[str, set[str]] = {path: set() for path in paths}
        for start, end in pairs:
            if start != end and start in self._targets and end in self._targets:
                self._targets[start].add(end)
                self._starts[end].add(start)
        self.centrality = self._rank()

    def targets(self, path: str) -> Sequence[str]:
        """List the files that one imports, in order."""
        return sorted(self._targets[path])

    def count_importers(self, path: str) -> int:
        """Return the number of files that import one."""
        return len(self._starts[path])

    def _rank(self) -> dict[str, float]:
        """Return the share of time that a random walk along imports, with jumps to any file, spends in each file."""
        count = len(self._targets)
        ranks = dict.fromkeys(self._targets, 1 / count if count else 0.0)
        order = {path: sorted(starts) for path, starts in self._starts.items()}  # sums do not depend on hashing
        for _ in range(ROUNDS):
            dangling = sum(rank for path, rank in ranks.items() if not self._targets[path])  # goes on to any file
            share = {path: rank / len(self._targets[path]) for path, rank in ranks.items() if self._targets[path]}
            base = (1 - DAMPING + DAMPING * dangling) / count if count else 0.0
            ranks = {path: base + DAMPING * sum(share[start] for start in order[path]) for path in ranks}
        return ranks


def outline_text(store: GraphStore, scope: Scope, budget: int) -> CodeOutline:
    """Outline the text file of a scope by its sections, up to the budget."""
    chunks = [node for node in store.subtree(name_unit(scope.source, scope.path)) if node.label is Label.CHUNK]
    sections = list(_join_parts(chunks))
    file = FileOutline(path=scope.path, centrality=0.0, importers=0, imports=0, total=len(sections), summary=None)
    tokens, shown = count_tokens(format_file(file)), list[DefinitionOutline]()
    for section in sections:
        cost = count_tokens(format_definition(section))
        if budget and tokens + cost > budget:
            break
        tokens += cost
        shown.append(section)
    return CodeOutline(
        source=scope.source,
        path=scope.path,
        folders=(),
        files=(replace(file, definitions=tuple(shown)),),
        total_files=1,
        total_definitions=len(sections),
        tokens=tokens,
        budget=budget,
    )


def _join_parts(chunks: Iterable[Node]) -> Iterator[DefinitionOutline]:
    """Yield each section once: a long one has several chunks."""
    for qualname, group in groupby(chunks, key=lambda chunk: chunk.qualname):
        first, *rest = group
        end = rest[-1].end_line if rest else first.end_line
        yield DefinitionOutline(
            id=first.id,
            label=first.label.value,
            qualname=qualname,
            start_line=first.start_line,
            end_line=end,
            signature=first.name,
            summary=None,
            callers=0,
        )
