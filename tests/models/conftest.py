"""What tests of models share: one thread for each, because threads of a model spin while another test has the core."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def one_thread(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every model that a command of a test opens on one thread."""
    monkeypatch.setenv("PKG_MODEL_THREADS", "1")
