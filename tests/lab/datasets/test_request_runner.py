"""Requests run in order, equal ones once, also with batching models; texts are cached by a hash of their inputs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from scripted_model import Asked, ScriptedModel

from pkg.errors import ContextLengthError, ModelAnswerError, ModelBusyError
from pkg.lab.datasets.dataset_rows import Place
from pkg.lab.datasets.request_runner import Reply, Request, RequestRunner
from pkg.models.prompt_batch import Conversation, Prompt, write
from pkg.models.text_cache import TextCache
from pkg.models.text_model import Decoding, Generation, Message, Usage

ASKED = Conversation((Message("system", "Be short."), Message("user", "Why?")))
WRITTEN = Generation("Because \ud800 \0 of 'quotes'.".replace("\ud800", "ü"), "length", Usage(1, 7, 3, 0.5))


@pytest.fixture
def cache() -> Iterator[TextCache]:
    with closing(TextCache()) as opened:
        yield opened


def make_requests(*texts: str, seed: int = 0) -> list[Request]:
    place = Place("shop", None, "a.py")
    decoding = Decoding(seed=seed)
    return [Request(place, {}, Conversation((Message("user", text),)), decoding) for text in texts]


def echo(asked: Asked) -> str | Exception:
    text = asked[-1].content
    if text == "long":
        return ContextLengthError("it is too long")
    if text == "strange":
        return ModelAnswerError("a page of HTML")
    return ModelBusyError("no money left") if text == "busy" else text.upper()


@dataclass
class BatchingScript(ScriptedModel):
    """A scripted model that takes batches; a refused prompt fails its batch."""

    batches: list[int] = field(default_factory=list)
    batch_size: int = 3

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        self.batches.append(len(prompts))
        return [write(self, prompt, decoding) for prompt in prompts]


def ask(model: ScriptedModel, cache: TextCache, requests: list[Request]) -> list[Reply]:
    return list(RequestRunner(model, cache).run(requests))


@pytest.mark.parametrize("parallel", [1, 4])
def test_replies_come_in_order_and_a_permanent_error_stops_no_other_request(cache: TextCache, parallel: int) -> None:
    model = ScriptedModel(echo, parallel=parallel)
    replies = ask(model, cache, make_requests("a", "long", "b", "strange", "c"))
    assert [reply.text for reply in replies] == ["A", "", "B", "", "C"]
    assert [reply.fault for reply in replies if reply.fault] == [
        "longer than the window of the model", "no answer of the model",
    ]  # fmt: skip


def test_a_busy_service_ends_the_run_and_finished_texts_are_cached(cache: TextCache) -> None:
    with pytest.raises(ModelBusyError):
        ask(ScriptedModel(echo), cache, make_requests("a", "b", "busy", "c"))
    again = ScriptedModel(lambda asked: "new")
    assert [reply.text for reply in ask(again, cache, make_requests("a", "b", "busy"))] == ["A", "B", "new"]
    assert len(again.asked) == 1


def test_equal_parallel_requests_are_paid_for_once(cache: TextCache) -> None:
    at_once = []

    def wait(asked: Asked) -> str:
        at_once.append(threading.active_count())
        time.sleep(0.05)
        return "done"

    model = ScriptedModel(wait, parallel=6)
    runner = RequestRunner(model, cache)
    replies = list(runner.run(make_requests(*["same"] * 6, "other")))
    assert {reply.text for reply in replies} == {"done"}
    assert (len(model.asked), runner.cached, runner.usage.requests) == (2, 5, 2)


def test_batches_have_one_decoding_and_no_cached_requests(cache: TextCache) -> None:
    model = BatchingScript(echo)
    ask(model, cache, make_requests("a"))
    requests = [*make_requests("a", "b", "b", "c", "d"), *make_requests("a", seed=1)]
    assert [reply.text for reply in ask(model, cache, requests)] == ["A", "B", "B", "C", "D", "A"]
    assert model.batches == [1, 1, 2, 1]


def test_the_requests_of_a_failed_batch_are_retried_alone(cache: TextCache) -> None:
    replies = ask(BatchingScript(echo), cache, make_requests("a", "long", "b"))
    assert [(reply.text, bool(reply.fault)) for reply in replies] == [("A", False), ("", True), ("B", False)]


def test_listen_is_called_for_each_reply(cache: TextCache) -> None:
    from pkg.lab.datasets.dataset_rows import StepCounts
    from pkg.lab.datasets.request_runner import run_step

    told: list[int] = []
    counts = StepCounts("step")
    runner = RequestRunner(ScriptedModel(echo), cache, told.append)
    rows = list(run_step(runner, make_requests("a", "b", "long"), lambda reply: [{"id": reply.text}], counts))
    assert [row["id"] for row in rows] == ["A", "B"]
    assert told == [1, 2, 3]
    assert (counts.taken, counts.dropped.total()) == (3, 1)
