"""The interface of a text model: complete a text, fill a hole, answer a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from pkg.errors import ContextLengthError

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]
"""Reason for the end of a text: the model or a stop string, or the limit of tokens."""

Listen = Callable[[str], None]
"""Called with each piece of a text as soon as it is written."""


class Message(NamedTuple):
    """One turn of a conversation; a last one of the assistant is the beginning of the answer, which continues it."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """Options of choosing tokens; the defaults are the paper's (P-22)."""

    max_tokens: int = 512
    temperature: float = 0.0  # 0 is greedy
    top_p: float = 1.0
    stop: tuple[str, ...] = ()  # the text ends before the first of these
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SchemaDecoding(Decoding):
    """The same, with a JSON schema of the text for servers that take one; other models ignore it."""

    schema: str = ""  # JSON


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of texts."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # of waiting for the model, summed over parallel requests

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
    """One text of a model, without its prompt and without the beginning of the answer in the prompt."""

    text: str
    finish: Finish
    usage: Usage


class TextModel(Protocol):
    """A model that writes text, for use by several threads.

    complete, fill and chat raise errors of pkg.errors: ModelBusyError after unsuccessful retries, ModelAnswerError for
    an invalid answer, ContextLengthError if prompt and answer do not fit into the window, ModelUnfitError for an
    unsupported kind of prompt, and ModelError for any other refusal.
    """

    @property
    def name(self) -> str:
        """Return the name of the model in the registry, without key or password."""

    @property
    def identity(self) -> str:
        """Return a key of all that determines its texts: equal identity, prompt and decoding allow reuse of a text."""

    @property
    def window(self) -> int | None:
        """Return the most tokens of prompt and answer together; None if only the service knows."""

    @property
    def parameters(self) -> int | None:
        """Return the number of parameters; None if only the service knows."""

    @property
    def parallel(self) -> int:
        """Return the useful number of parallel requests."""

    @property
    def can_fill(self) -> bool:
        """Return whether the model and its server can fill holes."""

    @property
    def can_prime(self) -> bool:
        """Return whether it continues an answer begun by a last message of the assistant."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, or return an upper estimate if only the service can count them."""

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Continue a text, in which special tokens are effective."""

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Write the text between two texts (P-07, A-14)."""

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Answer a conversation."""

    def close(self) -> None:
        """Release the model."""


def check_room(model: TextModel, tokens: int, decoding: Decoding) -> None:
    """Raise ContextLengthError for a prompt of `tokens` that leaves no room for its answer."""
    window = model.window
    if window is not None and tokens + decoding.max_tokens > window:
        raise ContextLengthError(
            f"{model.name} has a window of {window} tokens; a prompt of {tokens} and an answer of up to"
            f" {decoding.max_tokens} do not fit; shorten the prompt"
        )
