"""What an examination says of one thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ok, missing (an option that is not there) or broken (PKG needs it)."""

    name: str
    state: str
    detail: str
    advice: str = ""
