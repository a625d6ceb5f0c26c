"""List the words with the most similar rows for each word that has a trained row: read by pkg.terms.term_weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pkg.encode.word_table import NAME, PLACE, TEXT, WordTable
from pkg.terms.term_weights import FULL, MOST, RELATED, RELATED_FILE, RELATED_WORDS

LEAST = 0.25  # cosine below which two words are unrelated
_AT_ONCE = 1000


def write_related(table: WordTable, words: list[str], folder: Path) -> None:
    """Write the nearest words of each word, and the words in their order."""
    known = [word for word in words if not word.startswith((NAME, PLACE))]
    rows = table.look_up_rows(known, TEXT).astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    related = np.zeros(len(known), RELATED)
    for low in range(0, len(known), _AT_ONCE):
        likeness = rows[low : low + _AT_ONCE] @ rows.T
        likeness[np.arange(len(likeness)), np.arange(low, low + len(likeness))] = 0  # itself
        near = np.argsort(-likeness, axis=1, kind="stable")[:, :MOST]
        found = np.take_along_axis(likeness, near, axis=1)
        related["word"][low : low + _AT_ONCE] = near
        related["likeness"][low : low + _AT_ONCE] = np.where(found >= LEAST, np.rint(found * FULL), 0)
    np.save(folder / RELATED_FILE, related)
    (folder / RELATED_WORDS).write_text("\n".join(known) + "\n", encoding="utf-8")
