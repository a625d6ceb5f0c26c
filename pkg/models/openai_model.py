"""Any service with the interface of OpenAI: OpenAI itself, vLLM, Ollama, llama.cpp and others (P-22)."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, cast

from pkg.errors import ContextLengthError, ModelAnswerError, ModelBusyError, ModelError, ModelUnfitError
from pkg.models.answer_text import AnswerText
from pkg.models.fim import FAMILIES, FimFamily, Order, find_family
from pkg.models.model_options import ModelOptions
from pkg.models.openai_client import OpenAIClient, Path
from pkg.models.text_model import Decoding, Finish, Generation, Listen, Message, SchemaDecoding, Usage, check_room
from pkg.services import OPENAI, call_patiently, estimate_tokens, split_address

Ask = Callable[[str, Mapping[str, Any] | None], Mapping[str, Any] | None]
"""Request a page from the root of a service, such as /props, or from its address, such as models; None if missing."""

Kind = Literal["llama.cpp", "vllm", "ollama", "other"]

# Settings that turn off a server's own filters of tokens, so that only the temperature applies (P-22).
_PLAIN = {"top_k": 0, "min_p": 0.0}
_PLAIN_VLLM = {**_PLAIN, "repetition_penalty": 1.0}  # its defaults come from the files of the model
_CONTINUE_VLLM = {"continue_final_message": True, "add_generation_prompt": False}


@dataclass(frozen=True)
class Endpoint:
    """The properties of the server program at an address."""

    ask: Ask
    kind: Kind = "other"
    model: str = ""
    window: int | None = None
    parameters: int | None = None
    slots: int | None = None  # parallel requests
    priming: Mapping[str, Any] = field(default_factory=dict)  # fields of a request that continues a begun answer
    sampling: Mapping[str, Any] = field(default_factory=dict)

    def tokenize(self, text: str, special: bool = True, begins: bool = False) -> list[int] | None:
        """Return the tokens of a text; None if the service cannot tokenize.

        special: whether special tokens in it are effective, as always with vLLM; begins: whether the tokens that the
        tokenizer adds before a prompt are included.
        """
        if self.kind == "llama.cpp":
            found = self.ask("/tokenize", {"content": text, "parse_special": special, "add_special": begins})
        elif self.kind == "vllm":
            found = self.ask("/tokenize", {"model": self.model, "prompt": text, "add_special_tokens": begins})
        else:
            return None
        ids = found.get("tokens") if found else None
        return ids if isinstance(ids, list) else None

    def find_family(self, name: str) -> FimFamily | None:
        """Find the first family whose tokens are in the model's vocabulary, beginning with the family of its name.

        If the service cannot tokenize, the name alone decides.
        """
        named = find_family(name)
        if self.tokenize("a") is None:
            return named
        return next((each for each in (named, *FAMILIES) if each and self._has_tokens(each)), None)

    def _has_tokens(self, family: FimFamily) -> bool:
        return all(len(self.tokenize(token) or ()) == 1 for token in family.tokens)

    def make_hole(self, family: FimFamily, prefix: str, suffix: str, order: Order | None) -> list[int] | str:
        """Make the prompt of a hole: tokens with llama.cpp, which separates texts from special ones, else a text."""
        if self.kind != "llama.cpp":
            return family.write(prefix, suffix, order)
        ids = self.tokenize("", begins=True) or []
        for part in family.arrange(prefix, suffix, order):
            ids += (self.tokenize(part.text, special=part.is_token) or []) if part.text else []
        return ids


def find_endpoint(ask: Ask, model: str, reuse: bool) -> Endpoint:
    """Detect the server program by pages that only one program has."""
    props = ask("/props", None) or {}
    settings = props.get("default_generation_settings")
    if isinstance(settings, Mapping):
        sampling = {**_PLAIN, "cache_prompt": reuse}
        known = settings.get("n_ctx"), _count_parameters(ask), props.get("total_slots")
        return Endpoint(ask, "llama.cpp", model, *known, sampling=sampling)
    for entry in (ask("models", None) or {}).get("data") or ():
        if entry.get("id") == model and entry.get("owned_by") == "vllm":
            return Endpoint(
                ask=ask,
                kind="vllm",
                model=model,
                window=entry.get("max_model_len"),
                parameters=None,
                slots=None,
                priming=_CONTINUE_VLLM,
                sampling=_PLAIN_VLLM,
            )
    for entry in (ask("/api/ps", None) or {}).get("models") or ():  # in the memory of Ollama
        if entry.get("name") == model or entry.get("model") == model:
            return Endpoint(ask, "ollama", model, entry.get("context_length"))
    return Endpoint(ask, model=model)


def _count_parameters(ask: Ask) -> int | None:
    """Return the number of parameters of the one model of a llama.cpp server."""
    for entry in (ask("models", None) or {}).get("data") or ():
        count = (entry.get("meta") or {}).get("n_params")
        return count if isinstance(count, int) else None
    return None


MINUTE = 60.0


class RateLimit:
    """A limit of requests and tokens in a minute, shared by threads."""

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._requests, self._tokens = requests, tokens
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()  # time and tokens of each request in the last minute

    def wait(self, tokens: int) -> None:
        """Wait until a request of some tokens may be sent; one above the limit is sent alone in its minute."""
        if self._requests is None and self._tokens is None:
            return
        while True:
            with self._lock:
                now = self._clock()
                while self._sent and self._sent[0][0] <= now - MINUTE:
                    self._sent.popleft()
                delay = self._find_delay(now, tokens)
                if delay <= 0:
                    self._sent.append((now, tokens))
                    return
            self._sleep(delay)

    def _find_delay(self, now: float, tokens: int) -> float:
        """Return the seconds until enough earlier requests are more than a minute old."""
        count, total = len(self._sent), sum(size for _, size in self._sent)
        end = now - MINUTE
        for sent, size in self._sent:
            fits = self._requests is None or count < self._requests
            if fits and (self._tokens is None or total + tokens <= self._tokens):
                break
            count, total, end = count - 1, total - size, sent
        return end + MINUTE - now


PARALLEL = 4  # requests that any service accepts at once; llama.cpp reports its own number

INFILL_PREFIX, INFILL_SUFFIX = 1500, 500  # tokens: three quarters and one quarter of its batch of 2,048, less a few

# Probes of other services: whether they read the text after a hole, by the counted tokens, and whether they continue
# a begun answer, which ends in the middle of a given word.
PROBE_TOKENS = 8
SUFFIX_PROBE = "\nprint(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)\n"
SUFFIX_LEAST = 20  # its least tokens with any tokenizer
PRIMED, PRIMED_REST = "alpha bravo charlie delta ec", "ho foxtrot golf hotel"


def open_model(detail: str, options: ModelOptions) -> OpenAIModel:
    """Open the model NAME@URL, without a request."""
    model, url = split_address(detail, "openai", "model")
    chosen = OPENAI.choose_url(url)
    client = OpenAIClient(chosen, f"openai:{detail}", options.timeout)
    return OpenAIModel(client, model, f"openai:{detail}", f"openai {model} {chosen}", options)


class OpenAIModel:
    """A model of a service."""

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
        self._limit = RateLimit(options.requests_a_minute, options.tokens_a_minute, sleep=sleep)
        self._lock = threading.RLock()  # the properties of a service are requested once
        self._takes_schema = True  # until it refuses one

    @cached_property
    def _endpoint(self) -> Endpoint:
        with self._lock:
            return find_endpoint(self._ask, self._model, self._options.reuse)

    def _ask(self, path: str, body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return call_patiently(partial(self._client.ask, path, body), self._sleep)

    @property
    def window(self) -> int | None:
        """Return the most tokens of prompt and answer together; None if the service does not report it."""
        return self._options.window or self._endpoint.window

    @property
    def parameters(self) -> int | None:
        """Return the number of parameters; None if the service does not report it."""
        return self._endpoint.parameters

    @property
    def parallel(self) -> int:
        """Return the useful number of parallel requests."""
        return self._options.parallel or self._endpoint.slots or PARALLEL

    @property
    def can_fill(self) -> bool:
        """Return whether it fills holes, by any kind of request."""
        return self._family is not None or self._has_infill or self._reads_suffix

    @property
    def can_prime(self) -> bool:
        """Return whether it continues a begun answer."""
        return self._endpoint.kind in ("llama.cpp", "vllm") or self._continues_answers

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, or estimate them if the service cannot tokenize."""
        ids = self._endpoint.tokenize(text)
        return estimate_tokens(text) if ids is None else len(ids)

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Continue a text; raises ContextLengthError if prompt and answer do not fit."""
        check_room(self, self.count_tokens(prompt), decoding)
        return self._generate("completions", {"prompt": prompt}, {}, decoding, listen)

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Write the text between two texts (P-07, A-14).

        Raises ModelUnfitError if it cannot, and ContextLengthError if texts and answer do not fit.
        """
        family = self._family
        if family is not None:
            hole = self._endpoint.make_hole(family, prefix, suffix, cast("Order | None", self._options.order))
            check_room(self, self.count_tokens(hole) if isinstance(hole, str) else len(hole), decoding)
            return self._generate("completions", {"prompt": hole}, {}, decoding, None, family.stop)
        if self._has_infill:
            return self._fill_by_infill(prefix, suffix, decoding)
        if not self._reads_suffix:
            raise ModelUnfitError(
                f"{self.name} cannot fill holes: its family is unknown, and its service ignores the text after a hole;"
                " use a conversation instead"
            )
        check_room(self, self.count_tokens(prefix) + self.count_tokens(suffix), decoding)
        return self._generate("completions", {"prompt": prefix, "suffix": suffix}, {}, decoding, None)

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Answer a conversation.

        Raises ModelUnfitError if it cannot continue a begun answer, and ContextLengthError if conversation and answer
        do not fit.
        """
        is_primed = bool(messages) and messages[-1].role == "assistant"
        if is_primed and not self.can_prime:
            raise ModelUnfitError(f"{self._client.url} does not continue a begun answer; end with a user message")
        check_room(self, sum(self.count_tokens(each.content) for each in messages), decoding)
        turns = [{"role": each.role, "content": each.content} for each in messages]
        more = self._endpoint.priming if is_primed else {}
        if isinstance(decoding, SchemaDecoding) and self._takes_schema:
            named = {"name": "answer", "schema": json.loads(decoding.schema)}
            shaped = {**more, "response_format": {"type": "json_schema", "json_schema": named}}
            try:
                return self._generate("chat", {"messages": turns}, shaped, decoding, listen)
            except (ModelBusyError, ModelAnswerError, ContextLengthError):
                raise
            except ModelError:  # a server without schemas refuses the request
                self._takes_schema = False
        return self._generate("chat", {"messages": turns}, more, decoding, listen)

    def close(self) -> None:
        """Close the connection to the service."""
        self._client.close()

    @cached_property
    def _family(self) -> FimFamily | None:
        """Find its fill-in-the-middle tokens; None for Ollama, which wraps every prompt in a template."""
        with self._lock:
            return None if self._endpoint.kind == "ollama" else self._endpoint.find_family(self._model)

    @cached_property
    def _has_infill(self) -> bool:
        """Return whether llama.cpp knows fill-in-the-middle tokens of a family that is not in our table."""
        with self._lock:
            body = {"input_prefix": "a = ", "input_suffix": "\n", "n_predict": 1}
            return self._endpoint.kind == "llama.cpp" and self._ask("/infill", body) is not None

    def _fill_by_infill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Fill a hole by /infill, which would silently truncate texts longer than its batch."""
        before, after = self.count_tokens(prefix), self.count_tokens(suffix)
        if before > INFILL_PREFIX or after > INFILL_SUFFIX:
            raise ContextLengthError(
                f"{self._client.url} reads at most {INFILL_PREFIX} tokens before a hole and {INFILL_SUFFIX} after it;"
                f" these texts have {before} and {after}; shorten them"
            )
        began = time.monotonic()
        body = {
            "input_prefix": prefix,
            "input_suffix": suffix,
            "n_predict": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": decoding.seed,
            "stop": list(decoding.stop),
            **self._endpoint.sampling,
        }
        found = self._ask("/infill", body) or {}
        if not isinstance(found.get("content"), str):
            raise ModelAnswerError(f"{self._client.url}/infill returned no text; check the model")
        finish: Finish = "length" if found.get("stop_type") == "limit" else "stop"
        used = Usage(1, found.get("tokens_evaluated", 0), found.get("tokens_predicted", 0), time.monotonic() - began)
        return Generation(found["content"], finish, used)

    @cached_property
    def _reads_suffix(self) -> bool:
        with self._lock:
            found = self._probe("completions", {"prompt": "a = 1", "suffix": SUFFIX_PROBE})
            return found is not None and found.usage.prompt_tokens >= SUFFIX_LEAST

    @cached_property
    def _continues_answers(self) -> bool:
        with self._lock:
            question = {"role": "user", "content": f"Repeat this and say nothing else: {PRIMED}{PRIMED_REST}"}
            found = self._probe("chat", {"messages": [question, {"role": "assistant", "content": PRIMED}]})
            return found is not None and found.text.startswith(PRIMED_REST[:2])

    def _probe(self, path: Path, body: Mapping[str, Any]) -> Generation | None:
        """Try a request; None if it is refused. Raises ModelBusyError."""
        try:
            return self._generate(path, body, {}, Decoding(max_tokens=PROBE_TOKENS), None)
        except ModelBusyError:
            raise
        except ModelError:
            return None

    def _generate(
        self,
        path: Path,
        prompt: Mapping[str, Any],
        more: Mapping[str, Any],
        decoding: Decoding,
        listen: Listen | None,
        ends: Sequence[str] = (),
    ) -> Generation:
        stop = tuple(dict.fromkeys((*decoding.stop, *ends)))
        body = {
            **prompt,
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
        prompt_tokens = _estimate_prompt(body)
        self._limit.wait(prompt_tokens + body["max_tokens"])
        began = time.monotonic()
        finish: Finish | None = None
        usage: Mapping[str, Any] = {}
        try:
            with closing(self._client.stream(path, body)) as chunks:
                for chunk in chunks:
                    usage = chunk.get("usage") or usage
                    for choice in chunk.get("choices") or ():
                        answer.add((choice.get("delta") or {}).get("content") or choice.get("text") or "")
                        finish = _read_finish(choice) or finish
                    if answer.has_ended:
                        finish = "length" if answer.is_endless else "stop"
                        break
        except ModelBusyError as fault:
            if answer.is_streamed:  # a retry would stream the beginning again
                raise ModelAnswerError(str(fault)) from None
            raise
        if finish is None:
            raise ModelAnswerError(
                f"{self._client.url} broke off after {len(answer.text)} characters; run the command again"
            )
        text = answer.finish()
        prompt_tokens = usage.get("prompt_tokens") or prompt_tokens
        completion_tokens = usage.get("completion_tokens") or estimate_tokens(text)
        return Generation(text, finish, Usage(1, prompt_tokens, completion_tokens, time.monotonic() - began))


def _estimate_prompt(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request."""
    if "messages" in body:
        return sum(estimate_tokens(each["content"]) for each in body["messages"])
    prompt = body["prompt"]
    return len(prompt) if isinstance(prompt, list) else estimate_tokens(prompt + body.get("suffix", ""))


def _read_finish(choice: Mapping[str, Any]) -> Finish | None:
    reason = choice.get("finish_reason")
    return None if not reason else "length" if reason == "length" else "stop"
