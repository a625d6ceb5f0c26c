"""Match ranked nodes with right answers, and score them: reciprocal ranks, gains and recall, with 95 % intervals."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pkg.graph.store import GraphStore
from pkg.lab.evaluation.share_statistics import NORMAL_95, find_share_interval
from pkg.model import DECLARATION_LABELS, Label, Node
from pkg.retrieval.deps.paths import holds_code

DEPTH = 100  # answers requested and scored
CUT = 10  # answers that a person looks at; reciprocal ranks and gains beyond count as 0
RECALLS = (1, 5, CUT, DEPTH)
SEPARATOR = "::"
UNIT_LABELS = (Label.FILE, Label.ROW)
LABEL_OF_MODE = {"function": (Label.FUNCTION,), "block": (Label.BLOCK,), "file": UNIT_LABELS}


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a system for one question: ranks of the right answers, and number of answers."""

    found: tuple[tuple[int, float], ...]  # rank from 1, and gain, of each right answer in the result, best first
    ideal: tuple[float, ...]  # gains of all right answers, largest first
    given: int
    wanted: int  # number of answers available, at most DEPTH

    @property
    def rank(self) -> int | None:
        """Return the rank of the first right answer; None without one."""
        return self.found[0][0] if self.found else None


def find_rank(places: Sequence[str], gold: Sequence[str], given: int, wanted: int) -> Answered:
    """Find the first right place among the distinct ones of a result, best first; any right one is enough."""
    right = set(gold)
    rank = next((number for number, place in enumerate(places, start=1) if place in right), None)
    return Answered(() if rank is None else ((rank, 1.0),), (1.0,), given, wanted)


def summarise_ranks(answers: Sequence[Answered]) -> dict[str, int | float | list[float]]:
    """Return the means over all questions with their 95 % intervals; a question without a right answer counts as 0.

    ``hit@k`` is the share of questions with a right answer among the first k, ``recall@k`` the share of right answers.
    """
    figures: dict[str, int | float | list[float]] = {"questions": len(answers)}
    for name, values in list_scores(answers).items():
        figures[name] = round(statistics.mean(values), 4)
        figures[f"{name}_95%"] = [round(bound, 4) for bound in find_interval(values)]
    figures["empty"] = sum(each.given == 0 for each in answers)
    figures["fewer_than_there_are"] = sum(each.given < each.wanted for each in answers)
    return figures


def list_scores(answers: Sequence[Answered]) -> dict[str, list[float]]:
    """Return each measure for each question, from 0 to 1."""
    return {
        f"mrr@{CUT}": reciprocal_ranks(answers),
        f"mrr@{DEPTH}": reciprocal_ranks(answers, DEPTH),
        f"ndcg@{CUT}": [_measure_gain(each) for each in answers],
        **{f"hit@{k}": [float(bool(each.rank and each.rank <= k)) for each in answers] for k in (1, 5, CUT)},
        **{f"recall@{k}": [_measure_recall(each, k) for each in answers] for k in RECALLS},
    }


def reciprocal_ranks(answers: Sequence[Answered], k: int = CUT) -> list[float]:
    """Return 1 / rank of the first right answer to each question; 0 if it is not among the first k."""
    return [1 / each.rank if each.rank and each.rank <= k else 0.0 for each in answers]


def _measure_gain(answered: Answered) -> float:
    """Return the discounted gain of the first answers, as a share of the ideal one (NDCG, linear gains)."""
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(answered.ideal[:CUT], start=1))
    gained = sum(gain / math.log2(rank + 1) for rank, gain in answered.found if rank <= CUT)
    return gained / best if best else 0.0


def _measure_recall(answered: Answered, k: int) -> float:
    """Return the share of all right answers that are among the first k (recall as in BEIR)."""
    right = len(answered.ideal)
    return sum(rank <= k for rank, _ in answered.found) / right if right else 0.0


def find_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean of values from 0 to 1.

    It is Wilson's interval for shares, and the normal one for other means.
    """
    if set(values) <= {0.0, 1.0}:
        return find_share_interval(sum(values), len(values))
    low, high = find_normal_interval(values)
    return max(0.0, low), min(1.0, high)


def find_normal_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the normal 95 % confidence interval of a mean, such as that of differences."""
    mean = statistics.mean(values)
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return mean - NORMAL_95 * error, mean + NORMAL_95 * error


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
