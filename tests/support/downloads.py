"""Folder of the tests' downloads, shared between checkouts: in the user's cache folder, named by their content."""

from __future__ import annotations

import os
from pathlib import Path

# Read on import, because tests run with their own cache folder.
_CACHES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
DOWNLOADS = Path(os.environ.get("PKG_TEST_DOWNLOADS") or _CACHES / "programming-knowledge-graph" / "tests").absolute()
