"""Write many texts at once: as a batch if the model supports it, else in parallel requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from operator import itemgetter
from typing import NamedTuple, Protocol, runtime_checkable

from pkg.models.text_model import Decoding, Generation, Message, TextModel


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

    @property
    def batch_size(self) -> int:
        """Return the number of texts that it writes together."""

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        """Write a text for each prompt, in their order; raises what TextModel raises."""


def write_all(model: TextModel, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
    """Write a text for each prompt, in their order; the first error ends the batch."""
    if isinstance(model, BatchingModel):
        return model.write_batch(prompts, decoding)
    return [text for _, text in sorted(write_each(model, prompts, decoding), key=itemgetter(0))]


def write_each(model: TextModel, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[tuple[int, Generation]]:
    """Yield the index of each prompt with its text, as soon as it is written, so that a caller can keep it.

    After an error or Ctrl-C, the texts that are being written are yielded before it is raised.
    """
    if isinstance(model, BatchingModel):
        for start in range(0, len(prompts), model.batch_size):
            yield from enumerate(model.write_batch(prompts[start : start + model.batch_size], decoding), start)
    elif model.parallel < 2:
        yield from ((index, write(model, prompt, decoding)) for index, prompt in enumerate(prompts))
    else:
        yield from _write_in_parallel(model, prompts, decoding)


def _write_in_parallel(
    model: TextModel, prompts: Sequence[Prompt], decoding: Decoding
) -> Iterator[tuple[int, Generation]]:
    pool = ThreadPoolExecutor(model.parallel)
    error: BaseException | None = None
    try:
        futures = {pool.submit(write, model, prompt, decoding): index for index, prompt in enumerate(prompts)}
        waiting = set(futures)
        while waiting:
            try:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt as interrupt:
                if error is not None:
                    raise
                done, error = set(), interrupt
            for future in sorted(done, key=futures.__getitem__):
                fault = future.exception()
                if fault is None:
                    yield futures[future], future.result()
                error = error or fault
            if error is not None:
                waiting = {each for each in waiting if not each.cancel()}
    finally:
        pool.shutdown(cancel_futures=True)
    if error is not None:
        raise error


def write(model: TextModel, prompt: Prompt, decoding: Decoding) -> Generation:
    """Write the text for one prompt."""
    if isinstance(prompt, Hole):
        return model.fill(prompt.prefix, prompt.suffix, decoding)
    if isinstance(prompt, Conversation):
        return model.chat(prompt.messages, decoding)
    return model.complete(prompt, decoding)
