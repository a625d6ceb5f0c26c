"""The server program at an address, detected by requests, and its features beyond the interface of OpenAI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pkg.models.fim import FAMILIES, FimFamily, Order, find_family

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
            return Endpoint(ask, "vllm", model, entry.get("max_model_len"), None, None, _CONTINUE_VLLM, _PLAIN_VLLM)
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
