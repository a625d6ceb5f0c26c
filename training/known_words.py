"""Prior knowledge about words: the vectors of a small language model.

Training pairs say little about a rare word; a model trained on more text knows its relatives (`decompress` and `zip`).
Each stem takes the vector of its most frequent form, in isolation; the package contains no other trace of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from matrices import Floats
from mining import Mined

from pkg.encode.minilm import MiniLM, find_files
from pkg.terms.words import split_words, stem_cached

AT_ONCE = 64


def find_forms(files: Iterable[Iterator[Mined]]) -> dict[str, str]:
    """Return the most frequent form of each stem."""
    counts = Counter[str]()
    for functions in files:
        for each in functions:
            for text in (each.code, each.qualname, *each.paragraphs, *each.comments):
                counts.update(split_words(text.encode("utf-8", "ignore")))
    forms: dict[str, str] = {}
    for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        for stem in stem_cached(word.encode()):
            forms.setdefault(stem, word)
    return forms


def embed_words(words: Sequence[str], forms: Mapping[str, str]) -> Floats:
    """Embed the most frequent form of each stem with all-MiniLM-L6-v2: [len(words), its dimension]."""
    model = MiniLM("minilm", *find_files(None))
    written = [forms.get(word, word) for word in words]
    batches = [model.embed(written[at : at + AT_ONCE], is_query=False) for at in range(0, len(written), AT_ONCE)]
    return np.concatenate(batches)
