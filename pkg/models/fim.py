"""The tokens by which families of models are shown a hole, from where each family says so (P-07, A-14).

A hole is shown as the text before it and the text behind it, each after a token of its own; the model writes on behind
a third. PSM is the order prefix, suffix, middle; SPM puts the suffix first. Models are trained on both as a rule; the
table has the order that the family's own examples use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FimFamily:
    """How one family of models is shown a hole."""

    name: str
    pattern: str  # of the names of its models, and of their files
    prefix: str
    suffix: str
    middle: str
    stop: tuple[str, ...]  # tokens behind which nothing of the fill comes; the model's own end is not among them
    source: str  # where the tokens are told
    is_suffix_first: bool = False  # SPM
    begins: str = ""  # what the tokenizer does not put before a prompt by itself, and the family needs

    @property
    def tokens(self) -> tuple[str, str, str]:
        """List the tokens that a vocabulary of this family has."""
        return self.prefix, self.suffix, self.middle

    def arrange(self, prefix: str, suffix: str) -> tuple[tuple[str, str], ...]:
        """Put a hole into the order of the family: each token with the text behind it, "" behind the last."""
        before, behind = (self.prefix, prefix), (self.suffix, suffix)
        parts = (behind, before) if self.is_suffix_first else (before, behind)
        return (*parts, (self.middle, ""))


_STARCODER = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
_QWEN = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")

FAMILIES = (
    FimFamily(
        "Qwen2.5-Coder",
        r"qwen.*coder|codeqwen",
        *_QWEN,
        ("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_end|>"),
        "https://arxiv.org/abs/2409.12186",
    ),
)


def find_family(name: str) -> FimFamily | None:
    """Find the family of a model by its name, or by that of its file; None for one that is not known to fill holes."""
    for family in FAMILIES:
        if re.search(family.pattern, name, re.IGNORECASE):
            return family
    return None
