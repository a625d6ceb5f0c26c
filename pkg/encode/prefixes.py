"""What families of models want before a question and before a document, for services that do not put it there."""

from __future__ import annotations

_CODE_QUERY = "Represent this query for searching relevant code: "
_PASSAGE_QUERY = "Represent this sentence for searching relevant passages: "

_PREFIXES = (  # part of the model's name, before a question, before a document; the first that fits
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
    """Give what a model wants before a text, by its name; "" for models that are not known to want any."""
    name = model.lower()
    for part, query, document in _PREFIXES:
        if part in name:
            return query if is_query else document
    return ""
