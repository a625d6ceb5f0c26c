"""Estimates of a step before it runs: requests, tokens, and the highest cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pkg.errors import count_things
from pkg.lab.datasets.request_runner import Request
from pkg.models.usage import Price
from pkg.services import WORST_BYTES_A_TOKEN, estimate_tokens


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """Upper bound of the requests, tokens and cost of a step; cached texts, which cost nothing, are included."""

    step: str
    requests: int
    prompt_tokens: int  # upper estimate from bytes
    completion_tokens: int  # the token limit of each answer
    cost: float | None  # None without a price

    def describe(self) -> str:
        """Return the estimate as one line."""
        tokens = f"about {self.prompt_tokens:,} tokens to read and at most {self.completion_tokens:,} to write"
        cost = "" if self.cost is None else f", at most {self.cost:,.4f} at this price"
        return f"{self.step}: {count_things(self.requests, 'request')}, {tokens}{cost}"


def estimate_requests(step: str, requests: Iterable[Request], price: Price | None) -> StepEstimate:
    """Sum up the tokens and cost of requests, without sending them."""
    count = prompt = completion = 0
    for request in requests:
        count += 1
        prompt += sum(estimate_tokens(message.content) for message in request.prompt.messages)
        completion += request.decoding.max_tokens
    cost = None if price is None else price.count_cost(prompt, completion)
    return StepEstimate(step, count, prompt, completion, cost)


def make_placeholder_text(tokens: int) -> str:
    """Return a text that is estimated at that many tokens, in place of one that is not written yet."""
    return "x" * (tokens * WORST_BYTES_A_TOKEN)
