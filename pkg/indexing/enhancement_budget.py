"""Limits of a run on text models: functions, time, money."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pkg.errors import UsageError
from pkg.models.text_model import Usage
from pkg.models.usage import Price


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; None means no limit. Requests in progress at the end are finished."""

    limit: int | None = None  # functions to document, without known failures
    seconds: float | None = None
    max_cost: float | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        if self.max_cost is not None and self.price is None:
            raise UsageError("a limit on cost needs prices; give those of a million tokens: --price IN/OUT")

    def count_cost(self, usage: Usage) -> float | None:
        """Return the cost of a usage; None without a price."""
        return None if self.price is None else self.price.count_cost(usage.prompt_tokens, usage.completion_tokens)

    def take(self, functions: int, seconds: float, cost: float | None) -> Budget:
        """Return the remaining budget after some use."""
        return replace(
            self,
            limit=None if self.limit is None else max(0, self.limit - functions),
            seconds=None if self.seconds is None else max(0.0, self.seconds - seconds),
            max_cost=None if self.max_cost is None else max(0.0, self.max_cost - (cost or 0.0)),
        )

    def find_reached_limit(self, functions: int, seconds: float, usage: Usage) -> str:
        """Return the name of the limit that is reached; "" if none is."""
        cost = self.count_cost(usage)
        if self.limit is not None and functions >= self.limit:
            return f"--limit {self.limit}"
        if self.seconds is not None and seconds >= self.seconds:
            return f"--minutes {self.seconds / 60:g}"
        if self.max_cost is not None and cost is not None and cost >= self.max_cost:
            return f"--max-cost {self.max_cost:g}"
        return ""


NO_LIMIT = Budget()
