"""Settings for every test: one thread for numpy, examples by profile, and an environment without the user's own."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is first imported

settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hide the caller's settings and give each test a data folder of its own."""
    for name in os.environ:
        if name.startswith(("PKG_", "OPENAI_", "VOYAGE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
