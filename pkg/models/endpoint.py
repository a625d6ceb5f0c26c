"""What runs behind an address, found out by asking it, and what may be asked of it beside the interface of OpenAI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pkg.models.fim import FAMILIES, FimFamily, find_family

Ask = Callable[[str, Mapping[str, Any] | None], Any]
"""Ask for a page, such as /props; None where there is none."""

Kind = Literal["llama.cpp", "vllm", "other"]


@dataclass(frozen=True)
class Endpoint:
    """What is known of the program that answers at an address."""

    ask: Ask
    kind: Kind = "other"
    window: int | None = None
    slots: int | None = None
    priming: Mapping[str, Any] = field(default_factory=dict)  # what a request says besides, to have an answer continued
    sampling: Mapping[str, Any] = field(default_factory=dict)  # what turns its own ways of choosing tokens off

    def tokenize(self, text: str, special: bool = False, begins: bool = False) -> list[int] | None:
        """Give the tokens of a text, special ones as such or as ordinary text; None where the service does not tell."""
        if self.kind != "llama.cpp":
            return None
        body = {"content": text, "parse_special": special, "add_special": begins}
        found = self.ask("/tokenize", body) or {}
        ids = found.get("tokens")
        return ids if isinstance(ids, list) else None

    def find_family(self, name: str) -> FimFamily | None:
        """Find the family of the model: the first whose tokens its vocabulary has, those that its name tells before."""
        named = find_family(name)
        if self.kind != "llama.cpp":
            return named
        return next((each for each in (named, *FAMILIES) if each and self._has_tokens(each)), None)

    def _has_tokens(self, family: FimFamily) -> bool:
        return all(len(self.tokenize(token, special=True) or ()) == 1 for token in family.tokens)

    def make_hole(self, family: FimFamily, prefix: str, suffix: str) -> list[int]:
        """Give the tokens of a hole; tokens of the texts that look special stay ordinary text."""
        ids = self.tokenize("", begins=True) or []
        for token, text in family.arrange(prefix, suffix):
            ids += self.tokenize(token, special=True) or []
            ids += (self.tokenize(text) or []) if text else []
        return ids


def find_endpoint(ask: Ask, model: str) -> Endpoint:
    """Find out what answers, by pages that only one program has."""
    props = ask("/props", None) or {}
    settings = props.get("default_generation_settings")
    if isinstance(settings, dict):
        return Endpoint(
            ask, "llama.cpp", settings.get("n_ctx"), props.get("total_slots"), sampling={"top_k": 0, "min_p": 0.0}
        )
    for entry in (ask("/v1/models", None) or {}).get("data") or ():
        if isinstance(entry, dict) and entry.get("id") == model:
            window = entry.get("max_model_len")
            if entry.get("owned_by") == "vllm":
                return Endpoint(
                    ask,
                    "vllm",
                    window,
                    priming={"continue_final_message": True, "add_generation_prompt": False},
                    sampling={"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0},
                )
            return Endpoint(ask, "other", window)
    return Endpoint(ask)
