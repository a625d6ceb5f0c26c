"""Links are sent to a server in bounded batches of whole units, none twice in one batch."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.graph.neo4j import neo4j_links
from pkg.graph.neo4j.neo4j_links import cut_links
from pkg.model import Edge, RelationType
from pkg.units import UnboundCall, UnitLinks

CALL = UnboundCall("c", "f", "x", 1, "unknown")
EDGE = Edge(RelationType.CALLS, "f", "g")


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 6), st.integers(0, 6), st.integers(0, 30))))
def test_batches_hold_every_unit_whole_in_its_order(units: list[tuple[str, int, int, int]]) -> None:
    listed = [UnitLinks(path, (EDGE,) * a, (CALL,) * b, (), b"n" * c) for path, a, b, c in units]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neo4j_links, "LINKS_AT_ONCE", 10)
        patch.setattr(neo4j_links, "NOTES_AT_ONCE", 50)
        batches = list(cut_links(listed))
    assert [each for batch in batches for each in batch.values()] == listed
    for batch in batches:
        *others, _ = batch.values()
        assert sum(1 + len(each.edges) + len(each.unbound) for each in others) < 10
        assert sum(len(each.notes) for each in others) < 50
    for before, after in pairwise(batches):
        first = next(iter(after))
        is_full = sum(1 + len(each.edges) + len(each.unbound) for each in before.values()) >= 10
        assert is_full or first in before or sum(len(each.notes) for each in before.values()) >= 50
