"""What is known of words before anything is learned: where a small language model places each of them.

Pairs tell little of a rare word; a model that has read more knows what it is akin to (`decompress` to `zip`). Each stem
takes the vector of its commonest form, alone, so nothing of the model is left in the package but a better start.
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
    """Give for each stem the form that it is written in most often."""
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
    """Embed the commonest form of each stem by all-MiniLM-L6-v2: [len(words), its dimension]."""
    model = MiniLM("minilm", *find_files(None))
    written = [forms.get(word, word) for word in words]
    batches = [model.embed(written[at : at + AT_ONCE], is_query=False) for at in range(0, len(written), AT_ONCE)]
    return np.concatenate(batches)
