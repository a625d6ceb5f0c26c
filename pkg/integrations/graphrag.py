"""The graph as a retriever of neo4j-graphrag, for its GraphRAG and its tools; needs the extra `graphrag`.

It searches as `pkg query` does, whatever the store. How the retrievers of that package itself search the indexes that
PKG keeps in Neo4j shows examples/graphrag_retrievers.py.
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
    """Find code for a question, as items whose order is that of `pkg query`, with its ids in the metadata."""

    def __init__(
        self,
        store: str | None = None,
        options: QueryOptions = DEFAULT_OPTIONS,
        *,
        keep_misfits: bool = False,
        fresh: bool = False,
        **changes: Any,
    ) -> None:
        """Take what CodeRetriever takes; PKG opens the store, so that no driver is given to the base."""
        self._find = CodeRetriever(store, options, keep_misfits=keep_misfits, fresh=fresh, **changes)

    def get_search_results(self, query_text: str, top_k: int | None = None) -> RawSearchResult:
        """Find code for a question; what is to be said of it stands in the metadata of the result, as notes and stale.

        Raises what CodeRetriever.retrieve raises.
        """
        found = self._find.retrieve(query_text, **({} if top_k is None else {"top_k": top_k}))
        texts = ({"content": each.text, "metadata": each.metadata} for each in found.passages)
        records = [Record(each) for each in texts]  # type: ignore[no-untyped-call]
        said = {"fits": found.fits, "notes": list(found.notes), "stale": list(found.stale)}
        return RawSearchResult(records=records, metadata=said)

    def default_record_formatter(self, record: Record) -> RetrieverResultItem:
        """Give the text of a passage and its metadata."""
        return RetrieverResultItem(content=record["content"], metadata=record["metadata"])
