"""How a text model is run: what is said of it beside its name, by the caller or in the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TypeVar

from pkg.errors import UsageError, shorten

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What may be said of a model beside its name; None leaves the choice to the provider."""

    window: int | None = None  # tokens that prompt and answer may have together
    parallel: int | None = None  # requests at once
    threads: int | None = None  # of a model that runs in this process
    timeout: float | None = None  # seconds that a service may say nothing
    requests_a_minute: int | None = None  # that a service is sent at most
    tokens_a_minute: int | None = None  # that a service is sent and asked for at most
    reuse: bool = False  # what was computed for an earlier prompt: faster, but texts may depend on what came before
    order: str | None = None  # of a hole, psm or spm; a model that knows only one has that
    device: str | None = None  # of hf: cpu, cuda, mps
    dtype: str | None = None  # of hf: bfloat16, float16, float32
    allow_download: bool = False  # of hf: fetch a model that is not on this machine

    def fill_up(self, more: ModelOptions) -> ModelOptions:
        """Take from other options what these leave open."""
        pairs = {each.name: (getattr(self, each.name), getattr(more, each.name)) for each in fields(self)}
        return ModelOptions(**{name: mine or other for name, (mine, other) in pairs.items()})


def read_options(environment: Mapping[str, str] = os.environ) -> ModelOptions:
    """Read what the environment says of models, such as PKG_MODEL_WINDOW; a UsageError for what is no such value."""

    def read(name: str, parse: Callable[[str], Value], expected: str) -> Value | None:
        text = environment.get(name, "").strip()
        try:
            return parse(text) if text else None
        except ValueError:
            raise UsageError(f"{name} is '{shorten(text, 40)}'; expected {expected}") from None

    number = "a whole number above 0"
    return ModelOptions(
        window=read("PKG_MODEL_WINDOW", _parse_count, f"{number}, of tokens"),
        parallel=read("PKG_MODEL_PARALLEL", _parse_count, f"{number}, of requests"),
        threads=read("PKG_MODEL_THREADS", _parse_count, number),
        timeout=read("PKG_MODEL_TIMEOUT", _parse_count, f"{number}, of seconds"),
        requests_a_minute=read("PKG_REQUESTS_PER_MINUTE", _parse_count, number),
        tokens_a_minute=read("PKG_TOKENS_PER_MINUTE", _parse_count, number),
        reuse=bool(read("PKG_MODEL_REUSE", _parse_switch, "1 or 0")),
        order=read("PKG_FIM_ORDER", _parse_order, "psm or spm"),
        device=read("PKG_MODEL_DEVICE", str, ""),
        dtype=read("PKG_MODEL_DTYPE", str, ""),
        allow_download=bool(read("PKG_ALLOW_DOWNLOAD", _parse_switch, "1 or 0")),
    )


def _parse_count(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError
    return number


def _parse_switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError
    return text == "1"


def _parse_order(text: str) -> str:
    if text not in ("psm", "spm"):
        raise ValueError
    return text
