"""The line to a service with the interface of OpenAI: what is sent, what comes back, and what its faults mean."""

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

TIMEOUT_SECONDS = 300.0  # without a word: a long prompt on a processor takes minutes before the first one
CONNECT_SECONDS = 10.0
NOT_BUILT = 501  # what llama.cpp answers for a page that it was started without
SHOWN = 300  # characters of what a service said

Path = Literal["chat", "completions"]

_TOO_LONG = re.compile(r"context.{0,20}(?:length|size|window)|maximum.{0,20}tokens|too many tokens|too long", re.I)
_OPTIONAL = ("stream_options", "seed", "top_p", "temperature", "stop", "max_tokens")
"""What a service may refuse without which the request is worth sending; stop strings and lengths are kept to here."""


class OpenAIClient:
    """Send requests to one service; the key comes from OPENAI_API_KEY unless one is given, and is never shown."""

    def __init__(self, url: str, name: str, timeout: float | None = None, key: str | None = None) -> None:
        self.url = url
        self._name, self._timeout, self._given_key = name, timeout or TIMEOUT_SECONDS, key
        self._left_out: set[str] = set()  # optional parts of a request that the service refuses
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
            trust_env=not here,  # this machine is reached without the proxy of the network
        )
        # llama.cpp closes lines that the client still thinks open; on this machine a new one costs nothing.
        headers = {"Connection": "close"} if here else {}
        return openai.OpenAI(
            api_key=self._key, base_url=self.url, max_retries=0, http_client=http, default_headers=headers
        )

    def close(self) -> None:
        """Close the line."""
        if "_client" in self.__dict__:
            self._client.close()

    def stream(self, path: Path, body: Mapping[str, Any]) -> Generator[dict[str, Any], None, None]:
        """Send a request and give the chunks of its answer.

        Raises ModelBusyError when a later try may help, ModelAnswerError for what is no stream of chunks,
        ContextLengthError, ModelUnfitError where there is no such page, and ModelError for what is refused for good.
        """
        with self._translated(path), ExitStack() as stack:
            resource = self._client.chat.completions if path == "chat" else self._client.completions
            response = self._open(stack, resource.with_streaming_response.create, body)
            self._has_answered = True
            if "text/event-stream" not in response.headers.get("content-type", ""):
                raise ModelAnswerError(
                    f"{self.url} answered with something else than a stream of text:"
                    f" {self._tidy(response.text())}; check that the address ends in /v1"
                )
            for line in response.iter_lines():
                word, _, data = line.partition(":")
                if word in ("data", "error") and data.strip() != "[DONE]":
                    yield self._read_chunk(data)

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
        """Ask for what stands beside the interface, such as /props; None where there is no object of that kind.

        Raises what stream raises but for a page that is missing or refused.
        """
        from openai import APIResponseValidationError, APIStatusError

        url = self.url.removesuffix("/v1") + path
        client, found = self._client, None
        with self._translated("completions"):
            try:
                found = client.post(url, body=body, cast_to=object) if body else client.get(url, cast_to=object)
            except APIStatusError as fault:
                if judge_refusal(fault.status_code, None) in ("busy", "key") and fault.status_code != NOT_BUILT:
                    raise
            except (APIResponseValidationError, ValueError):  # a page of another kind under that name
                pass
        self._has_answered = True
        return found if isinstance(found, dict) else None

    def _open(self, stack: ExitStack, create: Callable[..., Any], body: Mapping[str, Any]) -> Any:
        """Send a request, again without an optional part where the service refuses it for that."""
        from openai import BadRequestError, UnprocessableEntityError

        while True:
            try:
                return stack.enter_context(create(**self._leave_out(body)))
            except (BadRequestError, UnprocessableEntityError) as fault:
                refused = self._find_refused(str(fault), body)
                if refused is None:
                    raise
                self._left_out.add(refused)

    def _find_refused(self, said: str, body: Mapping[str, Any]) -> str | None:
        if _TOO_LONG.search(said):  # which may name the number of tokens as well
            return None
        kept = (name for name in _OPTIONAL if name in body and name not in self._left_out)
        return next((name for name in kept if re.search(rf"\b{name}\b", said)), None)

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
            raise ModelAnswerError(f"{self.url} sent what is no chunk of an answer: {self._tidy(data)}")
        if chunk.get("error"):
            error = chunk["error"] if isinstance(chunk["error"], dict) else {"message": str(chunk["error"])}
            code = error.get("code")
            raise self._judge(code if isinstance(code, int) else 500, error, {}, "chat")
        return chunk

    @contextmanager
    def _translated(self, path: Path) -> Iterator[None]:
        """Turn the faults of the packages into ours; theirs are not shown, for they may hold what was sent."""
        import openai

        try:
            yield
        except openai.APIStatusError as fault:
            body = fault.body if isinstance(fault.body, dict) else {"message": fault.message}
            raise self._judge(fault.status_code, body, fault.response.headers, path) from None
        except openai.APITimeoutError:
            raise ModelBusyError(f"{self.url} said nothing for {self._timeout:g} seconds; try again later") from None
        except openai.APIConnectionError as fault:
            message = (
                f"{self.url} does not answer ({self._tidy(str(fault.__cause__ or fault))}); see that it runs there"
            )
            raise (ModelBusyError(message) if self._has_answered else ModelError(message)) from None
        except openai.OpenAIError as fault:
            raise ModelError(f"{self.url}: {self._tidy(str(fault))}") from None
        except Exception as fault:  # of the package below, which has another name with each major version
            if not type(fault).__module__.startswith("http"):
                raise
            raise ModelBusyError(f"{self.url} broke off ({self._tidy(str(fault))}); try again later") from None

    def _judge(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str], path: Path) -> ModelError:
        """Tell what the service refused: for now, for its length, or for good."""
        code, said = body.get("code"), self._tidy(str(body.get("message") or body))
        seen = f"{status}: {said}"
        if status in (400, 413, 422, 500) and (code == "context_length_exceeded" or _TOO_LONG.search(said)):
            return ContextLengthError(f"{self.url} refuses prompt and answer as too long ({seen}); give it less")
        match judge_refusal(status, code):
            case "spent":
                return ModelError(f"{self.url} gives no more answers ({seen}); what came before is kept")
            case "busy":
                return ModelBusyError(f"{self.url} is busy ({seen}); try again later", parse_wait(headers))
            case "key":
                return ModelError(f"{self.url} refuses the key ({seen}); set {OPENAI.key_variable} to a valid one")
            case "missing":
                return ModelUnfitError(f"{self.url} has no {path} of this model ({seen}); check address and name")
        return ModelError(f"{self.url} refuses the request ({seen})")

    def _tidy(self, text: str) -> str:
        """Bring what a service said into one short line without the key."""
        return shorten(" ".join(text.replace(self._key, "***").split()), SHOWN)
