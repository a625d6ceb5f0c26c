"""Report the cost of texts: requests, tokens, time, and money if the price of tokens is known."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from pkg.errors import UsageError, count_things, shorten
from pkg.models.text_model import Usage

_MILLION = 1_000_000
_SHOWN = 40  # characters of an invalid price


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in any currency."""

    prompt: float
    completion: float

    def count_cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of tokens."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / _MILLION


def parse_price(text: str) -> Price:
    """Parse IN/OUT, such as 0.15/0.60, or one number for both; raises UsageError for an invalid price."""
    parts = text.split("/")
    try:
        prompt, completion = (float(part) for part in (parts * 2 if len(parts) == 1 else parts))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
        raise UsageError(
            f"the price is '{shorten(text, _SHOWN)}'; expected the price of a million tokens, IN/OUT, such as 0.15/0.60"
        )
    return Price(prompt, completion)


def read_price(environment: Mapping[str, str] = os.environ) -> Price | None:
    """Return the price in PKG_PRICE, or None; raises UsageError for an invalid price."""
    text = environment.get("PKG_PRICE", "").strip()
    return parse_price(text) if text else None


def render_usage(usage: Usage, model: str, price: Price | None = None) -> str:
    """Render the usage in one line."""
    line = f"{model}: {count_things(usage.requests, 'request')},"
    line += f" {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {usage.seconds:,.1f} seconds"
    if price is None:
        return line
    return f"{line}, {price.count_cost(usage.prompt_tokens, usage.completion_tokens):,.4f} at its price"
