"""Limits of requests and tokens in a minute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.models.fim import find_family
from pkg.models.openai_model import MINUTE, Endpoint, RateLimit, find_endpoint


@dataclass
class Clock:
    """Time that passes only when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def tell(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@given(
    sizes=st.lists(st.integers(1, 50), max_size=30),
    requests=st.none() | st.integers(1, 5),
    tokens=st.none() | st.integers(1, 80),
)
def test_no_minute_exceeds_the_limits(sizes: list[int], requests: int | None, tokens: int | None) -> None:
    clock = Clock()
    limit = RateLimit(requests, tokens, clock.tell, clock.sleep)
    sent = []
    for size in sizes:
        limit.wait(size)
        sent.append((clock.now, size))
    for begin, _ in sent:
        within = [size for at, size in sent if begin <= at < begin + MINUTE]
        assert requests is None or len(within) <= requests
        assert tokens is None or sum(within) <= tokens or len(within) == 1
    assert not (requests is None and tokens is None) or not clock.slept


def test_a_request_waits_no_longer_than_needed() -> None:
    clock = Clock()
    limit = RateLimit(2, None, clock.tell, clock.sleep)
    limit.wait(1)
    clock.now = 10.0
    limit.wait(1)
    limit.wait(1)
    assert clock.slept == [50.0]


LLAMA = {"/props": {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 2}}
VLLM = {"models": {"data": [{"id": "other"}, {"id": "m", "owned_by": "vllm", "max_model_len": 4096}]}}
OLLAMA = {
    "models": {"data": [{"id": "m", "owned_by": "library"}]},
    "/api/ps": {"models": [{"name": "m", "context_length": 99}]},
}
CLOUD = {"models": {"data": [{"id": "m", "owned_by": "system"}]}}


@dataclass
class Pages:
    """The pages of a service; words are its tokens, and special ones have numbers above 1,000."""

    pages: Mapping[str, Any]
    special: tuple[str, ...] = ()
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def ask(self, path: str, body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if path != "/tokenize" or body is None:
            found: Mapping[str, Any] | None = self.pages.get(path)
            return found
        self.asked.append(body)
        ids = [1] if body["add_special"] else []
        text = body["content"]
        if body["parse_special"] and text in self.special:
            return {"tokens": [*ids, 1000 + self.special.index(text)]}
        return {"tokens": [*ids, *map(ord, text)]}


@pytest.mark.parametrize(
    ("pages", "kind", "window", "slots"),
    [
        (LLAMA, "llama.cpp", 2048, 2),
        (VLLM, "vllm", 4096, None),
        (OLLAMA, "ollama", 99, None),
        (CLOUD, "other", None, None),
        ({}, "other", None, None),
    ],
)
def test_a_program_is_detected_by_its_pages(
    pages: Mapping[str, Any], kind: str, window: int | None, slots: int | None
) -> None:
    found = find_endpoint(Pages(pages).ask, "m", reuse=False)
    assert (found.kind, found.window, found.slots) == (kind, window, slots)


def test_the_vocabulary_shows_the_family_of_a_model_with_an_unknown_name() -> None:
    pages = Pages(LLAMA, ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"))
    found = find_endpoint(pages.ask, "m", reuse=False).find_family("coder")
    assert found is not None
    assert found.name == "StarCoder2"
    assert find_endpoint(Pages(LLAMA).ask, "m", reuse=False).find_family("starcoder2") is None  # its name lies


def test_a_hole_is_made_of_tokens_and_special_words_in_its_texts_stay_text() -> None:
    tokens = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
    family = find_family("starcoder2")
    assert family is not None
    found = find_endpoint(Pages(LLAMA, tokens).ask, "m", reuse=False).make_hole(family, "a", "<fim_middle>", None)
    assert found == [1, 1000, ord("a"), 1001, *map(ord, "<fim_middle>"), 1002]


def test_without_a_tokenizer_the_name_decides_the_family() -> None:
    other = Endpoint(Pages({}).ask)
    assert other.find_family("starcoder2:3b") is find_family("starcoder2")
    assert other.find_family("gpt-4o") is None
