"""Write many texts at once: as a batch if the model supports it, else in parallel requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol, runtime_checkable

from pkg.models.text_model import Decoding, Generation, Message, TextModel
from pkg.resources import map_ahead


class Hole(NamedTuple):
    """The text before and the text after a hole that a model fills."""

    prefix: str
    suffix: str


class Conversation(NamedTuple):
    """The messages that a model answers."""

    messages: tuple[Message, ...]

    def begin(self, answer: str) -> Conversation:
        """Return the conversation with the beginning of its answer, if any, for a model that can continue one."""
        return Conversation((*self.messages, Message("assistant", answer))) if answer else self


Prompt = str | Hole | Conversation
"""The input of a model: a text to complete, a hole to fill, a conversation to answer."""


@runtime_checkable
class BatchingModel(Protocol):
    """A model that writes several texts in the time of one."""

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        """Write a text for each prompt, in their order; raises what TextModel raises."""


def write_all(model: TextModel, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
    """Write a text for each prompt, in their order; the first error ends the batch."""
    if isinstance(model, BatchingModel):
        return model.write_batch(prompts, decoding)
    return list(write_each(model, prompts, decoding))


def write_each(model: TextModel, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Generation]:
    """Yield the text for each prompt, in their order, as soon as it is written, so that a caller can keep it."""
    if isinstance(model, BatchingModel):
        size = max(1, model.parallel)
        for start in range(0, len(prompts), size):
            yield from model.write_batch(prompts[start : start + size], decoding)
    elif model.parallel < 2:
        yield from (write(model, prompt, decoding) for prompt in prompts)
    else:
        pool = ThreadPoolExecutor(model.parallel)
        try:
            yield from map_ahead(lambda prompt: pool.submit(write, model, prompt, decoding), prompts, model.parallel)
        finally:
            pool.shutdown(cancel_futures=True)


def write(model: TextModel, prompt: Prompt, decoding: Decoding) -> Generation:
    """Write the text for one prompt."""
    if isinstance(prompt, Hole):
        return model.fill(prompt.prefix, prompt.suffix, decoding)
    if isinstance(prompt, Conversation):
        return model.chat(prompt.messages, decoding)
    return model.complete(prompt, decoding)
