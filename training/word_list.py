"""List the words that names consist of, most frequent first: pkg.terms.words splits words by them.

Words of prose are those in documentation and comments; words of code, shorter ones such as `fmt`, those between
underscores. Packages have equal weight, whatever their size.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from mining import Mined

from pkg.terms.words import MADE, SHORTEST_PIECE, Compounds

FEWEST_PROSE, FEWEST_CODE = 4, 8  # packages that must use a word, to exclude one project's names and typing errors
MOST_SHORT = 1500  # most frequent words, among which two-letter words count: rarer ones occur in everything
_PROSE = re.compile(r"(?<![\w.])[A-Za-z][a-z]*(?![\w(]|\.\w)")
_CODE = re.compile(r"[a-z]+")
_REPEATED = re.compile(r"(.)\1*")  # such as xxx


def list_words(packages: Iterable[Iterator[Mined]]) -> list[str]:
    """Return the words of all packages, those in the largest share of functions first."""
    prose, code = Counter[str](), Counter[str]()
    shares: dict[str, float] = defaultdict(float)
    for functions in packages:
        said, written = _count_words(functions)
        for counts, users in ((said, prose), (written, code)):
            total = counts.total()
            for word, count in counts.items():
                shares[word] += count / total
            users.update(counts.keys())
    known = (word for word in shares if prose[word] >= FEWEST_PROSE or code[word] >= FEWEST_CODE)
    long = [word for word in known if len(word) >= SHORTEST_PIECE and not _REPEATED.fullmatch(word)]
    ordered = sorted(long, key=lambda word: (-shares[word], word))
    return [word for rank, word in enumerate(ordered) if len(word) > SHORTEST_PIECE or rank < MOST_SHORT]


def _count_words(functions: Iterator[Mined]) -> tuple[Counter[str], Counter[str]]:
    """Count the functions whose prose, and those whose code, contains each word."""
    said, written = Counter[str](), Counter[str]()
    for each in functions:
        if each.is_constant:
            continue
        said.update({word.lower() for text in (*each.paragraphs, *each.comments) for word in _PROSE.findall(text)})
        names = (name for name in each.code.split() if "_" in name.strip("_") and name.islower())
        written.update({word for name in names for word in _CODE.findall(name)})
    return said, written


def write_words(words: list[str], target: Path) -> None:
    """Write the list, one word per line, with a mark after those that are split themselves."""
    compounds = Compounds([word + MADE for word in words])  # so that each is examined
    lines = (word + MADE if len(compounds[word]) > 1 else word for word in words)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
