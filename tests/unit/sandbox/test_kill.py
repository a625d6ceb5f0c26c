"""No process of a sandbox survives when its client is killed at any moment."""

from __future__ import annotations

import pytest
from kills import kill_client


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.3, 0.45, 0.6])
def test_a_killed_client_leaves_no_process(seconds: float) -> None:
    assert kill_client("process", seconds) == set()
