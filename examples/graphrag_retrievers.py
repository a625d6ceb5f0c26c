"""Query a graph on a server through the retrievers of the package neo4j-graphrag.

    pip install 'programming-knowledge-graph[graphrag]'
    pkg build FOLDER --store bolt://localhost
    python examples/graphrag_retrievers.py bolt://localhost "parse a date from a string"

User and password are read from PKG_NEO4J_USER and PKG_NEO4J_PASSWORD. The retrievers search every source.
"""

from __future__ import annotations

import sys

from neo4j import Driver, Record
from neo4j_graphrag.embeddings import Embedder
from neo4j_graphrag.retrievers import HybridRetriever, VectorCypherRetriever
from neo4j_graphrag.types import HybridSearchRanker, RetrieverResultItem

import pkg
from pkg.encode.encoder import Encoder
from pkg.encode.registry import load_encoder
from pkg.graph.neo4j.address import parse_address
from pkg.graph.neo4j.cypher import name_text_index, name_vector_index
from pkg.graph.neo4j.session import open_driver
from pkg.model import Label
from pkg.terms.words import split_words

FUNCTIONS, WORDS = name_vector_index(Label.FUNCTION), name_text_index(Label.FUNCTION)
TOP_K = 3
LOOKED_AT = 100  # index candidates per requested result; with few the approximate index misses the nearest
VECTOR_SHARE = 0.97  # of a hybrid score: (1 + cosine) / 2 varies little, so that words alone would soon decide

WITH_BLOCKS = """RETURN node.path AS path, node.qualname AS qualname, node.content AS content, score,
    COLLECT { MATCH (node)-[:HAS_BODY]->()-[:CHILD*]->(b:Block) RETURN b.caption ORDER BY b.start } AS blocks"""
"""Columns that VectorCypherRetriever fetches around each function that it finds."""


class PkgEmbedder(Embedder):
    """Encodes questions for neo4j-graphrag as PKG encoded the functions."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self._encoder = encoder

    def embed_query(self, text: str) -> list[float]:
        """Encode a question."""
        vector: list[float] = self._encoder.encode_query(text).tolist()
        return vector


def format_function(record: Record) -> RetrieverResultItem:
    """Format a function by its place; 2 * score - 1 is the cosine."""
    return RetrieverResultItem(
        content=f"{record['path']} {record['qualname']}",
        metadata={"cosine": 2 * record["score"] - 1, "blocks": record["blocks"], "content": record["content"]},
    )


def search_vectors(driver: Driver, embedder: Embedder, question: str) -> list[RetrieverResultItem]:
    """Find functions by their vectors, each with the blocks inside it."""
    retriever = VectorCypherRetriever(driver, FUNCTIONS, WITH_BLOCKS, embedder, result_formatter=format_function)
    return list(retriever.search(query_text=question, top_k=TOP_K, effective_search_ratio=LOOKED_AT).items)


def search_hybrid(driver: Driver, embedder: Embedder, question: str) -> list[str]:
    """Find functions by their vectors and by the words in their names, docstrings and bodies."""
    retriever = HybridRetriever(driver, FUNCTIONS, WORDS, embedder, return_properties=["path", "qualname"])
    words = " ".join(split_words(question.encode()))  # without Lucene's query syntax
    vector = embedder.embed_query(question)
    found = retriever.get_search_results(
        words,
        vector,
        top_k=TOP_K,
        effective_search_ratio=LOOKED_AT,
        ranker=HybridSearchRanker.LINEAR,
        alpha=VECTOR_SHARE,
    )
    return [f"{node['path']} {node['qualname']}" for node in (record["node"] for record in found.records)]


def main(address: str, question: str) -> None:
    """Print the results of both retrievers, and the answer of PKG itself."""
    with pkg.open_graph(address) as graph:
        encoder = load_encoder(graph.store.encoder()[0])
        hits = graph.query(question, mode="function", top_k=1, ranking="dense").hits
    with open_driver(parse_address(address)) as driver:
        embedder = PkgEmbedder(encoder)
        for item in search_vectors(driver, embedder, question):
            metadata = item.metadata or {}
            print(f"vector  {item.content}  {metadata['cosine']:.3f}  {', '.join(metadata['blocks'])}")
        for place in search_hybrid(driver, embedder, question):
            print(f"hybrid  {place}")
    for hit in hits:
        print(f"pkg     {hit.path} {hit.qualname}  {hit.score:.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("two arguments expected: ADDRESS QUESTION")
    try:
        main(*sys.argv[1:])
    except pkg.PkgError as fault:
        sys.exit(str(fault))
