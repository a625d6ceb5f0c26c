"""Find the subjects that a question in words names: files, definitions, libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.graph.path_filter import is_test, make_path_pattern
from pkg.model import Label, Node, NodeFilter, RelationType, Source
from pkg.retrieval.deps.paths import SUFFIXES, derive_module, name_unit
from pkg.retrieval.long.question_mentions import PathIndex
from pkg.terms.words import split_terms

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MAX_FILES = 5  # of one name: a question about `plugin.py` may mean any of forty
MAX_DEFINITIONS = 3
MAX_COMPARED = 200  # files of one name whose imports are read to choose among them
# Only tried at the start of a word, so that a word of thousands of letters is read once.
_PATH = re.compile(r"(?<![\w.-])(?:(?:[\w.-]+/)*\.*[\w-][\w.-]*\.[A-Za-z]{1,5}\b|(?:[\w.-]+/)+[\w.-]+)")
_QUOTED = re.compile(r"[`'\"‘’“”]([^\s`'\"‘’“”]{2,200})[`'\"‘’“”]|\b([A-Za-z_]\w*)\(")
_DECLARED = re.compile(
    r"\b(?:functions?|methods?|class(?:es)?|modules?|librar(?:y|ies)|packages?|constants?|exceptions?|files?)\s+"
    r"(?:called\s+|named\s+)?([A-Za-z_][\w.]*)"
    r"|(?<![\w.])\.*([A-Za-z_][\w.]*)\s+(?:functions?|methods?|class|modules?|librar(?:y|ies)|package|exceptions?)\b"
)
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_LOOKS_NAMED = re.compile(r"\w[._]+\w|^_|[a-z\d][A-Z]|[A-Z]{2,}[a-z]|^[A-Z][a-z]+")
_USES = re.compile(r"\b(?:us(?:e[sd]?|ing)|imports?|imported|depend(?:s|ing)?|rel(?:y|ies|ying)|requires?)\b")


@dataclass(frozen=True, slots=True)
class Subjects:
    """Files, definitions and libraries that a question names, likeliest first."""

    files: tuple[Node, ...] = ()
    definitions: tuple[Node, ...] = ()
    libraries: tuple[Node, ...] = ()
    others: int = 0  # dropped files of the same names

    def narrow(self, where: NodeFilter) -> Subjects:
        """Drop files, and definitions in files, that do not pass a filter."""
        if not where.narrows_paths:
            return self
        passes = re.compile(make_path_pattern(where)).fullmatch
        files, definitions = (
            tuple(node for node in nodes if passes(node.path)) for nodes in (self.files, self.definitions)
        )
        return Subjects(files, definitions)

    def __bool__(self) -> bool:
        return bool(self.files or self.definitions or self.libraries)


def find_subjects(store: GraphStore, text: str, sources: Sequence[Source]) -> Subjects:
    """Find the files, definitions and libraries that a question names, in some sources."""
    names = _list_names(text)
    same_named = _find_same_named(store, names, sources)
    definers = {(node.source, node.path) for node in same_named}
    files, others = _find_files(store, text, names, sources, definers)
    definitions = _find_definitions(same_named, names, sources, {(node.source, node.path) for node in files})
    taken = {node.name for node in definitions}
    libraries = _find_libraries(store, {name.partition(".")[0] for name in names} - taken, text, sources)
    return Subjects(tuple(files), tuple(definitions), tuple(libraries), others)


def _list_names(text: str) -> list[str]:
    """List the words of a question that may be names: quoted, called, declared, or spelled unlike prose."""
    searched = _PATH.sub(lambda found: found[0] if "/" not in found[0] else " ", text)
    names = [name for found in _QUOTED.finditer(text) for name in found.groups() if name]
    names += [name for found in _DECLARED.finditer(searched) for name in found.groups() if name]
    words = list(_WORD.finditer(searched))
    names += [found[0] for found in words if _LOOKS_NAMED.search(found[0]) and found.start()]
    return list(dict.fromkeys(name.strip(".") for name in names))


def _find_files(
    store: GraphStore, text: str, names: Sequence[str], sources: Sequence[Source], definers: set[tuple[str, str]]
) -> tuple[list[Node], int]:
    """Find the files that a question names, by path or as a module, and the number of others with the same names."""
    found: list[Node] = []
    others = 0
    for source in sources:
        if source.kind == "corpus":
            continue
        index = PathIndex((path for path, _, _ in store.fingerprints(source.name)), source.package)
        for group in _match_paths(index, text, names):
            nodes = store.get([name_unit(source.name, path) for path in group[:MAX_COMPARED]])
            chosen = _choose_files(store, text, nodes, definers) if len(nodes) > 1 else nodes
            others += len(group) - len(chosen)
            found += chosen
    return list({node.id: node for node in found}.values()), others


def _match_paths(index: PathIndex, text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the paths that each name may mean; a match inside another one does not count."""
    groups = [index.match_end(each) for each in dict.fromkeys(found.strip("./") for found in _PATH.findall(text))]
    for name in names:
        if "." in name and not name.endswith(SUFFIXES):
            groups.append(index.match_module(name))
        elif re.search(rf"\bmodules?\s+[`'\"]?{re.escape(name)}\b|\b{re.escape(name)}[`'\"]?\s+module\b", text):
            groups.append(index.match_end(f"{name}.py"))
    return [group for group in groups if group]


def _choose_files(store: GraphStore, text: str, nodes: Sequence[Node], definers: set[tuple[str, str]]) -> list[Node]:
    """Choose among files of one name: those that define a name in the question, then those with most of its words.

    The words of a file are those of its folders, imports and definitions.
    """
    asked = set(split_terms(text.encode("utf-8", "ignore")))
    edges = store.neighbours([node.id for node in nodes], (RelationType.IMPORTS, RelationType.CONTAINS), "out")
    inner = {node.id: node for node in store.get(sorted({edge.end for edge in edges}))}
    words_of: dict[str, set[str]] = {node.id: set(split_terms(node.path.encode())) for node in nodes}
    for edge in edges:
        node = inner[edge.end]
        words = str(node.properties.get("statement", "")) if node.label is Label.IMPORT else node.name
        words_of[edge.start] |= set(split_terms(words.encode("utf-8", "ignore")))

    def rank(node: Node) -> tuple[bool, int, int, str]:
        is_definer = (node.source, node.path) in definers
        return not is_definer, -len(words_of[node.id] & asked), node.path.count("/"), node.path

    return sorted(nodes, key=rank)[:MAX_FILES]


def _find_same_named(store: GraphStore, names: Iterable[str], sources: Sequence[Source]) -> list[Node]:
    """Find all definitions whose bare name is the last part of a name."""
    bare = sorted({name.rpartition(".")[2] for name in names if not name.endswith(SUFFIXES)} - {""})
    nodes = store.find_names(bare, sources[0].name if len(sources) == 1 else None) if bare else []
    known = {source.name for source in sources}
    return [node for node in nodes if node.source in known]


def _find_definitions(
    same_named: Sequence[Node], names: Iterable[str], sources: Sequence[Source], files: set[tuple[str, str]]
) -> list[Node]:
    """Choose the definitions of each name: those in files that are named too, the outermost first."""
    packages = {source.name: source.package for source in sources}
    found: list[Node] = []
    for name in names:
        ends = [
            node
            for node in same_named
            if f".{derive_module(node.path, packages[node.source])}.{node.qualname}".endswith(f".{name}")
        ]
        tops = [node for node in ends if node.label is not Label.CONSTANT] or ends

        def rank(node: Node) -> tuple[bool, bool, int, str]:
            is_elsewhere = bool(files) and (node.source, node.path) not in files
            return is_elsewhere, is_test(node.path), node.qualname.count("."), node.path

        found += sorted(tops, key=rank)[:MAX_DEFINITIONS]
    return list({node.id: node for node in found}.values())


def _find_libraries(store: GraphStore, names: set[str], text: str, sources: Sequence[Source]) -> list[Node]:
    """Find the external modules that a question names, or describes as used."""
    if _USES.search(text):
        names = names | set(_WORD.findall(text))
    known = [node for source in sources for node in store.nodes((Label.LIBRARY,), source.name)]
    folded = {name.lower() for name in names}
    return [node for node in known if node.name in names or node.name.lower() in folded]
