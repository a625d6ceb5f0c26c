"""Which of two resolvers is used, while both are there."""

from __future__ import annotations

import os

IS_BOUNDED = os.environ.get("PKG_RESOLVER") != "old"
