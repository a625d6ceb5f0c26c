"""Test encoders under their own names: one local, and one of a service that does not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from pkg.cache_file import find_cache_file
from pkg.encode import registry, service
from pkg.encode.batched import FILE_NAME, BatchedEncoder, VectorCache
from pkg.services import Service

Answer = Callable[[Sequence[str]], Any]


def embed_letters(texts: Sequence[str]) -> list[list[float]]:
    """Count a few letters."""
    return [[float(text.count(letter)) + 0.5 for letter in "abcd"] for text in texts]


@dataclass
class LetterModel:
    """A model that counts letters, one token each, and records its inputs."""

    answer: Answer = embed_letters
    dimension: int | None = 4
    window: int | None = 10
    name: str = "letters"
    identity: str = "letters 1"
    max_texts: int = 3
    max_tokens: int = 20
    asked: list[tuple[str, ...]] = field(default_factory=list)
    queries: list[bool] = field(default_factory=list)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def embed(self, texts: Sequence[str], is_query: bool) -> Any:
        self.asked.append(tuple(texts))
        self.queries.append(is_query)
        return self.answer(texts)


MODELS: dict[str, LetterModel] = {}  # created models, by the name of their encoder


def make_encoder(name: str, *_: str | None) -> BatchedEncoder:
    """Return an encoder of letters, as the registry does."""
    model = MODELS.setdefault(name, LetterModel(name=name, identity=name, window=80, max_texts=50, max_tokens=5000))
    return BatchedEncoder(model, VectorCache(find_cache_file(FILE_NAME)), lambda seconds: None)


@contextmanager
def register_toys() -> Iterator[dict[str, LetterModel]]:
    """Register `fake` (sums up words), `toy:NAME` (letters, local) and `far:NAME` (letters, remote)."""
    kinds = {
        "fake": registry.EncoderKind("fake", "fakes", "FakeEncoder", 256),
        "toy": registry.EncoderKind("toy:NAME", "toy_models", "make_encoder", 4, "model"),
        "far": registry.EncoderKind("far:NAME", "toy_models", "make_encoder", 4, "address"),
    }
    far = Service("https://far.example/v1", "FAR_URL", "FAR_KEY")
    registry.load_encoder.cache_clear()
    MODELS.clear()
    with (
        patch.dict(registry.KINDS, kinds),
        patch.dict(service.SERVICES, {"far": far}),
        patch.dict(service.DIMENSIONS, {"far": {"m": 4}}),
        patch.dict("os.environ", {"FAR_KEY": "k"}),
    ):
        yield MODELS
    registry.load_encoder.cache_clear()
