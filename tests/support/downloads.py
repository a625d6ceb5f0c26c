"""Where downloads of tests are kept between checkouts: in the user's cache folder, named by their content."""

from __future__ import annotations

import os
from pathlib import Path

# Read on import: tests run with a cache folder of their own.
_CACHES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
DOWNLOADS = Path(os.environ.get("PKG_TEST_DOWNLOADS") or _CACHES / "programming-knowledge-graph" / "tests").absolute()
