"""The path of the small text model for tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fetch_model import CODER_FILE as FETCHED

CODER_FILE = Path(os.environ.get("PKG_TEST_MODEL") or FETCHED)
"""A GGUF file: the one named, otherwise the one from `make test-models`. Read before tests hide PKG_*."""


def find_coder() -> Path:
    """Return the file of the model; skip the test without one."""
    if not CODER_FILE.is_file():
        pytest.skip(f"no model {CODER_FILE}; run: make test-models, or set PKG_TEST_MODEL to a GGUF file of a coder")
    return CODER_FILE
