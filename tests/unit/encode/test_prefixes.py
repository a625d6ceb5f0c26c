"""Prefixes of queries and documents for known families of models."""

from __future__ import annotations

import pytest

from pkg.encode.service import find_prefix


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/multilingual-E5-base", "query: ", "passage: "),
        ("BAAI/bge-m3", "", ""),
        ("text-embedding-3-small", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
    ],
)
def test_a_family_has_its_prefixes(model: str, query: str, document: str) -> None:
    assert (find_prefix(model, is_query=True), find_prefix(model, is_query=False)) == (query, document)


def test_a_question_for_code_says_so() -> None:
    assert "code" in find_prefix("nomic-ai/CodeRankEmbed", is_query=True)
    assert find_prefix("nomic-ai/CodeRankEmbed", is_query=False) == ""
