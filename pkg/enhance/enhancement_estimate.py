"""Estimates of the cost of docstrings or questions: from the sizes of functions, or from a generated sample."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.enhance.batch import write_all
from pkg.enhance.enhancement import Budget
from pkg.enhance.writer import Failure
from pkg.errors import count_things
from pkg.services import estimate_tokens

if TYPE_CHECKING:
    from pkg.enhance.docstring_cache import DocstringCache
    from pkg.enhance.undocumented import Undocumented
    from pkg.enhance.writer import TextWriter

SAMPLE = 20  # functions generated for an estimate
INSTRUCTIONS = 150  # tokens of a prompt without the function
DOCSTRING = 60  # tokens of a docstring: the mean of a small model's was 55
QUESTIONS = 35  # tokens of two questions


@dataclass(frozen=True, slots=True)
class EnhanceEstimate:
    """Estimated cost of writing the docstrings or questions of all functions that lack them."""

    model: str
    codes: int  # distinct functions to document
    functions: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None  # None without a price
    seconds: float | None  # None without a sample
    sample: int = 0  # functions generated for the estimate, kept in the cache
    failed: int = 0  # of the sample

    def describe(self) -> str:
        """Describe the estimate in one sentence."""
        tokens = f"about {self.prompt_tokens:,} tokens to read and {self.completion_tokens:,} to write"
        cost = "" if self.cost is None else f", at a price of {self.cost:,.2f}"
        return f"{count_things(self.codes, 'function')}, {tokens}{cost}"


def estimate_by_size(
    model: str, sources: Sequence[Undocumented], budget: Budget, of_questions: bool = False
) -> EnhanceEstimate:
    """Estimate from the sizes of the functions, without a request to the model."""
    codes, size, functions = _count(sources)
    length = QUESTIONS if of_questions else DOCSTRING
    allowed = codes if budget.limit is None else min(codes, budget.limit)
    prompt = (estimate_tokens("x" * (size // codes)) + INSTRUCTIONS) * allowed if codes else 0
    completion = length * allowed
    cost = None if budget.price is None else budget.price.count_cost(prompt, completion)
    return EnhanceEstimate(model, allowed, functions, prompt, completion, cost, None)


def estimate_by_sample(
    writer: TextWriter,
    sources: Sequence[Undocumented],
    budget: Budget,
    cache: DocstringCache | None = None,
    of_questions: bool = False,
) -> EnhanceEstimate:
    """Extrapolate from a generated sample, which stays in the cache; raises what the model raises."""
    plain = estimate_by_size(writer.name, sources, budget, of_questions)
    share = max(1, SAMPLE // max(1, len(sources)))
    texts = [target.text for each in sources for target in each.list_sample(share)]
    if not texts or not plain.codes:
        return plain
    before, start = writer.usage, time.monotonic()
    written = list(write_all(texts, writer, cache))
    seconds, new = time.monotonic() - start, sum(each.is_new for each in written)
    failed = sum(isinstance(each.result, Failure) for each in written)
    prompt = sum(map(writer.count_prompt_tokens, texts)) * plain.codes // len(texts)
    if new:  # a sample from the cache says nothing of length and time
        completion = (writer.usage.completion_tokens - before.completion_tokens) * plain.codes // new
        duration = round(seconds / new * plain.codes, 1)
    else:
        completion, duration = plain.completion_tokens, None
    cost = None if budget.price is None else budget.price.count_cost(prompt, completion)
    counts = plain.codes, plain.functions, prompt, completion
    return EnhanceEstimate(writer.name, *counts, cost, duration, len(texts), failed)


def _count(sources: Sequence[Undocumented]) -> tuple[int, int, int]:
    """Count the distinct functions, their bytes and their occurrences."""
    counts = [each.count() for each in sources]
    codes, size = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    return codes, size, sum(each.census.missing for each in sources)
