"""Dimensions and prefixes of known models, available without imports and requests."""

from __future__ import annotations

from pkg.services import OPENAI, VOYAGE

SERVICES = {"openai": OPENAI, "voyage": VOYAGE}

DIMENSIONS = {
    "openai": {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
    "voyage": {
        "voyage-code-2": 1536, "voyage-code-3": 1024, "voyage-large-2": 1536, "voyage-2": 1024, "voyage-3": 1024,
        "voyage-3-large": 1024, "voyage-3-lite": 512, "voyage-3.5": 1024, "voyage-3.5-lite": 1024,
    },
}  # fmt: skip
"""Lengths of the vectors of known models by service; for others a vector is requested once."""

_CODE_QUERY = "Represent this query for searching relevant code: "
_PASSAGE_QUERY = "Represent this sentence for searching relevant passages: "

_PREFIXES = (  # part of the model's name, prefix of a query, prefix of a document; the first match counts
    ("nomic-embed-code", _CODE_QUERY, ""),
    ("coderankembed", _CODE_QUERY, ""),
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed", _PASSAGE_QUERY, ""),
    ("mxbai-embed-large", _PASSAGE_QUERY, ""),
    ("bge-m3", "", ""),
    ("bge-", _PASSAGE_QUERY, ""),
    ("multilingual-e5-large-instruct", "", ""),
    ("e5-", "query: ", "passage: "),
)


def find_prefix(model: str, is_query: bool) -> str:
    """Return the prefix of a model's queries or documents by its name; "" for unknown models."""
    name = model.lower()
    for part, query, document in _PREFIXES:
        if part in name:
            return query if is_query else document
    return ""
