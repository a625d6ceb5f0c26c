"""Find the definitions, files and libraries that a phrase of a question about links may mean: all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.model import Label, Node, RelationType, Source
from pkg.retrieval.deps.names import DEFINITIONS, Target, find_named, group_definitions
from pkg.retrieval.deps.paths import SUFFIXES, derive_module, find_modules
from pkg.retrieval.link_questions.link_lexicon import ASPECTS
from pkg.retrieval.link_questions.link_skeletons import LinkKind
from pkg.retrieval.link_questions.link_wordings import Phrase
from pkg.terms.words import split_terms

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

_SPECIAL = {"constructor": "__init__", "initializer": "__init__", "initialiser": "__init__", "destructor": "__del__"}
_DESCRIBED = {"Class": Label.CLASS, "Function": Label.FUNCTION, "Constant": Label.CONSTANT}
_UNITS = (Label.FILE, Label.LIBRARY)


@dataclass(frozen=True, slots=True)
class Meaning:
    """One meaning of a phrase; via: the class whose method is inherited from another one."""

    target: Target
    name: str  # dotted, with its module
    via: str = ""


@dataclass(frozen=True)
class NameFinder:
    """Finds the meanings of phrases in some sources."""

    store: GraphStore
    sources: Sequence[Source]

    def find(self, phrase: Phrase, kind: LinkKind) -> list[Meaning]:
        """Return all meanings of a phrase, tests last; none for an unknown name."""
        names, inside = phrase.names, phrase.inside
        if names and inside and names[0].lower() in ASPECTS:
            names, inside = inside[:1], inside[1:]
        for name in dict.fromkeys(_SPECIAL.get(each.lower(), each) for each in names):
            nodes = self._find_nodes(name, phrase.kind, kind)
            nodes = [node for node in nodes if all(self._is_node_inside(node, each) for each in inside)]
            via = ""
            if not nodes and (owner := inside[0] if inside else name.rpartition(".")[0]):
                nodes, via = self._find_inherited(owner, name.rpartition(".")[2], phrase.kind)
            if nodes:
                return [self._make(group, via) for group in group_definitions(nodes)]
        return self._find_described(phrase) if phrase.is_plain and phrase.kind in _DESCRIBED else []

    def _find_described(self, phrase: Phrase) -> list[Meaning]:
        """Find definitions whose names have all words of a description, such as the header policy class."""
        wanted = set(split_terms(phrase.names[0].encode())) if phrase.names else set()
        found = [
            node
            for source in self.sources
            for node in self.store.nodes((_DESCRIBED[phrase.kind],), source.name)
            if len(wanted) > 1 and wanted <= set(split_terms(node.name.encode()))
        ]
        kept = [node for node in found if all(self._is_node_inside(node, each) for each in phrase.inside)]
        return [self._make(group, "") for group in group_definitions(kept)]

    def _find_nodes(self, name: str, label: str, kind: LinkKind) -> list[Node]:
        plain = name.strip(".").removeprefix("@")
        found = find_named(self.store, plain, self.sources) or self._find_exported(plain)
        units = [*find_modules(self.store, plain, self.sources), *self._find_libraries(plain)]
        if label == "File" or kind in ("importers", "imports"):
            found = units or found
        elif kind in ("uses", "impact", "definition", "tests", "needs", "links"):
            known = {node.id for node in found}
            found = [*found, *(node for node in units if node.id not in known)]
        return _choose(found, label, kind)

    def _find_exported(self, name: str) -> list[Node]:
        """Find a definition by a package above its module, such as kombu.Connection for kombu.connection.Connection."""
        parts = name.split(".")
        packages = {source.name: source.package for source in self.sources}
        for cut in range(1, len(parts)):
            above, rest = ".".join(parts[:cut]), ".".join(parts[cut:])
            found = [
                node
                for node in find_named(self.store, rest, self.sources)
                if node.qualname == rest and f".{above}." in f".{derive_module(node.path, packages[node.source])}."
            ]
            if found:
                return found
        return []

    def _find_libraries(self, name: str) -> list[Node]:
        top = name.partition(".")[0]
        return [
            node
            for source in self.sources
            for node in self.store.nodes((Label.LIBRARY,), source.name)
            if node.name == name or (node.name == top and self._has_import(node, name))
        ]

    def _has_import(self, library: Node, name: str) -> bool:
        edges = self.store.neighbours([library.id], (RelationType.RESOLVES_TO,), "in")
        texts = (node.content for node in self.store.get(sorted({edge.start for edge in edges})))
        return any(holds_module(text, name) for text in texts)

    def _find_inherited(self, owner: str, name: str, label: str) -> tuple[list[Node], str]:
        """Find a method that a class has from its bases, nearest first."""
        named = find_named(self.store, owner, self.sources) or self._find_exported(owner)
        classes = [node for node in named if node.label is Label.CLASS]
        for start in classes:
            level, seen = [start.id], {start.id}
            while level:
                edges = self.store.neighbours(level, (RelationType.INHERITS,), "out")
                level = [each for each in dict.fromkeys(edge.end for edge in edges) if each not in seen]
                seen |= set(level)
                owners = {(base.path, f"{base.qualname}.{name}") for base in self.store.get(level)} if level else set()
                inner = (each for node in level for each in self.store.subtree(node) if each.label is Label.FUNCTION)
                found = [each for each in inner if (each.path, each.qualname) in owners]
                if found and label in ("", "Function"):
                    return found, start.qualname
        return [], ""

    def _is_node_inside(self, node: Node, place: str) -> bool:
        return self.is_inside(node.source, node.path, node.qualname, place)

    def is_inside(self, source: str, path: str, qualname: str, place: str) -> bool:
        """Return whether a definition is in a class, module, folder or source of some name."""
        packages = {source.name: source.package for source in self.sources}
        plain = place.strip("./").replace("/", ".")
        for suffix in SUFFIXES:
            plain = plain.removesuffix(suffix)
        whole = f".{derive_module(path, packages.get(source, ''))}.{qualname}."
        return f".{plain}." in whole or plain == source

    def _make(self, group: Sequence[Node], via: str) -> Meaning:
        node = group[0]
        inside = tuple(
            each for each_node in group if node.label is not Label.LIBRARY
            for each in self.store.subtree(each_node.id) if each.label in DEFINITIONS
        )  # fmt: skip
        package = next(source.package for source in self.sources if source.name == node.source)
        if node.label is Label.LIBRARY:
            name = node.name
        else:
            module = derive_module(node.path, package)
            name = node.path if node.label in (Label.FILE, Label.ROW) else f"{module}.{node.qualname}".lstrip(".")
        return Meaning(Target(tuple(group), inside), name, via)


def holds_module(statement: str, name: str) -> bool:
    """Return whether an import statement imports a dotted module, or something in it."""
    module, _, last = name.rpartition(".")
    plain = " ".join(statement.split())
    names = rf"\bfrom {re.escape(module)} import\b.*\b{re.escape(last)}\b" if module else r"(?!)"
    return bool(re.search(rf"\b(?:import|from) (?:.*, ?)?{re.escape(name)}(?![\w])|{names}", plain))


def _choose(nodes: Iterable[Node], label: str, kind: LinkKind) -> list[Node]:
    """Keep the nodes that a question of some kind can be about, and of them those of the kind that it says."""
    found = list({node.id: node for node in nodes}.values())
    if kind in ("subclasses", "bases", "creators", "inherits"):
        found = [node for node in found if node.label is Label.CLASS]
    elif kind in ("overridden by", "overrides"):
        found = [node for node in found if node.label in DEFINITIONS]
    elif kind in ("callers", "callees", "calls"):
        found = [node for node in found if node.label in DEFINITIONS] or found
        found = [node for node in found if node.label is not Label.LIBRARY]
    elif kind == "readers":
        found = [node for node in found if node.label is Label.CONSTANT]
    elif kind == "imports":
        found = [node for node in found if node.label is Label.FILE]
    said = [node for node in found if node.label.value == label or (label == "File" and node.label in _UNITS)]
    return said or found
