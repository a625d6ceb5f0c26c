"""Write the learned rows in the encoder's format: signed bytes, the words that they belong to, and the manifest."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
from learned import Learned
from learning import FEWEST, measure_rarity
from matrices import Floats, Matrix, Pairs

from pkg.encode.word_table import FILES, NAME, PLACE, ROWS, TEXT, WORDS
from pkg.trained import MANIFEST

CLIPPED = 1e-5  # share of the numbers to clip: the largest would cost all others their precision
FEWEST_HEADINGS = 3  # names or places that a word must occur in to have a row there
LARGEST = 127
VERSION = 1  # of the computation of vectors from rows: a new version is a new encoder


def write_static(learned: Learned, pairs: Pairs, folder: Path) -> None:
    """Write rows, words and manifest."""
    rarity, counts = measure_rarity(pairs)
    chosen = (
        (TEXT, learned.text, counts >= FEWEST),
        (NAME, learned.name, _count(pairs.functions.names) >= FEWEST_HEADINGS),
        (PLACE, learned.place, _count(pairs.functions.places) >= FEWEST_HEADINGS),
    )
    words = [part + pairs.words[number] for part, _, kept in chosen for number in np.flatnonzero(kept)]
    values = np.concatenate([rows[kept] for _, rows, kept in chosen])
    scale = LARGEST / np.quantile(np.abs(values[:: max(1, len(values) // 5000)]), 1 - CLIPPED)
    np.save(folder / ROWS, round_rows(values, scale))
    (folder / WORDS).write_text("\n".join(words) + "\n", encoding="utf-8")
    rare = float(rarity[counts < FEWEST].mean()) * scale / np.sqrt(values.shape[1])
    manifest = {
        "encoder": "static",
        "version": VERSION,
        "dimension": values.shape[1],
        "weights": dict(
            zip(("text", "name", "place"), (round(float(each), 4) for each in learned.weights), strict=True)
        ),
        "unknown": max(1, round(rare)),
        "sha256": {name: sha256((folder / name).read_bytes()).hexdigest() for name in FILES},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def round_rows(values: Floats, scale: float) -> npt.NDArray[np.int8]:
    """Quantise numbers to signed bytes."""
    rounded: npt.NDArray[np.int8] = np.clip(np.rint(values * scale), -LARGEST, LARGEST).astype(np.int8)
    return rounded


def _count(matrix: Matrix) -> Floats:
    return np.asarray(matrix.sum(axis=0), np.float32).ravel()
