"""Options of a text model beside its name, from the caller or the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TypeVar

from pkg.errors import UsageError, shorten

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a text model; None leaves the choice to the provider."""

    window: int | None = None  # tokens of prompt and answer together
    parallel: int | None = None  # requests at once
    threads: int | None = None  # of a model in this process
    timeout: float | None = None  # seconds without a response of a service
    requests_a_minute: int | None = None  # to a service, at most
    tokens_a_minute: int | None = None  # of prompts and longest answers of a service, at most
    reuse: bool = False  # the computation of a common beginning of prompts: faster, but texts may then differ
    order: str | None = None  # of a hole, psm or spm, for models that know both
    device: str | None = None  # of hf: cpu, cuda, mps
    dtype: str | None = None  # of hf: bfloat16, float16, float32
    allow_download: bool = False  # of hf: download a model that is not on this machine

    def fill_up(self, more: ModelOptions) -> ModelOptions:
        """Return these options, with the open ones taken from other options."""
        pairs = {each.name: (getattr(self, each.name), getattr(more, each.name)) for each in fields(self)}
        return ModelOptions(**{name: mine or other for name, (mine, other) in pairs.items()})


def read_options(environment: Mapping[str, str] = os.environ) -> ModelOptions:
    """Read the options in the environment, such as PKG_MODEL_WINDOW; raises UsageError for invalid values."""

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
