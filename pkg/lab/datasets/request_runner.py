"""Requests to a model, several at a time; each text is cached as soon as it is complete and never paid for twice.

Texts are stored in the cache folder of the user by a hash of their inputs. Failures of the cache are recorded in
`fault`, because a text that is not stored costs money again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby, islice
from threading import Lock

from pkg.errors import ContextLengthError, ModelAnswerError, count_things
from pkg.lab.datasets.dataset_rows import Place, Row, StepCounts
from pkg.models.prompt_batch import BatchingModel, Conversation, write
from pkg.models.text_cache import TextCache, make_key
from pkg.models.text_model import Decoding, Generation, TextModel, Usage
from pkg.models.usage import Price
from pkg.resources import map_ahead
from pkg.services import WORST_BYTES_A_TOKEN, estimate_tokens


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt about a place."""

    place: Place
    row: Row  # fields of the resulting row that are known already
    prompt: Conversation
    decoding: Decoding
    prefill: str = ""  # start of the answer, for models that continue one
    second_prefill: str = ""  # a later part of the answer; if the model stops before it, it continues from there


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a request, or the reason why there is none."""

    request: Request
    text: str  # including the prefill
    is_cut: bool = False  # the token limit was reached
    fault: str = ""


class RequestRunner:
    """Runs requests on a model with a cache and counts the usage of uncached ones. Close it after use."""

    def __init__(self, model: TextModel, cache: TextCache, listen: Callable[[int], None] | None = None) -> None:
        """Take a model; listen: called after each reply with the number of replies so far."""
        self.model = model
        self.usage = Usage()
        self.cached = 0  # texts found in the cache
        self._cache, self._listen = cache, listen
        self._replies = 0
        self._pool = ThreadPoolExecutor(max(1, model.parallel))
        self._lock = Lock()
        self._key_locks: dict[bytes, Lock] = {}

    def run(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield a reply to each request, in their order; errors that may be temporary are raised.

        Steps that run at the same time share the limit of parallel requests.
        """
        model = self.model
        if isinstance(model, BatchingModel):
            yield from self._run_batches(model, requests)
            return
        yield from map_ahead(lambda request: self._pool.submit(self._run_one, request), requests, model.parallel)

    def close(self) -> None:
        """Wait for the texts in progress, which are cached, and cancel the other requests."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def report_reply(self) -> None:
        """Count a reply and call `listen`."""
        self._replies += 1
        if self._listen is not None:
            self._listen(self._replies)

    def _run_one(self, request: Request) -> Reply:
        key = self._make_key(request)
        with self._lock:
            key_lock = self._key_locks.setdefault(key, Lock())
        with key_lock:  # an equal request at the same time waits for this text
            written = self._find(key)
            if written is None:
                try:
                    written = write(self.model, self._add_prefill(request), request.decoding)
                except (ContextLengthError, ModelAnswerError) as fault:
                    return Reply(request, "", fault=_name_fault(fault))
                written = self._keep(key, request, written)
        return self._continue(request, written)

    def _continue(self, request: Request, written: Generation) -> Reply:
        """Continue a text that ends before its second prefill; small models stop after the question."""
        left = request.decoding.max_tokens - written.usage.completion_tokens
        is_cut = written.finish == "length"
        is_complete = request.second_prefill in written.text or is_cut or left < 1  # "" is in every text
        if is_complete or not self._can_prefill(request):
            return Reply(request, written.text, is_cut)
        prefill = f"{written.text.rstrip()}\n{request.second_prefill}"
        return self._run_one(
            replace(request, prefill=prefill, second_prefill="", decoding=replace(request.decoding, max_tokens=left))
        )

    def _run_batches(self, model: BatchingModel, requests: Iterable[Request]) -> Iterator[Reply]:
        """Run requests in batches of one decoding each."""
        for decoding, alike in groupby(requests, lambda request: request.decoding):
            while batch := list(islice(alike, model.batch_size)):
                yield from self._run_batch(model, batch, decoding)

    def _run_batch(self, model: BatchingModel, batch: list[Request], decoding: Decoding) -> list[Reply]:
        keyed = [(self._make_key(request), request) for request in batch]
        found = {key: known for key, _ in keyed if (known := self._find(key)) is not None}
        missing = {key: request for key, request in keyed if key not in found}
        prompts = [self._add_prefill(request) for request in missing.values()]
        try:
            written = model.write_batch(prompts, decoding) if prompts else []
        except (ContextLengthError, ModelAnswerError):  # caused by one request: retry each alone
            return [self._run_one(request) for request in batch]
        for (key, request), each in zip(missing.items(), written, strict=True):
            found[key] = self._keep(key, request, each)
        return [self._continue(request, found[key]) for key, request in keyed]

    def _make_key(self, request: Request) -> bytes:
        """Return the cache key, always with the prefill: whether the model can use it may need a call to a service."""
        return make_key(self.model, request.prompt.begin(request.prefill), request.decoding)

    def _add_prefill(self, request: Request) -> Conversation:
        """Return the prompt, with the prefill if the model can continue one."""
        return request.prompt.begin(request.prefill if self._can_prefill(request) else "")

    def _can_prefill(self, request: Request) -> bool:
        return bool(request.prefill) and self.model.can_prime

    def _find(self, key: bytes) -> Generation | None:
        found = self._cache.find(key)
        if found is not None:
            with self._lock:
                self.cached += 1
        return found

    def _keep(self, key: bytes, request: Request, written: Generation) -> Generation:
        """Cache a text including its prefill."""
        if self._can_prefill(request):
            written = replace(written, text=request.prefill + written.text)
        self._cache.put(key, written)
        with self._lock:
            self.usage += written.usage
        return written


def _name_fault(fault: ContextLengthError | ModelAnswerError) -> str:
    return "longer than the window of the model" if isinstance(fault, ContextLengthError) else "no answer of the model"


def run_step(
    runner: RequestRunner, requests: Iterable[Request], read: Callable[[Reply], list[Row] | str], counts: StepCounts
) -> Iterator[Row]:
    """Run the requests of a step and yield its rows.

    read: returns the rows of a reply, or the reason why it has none.
    """
    for reply in runner.run(requests):
        counts.taken += 1
        runner.report_reply()
        found = reply.fault or read(reply)
        if isinstance(found, str):
            counts.drop(found)
        else:
            yield from found


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
