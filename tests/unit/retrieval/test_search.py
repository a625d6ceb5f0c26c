from __future__ import annotations

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.encode.encoder import Vectors
from pkg.model import Label, Matches, Node, NodeFilter
from pkg.retrieval.search import search_nodes

ZOO = """\
def feed_zebra(zebra):
    if zebra:
        zebra.feed(grass)
    return zebra


def outer():
    def inner(okapi):
        return okapi


def count_lions(lions):
    for lion in lions:
        lion.count()
"""


@pytest.fixture(name="store")
def zoo() -> FakeStore:
    return make_store({"zoo.py": ZOO, "copy.py": ZOO})


def encode(text: str) -> Vectors:
    query: Vectors = FakeEncoder().encode([text.encode()])[0]
    return query


def search(
    store: FakeStore, text: str, mode: str, k: int, where: NodeFilter | None = None
) -> tuple[Matches, list[Node]]:
    matches = search_nodes(store, encode(text), mode, k, where or NodeFilter())
    return matches, store.get([match.id for match in matches.matches])


def test_block_mode_looks_at_blocks_alone(store: FakeStore) -> None:
    _, nodes = search(store, "zebra feed grass", "block", 3)

    assert {node.label for node in nodes} == {Label.BLOCK}
    assert nodes[0].kind == "if"


def test_function_mode_looks_at_functions_alone(store: FakeStore) -> None:
    _, nodes = search(store, "zebra feed grass", "function", 2)

    assert {node.label for node in nodes} == {Label.FUNCTION}
    assert nodes[0].qualname == "feed_zebra"


def test_both_modes_are_merged_by_score_and_cut_to_k(store: FakeStore) -> None:
    matches, nodes = search(store, "zebra feed grass", "both", 4)

    scores = [match.score for match in matches.matches]
    assert scores == sorted(scores, reverse=True)
    assert {node.label for node in nodes} == {Label.BLOCK, Label.FUNCTION}
    assert len(nodes) == 4


def test_a_block_and_a_function_of_equal_content_collapse(store: FakeStore) -> None:
    matches, nodes = search(store, "inner okapi return", "both", 100)

    hashes = [node.content_hash for node in nodes]
    assert len(set(hashes)) == len(hashes)
    inner = [m for m, node in zip(matches.matches, nodes, strict=True) if node.content.startswith("def inner")]
    assert [match.same_content for match in inner] == [3]  # function and body of outer, in two files


def test_counts_of_both_labels_are_added(store: FakeStore) -> None:
    block, function, both = (search(store, "zebra", mode, 100)[0] for mode in ("block", "function", "both"))

    assert both.searched == block.searched + function.searched
    assert both.searched - both.filtered == len(both.matches) + both.folded


def test_block_kinds_do_not_narrow_functions(store: FakeStore) -> None:
    where = NodeFilter(kinds=frozenset({"for"}))

    _, nodes = search(store, "zebra", "both", 100, where)

    assert {node.kind for node in nodes if node.label is Label.BLOCK} == {"for"}
    assert {node.qualname for node in nodes if node.label is Label.FUNCTION} >= {"feed_zebra", "outer"}


@pytest.mark.parametrize("mode", ["block", "function", "both"])
def test_a_huge_k_returns_everything(store: FakeStore, mode: str) -> None:
    matches, _ = search(store, "zebra", mode, 10**9)

    assert len(matches.matches) == matches.searched - matches.folded
