"""The models of Voyage AI, including voyage-code-2 of the paper (P-09)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pkg.encode.batched import BatchedEncoder, TooLongError, make_caching_encoder
from pkg.encode.service import DIMENSIONS
from pkg.errors import EncoderAnswerError, EncoderBusyError, EncoderError, MissingExtraError
from pkg.services import TIMEOUT_SECONDS, VOYAGE, estimate_tokens, parse_wait

if TYPE_CHECKING:
    from voyageai import Client
    from voyageai.error import VoyageError

MAX_TEXTS = 128  # limit of the oldest models
MAX_TOKENS = 80_000  # below their limit of 120,000, because tokens are estimated
WINDOWS = {"voyage-code-2": 16_000, "voyage-large-2": 16_000, "voyage-2": 4_000}
WINDOW = 32_000  # of all newer models


def make_encoder(name: str, model: str, url: str | None) -> BatchedEncoder:
    """Make the encoder of a model of Voyage AI."""
    return make_caching_encoder(VoyageModel(name, model, url))


class VoyageModel:
    """A model of Voyage AI, with the key VOYAGE_API_KEY; the service truncates texts itself."""

    max_texts = MAX_TEXTS
    max_tokens = MAX_TOKENS

    def __init__(self, name: str, model: str, url: str | None = None) -> None:
        self.name = name
        self.identity = f"voyage {model} {url or ''}"
        self.dimension = DIMENSIONS["voyage"].get(model)
        self.window = WINDOWS.get(model, WINDOW)
        self._model, self._url = model, VOYAGE.choose_url(url)

    @cached_property
    def _client(self) -> Client:
        # The package downloads files from a model hub to count tokens, which must not happen here.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            import voyageai
        except ImportError:
            raise MissingExtraError("voyageai", "voyage", f"the encoder '{self.name}'") from None
        key = VOYAGE.read_key(self._url, EncoderError)
        place = None if self._url == VOYAGE.url else self._url  # with None the package chooses by the key
        return voyageai.Client(api_key=key, max_retries=0, timeout=TIMEOUT_SECONDS, base_url=place)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the tokens of each text."""
        return [estimate_tokens(text) for text in texts]

    def embed(self, texts: Sequence[str], is_query: bool) -> list[list[float]]:
        """Embed texts in one request; the service adds its own prefix to queries and documents.

        Raises EncoderBusyError if a retry may help, TooLongError if the batch is too long, EncoderAnswerError for an
        invalid answer, and EncoderError for any other refusal.
        """
        client = self._client
        from voyageai import error

        kind = "query" if is_query else "document"
        try:
            answer = client.embed(list(texts), model=self._model, input_type=kind, truncation=True)
        except (error.RateLimitError, error.ServiceUnavailableError, error.ServerError, error.TryAgain) as fault:
            raise EncoderBusyError(
                f"{self._url} is busy ({_describe(fault)}); try again later", parse_wait(fault.headers)
            ) from fault
        except (error.Timeout, error.APIConnectionError) as fault:
            raise EncoderBusyError(f"{self._url} does not answer ({_describe(fault)}); try again later") from fault
        except error.VoyageError as fault:
            raise self._translate(fault) from fault
        except (AttributeError, KeyError, TypeError, ValueError) as fault:  # of the package, for an invalid answer
            raise EncoderAnswerError(
                f"{self._url} did not answer with embeddings ({fault!r}); check the address"
            ) from fault
        rows: list[list[float]] = answer.embeddings
        return rows

    def _translate(self, fault: VoyageError) -> EncoderError | TooLongError:
        """Return the error for a permanent refusal."""
        from voyageai.error import AuthenticationError

        message = _describe(fault)
        if isinstance(fault, AuthenticationError):
            return EncoderError(f"{self._url} refuses the key ({message}); set VOYAGE_API_KEY to a valid one")
        if fault.http_status == 413 or (fault.http_status == 400 and "token" in message.lower()):
            return TooLongError(message)
        return EncoderError(f"{self._url} refuses the request ({message})")


def _describe(fault: VoyageError) -> str:
    return f"{fault.http_status}: {fault}"[:300] if fault.http_status else str(fault)[:300]
