"""Any service with the interface of OpenAI: OpenAI itself, vLLM, Ollama, llama.cpp and others (P-22)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from typing import Any

from pkg.errors import ModelAnswerError, ModelUnfitError
from pkg.models.answer_text import AnswerText
from pkg.models.endpoint import Endpoint, find_endpoint
from pkg.models.fim import FimFamily
from pkg.models.model_options import ModelOptions
from pkg.models.openai_client import OpenAIClient, Path
from pkg.models.text_model import Decoding, Finish, Generation, Listen, Message, Usage
from pkg.services import OPENAI, call_patiently, estimate_tokens, split_address

PARALLEL = 4  # requests that any service takes at once; llama.cpp says how many are worth it


def open_model(detail: str, options: ModelOptions) -> OpenAIModel:
    """Open the model that NAME@URL names; it is not asked yet."""
    model, url = split_address(detail, "openai", "model")
    chosen = OPENAI.choose_url(url)
    client = OpenAIClient(chosen, f"openai:{detail}", options.timeout)
    return OpenAIModel(client, model, f"openai:{detail}", f"openai {model} {chosen}", options)


class OpenAIModel:
    """A model behind a service."""

    def __init__(
        self,
        client: OpenAIClient,
        model: str,
        name: str,
        identity: str,
        options: ModelOptions,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name, self.identity = name, identity
        self._client, self._model, self._options, self._sleep = client, model, options, sleep
        self._lock = threading.RLock()

    @cached_property
    def _endpoint(self) -> Endpoint:
        with self._lock:
            return call_patiently(partial(find_endpoint, self._client.ask, self._model), self._sleep)

    @property
    def window(self) -> int | None:
        """Tell how many tokens prompt and answer may have together; None where the service does not say."""
        return self._options.window or self._endpoint.window

    @property
    def parallel(self) -> int:
        """Tell how many requests are worth to be sent at once."""
        return self._options.parallel or self._endpoint.slots or PARALLEL

    @property
    def can_fill(self) -> bool:
        """Tell whether it fills holes."""
        return self._family is not None

    @property
    def can_prime(self) -> bool:
        """Tell whether an answer can be begun for it."""
        return self._endpoint.kind in ("llama.cpp", "vllm")

    @cached_property
    def _family(self) -> FimFamily | None:
        return self._endpoint.find_family(self._model)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text where the service can, else estimate them."""
        ids = self._endpoint.tokenize(text)
        return estimate_tokens(text) if ids is None else len(ids)

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Go on where a text ends."""
        return self._generate("completions", {"prompt": prompt}, {}, decoding, listen)

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Write what stands between two texts (P-07, A-14); a ModelUnfitError where it cannot."""
        family = self._family
        if family is None:
            raise ModelUnfitError(f"{self.name} is not known to fill holes; ask it by a conversation instead")
        ids = self._endpoint.make_hole(family, prefix, suffix)
        return self._generate("completions", {"prompt": ids}, {}, decoding, None, family.stop)

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Answer a conversation; a ModelUnfitError where it cannot go on with an answer that was begun."""
        told = [{"role": each.role, "content": each.content} for each in messages]
        is_primed = bool(messages) and messages[-1].role == "assistant"
        if is_primed and not self.can_prime:
            raise ModelUnfitError(f"{self._client.url} does not go on with an answer that was begun; ask a question")
        more = self._endpoint.priming if is_primed else {}
        return self._generate("chat", {"messages": told}, more, decoding, listen)

    def close(self) -> None:
        """Close the line to the service."""
        self._client.close()

    def _generate(
        self,
        path: Path,
        asked: Mapping[str, Any],
        more: Mapping[str, Any],
        decoding: Decoding,
        listen: Listen | None,
        ends: Sequence[str] = (),
    ) -> Generation:
        stop = tuple(dict.fromkeys((*decoding.stop, *ends)))
        body = {
            **asked,
            "model": self._model,
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": decoding.seed,
            "stream": True,
            "stream_options": {"include_usage": True},
            "extra_body": {**self._endpoint.sampling, **more},
            **({"stop": list(stop)} if stop else {}),
        }
        return call_patiently(
            lambda: self._generate_once(path, body, AnswerText(stop, decoding.max_tokens, listen)), self._sleep
        )

    def _generate_once(self, path: Path, body: Mapping[str, Any], answer: AnswerText) -> Generation:
        began = time.monotonic()
        finish: Finish | None = None
        usage: Mapping[str, Any] = {}
        with closing(self._client.stream(path, body)) as chunks:
            for chunk in chunks:
                usage = chunk.get("usage") or usage
                for choice in chunk.get("choices") or ():
                    answer.add((choice.get("delta") or {}).get("content") or choice.get("text") or "")
                    finish = _read_finish(choice) or finish
                if answer.has_ended:
                    finish = "length" if answer.is_endless else "stop"
                    break
        if finish is None:
            raise ModelAnswerError(
                f"{self._client.url} broke off after {len(answer.text)} characters; run the same again"
            )
        text = answer.finish()
        prompt_tokens = usage.get("prompt_tokens") or estimate_tokens(str(body.get("prompt") or body["messages"]))
        completion_tokens = usage.get("completion_tokens") or estimate_tokens(text)
        return Generation(text, finish, Usage(1, prompt_tokens, completion_tokens, time.monotonic() - began))


def _read_finish(choice: Mapping[str, Any]) -> Finish | None:
    reason = choice.get("finish_reason")
    return None if not reason else "length" if reason == "length" else "stop"
