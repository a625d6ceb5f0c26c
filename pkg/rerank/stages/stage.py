"""What a stage is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pkg.rerank.case import Case, Contender
from pkg.rerank.nouns import Verdict


class Stage(Protocol):
    """One way to judge candidates."""

    name: str
    drops: bool  # a candidate that fails is out

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Say something about each contender, in their order."""
