"""What a service says of when to ask again."""

from __future__ import annotations

import pytest

from pkg.services import parse_wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"Retry-After": "0.5", "Date": "Thu, 01 Oct 2026 00:00:00 GMT"}, 0.5),
        ({"retry-after": "Thu, 01 Oct 2026 00:00:30 GMT", "date": "Thu, 01 Oct 2026 00:00:00 GMT"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"date": "Thu, 01 Oct 2026 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_the_seconds_that_a_service_asks_to_wait_are_read_however_the_header_is_written(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert parse_wait(headers) == seconds
