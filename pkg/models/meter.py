"""What texts cost: a model that adds it up, the price of tokens, and the line that a command ends with."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pkg.errors import UsageError, shorten
from pkg.models.batch import Prompt, write_all
from pkg.models.text_model import Decoding, Generation, Listen, Message, TextModel, Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in whatever money."""

    prompt: float
    completion: float

    def find_cost(self, usage: Usage) -> float:
        """Find what texts cost."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / MILLION


def parse_price(text: str) -> Price:
    """Read a price such as 0.15/0.60: of a million tokens that are read, and that are written; one for both will do.

    Raises UsageError for what is no price.
    """
    read, slash, written = text.partition("/")
    try:
        price = Price(float(read), float(written if slash else read))
        if not all(math.isfinite(each) and each >= 0 for each in (price.prompt, price.completion)):
            raise ValueError
    except ValueError:
        raise UsageError(
            f"the price is '{shorten(text, 40)}'; expected that of a million tokens, read and written: 0.15/0.60"
        ) from None
    return price


def read_price(environment: Mapping[str, str] = os.environ) -> Price | None:
    """Read the price that PKG_PRICE gives; None without one, a UsageError for what is none."""
    text = environment.get("PKG_PRICE", "").strip()
    return parse_price(text) if text else None


def render_usage(usage: Usage, model: str, price: Price | None = None) -> str:
    """Write what texts of a model have cost, in one line."""
    requests = f"{usage.requests:,} request{'' if usage.requests == 1 else 's'}"
    tokens = f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written"
    cost = "" if price is None else f", cost {price.find_cost(usage):,.4f}"
    return f"{model}: {requests}, {tokens}, {usage.seconds:,.1f} s{cost}"


class MeteredModel:
    """A model that adds up what its texts cost, whoever asks for them; several threads may."""

    def __init__(self, model: TextModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Tell what all texts so far have cost."""
        return self._usage

    @property
    def name(self) -> str:
        """Name the model as the registry knows it."""
        return self._model.name

    @property
    def identity(self) -> str:
        """Name what its texts depend on."""
        return self._model.identity

    @property
    def window(self) -> int | None:
        """Tell how many tokens prompt and answer may have together."""
        return self._model.window

    @property
    def parallel(self) -> int:
        """Tell how many requests are worth to be sent at once."""
        return self._model.parallel

    @property
    def can_fill(self) -> bool:
        """Tell whether it fills holes."""
        return self._model.can_fill

    @property
    def can_prime(self) -> bool:
        """Tell whether an answer can be begun for it."""
        return self._model.can_prime

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return self._model.count_tokens(text)

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Go on where a text ends."""
        return self._add(self._model.complete(prompt, decoding, listen))

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Write what stands between two texts."""
        return self._add(self._model.fill(prefix, suffix, decoding))

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Answer a conversation."""
        return self._add(self._model.chat(messages, decoding, listen))

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        """Write a text for each prompt."""
        return [self._add(written) for written in write_all(self._model, prompts, decoding)]

    def close(self) -> None:
        """Free what it holds."""
        self._model.close()

    def _add(self, written: Generation) -> Generation:
        with self._lock:
            self._usage += written.usage
        return written
