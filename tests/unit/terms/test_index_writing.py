"""Memory of writing the index of terms."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from pkg.model import Label
from pkg.terms.index_writing import write_terms
from pkg.terms.packed_terms import NodeKeys, TermRows, pack_terms

NODES, TERMS = 100, 1000  # of a fragment, and of each of its nodes


def test_an_index_with_more_postings_than_a_run_takes_no_more_memory(tmp_path: Path) -> None:
    """Inverting 20 million postings at once would take some 700 MB."""
    ids = np.arange(NODES, dtype=np.uint64)
    hashes = np.tile(np.arange(TERMS, dtype=np.uint32) << np.uint32(20), NODES)
    rows = TermRows(np.full(NODES, TERMS), hashes, np.full(NODES * TERMS, 7, np.uint8))
    blob = pack_terms([Label.FUNCTION] * NODES, NodeKeys(ids, ids), rows)
    tracemalloc.start()
    write_terms(tmp_path / "terms", "stamp", [(number, "s", blob) for number in range(200)], [(Label.FUNCTION,)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150_000_000
