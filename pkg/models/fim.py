"""The fill-in-the-middle tokens of model families, with the documentation of each family as source (P-07, A-14).

A prompt has the text before the hole and the text after it, each after its own token. In the order PSM (prefix, suffix,
middle) the model writes after a third token; SPM puts the suffix first, so that the model writes directly after the
prefix. The BOS token, which a tokenizer adds to every prompt, is not included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pkg.quoting.special_tokens import break_tokens

Order = Literal["psm", "spm"]


class Part(NamedTuple):
    """A part of a prompt: a token of the family, or a text of the user."""

    text: str
    is_token: bool


@dataclass(frozen=True, slots=True)
class FimFamily:
    """The fill-in-the-middle tokens of one model family."""

    name: str
    pattern: str  # of the names of its models and their files
    prefix: str  # the tokens, as spelled in the vocabulary
    suffix: str
    middle: str  # "" if there is none
    orders: dict[Order, str]  # P, S, M: the tokens; p, s: the texts; the first is the one of the family's own examples
    stop: tuple[str, ...]  # tokens that end a fill
    source: str  # documentation of the tokens
    written: tuple[str, str, str] | None = None  # spelling of the tokens in a text for the server, if it differs

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return the tokens that a vocabulary of this family has."""
        return tuple(filter(None, (self.prefix, self.suffix, self.middle)))

    def arrange(self, prefix: str, suffix: str, order: Order | None = None) -> Iterator[Part]:
        """Yield the parts of a prompt in the given order, or in the family's first one if it does not know that."""
        parts = {"P": self.prefix, "S": self.suffix, "M": self.middle, "p": prefix, "s": suffix}
        for letter in self.orders.get(order or "psm") or next(iter(self.orders.values())):
            yield Part(parts[letter], letter.isupper())

    def quote(self, text: str) -> str:
        """Break the special tokens in a text, including those of this family alone."""
        broken = break_tokens(text)
        for token in (*self.tokens, *self.stop):
            broken = broken.replace(token, f"{token[0]} {token[1:]}")
        return broken

    def write(self, prefix: str, suffix: str, order: Order | None = None) -> str:
        """Write a prompt as one text, with special tokens in the user's texts broken."""
        spelled = dict(zip((self.prefix, self.suffix, self.middle), self.written or (), strict=False))
        return "".join(
            spelled.get(part.text, part.text) if part.is_token else self.quote(part.text)
            for part in self.arrange(prefix, suffix, order)
        )


_BARE = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
_BARRED = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
_PSM: dict[Order, str] = {"psm": "PpSsM"}
_BOTH: dict[Order, str] = {"psm": "PpSsM", "spm": "PSsMp"}

FAMILIES = (
    FimFamily(
        "Qwen2.5-Coder",
        r"qwen.*coder|codeqwen",
        *_BARRED,
        _PSM,
        ("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_end|>"),
        "https://github.com/QwenLM/Qwen2.5-Coder#file-level-code-completion-fill-in-the-middle",
    ),
    FimFamily(
        "StarCoder2",
        r"starcoder|santacoder|stable-?code",
        *_BARE,
        _BOTH,
        ("<|endoftext|>", "<file_sep>", "<repo_name>"),
        "https://arxiv.org/abs/2402.19173",
    ),
    FimFamily(
        "Granite Code",
        r"granite.*code|granite-3",
        *_BARE,
        _BOTH,
        ("<|endoftext|>", "<|end_of_text|>"),
        "https://arxiv.org/abs/2405.04324",
    ),
    FimFamily(
        name="DeepSeek-Coder",
        pattern=r"deepseek-?coder",
        prefix="<\uff5cfim\u2581begin\uff5c>",
        suffix="<\uff5cfim\u2581hole\uff5c>",
        middle="<\uff5cfim\u2581end\uff5c>",
        orders=_PSM,
        stop=("<\uff5cend\u2581of\u2581sentence\uff5c>", "<|EOT|>"),
        source="https://github.com/deepseek-ai/DeepSeek-Coder#2-code-insertion",
    ),
    FimFamily(
        "CodeGemma",
        r"codegemma",
        *_BARRED,
        _PSM,
        ("<|file_separator|>", "<eos>"),
        "https://ai.google.dev/gemma/docs/codegemma/prompt-structure",
    ),
    FimFamily(
        name="Code Llama",
        pattern=r"code-?llama(?!.*(?:34b|70b|python))",  # not trained on holes
        prefix="\u2581<PRE>",
        suffix="\u2581<SUF>",
        middle="\u2581<MID>",
        orders=_BOTH,
        stop=("\u2581<EOT>", "<EOT>"),
        source="https://huggingface.co/docs/transformers/model_doc/code_llama",
        written=("<PRE> ", " <SUF>", " <MID>"),
    ),
    FimFamily(
        name="Codestral",
        pattern=r"codestral|mamba-?codestral",
        prefix="[PREFIX]",
        suffix="[SUFFIX]",
        middle="",
        orders={"spm": "SsPp"},
        stop=("</s>", "[PREFIX]", "[SUFFIX]"),
        source="https://github.com/mistralai/cookbook/blob/main/concept-deep-dive/tokenization/chat_templates.md",
    ),
)
"""Of several families with the same tokens, the first is chosen if only the vocabulary is known."""


def find_family(name: str) -> FimFamily | None:
    """Find the family of a model by its name or file name; None for a model not known to fill holes."""
    for family in FAMILIES:
        if re.search(family.pattern, name, re.IGNORECASE):
            return family
    return None
