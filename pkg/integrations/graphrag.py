"""The graph as a retriever of neo4j-graphrag, for its GraphRAG and its tools; needs the extra `graphrag`.

It searches like `pkg query`, with any store. examples/graphrag_retrievers.py uses the retrievers of neo4j-graphrag
itself with the indexes that PKG keeps in Neo4j.
"""

from __future__ import annotations

from typing import Any

from neo4j import Record

from pkg.errors import MissingExtraError
from pkg.integrations.code_retriever import CodeRetriever
from pkg.retrieval.query_options import DEFAULT_OPTIONS, QueryOptions

try:
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as fault:
    raise MissingExtraError("neo4j-graphrag", "graphrag", "a retriever of neo4j-graphrag") from fault


class PkgRetriever(Retriever):
    """A retriever of code whose items have the order of `pkg query`, and its ids in their metadata."""

    def __init__(
        self,
        store: str | None = None,
        options: QueryOptions = DEFAULT_OPTIONS,
        *,
        keep_misfits: bool = False,
        fresh: bool = False,
        **changes: Any,
    ) -> None:
        """Configure the retriever like CodeRetriever; PKG opens the store, so the base class gets no driver."""
        self._find = CodeRetriever(store, options, keep_misfits=keep_misfits, fresh=fresh, **changes)

    def get_search_results(self, query_text: str, top_k: int | None = None) -> RawSearchResult:
        """Return the code for a question; the metadata of the result holds fits, notes and stale.

        Raises the errors of CodeRetriever.retrieve.
        """
        found = self._find.retrieve(query_text, **({} if top_k is None else {"top_k": top_k}))
        texts = ({"content": each.text, "metadata": each.metadata} for each in found.passages)
        records = [Record(each) for each in texts]  # type: ignore[no-untyped-call]
        metadata = {"fits": found.fits, "notes": list(found.notes), "stale": list(found.stale)}
        return RawSearchResult(records=records, metadata=metadata)

    def default_record_formatter(self, record: Record) -> RetrieverResultItem:
        """Return the text and metadata of a passage."""
        return RetrieverResultItem(content=record["content"], metadata=record["metadata"])
