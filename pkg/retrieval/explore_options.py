"""Options of an exploration."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.retrieval.query_options import Globs, TestChoice


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """Settings of one exploration."""

    budget: int = 1500  # tokens of all of it; 0 for no limit
    source: str | None = None
    path: Globs = None
    tests: TestChoice = "auto"


DEFAULT_OPTIONS = ExploreOptions()
