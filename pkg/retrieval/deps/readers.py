"""Find the readers of a constant, field or class attribute by searching the texts of its source."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkg.graph.graph_records import parse_import
from pkg.model import CERTAIN, POSSIBLE, Label, Node, RelationType
from pkg.retrieval.deps.answer import (
    READS,
    CallCoverage,
    Dependencies,
    Dependency,
    DepsOptions,
    Link,
    Place,
    apply_limit,
    make_place,
)
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, order_link
from pkg.retrieval.deps.paths import derive_module, list_code_files, name_unit
from pkg.retrieval.deps.reads import Handle, Read, ReadQuestion, find_reads, find_words

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

FILE_BATCH = 200  # files whose texts are in memory together


def find_readers(reader: LinkReader, target: Target, options: DepsOptions) -> Dependencies:
    """List the functions, classes and modules that read a constant, surest first, and count the reads."""
    search = _Search(reader, target)
    found = search.run() if options.direction != "out" and options.steps else {}
    links = sorted(search.make_links(found), key=lambda link: order_link(link, link.start))
    shown = links[: apply_limit(options.limit, len(links))]
    all_reads = [read for reads in found.values() for read in reads]
    possible = sum(confidence == POSSIBLE for _, confidence in all_reads)
    notes = (f"{search.unparsed:,} of the files that hold the name do not parse",) if search.unparsed else ()
    coverage = CallCoverage(
        f"of {target.nodes[0].name} in all of the source",
        len(all_reads) - possible,
        possible,
        0,
        notes=notes,
        what="reads",
    )
    left_out = (("readers", len(links) - len(shown)),) if len(shown) < len(links) else ()
    listed = tuple(Dependency("readers", 1, target.place.id, link) for link in shown)
    return Dependencies(target.place, options.direction, listed, left_out, coverage)


@dataclass(slots=True)
class _Search:
    """One search through the texts of a source."""

    reader: LinkReader
    target: Target
    unparsed: int = 0
    _handles: dict[str, set[Handle]] = field(default_factory=lambda: defaultdict(set))  # by path
    _owners: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # by path

    @property
    def _store(self) -> GraphStore:
        return self.reader.store

    @property
    def _node(self) -> Node:
        return self.target.nodes[0]

    def run(self) -> dict[str, list[Read]]:
        """Return the reads by path of the file or row."""
        if self.reader.file_of(self._node) is None:
            return self._read_row()
        known = set(list_code_files(self._store, self._node.source))
        scope = self._node.qualname.rpartition(".")[0]
        self._handles[self._node.path].add(Handle(self._node.name, None, scope))
        for owner in self._list_owners(scope):
            self._owners[owner.path].add(owner.qualname)
            self._expose(known, owner.path, f"{owner.qualname}.{self._node.name}")
        if not scope:
            self._expose(known, self._node.path, self._node.name)
        return dict(self._read_files(sorted(known)))

    def _read_row(self) -> dict[str, list[Read]]:
        """Search only the piece of a row that holds the constant."""
        scope = self._node.qualname.rpartition(".")[0]
        handles = Handle(self._node.qualname), Handle(self._node.name, None, scope)
        question = ReadQuestion(self._node.name, handles, frozenset({scope}))
        for fragment in self._store.fragments([self._node.id]):
            first = self._node.start_line - fragment.text.count(b"\n", 0, self._node.start) - 1
            return {self._node.path: [(line + first, how) for line, how in self._read(fragment.text, question)]}
        return {}

    def _list_owners(self, scope: str) -> list[Node]:
        """List the class of a field, and its subclasses that do not redefine the field."""
        same = self._store.find_names([scope.rpartition(".")[2]], self._node.source) if scope else []
        level = [
            each for each in same if (each.label, each.path, each.qualname) == (Label.CLASS, self._node.path, scope)
        ]
        found: dict[str, Node] = {}
        while level:
            found |= {each.id: each for each in level}
            edges = self._store.neighbours([each.id for each in level], [RelationType.INHERITS], "in")
            below = self._store.get(sorted({edge.start for edge in edges} - found.keys()))
            level = [each for each in below if not self._redefines(each)]
        return list(found.values())

    def _redefines(self, below: Node) -> bool:
        edges = self._store.neighbours([below.id], [RelationType.CONTAINS], "out")
        return any(each.name == self._node.name for each in self._store.get([edge.end for edge in edges]))

    def _expose(self, known: set[str], path: str, qualname: str) -> None:
        """Follow a module's name to its importers, and from these to theirs.

        A name that becomes longer through a module is not followed: modules that import each other would never end.
        """
        self._handles[path].add(Handle(qualname))
        level, seen = {(path, qualname)}, set[tuple[str, str]]()
        ends = self._find_class(path, qualname)
        while level:
            seen |= level
            exposed: dict[str, list[str]] = defaultdict(list)
            for place, exported in sorted(level):
                for module, name in _list_packages(place, exported):
                    if module in known:
                        exposed[name_unit(self._node.source, module)].append(name)
            found = set(self._list_importers(exposed | ends))
            ends = {}  # all importers of a class are found at once, wherever they import it from
            for importer, handle in found:
                self._handles[importer].add(handle)
            names = {(importer, handle.dotted) for importer, handle in found}
            level = {each for each in names if each[1].count(".") <= qualname.count(".")} - seen

    def _find_class(self, path: str, qualname: str) -> dict[str, list[str]]:
        """Return the class that a qualified name begins with, by its id: imports of it lead there."""
        name, dot, _ = qualname.partition(".")
        same = self._store.find_names([name], self._node.source) if dot else []
        wanted = Label.CLASS, path, name
        return {each.id: [qualname] for each in same if (each.label, each.path, each.qualname) == wanted}

    def _list_importers(self, exposed: Mapping[str, list[str]]) -> Iterator[tuple[str, Handle]]:
        """Yield how each importer of some files or classes refers to the constant."""
        edges = self._store.neighbours(sorted(exposed), [RelationType.RESOLVES_TO], "in") if exposed else []
        nodes = {each.id: each for each in self._store.get(sorted({edge.start for edge in edges}))}
        for edge in edges:
            for qualname in exposed[edge.end]:
                handle = _make_handle(nodes[edge.start], edge.rule, qualname)
                if handle is not None:
                    yield nodes[edge.start].path, handle

    def _read_files(self, paths: list[str]) -> Iterator[tuple[str, list[Read]]]:
        name, first = self._node.name, self._node.qualname.partition(".")[0]
        packages = {each.name: each.package for each in self._store.sources()}
        module = derive_module(self._node.path, packages[self._node.source])
        word = re.escape(name.encode("utf-8", "replace"))
        attribute_use = re.compile((rb"[.\"']\s*" if first != name else rb"(?<!\w)") + word + rb"(?!\w)")
        for start in range(0, len(paths), FILE_BATCH):
            for path, text in self._store.texts(self._node.source, paths[start : start + FILE_BATCH]):
                handles, owners = self._handles.get(path, set()), self._owners.get(path, set())
                if handles or owners or attribute_use.search(text):
                    question = ReadQuestion(name, tuple(handles), frozenset(owners), module, first)
                    own = self._list_own_lines() if path == self._node.path else frozenset()
                    reads = [each for each in self._read(text, question) if each[0] not in own or each[1] == CERTAIN]
                    if reads:
                        yield path, reads

    def _list_own_lines(self) -> frozenset[int]:
        spans = (range(node.start_line, node.end_line + 1) for node in self.target.nodes)
        return frozenset(line for span in spans for line in span)

    def _read(self, text: bytes, question: ReadQuestion) -> list[Read]:
        reads = find_reads(text, question)
        if reads is None:
            self.unparsed += 1
            return find_words(text, question.name)
        return reads

    def make_links(self, found: Mapping[str, list[Read]]) -> Iterator[Link]:
        """Yield a link from each place that reads the constant, one for each confidence."""
        end, source = self.target.place, self._node.source
        is_row = self.reader.file_of(self._node) is None
        for path, reads in found.items():
            (unit,) = self._store.get([name_unit(source, path, Label.ROW if is_row else Label.FILE)])
            inside = [each for each in self._store.subtree(unit.id) if each.label in (Label.CLASS, Label.FUNCTION)]
            lines: dict[tuple[Place, str], set[int]] = defaultdict(set)
            for line, confidence in reads:
                around = [each for each in inside if each.start_line <= line <= each.end_line]
                innermost = min(around, key=lambda each: (each.end - each.start, each.id), default=unit)
                lines[make_place(innermost), confidence].add(line)
            for (place, confidence), at in lines.items():
                yield Link(READS, place, end, tuple(sorted(at)), None, confidence)


def _list_packages(path: str, qualname: str) -> Iterator[tuple[str, str]]:
    """Yield a module with a name in it, and the packages around it with their names for that."""
    yield path, qualname
    folder, _, file = path.rpartition("/")
    if file == "__init__.py":
        folder, _, file = folder.rpartition("/")
    while file:  # the root itself may be a package
        qualname = f"{file.partition('.')[0]}.{qualname}"
        yield f"{folder}/__init__.py".removeprefix("/"), qualname
        folder, _, file = folder.rpartition("/")


def _make_handle(node: Node, rule: str | None, qualname: str) -> Handle | None:
    """Return how a file refers to a name of an import's target; None if it imports something else."""
    record = parse_import(node.properties)
    first, _, rest = qualname.partition(".")
    if record.name == "*":
        return None if first.startswith("_") else Handle(qualname, is_star=True)
    if record.name is None:
        return Handle(f"{record.alias or record.module}.{qualname}", node.start_line)
    if rule == "module":
        return Handle(f"{record.bound_name}.{qualname}", node.start_line)
    if rule == "class" or record.name == first:
        return Handle(f"{record.bound_name}.{rest}".strip("."), node.start_line)
    return None
