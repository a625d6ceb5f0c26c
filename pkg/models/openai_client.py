"""The client of a service with the interface of OpenAI: requests, streams of chunks, translation of errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pkg.errors import (
    ContextLengthError,
    MissingExtraError,
    ModelAnswerError,
    ModelBusyError,
    ModelError,
    ModelUnfitError,
    shorten,
)
from pkg.services import OPENAI, is_here, judge_refusal, parse_wait

if TYPE_CHECKING:
    from openai import OpenAI

TIMEOUT_SECONDS = 300.0  # without data: a long prompt on a CPU takes minutes before the first token
CONNECT_SECONDS = 10.0
STARTING = (429, 503)  # a page may exist later; any other status of a gateway may mean that it does not exist
SHOWN = 300  # characters of a service's message

Path = Literal["chat", "completions"]

_TOO_LONG = re.compile(r"context.{0,20}(?:length|size|window)|maximum.{0,20}tokens|too many tokens|too long", re.I)
_OPTIONAL = ("stream_options", "seed", "top_p", "temperature", "stop", "max_tokens")
"""Fields that are left out if a service refuses them; stop strings and lengths are applied by the caller too."""


class OpenAIClient:
    """Sends requests to one service; the key is the given one or OPENAI_API_KEY, and is never shown."""

    def __init__(self, url: str, name: str, timeout: float | None = None, key: str | None = None) -> None:
        self.url = url
        self._name, self._timeout, self._given_key = name, timeout or TIMEOUT_SECONDS, key
        self._left_out: set[str] = set()  # optional fields that the service refuses
        self._has_answered = False

    @cached_property
    def _key(self) -> str:
        return self._given_key or OPENAI.read_key(self.url, ModelError)

    @cached_property
    def _client(self) -> OpenAI:
        try:
            import openai
        except ImportError:
            raise MissingExtraError("openai", "openai", f"the model '{self._name}'") from None
        here = is_here(self.url)
        http = openai.DefaultHttpxClient(
            timeout=openai.Timeout(self._timeout, connect=CONNECT_SECONDS),
            trust_env=not here,  # no proxy for this machine
        )
        # llama.cpp closes connections that the client considers open; a new one on this machine costs nothing.
        headers = {"Connection": "close"} if here else {}
        return openai.OpenAI(
            api_key=self._key, base_url=self.url, max_retries=0, http_client=http, default_headers=headers
        )

    def close(self) -> None:
        """Close the connection."""
        if "_client" in self.__dict__:
            self._client.close()

    def stream(self, path: Path, body: Mapping[str, Any]) -> Generator[dict[str, Any], None, None]:
        """Send a request and yield the chunks of its answer.

        Raises ModelBusyError if a retry may help, ModelAnswerError for anything but a stream of chunks,
        ContextLengthError, ModelUnfitError if the page is missing, and ModelError for any other refusal.
        """
        with self._translated(path), ExitStack() as stack:
            resource = self._client.chat.completions if path == "chat" else self._client.completions
            response = self._open(stack, resource.with_streaming_response.create, body)
            self._has_answered = True
            if "text/event-stream" not in response.headers.get("content-type", ""):
                raise ModelAnswerError(
                    f"{self.url} did not answer with a stream of text:"
                    f" {self._tidy(response.text())}; check that the address ends in /v1"
                )
            for line in response.iter_lines():
                word, _, data = line.partition(":")
                if word in ("data", "error") and data.strip() != "[DONE]":
                    yield self._read_chunk(data)

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
        """Request a page beyond the interface of OpenAI; None if it is missing or no JSON object.

        path: from the root of the service, such as /props, or from the address, such as models. Raises ModelBusyError
        if a retry may help, and ModelError if the service does not answer.
        """
        from openai import APIResponseValidationError, APIStatusError

        url = self.url.removesuffix("/v1") + path if path.startswith("/") else f"{self.url}/{path}"
        client, found = self._client, None
        with self._translated("completions"):
            try:
                found = client.post(url, body=body, cast_to=object) if body else client.get(url, cast_to=object)
            except APIStatusError as fault:
                if fault.status_code in STARTING:
                    raise
            except (APIResponseValidationError, ValueError):  # not JSON
                pass
        self._has_answered = True
        return found if isinstance(found, dict) else None

    def _open(self, stack: ExitStack, create: Callable[..., Any], body: Mapping[str, Any]) -> Any:
        """Send a request, and retry without each optional field that the service refuses."""
        from openai import BadRequestError, UnprocessableEntityError

        while True:
            try:
                return stack.enter_context(create(**self._leave_out(body)))
            except (BadRequestError, UnprocessableEntityError) as fault:
                refused = self._find_refused(str(fault), body)
                if refused is None:
                    raise
                self._left_out.add(refused)

    def _find_refused(self, message: str, body: Mapping[str, Any]) -> str | None:
        if _TOO_LONG.search(message):  # such a message may mention max_tokens
            return None
        kept = (name for name in _OPTIONAL if name in body and name not in self._left_out)
        return next((name for name in kept if re.search(rf"\b{name}\b", message)), None)

    def _leave_out(self, body: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in body.items() if name not in self._left_out}
        if "max_tokens" in self._left_out:
            kept["max_completion_tokens"] = body["max_tokens"]
        return kept

    def _read_chunk(self, data: str) -> dict[str, Any]:
        try:
            chunk = json.loads(data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise ModelAnswerError(f"{self.url} sent an invalid chunk of an answer: {self._tidy(data)}")
        if chunk.get("error"):
            error = chunk["error"] if isinstance(chunk["error"], dict) else {"message": str(chunk["error"])}
            code = error.get("code")
            raise self._judge(code if isinstance(code, int) else 500, error, {}, "chat")
        return chunk

    @contextmanager
    def _translated(self, path: Path) -> Iterator[None]:
        """Translate the exceptions of the packages; theirs are not shown, because they may contain the request."""
        import openai

        try:
            yield
        except openai.APIStatusError as fault:
            body = fault.body if isinstance(fault.body, dict) else {"message": fault.message}
            raise self._judge(fault.status_code, body, fault.response.headers, path) from None
        except openai.APITimeoutError:
            raise ModelBusyError(f"{self.url} sent no data for {self._timeout:g} seconds; try again later") from None
        except openai.APIConnectionError as fault:
            message = f"{self.url} does not answer ({self._tidy(str(fault.__cause__ or fault))}); check that it runs"
            raise (ModelBusyError(message) if self._has_answered else ModelError(message)) from None
        except openai.OpenAIError as fault:
            raise ModelError(f"{self.url}: {self._tidy(str(fault))}") from None
        except Exception as fault:  # of the HTTP package, whose name changes with major versions
            if not type(fault).__module__.startswith("http"):
                raise
            raise ModelBusyError(f"{self.url} broke off ({self._tidy(str(fault))}); try again later") from None

    def _judge(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str], path: Path) -> ModelError:
        """Return the error for a refusal: temporary, too long, or permanent."""
        code, message = body.get("code"), self._tidy(str(body.get("message") or body))
        seen = f"{status}: {message}"
        if status in (400, 413, 422, 500) and (code == "context_length_exceeded" or _TOO_LONG.search(message)):
            return ContextLengthError(f"{self.url} refuses prompt and answer as too long ({seen}); shorten the prompt")
        match judge_refusal(status, code):
            case "spent":
                return ModelError(f"{self.url} has no more quota ({seen}); earlier answers are kept")
            case "busy":
                return ModelBusyError(f"{self.url} is busy ({seen}); try again later", parse_wait(headers))
            case "key":
                return ModelError(f"{self.url} refuses the key ({seen}); set {OPENAI.key_variable} to a valid one")
            case "missing":
                return ModelUnfitError(f"{self.url} has no {path} of this model ({seen}); check address and name")
        return ModelError(f"{self.url} refuses the request ({seen})")

    def _tidy(self, text: str) -> str:
        """Shorten a service's message to one line without the key."""
        return shorten(" ".join(text.replace(self._key, "***").split()), SHOWN)
