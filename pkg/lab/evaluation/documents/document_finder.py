"""Find the documents that the columns documents and documents-reranked show, as in the paper on RAG (U-02 to U-06)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pkg.encode.registry import load_encoder, name_encoder
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.contexts import CodeFinder, ShownCode, show_reference
from pkg.lab.evaluation.code.evaluation_conditions import DOCUMENT_FINDERS, Finder
from pkg.lab.evaluation.documents.document_index import DocumentIndex
from pkg.lab.evaluation.documents.document_rows import DocumentSet
from pkg.lab.evaluation.documents.late_interaction import TokenModel, open_token_model, order_by_tokens

DEPTH = 10  # documents that late interaction orders; the paper does not state its number
SHOWN = 3  # documents in a prompt


class DocumentFinder:
    """Finds documents for the columns that show some, and leaves the other columns to another finder."""

    def __init__(self, found: DocumentSet, encoder: str, order: str, other: CodeFinder | None = None) -> None:
        """Take the documents, the names of the encoders that search and order them, and the finder of graph code."""
        self._found, self._other = found, other
        self._encoder, self._order = name_encoder(encoder), name_encoder(order)

    def describe(self) -> dict[str, Any]:
        """Return the files with their numbers of rows, and the encoders, as a run records them."""
        files = [
            {
                "name": file.name,
                "documents": len(file.documents),
                "skipped": len(file.skipped),
                "first_skip": str(file.skipped[0]) if file.skipped else "",
            }
            for file in self._found.files
        ]
        return {"files": files, "sha256": self._found.sha256, "encoder": self._encoder, "order": self._order}

    def find(self, finder: Finder, item: Item) -> ShownCode:
        """Return the documents or the code that a condition shows for an item."""
        if finder not in DOCUMENT_FINDERS:
            return show_reference(item) if self._other is None else self._other.find(finder, item)
        hits = self._index.search(item.query, DEPTH)
        if finder == "documents-reranked":
            order = order_by_tokens(self._tokens, item.query, [document.text for document, _ in hits])
            hits = [hits[index] for index in order]
        shown = tuple(HelperText(document.place, document.text) for document, _ in hits[:SHOWN])
        return ShownCode(shown, score=hits[0][1] if hits else None)

    @cached_property
    def _index(self) -> DocumentIndex:
        return DocumentIndex(self._found.documents, load_encoder(self._encoder))

    @cached_property
    def _tokens(self) -> TokenModel:
        return open_token_model(self._order)
