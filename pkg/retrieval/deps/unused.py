"""Find definitions without references: neither links of the graph nor possible uses without a link."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.model import Edge, Label, Node, RelationType
from pkg.retrieval.deps.answer import DepsOptions, Place, Unused, UnusedPlace, apply_limit, is_test, make_place
from pkg.retrieval.deps.entries import find_entries
from pkg.retrieval.deps.external_bases import ExternalBases, is_special
from pkg.retrieval.deps.levels import find_reachable
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, count_calls
from pkg.retrieval.deps.paths import derive_module, list_code_files

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


_TYPES = (
    RelationType.CALLS, RelationType.UNRESOLVED, RelationType.RESOLVES_TO, RelationType.INHERITS,
    RelationType.OVERRIDES,
)  # fmt: skip
_USES = frozenset(_TYPES) - {RelationType.UNRESOLVED}

Doubt = tuple[int, str]
"""Weight of a reason, and the reason."""
FILE_BATCH = 200  # files whose texts are in memory together
_DESCRIPTIONS = ("pyproject.toml", "setup.cfg", "*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")

_WORD = re.compile(rb"[\w\x80-\xff]+")
_ALL = re.compile(rb"^__all__\s*(?::[^=\n]*)?\+?=\s*[\[(]([^\])]*)", re.MULTILINE)
_QUOTED = re.compile(rb"""["'](\w+)["']""")
# A composed name: "visit_" + kind, f"visit_{kind}", "visit_%s" % kind, "visit_{}".format(kind)
_PREFIX = re.compile(rb"""["']([A-Za-z_]\w*_)(?:["']\s*\+|\{|%s)""")
_ENTRY_POINT = re.compile(rb"(?<![\w.])([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)")  # a long word is read only from its start

Key = tuple[str, str, str]  # source, path, qualified name
Sites = dict[tuple[str, str], set[tuple[int, str]]]  # by source and path: line and name of the callee


def find_unused(reader: LinkReader, target: Target | None, options: DepsOptions) -> Unused:
    """List functions and classes that nothing is known to use, those with the fewest doubts first.

    A function that only calls itself is unused. Definitions that may be used without a link, by a test runner or by
    name, are counted by that use, and listed if the options ask for it. With a target, list only definitions inside it.
    """
    store = reader.store
    edges = list(store.edges(_TYPES, options.source))
    used = {edge.end for edge in edges if edge.type in _USES and edge.start != edge.end}
    nodes = list(store.nodes((Label.FUNCTION, Label.CLASS), options.source))
    wanted = {node.id for node in nodes} if target is None else set(target.ids)
    unlinked = [node for node in nodes if node.id in wanted and node.id not in used]
    reasons = PossibleUses(store, nodes, edges, used).explain(unlinked)
    left = [node for node in unlinked if node.id not in reasons]
    judged = sorted(map(_judge, left), key=lambda each: (each[0], _order(each[1].place)))
    found = [each for _, each in judged]
    if options.doubtful:
        spared = (UnusedPlace(make_place(node), (reasons[node.id],)) for node in unlinked if node.id in reasons)
        found += sorted(spared, key=lambda each: (each.doubts, _order(each.place)))
    shown = apply_limit(options.limit, len(found))
    coverage = count_calls(edges, "of all definitions; uses in unbound calls are not seen")
    counts = Counter(each.partition(":")[0] for each in reasons.values()).most_common()
    return Unused(tuple(found[:shown]), len(left), tuple(counts), len(wanted), len(found) - shown, coverage)


def _order(place: Place) -> tuple[str, str, int, str]:
    return place.source, place.path, place.line, place.id


def _judge(node: Node) -> tuple[int, UnusedPlace]:
    """Return the total weight of the doubts, and the doubts in words, the heaviest first."""
    found = sorted(_list_doubts(node), reverse=True)
    return sum(weight for weight, _ in found), UnusedPlace(make_place(node), tuple(words for _, words in found))


def _list_doubts(node: Node) -> Iterator[Doubt]:
    decorators = node.properties.get("decorators")
    if isinstance(decorators, list) and decorators:
        yield 2, f"decorated: {', '.join(map(str, decorators))}"
    if not any(part.startswith("_") for part in node.qualname.split(".")):
        yield 1, "public: others may use it"


class PossibleUses:
    """Explain why definitions without a link may be used nevertheless."""

    def __init__(self, store: GraphStore, nodes: Sequence[Node], edges: Sequence[Edge], used: set[str]) -> None:
        self._store = store
        self._nodes = nodes
        self._edges = edges
        self._used = used
        self._bases = ExternalBases(nodes, edges)
        self._classes = {_key(node): node for node in nodes if node.label is Label.CLASS}
        self._users = {_outer(node) for node in nodes if node.id in used}

    def explain(self, candidates: Sequence[Node]) -> dict[str, str]:
        """Return the surest possible use of each definition, by id; unused ones are absent."""
        reasons: dict[str, str] = {}
        ways: tuple[Callable[[Sequence[Node]], Iterable[tuple[Node, str]]], ...] = (
            self._find_tests, self._find_special, self._find_entries, self._find_entry_points, self._find_outside,
            self._find_protocols, self._find_named,
        )  # fmt: skip
        for way in ways:
            left = [node for node in candidates if node.id not in reasons]
            reasons |= {node.id: reason for node, reason in way(left)}
        self._propagate(candidates, reasons)
        return reasons

    def _find_tests(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        for node in candidates:
            name = node.name.lower()
            if is_test(make_place(node)) and (name.startswith("test") or name.endswith(("test", "tests", "testcase"))):
                yield node, "run by the test runner"

    def _find_special(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        return ((node, "called by Python itself: a special name") for node in candidates if is_special(node.name))

    def _find_entries(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        for source in sorted({node.source for node in candidates}):
            own = [node for node in candidates if node.source == source]
            found = find_entries(self._store, source, own)
            yield from ((node, f"entered from outside: by {found[node.id][0].by}") for node in own if node.id in found)

    def _find_entry_points(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        roots = {each.name: each.root for each in self._store.sources()}
        named = {source: _read_entry_points(roots[source]) for source in {node.source for node in candidates}}
        for node in candidates:
            module = f".{derive_module(node.path)}"
            if any(node.qualname == name and module.endswith(f".{of}") for of, name in named[node.source]):
                yield node, "entry point of the package"

    def _find_outside(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        """Yield methods that a base from a library may call, and classes inside its subclasses, which configure it."""
        for node in candidates:
            owner = self._classes.get(_outer(node))
            if owner is not None and self._bases.may_call(owner, node.name):
                yield node, f"called by a base outside of the source: {', '.join(self._bases.list_bases(owner))}"

    def _find_protocols(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        """Yield methods of classes that have all methods of a protocol, and the methods of protocols themselves."""
        members: dict[Key, set[str]] = defaultdict(set)
        for node in self._nodes:
            if node.label is Label.FUNCTION and _outer(node) in self._classes:
                members[_outer(node)].add(node.name)
        protocols = {key: members[key] for key, node in self._classes.items() if _is_protocol(node) and members[key]}
        for node in candidates:
            own = members.get(_outer(node), set())
            for key, names in protocols.items():
                if node.label is Label.FUNCTION and node.name in names and names <= own:
                    yield node, f"part of a protocol: {key[2]}"
                    break

    def _find_named(self, candidates: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        """Yield names listed in __all__, and names that texts have outside of definitions, imports and bound calls."""
        texts = _Texts(self._list_sites())
        for source in sorted({node.source for node in candidates}):
            paths = list_code_files(self._store, source)
            for start in range(0, len(paths), FILE_BATCH):
                for path, text in self._store.texts(source, paths[start : start + FILE_BATCH]):
                    texts.read(source, path, text)
        texts.known.update(node.name for node in self._nodes)
        for node in candidates:
            name = node.name.encode()
            if name in texts.exported[node.source, node.path]:
                yield node, "exported: listed in __all__"
            elif times := max(0, texts.words[name] - texts.known[node.name]):
                yield node, f"perhaps used by its name: {times:,} more occurrences in the source"
            elif name.startswith(tuple(texts.prefixes)) and _outer(node) in self._classes:
                yield node, "perhaps used by a composed name"

    def _list_sites(self) -> Sites:
        """Return the lines with bound calls and the names of their callees, by source and path."""
        named = {node.id: node for node in self._nodes}
        files = {edge.start for edge in self._edges if edge.type is RelationType.CALLS} - named.keys()
        starts = named | {node.id: node for node in self._store.get(sorted(files))}
        sites: Sites = defaultdict(set)
        for edge in self._edges:
            if edge.type is RelationType.CALLS and edge.end in named and edge.line is not None:
                start = starts[edge.start]
                sites[start.source, start.path].add((edge.line, named[edge.end].name))
        return sites

    def _propagate(self, candidates: Sequence[Node], reasons: dict[str, str]) -> None:
        """Add overrides of used methods, and owners of used definitions, until nothing changes."""
        above = self._list_overridden(candidates)
        called = {edge.end for edge in self._edges if edge.type is RelationType.CALLS and edge.start != edge.end}
        by_key = {node.id: node for node in self._nodes}
        users = self._users | {_outer(by_key[node_id]) for node_id in reasons}
        while True:
            found = {}
            for node in candidates:
                if node.id in reasons:
                    continue
                if any(each in called or each in reasons for each in above[node.id]):
                    found[node.id] = "overrides a used method"
                elif _key(node) in users:
                    found[node.id] = "contains a used definition"
            if not found:
                return
            reasons |= found
            users |= {_outer(by_key[node_id]) for node_id in found}

    def _list_overridden(self, candidates: Sequence[Node]) -> dict[str, set[str]]:
        """Return the methods that each one overrides; for a mixin, also those of the other bases of its subclasses."""
        above: dict[str, set[str]] = defaultdict(set)
        bases: dict[str, set[str]] = defaultdict(set)
        below: dict[str, set[str]] = defaultdict(set)
        for edge in self._edges:
            if edge.type is RelationType.OVERRIDES:
                above[edge.start].add(edge.end)
            elif edge.type is RelationType.INHERITS:
                bases[edge.start].add(edge.end)
                below[edge.end].add(edge.start)
        methods = {_key(node): node.id for node in self._nodes if node.label is Label.FUNCTION}
        owners = {node.id: key for key, node in self._classes.items()}
        for node in candidates:
            owner = self._classes.get(_outer(node))
            if owner is not None:
                family = set(find_reachable(find_reachable([owner.id], below.__getitem__), bases.__getitem__))
                keys = (owners[each] for each in (family - {owner.id}) & owners.keys())
                found = ((source, path, f"{qualname}.{node.name}") for source, path, qualname in keys)
                above[node.id] |= {methods[key] for key in found if key in methods} - {node.id}
        return above


class _Texts:
    """Occurrences of names in the texts of sources."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self.known: Counter[str] = Counter()  # number of occurrences in bound calls and definitions
        self.words: Counter[bytes] = Counter()
        self.exported: dict[tuple[str, str], set[bytes]] = defaultdict(set)
        self.prefixes: set[bytes] = set()

    def read(self, source: str, path: str, text: bytes) -> None:
        """Count the names of one text."""
        self.words.update(_WORD.findall(text))
        self.prefixes.update(_PREFIX.findall(text))
        lines = text.split(b"\n")
        for line, name in self._sites.get((source, path), ()):
            self.known[name] += line <= len(lines) and name.encode() in lines[line - 1]
        for listed in _ALL.findall(text):
            self.exported[source, path].update(_QUOTED.findall(listed))


def _read_entry_points(root: str) -> set[tuple[str, str]]:
    """Return the entry points in the metadata of a package, if it is there: module and qualified name."""
    found: set[tuple[str, str]] = set()
    with suppress(OSError, ValueError):
        folder = Path(root)
        for pattern in (*_DESCRIPTIONS, "setup.py"):
            for file in sorted(folder.glob(pattern)):
                for module, name in _ENTRY_POINT.findall(file.read_bytes()):
                    found.add((module.decode(), name.decode()))
    return found


def _is_protocol(node: Node) -> bool:
    bases = node.properties.get("bases")
    written = [str(each).partition("[")[0].rpartition(".")[2] for each in bases] if isinstance(bases, list) else []
    return "Protocol" in written


def _key(node: Node) -> Key:
    return node.source, node.path, node.qualname


def _outer(node: Node) -> Key:
    return node.source, node.path, node.qualname.rpartition(".")[0]
