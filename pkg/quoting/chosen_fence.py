"""Fences and code spans of Markdown that what stands in them cannot end."""

from __future__ import annotations

import re
from collections.abc import Iterable


def choose_fence(texts: Iterable[str], least: int = 3) -> str:
    """Return a run of backticks that none of the texts holds, so that they can neither end it nor pass for it."""
    longest = max((len(run) for text in texts for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
