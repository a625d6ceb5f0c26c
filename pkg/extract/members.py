"""What an archive's listing gives: its files, each with a way to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive; without ``read`` it is either no Python or there is a reason not to read it."""

    name: str  # as the archive spells it
    size: int
    fingerprint: str = ""
    read: Callable[[], bytes] | None = field(default=None, repr=False, compare=False)
    reason: str | None = None
