"""Checksums of rows do not depend on the number of rows added at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pkg.graph.embedded.checksums import RowsChecksum, sum_rows

VALUES = st.none() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text(max_size=5) | st.binary(max_size=5)
ROWS = st.tuples(VALUES, VALUES)
Row = tuple[object, object]


@given(ROWS, st.lists(st.lists(ROWS, max_size=4), max_size=4))
def test_an_incremental_checksum_equals_that_of_all_rows(
    row: tuple[object, object], parts: list[list[tuple[object, object]]]
) -> None:
    summed = RowsChecksum(row, sum(map(len, parts)))
    for part in parts:
        summed.add(list(part))
    assert summed.value == sum_rows(row, [each for part in parts for each in part])
