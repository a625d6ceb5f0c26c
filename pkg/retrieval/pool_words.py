"""Read which words of a question nodes hold, directly or by related words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pkg.model import DECLARATION_LABELS, Label, Outline
from pkg.retrieval.question import Question
from pkg.units import format_id, hash_key, name_module

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Scores = npt.NDArray[np.float64]
NO_ROW = -1  # of a node without terms


@dataclass(frozen=True, slots=True)
class Words:
    """Words of the question in some nodes; a node without terms holds none."""

    scores: Scores  # [nodes, terms]: contribution of each term of the question to the lexical score
    abbreviated: Scores  # [nodes]: contribution of all abbreviations of the question's words
    covered: Scores  # [nodes, terms]: 1 for a held term, else the similarity of the nearest held word
    rarities: Scores  # [terms]: weight of each term, by its rarity among the functions of this graph

    def pick(self, rows: Sequence[int]) -> Words:
        """Return some nodes, by their rows; NO_ROW means a node without terms."""
        chosen = np.array(rows, np.int64)
        scores, abbreviated, covered = (_pad(each)[chosen] for each in (self.scores, self.abbreviated, self.covered))
        return Words(scores, abbreviated, covered, self.rarities)


def _pad(values: Scores) -> Scores:
    """Append a node without words, as the last row."""
    return np.concatenate((values, np.zeros((1, *values.shape[1:]))))


def read_words(store: GraphStore, nodes: Iterable[Outline], question: Question) -> tuple[Words, dict[str, int]]:
    """Read the words of functions and declarations; return the row of each id as well."""
    labels = {each.id: each.label for each in nodes}
    functions = sorted(each for each, label in labels.items() if label is Label.FUNCTION)
    declarations = sorted(each for each, label in labels.items() if label in DECLARATION_LABELS)
    also = {other: 1.0 for related in question.related.values() for other in related}
    search_weights = {**also, **question.search_weights}
    parts = store.text_parts(functions, search_weights)
    rarities, scores = np.asarray(parts.rarities, np.float64), parts.scores
    if declarations:
        others = store.text_parts(declarations, search_weights, DECLARATION_LABELS[0])
        shares = others.scores / np.maximum(others.rarities, 1e-9)
        scores = np.concatenate((scores, shares * rarities))
    columns = {term: column for column, term in enumerate(search_weights)}
    asked, short = ([columns[term] for term in terms] for terms in (question.weights, question.abbreviations))
    words = Words(
        scores[:, asked],
        scores[:, short].sum(axis=1),
        _measure_coverage(scores > 0, columns, question),
        rarities[asked],
    )
    return words, {node_id: row for row, node_id in enumerate((*functions, *declarations))}


def _measure_coverage(held: npt.NDArray[np.bool_], columns: dict[str, int], question: Question) -> Scores:
    """Return for each node and term of the question the similarity of the nearest held word."""
    covered = np.zeros((len(held), len(question.weights)))
    for place, term in enumerate(question.weights):
        likeness = {**question.related.get(term, {}), term: 1.0}
        chosen = [columns[each] for each in likeness]
        covered[:, place] = (held[:, chosen] * np.array(list(likeness.values()))).max(axis=1)
    return covered


def list_scopes(owners: Sequence[Outline]) -> Iterator[tuple[str, str]]:
    """Yield for each node the ids of its class and its module, "" where there is none."""
    for each in owners:
        outer = each.qualname.rpartition(".")[0]
        yield (
            _name_scope(each.source, each.path, Label.CLASS, outer) if outer else "",
            _name_scope(each.source, each.path, Label.MODULE, name_module(each.path)),
        )


@lru_cache(maxsize=20_000)  # the best functions of a question share a few classes and modules
def _name_scope(source: str, path: str, label: Label, name: str) -> str:
    return format_id(hash_key(source, path, label.value, name, "0"))
