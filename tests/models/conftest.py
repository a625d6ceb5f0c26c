"""Shared fixtures of model tests: one thread per model, because more would spin while another test runs."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def one_thread(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every model that a command of a test opens on one thread."""
    monkeypatch.setenv("PKG_MODEL_THREADS", "1")
