"""The real client of OpenAI against a fake service, with failures."""

from __future__ import annotations

import socket
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from text_server import STREAM, Body, Reply, TextServer, refuse, serve_texts, stream

from pkg.errors import (
    ContextLengthError,
    ModelAnswerError,
    ModelBusyError,
    ModelError,
    ModelUnfitError,
    PkgError,
)
from pkg.models.model_options import ModelOptions
from pkg.models.openai_client import OpenAIClient
from pkg.models.openai_model import OpenAIModel
from pkg.models.text_model import Decoding, Message
from pkg.services import TRIES

pytestmark = [pytest.mark.model, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

KEY = "sk-key-of-the-test"
ASK = [Message("user", "Say something.")]
PRIMED = [*ASK, Message("assistant", "I sa")]
SHORT = Decoding(max_tokens=8)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve_texts() as running:
        yield running


def open_at(url: str, model: str = "m", **options: Any) -> tuple[OpenAIModel, list[float]]:
    """Open a model; return it with the list of its sleeps, in seconds."""
    slept: list[float] = []
    client = OpenAIClient(url, f"openai:{model}@{url}", options.get("timeout"))
    return OpenAIModel(client, model, f"openai:{model}@{url}", "test", ModelOptions(**options), slept.append), slept


def test_an_answer_is_streamed_and_counted(server: TextServer) -> None:
    server.always = lambda body: stream(["It ", "works", "."], usage={"prompt_tokens": 7, "completion_tokens": 3})
    told: list[str] = []
    model, _ = open_at(server.url)
    answer = model.chat(ASK, Decoding(max_tokens=8, temperature=0.5, top_p=0.9, stop=("END",), seed=3), told.append)
    assert (answer.text, answer.finish, told) == ("It works.", "stop", ["It ", "works", "."])
    assert (answer.usage.requests, answer.usage.prompt_tokens, answer.usage.completion_tokens) == (1, 7, 3)
    sent = server.requests[-1]
    assert sent["messages"] == [{"role": "user", "content": "Say something."}]
    assert (sent["temperature"], sent["top_p"], sent["stop"], sent["seed"], sent["max_tokens"]) == (
        0.5,
        0.9,
        ["END"],
        3,
        8,
    )
    assert server.keys == {f"Bearer {KEY}"}


def test_tokens_are_estimated_if_the_service_does_not_count_them(server: TextServer) -> None:
    server.always = lambda body: stream(["four"], finish="length")
    answer = open_at(server.url)[0].complete("twelve bytes", SHORT)
    assert (answer.finish, answer.usage.prompt_tokens, answer.usage.completion_tokens) == ("length", 4, 2)


def test_a_server_that_ignores_stop_strings_is_stopped(server: TextServer) -> None:
    server.always = lambda body: stream(["one E", "ND two", " three"])
    assert open_at(server.url)[0].complete("x", Decoding(stop=("END",))).text == "one "


def test_an_endless_answer_is_ended(server: TextServer) -> None:
    def talk(body: Body) -> Reply:
        endless = (f'data: {{"choices": [{{"text": "{"on " * 40}"}}]}}\n\n'.encode() for _ in range(10_000))
        return Reply(200, endless, STREAM)  # type: ignore[arg-type]

    server.always = talk
    answer = open_at(server.url)[0].complete("x", SHORT)
    assert answer.finish == "length"
    assert len(answer.text) < 1000


def test_an_empty_answer_is_an_answer(server: TextServer) -> None:
    server.always = lambda body: stream([])
    assert open_at(server.url)[0].chat(ASK, SHORT).text == ""


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({}, [1.0, 2.0]),
        ({"retry_after": "7"}, [7.0, 7.0]),
        ({"retry_after": "Thu, 01 Jan 2015 00:00:00 GMT"}, [0.0, 0.0]),
    ],
)
def test_a_rate_limited_request_is_retried_at_the_given_time(
    server: TextServer, headers: dict[str, str], waits: list[float]
) -> None:
    model, slept = open_at(server.url)
    assert model.window is None  # so that its capabilities are known
    server.script = [lambda body: refuse(429, "slow down", **headers)] * 2
    assert model.chat(ASK, SHORT).text == "well"
    assert slept == waits


def test_retries_end(server: TextServer) -> None:
    server.always = lambda body: refuse(503, "overloaded")
    model, slept = open_at(server.url)
    with pytest.raises(ModelBusyError, match=r"is busy \(503: .*overloaded.*\); try again later"):
        model.chat(ASK, SHORT)
    assert (len(server.requests), len(slept)) == (TRIES, TRIES - 1)


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (
            refuse(401, f"wrong key: {KEY}"),
            ModelError,
            r"refuses the key \(401: .*\); set OPENAI_API_KEY to a valid one",
        ),
        (refuse(404, "no model m"), ModelUnfitError, "has no chat of this model"),
        (refuse(429, "no money", "insufficient_quota"), ModelError, "has no more quota"),
        (refuse(400, "This model's maximum context length is 10 tokens"), ContextLengthError, "too long"),
        (
            refuse(400, "6001 tokens exceed the available context size"),
            ContextLengthError,
            "too long",
        ),
        (refuse(400, "nonsense"), ModelError, r"refuses the request \(400: .*nonsense"),
        (
            Reply(200, [b"<html>Welcome</html>"], {"Content-Type": "text/html"}),
            ModelAnswerError,
            "Welcome.*ends in /v1",
        ),
        (Reply(200, [b'{"answer": 42}']), ModelAnswerError, "did not answer with a stream"),
        (stream(["half a"], finish=None), ModelAnswerError, "broke off after 6 characters"),
        (Reply(200, [b"data: {nonsense\n\n"], STREAM), ModelAnswerError, "invalid chunk"),
        (
            Reply(200, [b'data: {"error": {"code": 400, "message": "bad"}}\n\n'], STREAM),
            ModelError,
            "refuses the request",
        ),
    ],
)
def test_a_permanent_refusal_ends_at_once_with_its_reason(
    server: TextServer, reply: Reply, error: type[PkgError], message: str
) -> None:
    server.always = lambda body: reply
    model, slept = open_at(server.url)
    with pytest.raises(error, match=message) as caught:
        model.chat(ASK, SHORT)
    assert (len(server.requests), slept) == (1, [])
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert server.url in str(caught.value)


def test_a_broken_connection_is_retried_unless_a_listener_got_text(server: TextServer) -> None:
    broken = Reply(200, [b'data: {"choices": [{"delta": {"content": "half"}}]}\n\n'])
    broken = Reply(200, broken.pieces, STREAM | {"Content-Length": "9999"})
    server.script = [lambda body: broken]
    model, slept = open_at(server.url)
    assert (model.chat(ASK, SHORT).text, len(slept)) == ("well", 1)
    server.script = [lambda body: broken]
    with pytest.raises(ModelAnswerError, match="broke off"):
        model.chat(ASK, SHORT, lambda piece: None)


def test_a_silent_service_times_out(server: TextServer) -> None:
    server.always = lambda body: stream(["a", "b"], pause=0.5)
    model, slept = open_at(server.url, timeout=0.1)
    with pytest.raises(ModelBusyError, match=r"sent no data for 0.1 seconds|broke off \(.*timed? ?out"):
        model.chat(ASK, SHORT)
    assert len(slept) == TRIES - 1


def test_an_unreachable_service_is_an_error_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    model, slept = open_at(url)
    with pytest.raises(ModelError, match=rf"{url} does not answer .*; check that it runs"):
        model.chat(ASK, SHORT)
    assert slept == []


def test_a_remote_service_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match=r"no key for https://far.example/v1; set OPENAI_API_KEY"):
        open_at("https://far.example/v1")[0].chat(ASK, SHORT)


def test_unsupported_parameters_are_left_out(server: TextServer) -> None:
    def choosy(body: Body) -> Reply:
        for name in ("stream_options", "seed", "max_tokens"):
            if name in body:
                return refuse(400, f"Unsupported parameter: '{name}'")
        return stream(["fine"])

    server.always = choosy
    model, slept = open_at(server.url)
    assert model.chat(ASK, SHORT).text == "fine"
    assert server.requests[-1]["max_completion_tokens"] == 8
    asked = len(server.requests)
    model.chat(ASK, SHORT)
    assert (len(server.requests), slept) == (asked + 1, [])  # and cached


def test_vllm_continues_an_answer_and_samples_without_its_defaults(server: TextServer) -> None:
    server.pages["/v1/models"] = {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 100}]}
    server.pages["/tokenize"] = lambda body: Reply(200, [b'{"tokens": [1, 2, 3]}'])
    model, _ = open_at(server.url)
    model.chat(PRIMED, SHORT)
    assert (model.window, model.can_prime, model.count_tokens("x")) == (100, True, 3)
    sent = server.requests[-1]
    assert (sent["continue_final_message"], sent["add_generation_prompt"], sent["repetition_penalty"]) == (
        True,
        False,
        1,
    )


@pytest.mark.parametrize(("answer", "goes_on"), [("ho foxtrot", True), ("echo foxtrot", False), ("Sure!", False)])
def test_support_of_prefilled_answers_is_tested_if_unknown(server: TextServer, answer: str, goes_on: bool) -> None:
    server.always = lambda body: stream([answer])
    model, _ = open_at(server.url)
    assert model.can_prime == goes_on
    if goes_on:
        assert model.chat(PRIMED, SHORT).text == answer
    else:
        with pytest.raises(ModelUnfitError, match="does not continue a begun answer"):
            model.chat(PRIMED, SHORT)


@pytest.mark.parametrize(("counted", "fills"), [(45, True), (5, False)])
def test_use_of_the_suffix_is_detected_by_the_token_count(server: TextServer, counted: int, fills: bool) -> None:
    server.always = lambda body: stream(["x"], usage={"prompt_tokens": counted, "completion_tokens": 1})
    model, _ = open_at(server.url)
    assert model.can_fill == fills
    if fills:
        model.fill("before", "after", SHORT)
        assert (server.requests[-1]["prompt"], server.requests[-1]["suffix"]) == ("before", "after")
    else:
        with pytest.raises(ModelUnfitError, match="cannot fill holes"):
            model.fill("before", "after", SHORT)


def test_a_family_known_by_its_name_gets_a_hole_in_tokens(server: TextServer) -> None:
    model, _ = open_at(server.url, "bigcode/starcoder2-7b")
    model.fill("a <|endoftext|> b", "c", SHORT)
    sent = server.requests[-1]
    assert sent["prompt"] == "<fim_prefix>a < |endoftext|> b<fim_suffix>c<fim_middle>"
    assert "<|endoftext|>" in sent["stop"]


def test_the_context_window_of_ollama_is_read(server: TextServer) -> None:
    server.pages["/api/ps"] = {"models": [{"name": "m", "context_length": 50}]}
    with pytest.raises(ContextLengthError, match="a window of 50 tokens; a prompt of 67 and an answer of up to 8"):
        open_at(server.url)[0].complete("x" * 200, SHORT)
    assert server.requests == []


def test_threads_share_one_probe_and_get_their_own_answers(server: TextServer) -> None:
    server.always = lambda body: stream([body["prompt"]], pause=0.01)
    asked: list[str] = []
    server.pages["/props"] = lambda body: asked.append("props") or refuse(404, "none")  # type: ignore[func-returns-value]
    model, _ = open_at(server.url)
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = model.complete(f"prompt {number}", SHORT).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: f"prompt {number}" for number in range(8)}
    assert asked == ["props"]


def test_prompt_and_longest_answer_fit_into_the_window(server: TextServer, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    monkeypatch.setattr("pkg.models.openai_model.RateLimit.wait", lambda self, tokens: waited.append(tokens))
    model, _ = open_at(server.url, requests_a_minute=1)
    model.chat(ASK, SHORT)
    model.complete("twelve bytes", SHORT)
    assert waited == [5 + 8, 4 + 8]
