"""Count in how many functions of real packages each word stands, and write the weights of the hashing encoder.

    python benchmarks/word_weights.py WHEEL... > pkg/encode/word_weights.txt

The committed table was made from the wheels of django 5.2.8, flask 3.1.2, networkx 3.5, pandas 2.3.3, requests
2.32.5, scikit-learn 1.7.2 and sympy 1.14.0. A weight is the rounded 1.5 * ln(functions / functions with the word),
kept within 1 and 12, so that all sums of weights stay small integers.
"""

from __future__ import annotations

import math
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator

from pkg.encode.words import split_words
from pkg.extract.python import extract_unit
from pkg.model import Function

LISTED = 4000  # words below this rank are rare enough for the highest weight


def read_functions(wheel: str) -> Iterator[bytes]:
    """Yield the source of every function in the Python files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".py"):
                unit = extract_unit(archive.read(name))
                for definition in unit.definitions:
                    if isinstance(definition, Function):
                        yield unit.text[definition.span.start : definition.span.end]


def weigh_words(wheels: list[str]) -> dict[int, list[str]]:
    """Group the commonest words by weight."""
    total, counts = 0, Counter[str]()
    for wheel in wheels:
        for function in read_functions(wheel):
            total += 1
            counts.update(set(split_words(function)))
    weights: dict[int, list[str]] = defaultdict(list)
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:LISTED]:
        weights[min(12, max(1, round(1.5 * math.log(total / count))))].append(word)
    return weights


if __name__ == "__main__":
    for weight, words in sorted(weigh_words(sys.argv[1:]).items()):
        print(weight, *sorted(words))
