"""The graph as a retriever of LlamaIndex, for query engines, chat engines and agents; needs the extra `llama-index`."""

from __future__ import annotations

import asyncio
from typing import Any

from pkg.errors import MissingExtraError
from pkg.integrations.code_retriever import CodeRetriever, Passage
from pkg.retrieval.query_options import DEFAULT_OPTIONS, QueryOptions

try:
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as fault:
    raise MissingExtraError("llama-index-core", "llama-index", "a retriever of LlamaIndex") from fault

SHOWN = ("path", "lines", "qualname")
"""Metadata that LlamaIndex writes above the code for a text model; the rest is for programs."""


class PkgRetriever(BaseRetriever):
    """A retriever of code as nodes, with the ids, scores and order of `pkg query`."""

    def __init__(
        self,
        store: str | None = None,
        options: QueryOptions = DEFAULT_OPTIONS,
        *,
        keep_misfits: bool = False,
        fresh: bool = False,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **changes: Any,
    ) -> None:
        """Configure the retriever like CodeRetriever and BaseRetriever."""
        super().__init__(callback_manager, verbose=verbose)
        self._find = CodeRetriever(store, options, keep_misfits=keep_misfits, fresh=fresh, **changes)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_make_node(each) for each in self._find(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_make_node(each) for each in await asyncio.to_thread(self._find, query_bundle.query_str)]


def _make_node(passage: Passage) -> NodeWithScore:
    hidden = [name for name in passage.metadata if name not in SHOWN]
    node = TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=passage.metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=passage.score)
