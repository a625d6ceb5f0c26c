"""What runs behind an address, found out by asking it, and what may be asked of it beside the interface of OpenAI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pkg.models.fim import FAMILIES, FimFamily, Order, find_family

Ask = Callable[[str, Mapping[str, Any] | None], Mapping[str, Any] | None]
"""Ask for a page from the root of a service, such as /props, or from its address, such as models; None without one."""

Kind = Literal["llama.cpp", "vllm", "ollama", "other"]

# What turns the ways of choosing tokens off that a server adds by itself: a temperature alone is meant (P-22).
_PLAIN = {"top_k": 0, "min_p": 0.0}
_PLAIN_VLLM = {**_PLAIN, "repetition_penalty": 1.0}  # it takes these from the files of the model
_CONTINUE_VLLM = {"continue_final_message": True, "add_generation_prompt": False}


@dataclass(frozen=True)
class Endpoint:
    """What is known of the program that answers at an address."""

    ask: Ask
    kind: Kind = "other"
    model: str = ""
    window: int | None = None
    parameters: int | None = None
    slots: int | None = None  # requests that it works on at once
    priming: Mapping[str, Any] = field(default_factory=dict)  # what a request says besides, to have an answer continued
    sampling: Mapping[str, Any] = field(default_factory=dict)

    def tokenize(self, text: str, special: bool = True, begins: bool = False) -> list[int] | None:
        """Give the tokens of a text; None where the service does not tell.

        special: whether special tokens in it are taken for what they are, which vLLM always does; begins: with what
        the tokenizer puts before a prompt.
        """
        if self.kind == "llama.cpp":
            told = self.ask("/tokenize", {"content": text, "parse_special": special, "add_special": begins})
        elif self.kind == "vllm":
            told = self.ask("/tokenize", {"model": self.model, "prompt": text, "add_special_tokens": begins})
        else:
            return None
        ids = told.get("tokens") if told else None
        return ids if isinstance(ids, list) else None

    def find_family(self, name: str) -> FimFamily | None:
        """Find the family of the model: the first whose tokens its vocabulary has, those that its name tells before.

        Where the service does not tell its tokens, the name alone decides.
        """
        named = find_family(name)
        if self.tokenize("a") is None:
            return named
        return next((each for each in (named, *FAMILIES) if each and self._has_tokens(each)), None)

    def _has_tokens(self, family: FimFamily) -> bool:
        return all(len(self.tokenize(token) or ()) == 1 for token in family.tokens)

    def make_hole(self, family: FimFamily, prefix: str, suffix: str, order: Order | None) -> list[int] | str:
        """Make the prompt that shows a hole: as tokens where texts can be told from special ones, else as one text."""
        if self.kind != "llama.cpp":
            return family.write(prefix, suffix, order)
        ids = self.tokenize("", begins=True) or []
        for part in family.arrange(prefix, suffix, order):
            ids += (self.tokenize(part.text, special=part.is_token) or []) if part.text else []
        return ids


def find_endpoint(ask: Ask, model: str, reuse: bool) -> Endpoint:
    """Find out what answers, by pages that only one program has."""
    props = ask("/props", None) or {}
    settings = props.get("default_generation_settings")
    if isinstance(settings, Mapping):
        sampling = {**_PLAIN, "cache_prompt": reuse}
        known = settings.get("n_ctx"), _count_parameters(ask), props.get("total_slots")
        return Endpoint(ask, "llama.cpp", model, *known, sampling=sampling)
    for entry in (ask("models", None) or {}).get("data") or ():
        if entry.get("id") == model and entry.get("owned_by") == "vllm":
            return Endpoint(ask, "vllm", model, entry.get("max_model_len"), None, None, _CONTINUE_VLLM, _PLAIN_VLLM)
    for entry in (ask("/api/ps", None) or {}).get("models") or ():  # those that Ollama has in memory
        if entry.get("name") == model or entry.get("model") == model:
            return Endpoint(ask, "ollama", model, entry.get("context_length"))
    return Endpoint(ask, model=model)


def _count_parameters(ask: Ask) -> int | None:
    """Read how many parameters the one model of a llama.cpp server has."""
    for entry in (ask("models", None) or {}).get("data") or ():
        count = (entry.get("meta") or {}).get("n_params")
        return count if isinstance(count, int) else None
    return None
