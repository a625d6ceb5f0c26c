"""What a text model does, whoever runs it: continue a text, fill a hole, answer a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from pkg.errors import ContextLengthError

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]
"""Why a text ends: the model or a stop string ended it, or its tokens ran out."""

Listen = Callable[[str], None]
"""Told each piece of a text as soon as it is there."""


class Message(NamedTuple):
    """One turn of a conversation; a last one of the assistant is the beginning of the answer, which goes on there."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are chosen; the defaults are the paper's (P-22)."""

    max_tokens: int = 512
    temperature: float = 0.0  # 0 always takes the likeliest token
    top_p: float = 1.0
    stop: tuple[str, ...] = ()  # a text ends before the first of these; none of them is given back
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What texts have cost."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # of waiting for the model, added up over requests that ran side by side

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.requests - other.requests,
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.seconds - other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Generation:
    """One text of a model, without its prompt, and without the beginning of the answer that the prompt gave."""

    text: str
    finish: Finish
    usage: Usage


class TextModel(Protocol):
    """A model that writes text; several threads may ask it at once.

    complete, fill and chat raise errors of pkg.errors: ModelBusyError when even later tries did not help,
    ModelAnswerError for a strange answer, ContextLengthError when prompt and answer do not fit into the window,
    ModelUnfitError for what this model cannot do, and ModelError for all that is refused for good.
    """

    @property
    def name(self) -> str:
        """Name the model as the registry knows it; no key and no password is in it."""

    @property
    def identity(self) -> str:
        """Name what its texts depend on: of equal identity, prompt and decoding, a text need not be written again."""

    @property
    def window(self) -> int | None:
        """Tell how many tokens prompt and answer may have together; None when only the service knows."""

    @property
    def parameters(self) -> int | None:
        """Tell how many parameters the model has; None when only the service knows."""

    @property
    def parallel(self) -> int:
        """Tell how many requests are worth to be sent at once."""

    @property
    def can_fill(self) -> bool:
        """Tell whether it fills holes: it was trained on them, and who runs it takes a text after the hole."""

    @property
    def can_prime(self) -> bool:
        """Tell whether an answer can be begun for it, by a last message of the assistant."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, or estimate them, rather too many, where only the service could count."""

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Go on where a text ends; special tokens in it are taken for what they are."""

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Write what stands between two texts (P-07, A-14)."""

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Answer a conversation."""

    def close(self) -> None:
        """Free what it holds."""


def check_room(model: TextModel, tokens: int, decoding: Decoding) -> None:
    """Refuse a prompt of so many tokens that leaves no room for its answer, with a ContextLengthError."""
    window = model.window
    if window is not None and tokens + decoding.max_tokens > window:
        raise ContextLengthError(
            f"{model.name} has a window of {window} tokens; a prompt of {tokens} and an answer of up to"
            f" {decoding.max_tokens} do not fit; give it less"
        )
