"""Ask a model about many rows, several at once; each text is kept as soon as it is there and never paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby, islice
from threading import Lock

from pkg.errors import ContextLengthError, ModelAnswerError
from pkg.lab.datasets.dataset_rows import Place, Row, StepCounts
from pkg.lab.datasets.text_cache import TextCache, make_key
from pkg.models.prompt_batch import BatchingModel, Conversation, write
from pkg.models.text_model import Decoding, Generation, Message, TextModel, Usage
from pkg.resources import map_ahead


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked about a place."""

    place: Place
    row: Row  # what is known of it already
    asked: Conversation
    decoding: Decoding
    begun: str = ""  # how the answer begins, for models that can be begun for
    then: str = ""  # what stands further on in it; such a model that stops before it is begun for once more from there


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote, or why it could not."""

    request: Request
    text: str  # with the beginning that it was given
    is_cut: bool = False  # its tokens ran out
    fault: str = ""


class Asker:
    """A model with a memory of what it has written; counts what it was really asked for. Close it after use."""

    def __init__(self, model: TextModel, cache: TextCache, listen: Callable[[int], None] | None = None) -> None:
        """Ask a model; listen is told after each reply how many there were."""
        self.model = model
        self.usage = Usage()
        self.known = 0  # texts that an earlier run was paid for
        self._cache, self._listen = cache, listen
        self._replies = 0
        self._pool = ThreadPoolExecutor(max(1, model.parallel))
        self._lock = Lock()
        self._turns: dict[bytes, Lock] = {}

    def ask(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Give a reply to each request, in their order; a fault that a later try may not have ends it.

        Several steps may ask at one time; together they ask for as many texts at once as are worth it.
        """
        model = self.model
        if isinstance(model, BatchingModel):
            yield from self._ask_batches(model, requests)
            return
        yield from map_ahead(lambda request: self._pool.submit(self._ask_one, request), requests, model.parallel)

    def close(self) -> None:
        """Wait for what is being written, which is kept, and ask for nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def tell(self) -> None:
        """Tell who listens that one more reply was read."""
        self._replies += 1
        if self._listen is not None:
            self._listen(self._replies)

    def _ask_one(self, request: Request) -> Reply:
        key = self._make_key(request)
        with self._lock:
            turn = self._turns.setdefault(key, Lock())
        with turn:  # whoever asks the same meanwhile waits for the text
            written = self._find(key)
            if written is None:
                try:
                    written = write(self.model, self._begin(request), request.decoding)
                except (ContextLengthError, ModelAnswerError) as fault:
                    return Reply(request, "", fault=_name_fault(fault))
                written = self._keep(key, request, written)
        return self._go_on(request, written)

    def _go_on(self, request: Request, written: Generation) -> Reply:
        """Have a text gone on with that ends before what has to stand in it; small models stop behind a question."""
        left = request.decoding.max_tokens - written.usage.completion_tokens
        is_whole = not request.then or request.then in written.text or written.finish == "length" or left < 1
        if is_whole or not self._can_begin(request):
            return Reply(request, written.text, written.finish == "length")
        begun = f"{written.text.rstrip()}\n{request.then}"
        return self._ask_one(
            replace(request, begun=begun, then="", decoding=replace(request.decoding, max_tokens=left))
        )

    def _ask_batches(self, model: BatchingModel, requests: Iterable[Request]) -> Iterator[Reply]:
        """Ask for as many at a time as are worth it, each batch of one decoding."""
        for decoding, alike in groupby(requests, lambda request: request.decoding):
            while batch := list(islice(alike, max(1, self.model.parallel))):
                yield from self._ask_batch(model, batch, decoding)

    def _ask_batch(self, model: BatchingModel, batch: list[Request], decoding: Decoding) -> list[Reply]:
        keyed = [(self._make_key(request), request) for request in batch]
        found = {key: known for key, _ in keyed if (known := self._find(key)) is not None}
        missing = {key: request for key, request in keyed if key not in found}
        prompts = [self._begin(request) for request in missing.values()]
        try:
            written = model.write_batch(prompts, decoding) if prompts else []
        except (ContextLengthError, ModelAnswerError):  # of one of them; each is asked for alone
            return [self._ask_one(request) for request in batch]
        for (key, request), each in zip(missing.items(), written, strict=True):
            found[key] = self._keep(key, request, each)
        return [self._go_on(request, found[key]) for key, request in keyed]

    def _make_key(self, request: Request) -> bytes:
        """Hash what is asked; whether this model can be begun for is not asked: a service would have to be."""
        return make_key(self.model, _begin(request.asked, request.begun), request.decoding)

    def _begin(self, request: Request) -> Conversation:
        """Add how the answer begins, where the model goes on from there."""
        return _begin(request.asked, request.begun if self._can_begin(request) else "")

    def _can_begin(self, request: Request) -> bool:
        return bool(request.begun) and self.model.can_prime

    def _find(self, key: bytes) -> Generation | None:
        found = self._cache.find(key)
        if found is not None:
            with self._lock:
                self.known += 1
        return found

    def _keep(self, key: bytes, request: Request, written: Generation) -> Generation:
        """Keep a text with its beginning."""
        if self._can_begin(request):
            written = replace(written, text=request.begun + written.text)
        self._cache.put(key, written)
        with self._lock:
            self.usage += written.usage
        return written


def _begin(asked: Conversation, begun: str) -> Conversation:
    return Conversation((*asked.messages, Message("assistant", begun))) if begun else asked


def _name_fault(fault: ContextLengthError | ModelAnswerError) -> str:
    return "longer than the window of the model" if isinstance(fault, ContextLengthError) else "no answer of the model"


def run_step(
    asker: Asker, requests: Iterable[Request], read: Callable[[Reply], list[Row] | str], counts: StepCounts
) -> Iterator[Row]:
    """Ask, and give the rows that come of the replies; read tells them, or why there is none."""
    for reply in asker.ask(requests):
        counts.taken += 1
        asker.tell()
        found = reply.fault or read(reply)
        if isinstance(found, str):
            counts.drop(found)
        else:
            yield from found
