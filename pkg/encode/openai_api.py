"""Services with the embeddings interface of OpenAI: OpenAI itself, vLLM, Ollama, llama.cpp and others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pkg.encode.batched import BatchedEncoder, TooLongError, make_caching_encoder
from pkg.encode.service import DIMENSIONS, find_prefix
from pkg.errors import EncoderAnswerError, EncoderBusyError, EncoderError, MissingExtraError
from pkg.services import OPENAI, TIMEOUT_SECONDS, estimate_tokens, judge_refusal, parse_wait

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

MAX_TEXTS = 128  # far below OpenAI's limit of 2,048, because smaller servers accept less
MAX_TOKENS = 100_000  # below OpenAI's limit of 300,000
_TOO_LONG = re.compile(r"token|context|too long|too large|maximum|input length|batch size|sequence", re.IGNORECASE)
_REFUSALS = (400, 413, 422, 500)  # of a text that is too long; 500 is that of llama.cpp


def make_encoder(name: str, model: str, url: str | None) -> BatchedEncoder:
    """Make the encoder of a model of a service."""
    return make_caching_encoder(OpenAIModel(name, model, OPENAI.choose_url(url)))


class OpenAIModel:
    """A model of a service, with the key OPENAI_API_KEY."""

    max_texts = MAX_TEXTS
    max_tokens = MAX_TOKENS

    def __init__(self, name: str, model: str, url: str) -> None:
        self.name = name
        self.identity = f"openai {model} {url}"
        self.dimension = DIMENSIONS["openai"].get(model)
        self.window: int | None = None  # the service refuses what is too long; estimates must not truncate
        self._model, self._url = model, url

    @cached_property
    def _client(self) -> OpenAI:
        try:
            from openai import OpenAI
        except ImportError:
            raise MissingExtraError("openai", "openai", f"the encoder '{self.name}'") from None
        key = OPENAI.read_key(self._url, EncoderError)
        return OpenAI(api_key=key, base_url=self._url, timeout=TIMEOUT_SECONDS, max_retries=0)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the tokens of each text."""
        return [estimate_tokens(text) for text in texts]

    def embed(self, texts: Sequence[str], is_query: bool) -> list[list[float]]:
        """Embed texts in one request.

        Raises EncoderBusyError if a retry may help, TooLongError if the batch is too long, EncoderAnswerError for an
        invalid answer, and EncoderError for any other refusal.
        """
        client = self._client
        import openai

        prefix = find_prefix(self._model, is_query)
        try:
            answer = client.embeddings.create(
                model=self._model, input=[prefix + text for text in texts], encoding_format="float"
            )
            return [row.embedding for row in sorted(answer.data or (), key=lambda row: row.index or 0)]
        except openai.APIStatusError as fault:
            raise self._translate(fault) from fault
        except openai.APIConnectionError as fault:  # includes timeouts
            reason = fault.__cause__ or fault
            raise EncoderBusyError(f"{self._url} does not answer ({reason}); check that it runs") from fault
        except openai.OpenAIError as fault:
            raise EncoderError(f"{self._url}: {fault}") from fault
        except (AttributeError, TypeError, ValueError) as fault:  # of the package, for an invalid answer
            raise EncoderAnswerError(
                f"{self._url} did not answer with embeddings ({fault}); check that it ends in /v1"
            ) from fault

    def _translate(self, fault: APIStatusError) -> EncoderError | TooLongError:
        """Return the error for a refusal: temporary, too long, or permanent."""
        status, message = fault.status_code, _read_message(fault)
        if status in _REFUSALS and _TOO_LONG.search(message):
            return TooLongError(message)
        match judge_refusal(status, getattr(fault, "code", None)):
            case "spent":
                return EncoderError(f"{self._url} has no more quota ({status}: {message}); earlier vectors are kept")
            case "busy":
                return EncoderBusyError(
                    f"{self._url} is busy ({status}: {message}); try again later", parse_wait(fault.response.headers)
                )
            case "key":
                return EncoderError(
                    f"{self._url} refuses the key ({status}: {message}); set OPENAI_API_KEY to a valid one"
                )
            case "missing":
                return EncoderError(
                    f"{self._url} has no embeddings of '{self._model}' (404: {message}); check both names"
                )
        return EncoderError(f"{self._url} refuses the request ({status}: {message})")


def _read_message(fault: APIStatusError) -> str:
    body = fault.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or fault.message)[:300]
