"""The graph as a retriever of LangChain, for chains, agents and tools; needs the extra `langchain`."""

from __future__ import annotations

import asyncio
from typing import Any

from pkg.errors import MissingExtraError
from pkg.integrations.code_retriever import CodeRetriever, Passage
from pkg.retrieval.query_options import DEFAULT_OPTIONS, QueryOptions

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import PrivateAttr
except ImportError as fault:
    raise MissingExtraError("langchain-core", "langchain", "a retriever of LangChain") from fault


class PkgRetriever(BaseRetriever):
    """A retriever of code as Documents, with the ids and order of `pkg query`.

    The fields of pkg.QueryOptions are keywords of the constructor and of invoke, ainvoke and bind, such as top_k=5.
    """

    _find: CodeRetriever = PrivateAttr()

    def __init__(
        self,
        store: str | None = None,
        options: QueryOptions = DEFAULT_OPTIONS,
        *,
        keep_misfits: bool = False,
        fresh: bool = False,
        **others: Any,
    ) -> None:
        """Configure the retriever like CodeRetriever; others: also the fields of BaseRetriever, such as tags."""
        super().__init__(**{name: others.pop(name) for name in BaseRetriever.model_fields if name in others})
        self._find = CodeRetriever(store, options, keep_misfits=keep_misfits, fresh=fresh, **others)

    def _get_relevant_documents(self, query: str, *, run_manager: Any, **changes: Any) -> list[Document]:
        return [_make_document(each) for each in self._find(query, **changes)]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any, **changes: Any) -> list[Document]:
        return [_make_document(each) for each in await asyncio.to_thread(self._find, query, **changes)]


def _make_document(passage: Passage) -> Document:
    return Document(id=passage.id, page_content=passage.text, metadata=passage.metadata)
