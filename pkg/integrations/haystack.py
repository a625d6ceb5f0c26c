"""The graph as a retriever of Haystack, a component for pipelines; needs the extra `haystack`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from pkg.errors import MissingExtraError, UsageError, refuse_password
from pkg.integrations.code_retriever import CodeRetriever, Retrieval
from pkg.retrieval.query_options import DEFAULT_OPTIONS

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as fault:
    raise MissingExtraError("haystack-ai", "haystack", "a retriever of Haystack") from fault


@component
class PkgRetriever:
    """A retriever of code as Documents, with the ids, scores and order of `pkg query`.

    A second output has notes, such as the reason why nothing fits, or changed files.
    """

    def __init__(
        self, store: str | None = None, *, keep_misfits: bool = False, fresh: bool = False, **options: Any
    ) -> None:
        """Configure the retriever like CodeRetriever; options: fields of pkg.QueryOptions, which can be serialised."""
        self._find = CodeRetriever(store, keep_misfits=keep_misfits, fresh=fresh, **options)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component, without options that have their default.

        Raises UsageError for a store address with a password, as others may read the file.
        """
        defaults, find = asdict(DEFAULT_OPTIONS), self._find
        if find.store is not None:
            refuse_password(find.store, "the file of the pipeline", "the pipeline")
        changed = {name: value for name, value in asdict(find.options).items() if value != defaults[name]}
        written: dict[str, Any] = default_to_dict(
            self, store=find.store, keep_misfits=find.keep_misfits, fresh=find.fresh, **changed
        )
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PkgRetriever:
        """Build the component from its serialised form."""
        read: PkgRetriever = default_from_dict(cls, data)
        return read

    @component.output_types(documents=list[Document], notes=list[str])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Return the code for a question.

        filters: not supported; use the options source, path, kind and tests. Raises UsageError for filters, and the
        errors of CodeRetriever.retrieve.
        """
        return _make_output(self._find.retrieve(query, **_read_changes(filters, top_k)))

    @component.output_types(documents=list[Document], notes=list[str])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        """Return the code for a question asynchronously; filters and errors as in run."""
        return _make_output(await asyncio.to_thread(self._find.retrieve, query, **_read_changes(filters, top_k)))


def _read_changes(filters: dict[str, Any] | None, top_k: int | None) -> dict[str, Any]:
    if filters:
        raise UsageError(f"filters {filters} are not supported; expected the options source, path, kind or tests")
    return {} if top_k is None else {"top_k": top_k}


def _make_output(found: Retrieval) -> dict[str, Any]:
    documents = [
        Document(id=each.id, content=each.text, meta=each.metadata, score=each.score) for each in found.passages
    ]
    notes = [*found.notes, *(f"changed since the build: {each}" for each in found.stale)]
    return {"documents": documents, "notes": notes}
