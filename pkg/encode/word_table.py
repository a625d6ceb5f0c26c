"""The trained rows of words: read from the files beside this module, checked, and left where they lie."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b, sha256
from itertools import repeat
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.errors import WeightsError
from pkg.terms.compounds import FILE as COMPOUNDS
from pkg.terms.stems import split_terms
from pkg.trained import MANIFEST, WEIGHTS, read_revision, read_weights

ROWS, WORDS = "static.npy", "static.txt"
FILES = (ROWS, WORDS, COMPOUNDS)
"""What vectors are made by, beside the manifest, which has the hash of each."""

TEXT, NAME, PLACE = "", "name:", "place:"
"""Which row of a word is meant: as a word of a text or a question, of a function's name, of its class or module."""

Rows: TypeAlias = npt.NDArray[np.int8]


class WordTable:
    """Rows of signed bytes [n, dimension], the number of each word's row, and what the parts of a vector weigh."""

    def __init__(
        self, rows: Rows, words: Sequence[str], unknown: int, weights: tuple[float, float, float], revision: str = ""
    ) -> None:
        self._rows = rows
        self._numbers = {word: number for number, word in enumerate(words)}
        self._unknown = unknown  # size of the numbers in the row of an unknown word
        self.revision = revision
        self.dimension = int(rows.shape[1])
        self.text_weight, self.name_weight, self.place_weight = map(np.float32, weights)

    def read_rows(self, words: Sequence[str], part: str) -> Rows:
        """Give the rows of words as part of a text, a name or a place: int8 [len(words), dimension]."""
        numbers = np.fromiter(self._find(words, part), np.int64, len(words))
        rows: Rows = self._rows[numbers]
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            places: dict[str, int] = {}
            chosen = [places.setdefault(words[index], len(places)) for index in unknown.tolist()]
            rows[unknown] = (spell_signs(list(places), self.dimension) * np.int8(self._unknown))[chosen]
        return rows

    def _find(self, words: Sequence[str], part: str) -> Iterable[int]:
        """Give the number of each word's row, or of its row in texts where the part has none, or -1."""
        found = self._numbers.get
        if part == TEXT:
            return map(found, words, repeat(-1))
        return [found(part + word, found(word, -1)) for word in words]

    def sum_words(self, part: str, texts: Sequence[str]) -> Vectors:
        """Sum the rows of the distinct words of each text as part of a name or a place: float32 [n, dimension]."""
        distinct = [dict.fromkeys(split_terms(text.encode())) for text in texts]
        counts = np.array([len(words) for words in distinct], np.int64)
        rows = self.read_rows([word for words in distinct for word in words], part)
        sums = np.zeros((len(texts), self.dimension), np.float32)
        if len(rows):
            starts = (np.cumsum(counts) - counts)[counts > 0]
            sums[counts > 0] = np.add.reduceat(rows, starts, axis=0, dtype=np.int32)
        return sums


def spell_signs(words: Sequence[str], dimension: int) -> Rows:
    """Give each word its fixed row of signs, the bits of its BLAKE2 digest: int8 [len(words), dimension], +1 or -1."""
    size = dimension // 8
    digests = b"".join([blake2b(word.encode(), digest_size=size).digest() for word in words])
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(len(words), size), axis=1)
    signs: Rows = bits.view(np.int8) * np.int8(2) - np.int8(1)
    return signs


def load_word_table(folder: Path = WEIGHTS) -> WordTable:
    """Read the table of the wheel, rows memory-mapped; a WeightsError for files that are missing or are others."""
    manifest = _read_manifest(folder)
    checked = {name: _check(folder, name, manifest) for name in FILES}
    words = checked[WORDS].decode().splitlines()
    rows: Rows = np.asarray(np.load(folder / ROWS, mmap_mode="r"))  # a plain view: reading it costs less
    weights = manifest["weights"]
    parts = weights["text"], weights["name"], weights["place"]
    return WordTable(rows, words, manifest["unknown"], parts, read_revision(folder))


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(read_weights(folder, MANIFEST))
        if set(FILES) <= set(manifest["sha256"]):
            return manifest
    except (ValueError, LookupError, TypeError):
        pass
    raise WeightsError(f"{folder / MANIFEST} is no manifest of the encoder 'static'; install the package again")


def _check(folder: Path, name: str, manifest: dict[str, Any]) -> bytes:
    """Read a file and compare its hash with that of the manifest."""
    data = read_weights(folder, name)
    found, expected = sha256(data).hexdigest(), str(manifest["sha256"][name])
    if found != expected:
        raise WeightsError(
            f"{folder / name} has sha256 {found[:16]}..., expected {expected[:16]}...;"
            " the file is damaged or of another version; install the package again"
        )
    return data
