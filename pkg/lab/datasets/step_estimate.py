"""What a step asks of a model, before it is asked: requests, tokens, and what they cost at most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pkg.errors import count_things
from pkg.lab.datasets.asking import Request
from pkg.models.usage import Price
from pkg.services import WORST_BYTES_A_TOKEN, estimate_tokens


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """The most that a step may take; texts that are kept from an earlier run cost nothing."""

    step: str
    requests: int
    prompt_tokens: int  # estimated from bytes, rather too many
    completion_tokens: int  # as many as each answer may have
    cost: float | None  # where a price is known

    def describe(self) -> str:
        """Say it in one sentence."""
        tokens = f"about {self.prompt_tokens:,} tokens to read and at most {self.completion_tokens:,} to write"
        cost = "" if self.cost is None else f", at most {self.cost:,.4f} at this price"
        return f"{self.step}: {count_things(self.requests, 'request')}, {tokens}{cost}"


def estimate_requests(step: str, requests: Iterable[Request], price: Price | None) -> StepEstimate:
    """Add up what requests take; nobody is asked."""
    count = prompt = completion = 0
    for request in requests:
        count += 1
        prompt += sum(estimate_tokens(message.content) for message in request.asked.messages)
        completion += request.decoding.max_tokens
    cost = None if price is None else price.count_cost(prompt, completion)
    return StepEstimate(step, count, prompt, completion, cost)


def imagine_text(tokens: int) -> str:
    """Give a text that is estimated at so many tokens, for one that is not written yet."""
    return "x" * (tokens * WORST_BYTES_A_TOKEN)
