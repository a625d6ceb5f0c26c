"""Code and texts excluded from training, and how texts are compared with them."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.terms.words import split_terms


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The code and the texts of the evaluation sets, code by its key and text by its terms."""

    keys: frozenset[str]
    texts: frozenset[str]


def normalise_text(text: str) -> str:
    """Return the terms of a text: the same words give the same result, whatever their form."""
    return " ".join(split_terms(text.encode("utf-8", "ignore")))
