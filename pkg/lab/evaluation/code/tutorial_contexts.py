"""Find what tutorials say about a task: their facts (P-12), or the plain passages of the same texts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from pkg.encode.encoder import Encoder, encode_in_batches
from pkg.errors import InputError, QueryError
from pkg.extract.text_files.text_sections import Cutter, list_marks
from pkg.generation.prompt_templates.fact_text import show_fact
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.generation.prompt_templates.template_lines import comment
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.contexts import ShownCode
from pkg.model import Label
from pkg.retrieval.query import QueryOptions, run_query

FACTS = 1  # shown for a task, as one function or block is (P-17)


class TutorialFinder:
    """Finds facts and passages of the documents of a graph; the passages are encoded once."""

    def __init__(self, store: GraphStore, encoder: Encoder, source: str | None = None) -> None:
        self._store, self._encoder, self._source = store, encoder, source

    def find_facts(self, item: Item) -> ShownCode:
        """Return the best facts for an item, pruned."""
        options = QueryOptions(mode="fact", top_k=FACTS, source=self._source)
        try:
            found = run_query(self._store, self._encoder, item.query, options)
        except QueryError as fault:
            return ShownCode(notes=(str(fault),))
        score = found.hits[0].score if found.hits else None
        return ShownCode(tuple(map(show_fact, found.hits)), score=score)

    def find_passage(self, item: Item) -> ShownCode:
        """Return the passage nearest to an item."""
        cosines = self._vectors @ self._encoder.encode_query(item.query)
        best = int(np.argmax(cosines))
        return ShownCode((self._passages[best],), score=float(cosines[best]))

    @cached_property
    def _passages(self) -> list[HelperText]:
        """Cut the texts into passages as long as a chunk at most, as comments, without their headings."""
        found = list(self._cut_passages())
        if not found:
            raise InputError("the graph holds no documents; make facts of some: pkg build PATH --reader structure")
        return found

    def _cut_passages(self) -> Iterator[HelperText]:
        last = ("", "", -1)
        for node in sorted(
            self._store.nodes([Label.FACT], self._source),
            key=lambda each: (each.source, each.path, each.start, -each.end),
        ):
            if (node.source, node.path) == last[:2] and node.start < last[2]:
                continue  # a fact inside of another
            last = node.source, node.path, node.end
            text = node.content.encode()
            for number, (start, end) in enumerate(Cutter(text, list_marks(text)).cut(0, len(text)), 1):
                yield HelperText(f"{node.path} {number}", comment(text[start:end].decode("utf-8", "replace"), "# "))

    @cached_property
    def _vectors(self) -> np.typing.NDArray[np.float32]:
        return encode_in_batches(self._encoder, (each.code.encode("utf-8", "replace") for each in self._passages))
