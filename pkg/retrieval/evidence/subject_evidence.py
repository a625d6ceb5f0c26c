"""Find the subjects that a question names, files, definitions and libraries, and write them as evidence (Q-23)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.graph.path_filter import is_test as is_test_path
from pkg.graph.path_filter import make_path_pattern
from pkg.model import Edge, Label, Node, NodeFilter, RelationType, Source
from pkg.retrieval.deps.answer import Dependency, DepsOptions, is_test
from pkg.retrieval.deps.import_table import choose_ends
from pkg.retrieval.deps.named_sites import count_named_sites
from pkg.retrieval.deps.names import DEFINITIONS, Target
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.paths import SUFFIXES, derive_module, name_unit
from pkg.retrieval.deps.readers import find_readers
from pkg.retrieval.deps.walk import walk_relations
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine
from pkg.retrieval.heads import summarise
from pkg.retrieval.long.question_mentions import PathIndex
from pkg.terms.words import split_terms

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


MAX_NAMES = 16  # of one line of a summary
FEW_NAMES = 8  # in a short summary
MAX_IMPORTS = 40
MAX_LINES = 15  # of one kind of link: pkg deps has the full list
_KIND_PATTERNS = (
    (
        re.compile(r"\b(?:inherit\w*|subclass\w*|deriv\w*|extend\w*|base class\w*|implement\w*)\b"),
        ("subclasses", "bases"),
    ),
    (re.compile(r"\b(?:overrid\w*)\b"), ("overrides", "overridden by")),
    (re.compile(r"\b(?:import\w*|depend\w*|modules?|librar\w*|rel(?:y|ies))\b"), ("importers", "imports")),
    (
        re.compile(r"\b(?:call\w*|invok\w*|us(?:e[sd]?|ing)|trigger\w*)\b"),
        ("callers", "callees", "readers", "importers"),
    ),
)
"""Kinds of links that a question asks for; without any, a few of each are shown."""
_USUAL = ("callers", "callees", "subclasses", "bases", "readers")
_VERBS = {
    "callers": "calls", "callees": "calls", "subclasses": "inherits from", "bases": "inherits from",
    "overrides": "overrides", "overridden by": "overrides", "importers": "imports", "imports": "imports",
    "readers": "reads",
}  # fmt: skip
"""Verbs from the start of a link to its end: small models repeat a bare list as an answer."""
FEW = 4  # lines of a kind that the question does not ask for
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


def summarise_files(store: GraphStore, files: Sequence[Node], in_short: bool = False) -> Iterator[Evidence]:
    """Yield a summary of each Python file, in their order; text files are covered by their sections.

    in_short: only the docstring and the first definitions.
    """
    python = [node for node in files if node.path.endswith(SUFFIXES)]
    edges = store.neighbours([node.id for node in python], (RelationType.IMPORTS, RelationType.CONTAINS), "out")
    inner = {node.id: node for node in store.get(sorted({edge.end for edge in edges}))}
    held: dict[str, list[Node]] = defaultdict(list)
    for edge in edges:
        held[edge.start].append(inner[edge.end])
    imports = [node.id for nodes in held.values() for node in nodes if node.label is Label.IMPORT]
    targets = _read_targets(store, imports)
    for node in python:
        yield _summarise(store, node, held[node.id], targets, in_short)


def _read_targets(store: GraphStore, imports: Sequence[str]) -> dict[str, Node]:
    """Read the targets of imports, by the id of the import."""
    edges = store.neighbours(imports, (RelationType.RESOLVES_TO,), "out") if imports else []
    nodes = {node.id: node for node in store.get(sorted({edge.end for edge in edges}))}
    return {start: nodes[edge.end] for start, edge in choose_ends(edges).items()}


def _summarise(
    store: GraphStore, file: Node, held: Sequence[Node], targets: dict[str, Node], in_short: bool
) -> Evidence:
    modules = [node for node in held if node.label is Label.MODULE]
    docstring = next((str(node.properties.get("docstring") or "") for node in modules), "")
    summary = summarise(docstring) if docstring else None
    imports = sorted((node for node in held if node.label is Label.IMPORT), key=lambda node: node.start_line)
    inner = [node for node in imports if (end := targets.get(node.id)) is not None and end.label is not Label.LIBRARY]
    outer = [node for node in imports if node not in inner]
    defined = sorted(
        (node for node in held if node.label in (Label.CLASS, Label.FUNCTION)), key=lambda node: node.start_line
    )
    constants = [node.name for node in held if node.label is Label.CONSTANT]
    definitions = [_format_definition(node) for node in defined]
    name = file.path
    lines = [summary or "", _write(f"{name} defines", definitions, FEW_NAMES if in_short else MAX_NAMES)]
    if not in_short:
        lines[1:1] = [
            _write(f"{name} imports libraries", _format_imports(outer), MAX_IMPORTS),
            _write(f"{name} imports from this repository", _format_imports(inner), MAX_IMPORTS),
        ]
        lines += [
            _write(f"{name} has the constants", constants, FEW_NAMES),
            _write(f"{name} is imported by", _list_importers(store, file), FEW_NAMES),
        ]
    last = max((node.end_line for node in held), default=1)
    content = "\n".join(line for line in lines if line)
    return Evidence("file", file.source, file.path, 1, last, "the file", content or f"{name} is empty")


def _format_imports(nodes: Iterable[Node]) -> list[str]:
    return [f"{node.content.strip()} (line {node.start_line})" for node in nodes]


def _format_definition(node: Node) -> str:
    kind = "class" if node.label is Label.CLASS else "function"
    return f"{kind} {node.name} (line {node.start_line})"


def _write(what: str, names: Sequence[str], limit: int) -> str:
    if not names:
        return ""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{what}: {'; '.join(names[:limit])}{more}"


def _list_importers(store: GraphStore, file: Node) -> list[str]:
    """List the files that import a file or anything in it."""
    inside: list[Edge] = store.neighbours([file.id], (RelationType.CONTAINS,), "out")
    ids = [file.id, *(edge.end for edge in inside)]
    edges = store.neighbours(ids, (RelationType.RESOLVES_TO,), "in")
    return sorted({node.path for node in store.get(sorted({edge.start for edge in edges}))})


def list_links(store: GraphStore, text: str, subjects: Sequence[Node]) -> Iterator[Evidence]:
    """Yield the links of some definitions, those that the question asks for first."""
    asked = [kind for pattern, kinds in _KIND_PATTERNS if pattern.search(text.lower()) for kind in kinds]
    reader, options = LinkReader(store), DepsOptions()
    for node in subjects:
        inside = tuple(each for each in store.subtree(node.id) if each.label in DEFINITIONS)
        target = Target((node,), inside)
        walk = find_readers if target.is_constant else walk_relations
        found = walk(reader, target, options).found
        yield from _list_kinds(node, found, asked)
        if "callers" in asked and not any(each.relation == "callers" for each in found):
            yield from _list_unresolved_uses(store, target)


def _list_unresolved_uses(store: GraphStore, target: Target) -> Iterator[Evidence]:
    """Yield the uses of a name without a known caller in the code of the source."""
    named = count_named_sites(store, target.place.source, [target])
    if named is not None:
        place = target.place
        title = f"callers of {place.qualname}"
        yield Evidence("links", place.source, place.path, place.line, place.line, title, named.describe(), 1.0)


def _list_kinds(node: Node, found: Sequence[Dependency], asked: Sequence[str]) -> Iterator[Evidence]:
    kinds: dict[str, list[PlacedLine]] = defaultdict(list)
    tests: dict[str, list[PlacedLine]] = defaultdict(list)
    for each in found:
        link, far = each.link, each.place
        is_site = bool(link.lines) and link.type != RelationType.INHERITS.value  # the lines are those of base classes
        at, where = (link.start, link.lines[0]) if is_site else (far, far.line)
        unsure = "" if link.confidence == "certain" else f" ({link.confidence})"
        line = PlacedLine(at.path or node.path, where, f"{_format_link(node, each)}{unsure}", far.qualname)
        (tests if is_test(far) else kinds)[each.relation].append(line)
    for kind in dict.fromkeys((*asked, *(() if asked else _USUAL))):
        lines = [*kinds[kind], *tests[kind]]
        if lines:
            yield _make(node, kind, lines, MAX_LINES if asked else FEW)


def _format_link(node: Node, each: Dependency) -> str:
    """Return a link as a sentence, with the definition inside the node as its subject or object."""
    far = each.place.qualname or each.place.path
    near = node.qualname if each.inside is None else f"{each.inside.qualname} (inside {node.qualname})"
    start, end = (far, near) if each.is_incoming else (near, far)
    return f"{start} {_VERBS[each.relation]} {end}" if each.relation in _VERBS else far


def _make(node: Node, kind: str, lines: Sequence[PlacedLine], limit: int) -> Evidence:
    unique = list(dict.fromkeys(lines))
    shown = unique[:limit]
    written = [f"{line.text} ({line.path}:{line.line})" for line in shown]
    written += [f"and {len(unique) - limit} more"] if len(unique) > limit else []
    title = f"{kind} of {node.qualname}"
    return Evidence(
        "links", node.source, node.path, node.start_line, node.start_line, title, "\n".join(written), 1.0, tuple(shown)
    )


def list_importers(store: GraphStore, libraries: Sequence[Node]) -> Iterator[Evidence]:
    """Yield the places where external libraries are imported."""
    for library in libraries:
        edges = store.neighbours([library.id], (RelationType.RESOLVES_TO,), "in")
        nodes = [node for node in store.get(sorted({edge.start for edge in edges})) if node.label is Label.IMPORT]
        nodes.sort(key=lambda node: (is_test_path(node.path), node.path, node.start_line))
        lines = [
            PlacedLine(node.path, node.start_line, f"{node.path} imports {library.name}: {node.content.strip()}")
            for node in nodes
        ]
        if lines:
            first = nodes[0]
            written = [f"{line.text} (line {line.line})" for line in lines[:MAX_LINES]]
            written += [f"and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
            yield Evidence(
                "links", first.source, first.path, first.start_line, first.start_line,
                f"imports of the library {library.name}", "\n".join(written), 1.0, tuple(lines[:MAX_LINES]),
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subjects:
    """Files, definitions and libraries that a question names, likeliest first."""

    files: tuple[Node, ...] = ()
    definitions: tuple[Node, ...] = ()
    libraries: tuple[Node, ...] = ()

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
    files = _find_files(store, text, names, sources, definers)
    definitions = _find_definitions(same_named, names, sources, {(node.source, node.path) for node in files})
    taken = {node.name for node in definitions}
    libraries = _find_libraries(store, {name.partition(".")[0] for name in names} - taken, text, sources)
    return Subjects(tuple(files), tuple(definitions), tuple(libraries))


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
) -> list[Node]:
    """Find the files that a question names, by path or as a module, each once."""
    found: list[Node] = []
    for source in sources:
        if source.kind == "corpus":
            continue
        index = PathIndex((path for path, _, _ in store.fingerprints(source.name)), source.package)
        for group in _match_paths(index, text, names):
            nodes = store.get([name_unit(source.name, path) for path in group[:MAX_COMPARED]])
            chosen = _choose_files(store, text, nodes, definers) if len(nodes) > 1 else nodes
            found += chosen
    return list({node.id: node for node in found}.values())


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
            return is_elsewhere, is_test_path(node.path), node.qualname.count("."), node.path

        found += sorted(tops, key=rank)[:MAX_DEFINITIONS]
    return list({node.id: node for node in found}.values())


def _find_libraries(store: GraphStore, names: set[str], text: str, sources: Sequence[Source]) -> list[Node]:
    """Find the external modules that a question names, or describes as used."""
    if _USES.search(text):
        names = names | set(_WORD.findall(text))
    known = [node for source in sources for node in store.nodes((Label.LIBRARY,), source.name)]
    folded = {name.lower() for name in names}
    return [node for node in known if node.name in names or node.name.lower() in folded]
