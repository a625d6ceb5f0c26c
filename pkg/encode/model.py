"""What a model behind the batched encoder does, and the faults that it tells of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy.typing as npt

from pkg.errors import PkgError

WORST_BYTES_A_TOKEN = 3  # of code: identifiers and signs split finer than prose, which has four


class TextModel(Protocol):
    """A model that turns texts into vectors, a batch at a time; BatchedEncoder does the rest."""

    @property
    def name(self) -> str:
        """Name the encoder as the registry knows it."""

    @property
    def identity(self) -> str:
        """Name what the vectors depend on: equal identities give equal vectors, so that they can be cached."""

    @property
    def dimension(self) -> int | None:
        """Tell how many numbers one vector has; None when only a vector can tell."""

    @property
    def window(self) -> int | None:
        """Tell how many tokens of a text the model reads; None when only the service knows."""

    @property
    def max_texts(self) -> int:
        """Tell how many texts one batch may have."""

    @property
    def max_tokens(self) -> int:
        """Tell how many tokens one batch may have."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, or estimate them where counting needs the service."""

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[Any] | Sequence[Sequence[float]]:
        """Give one vector for each text, none of which is empty.

        Raises EncoderBusyError when a later try may help, and TooLongError when the batch is too long.
        """


class TooLongError(PkgError):
    """Say that a service refuses a batch for its length; it is halved, and so is a text that is too long alone."""


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate the tokens of texts from their bytes, rather too many than too few."""
    return [-(-len(text.encode("utf-8", "replace")) // WORST_BYTES_A_TOKEN) for text in texts]
