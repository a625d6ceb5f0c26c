"""Match the names in judgements to nodes: by row or file, function or block, and by equal text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from pkg.graph.store import GraphStore
from pkg.lab.evaluation.retrieval.rank_scores import DEPTH, Answered
from pkg.model import DECLARATION_LABELS, Label, Node
from pkg.retrieval.deps.paths import holds_code

SEPARATOR = "::"
UNIT_LABELS = (Label.FILE, Label.ROW)
LABEL_OF_MODE = {"function": (Label.FUNCTION,), "block": (Label.BLOCK,), "file": UNIT_LABELS}


def name_node(node: Node) -> tuple[str, ...]:
    """Return the names of a node, widest first: path, path::qualname, and path::qualname::name for a block.

    The path of a row is its id.
    """
    if node.label in UNIT_LABELS or not node.qualname:
        return (node.path,)
    function = f"{node.path}{SEPARATOR}{node.qualname}"
    return (node.path, function, f"{function}{SEPARATOR}{node.name}") if node.label is Label.BLOCK else (
        node.path, function,
    )  # fmt: skip


def measure_depth(names: Iterable[str]) -> int:
    """Return the depth of the narrowest name: 0 for a row or file, 1 for a function, 2 for a block."""
    return min(2, max((name.count(SEPARATOR) for name in names), default=0))


class AnswerPlaces:
    """The nodes that may answer in one mode, with their names; nodes of equal text share their names."""

    def __init__(self, store: GraphStore, mode: str, source: str | None, depth: int) -> None:
        """Read the nodes; answers are distinguished down to a depth as returned by measure_depth."""
        labels = LABEL_OF_MODE[mode]
        found = (node for node in store.nodes(labels, source) if mode != "file" or holds_code(node))
        nodes = sorted(found, key=lambda node: node.id)
        others = store.nodes(DECLARATION_LABELS, source) if mode != "file" else ()
        self.texts = _read_files(store, nodes) if mode == "file" else {node.id: node.content for node in nodes}
        self.distinct = len({node.content_hash for node in nodes})
        self._depth = depth if mode != "file" else 0
        self._names: dict[str, tuple[str, ...]] = {}  # by node
        self._hashes: dict[str, str] = {}  # of the text, by node
        self._holding: dict[str, set[str]] = defaultdict(set)  # names by hash of the text
        self._held: dict[str, set[str]] = defaultdict(set)  # hashes of the text by name
        for node in nodes:
            self._add(node)
            for name in name_node(node):
                self._held[name].add(node.content_hash)
        for node in others:
            self._add(node)

    def _add(self, node: Node) -> None:
        self._names[node.id] = name_node(node)
        self._hashes[node.id] = node.content_hash
        self._holding[node.content_hash].update(self._names[node.id])

    def show_name(self) -> str:
        """Return the name of one answer, as an example."""
        names = self._names[next(iter(self.texts))]
        return names[min(self._depth, len(names) - 1)]

    def widen(self, gold: Mapping[str, float]) -> dict[str, float]:
        """Map right answers to the depth of this mode: a file counts if the narrower answer is in it."""
        widened: dict[str, float] = {}
        for name, gain in gold.items():
            wide = SEPARATOR.join(name.split(SEPARATOR)[: self._depth + 1])
            widened[wide] = max(gain, widened.get(wide, gain))
        return widened

    def list_missing(self, gold: Collection[str]) -> list[str]:
        """Return the right answers without a node of this mode, in order."""
        return [name for name in gold if name not in self._held]

    def judge(self, ids: Sequence[str], gold: Mapping[str, float]) -> Answered:
        """Find the right answers among the nodes returned by a system, best first.

        Several nodes of one answer, such as the functions of a row, count once, at the rank of the first. Right answers
        of equal text count as one. A right answer missing in the graph stays among those to be found.
        """
        alike = self._join_equal(gold)
        left = {name: gain for names, gain in alike for name in names}
        found: list[tuple[int, float]] = []
        seen: set[str] = set()
        for node_id in ids:
            names = self._names[node_id]
            place = names[min(self._depth, len(names) - 1)]
            if place in seen:
                continue
            seen.add(place)
            stands_for = [name for name in self._holding[self._hashes[node_id]] if name in left]
            if stands_for:
                right = min(stands_for, key=lambda name: (-left[name], name))
                found.append((len(seen), left[right]))
                for name in next(names for names, _ in alike if right in names):
                    del left[name]
        ideal = tuple(sorted((gain for _, gain in alike), reverse=True))
        return Answered(tuple(found), ideal, len(ids), min(DEPTH, self.distinct))

    def _join_equal(self, gold: Mapping[str, float]) -> list[tuple[tuple[str, ...], float]]:
        """Merge right answers of the same texts; the highest gain counts."""
        groups: dict[object, list[str]] = defaultdict(list)
        for name in gold:
            groups[frozenset(self._held[name]) if name in self._held else name].append(name)
        return [(tuple(names), max(gold[name] for name in names)) for names in groups.values()]


def _read_files(store: GraphStore, nodes: Sequence[Node]) -> dict[str, str]:
    """Read the texts of files, whose nodes hold none."""
    ids = {(node.source, node.path): node.id for node in nodes}
    paths: dict[str, list[str]] = defaultdict(list)
    for source, path in ids:
        paths[source].append(path)
    found = {ids[source, path]: text for source in paths for path, text in store.texts(source, paths[source])}
    return {node.id: found.get(node.id, b"").decode("utf-8", "replace") for node in nodes}
