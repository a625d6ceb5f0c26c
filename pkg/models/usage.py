"""Say what texts have cost: requests, tokens, time, and money where the price is known."""

from __future__ import annotations

from pkg.models.text_model import Usage


def render_usage(usage: Usage, model: str) -> str:
    """Say what was used in one line."""
    return (
        f"{model}: {usage.requests} requests, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens,"
        f" {usage.seconds:.1f} seconds"
    )
