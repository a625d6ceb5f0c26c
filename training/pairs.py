"""Convert mined functions and constants into matrices of word counts: questions and their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from asked_questions import AskedQuestion
from exclusions import Exclusions, normalise_text
from matrices import Functions, Matrix, Pairs, Questions
from mining import Mined
from scipy import sparse

from pkg.encode.headings import make_heading
from pkg.encode.static import split_heading
from pkg.encode.word_table import MAX_WORDS
from pkg.terms.words import split_terms, stem_cached

FEWEST_TERMS = 4  # least terms in a function's code: shorter functions carry no information


class _Rows:
    """A growing list of rows of word numbers."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._vocabulary = vocabulary
        self._numbers: list[int] = []
        self._ends = [0]

    def add(self, words: Iterable[str]) -> None:
        self._numbers += [self._vocabulary.setdefault(word, len(self._vocabulary)) for word in words]
        self._ends.append(len(self._numbers))

    def build(self) -> Matrix:
        """Build the matrix, as wide as the vocabulary has become."""
        counts = np.ones(len(self._numbers), np.float32)
        shape = len(self._ends) - 1, len(self._vocabulary)
        matrix = sparse.csr_matrix((counts, self._numbers, self._ends), shape)
        matrix.sum_duplicates()
        return matrix


class PairMaker:
    """Collects functions and questions, without duplicate code and exclusions."""

    def __init__(self, exclusions: Exclusions, asked: Mapping[tuple[int, str, str], Sequence[str]]) -> None:
        self._exclusions = exclusions
        self._asked = asked
        self._vocabulary: dict[str, int] = {}
        names = ("code", "names", "places", "first", "later", "comments", "blocks", "asked", "block_code")
        self._rows = {name: _Rows(self._vocabulary) for name in names}
        self._owners: dict[str, list[int]] = {"first": [], "later": [], "comments": [], "blocks": [], "asked": []}
        self._packages: list[int] = []
        self._seen: set[str] = set()
        self._counts: Counter[str] = Counter()

    def add(self, mined: Mined, package: int) -> None:
        """Add a function and the questions about it; a constant without any is left out."""
        words = list_code_words(mined.code)
        asked = self._asked.get((package, mined.path, mined.qualname), ())
        verdict = self._judge(mined, words) if asked or mined.paragraphs or not mined.is_constant else "bare constants"
        self._counts[verdict] += 1
        if verdict == "functions":
            number = len(self._packages)
            self._packages.append(package)
            self._rows["code"].add(words)
            name, place = split_heading(make_heading(mined.path, mined.qualname))
            self._rows["names"].add(split_terms(name.encode()))
            self._rows["places"].add(split_terms(place.encode()))
            self._add_questions(mined, number, asked)

    def _judge(self, mined: Mined, words: Sequence[str]) -> str:
        if mined.key in self._exclusions.keys:
            return "functions of evaluation sets"
        if mined.key in self._seen:
            return "functions that came before"
        self._seen.add(mined.key)
        return "functions" if len(words) >= FEWEST_TERMS else "functions that say nothing"

    def _add_questions(self, mined: Mined, number: int, asked: Sequence[str]) -> None:
        kinds = ["first" if index == 0 else "later" for index in range(len(mined.paragraphs))]
        written = [*zip(kinds, mined.paragraphs, strict=True), *(("comments", text) for text in mined.comments)]
        for kind, text in (*written, *(("asked", text) for text in asked)):
            if self._is_fresh(text, is_first=kind == "first"):
                self._add_question(kind, text, number)
        for text, code in mined.blocks:
            if self._is_fresh(text, is_first=False):
                self._add_question("blocks", text, number)
                self._rows["block_code"].add(list_code_words(code))

    def _add_question(self, kind: str, text: str, number: int) -> None:
        self._counts[f"questions: {kind}"] += 1
        self._rows[kind].add(split_terms(text.encode("utf-8", "ignore")))
        self._owners[kind].append(number)

    def _is_fresh(self, text: str, is_first: bool) -> bool:
        """Return whether a text may be used: it is not excluded, nor a repeated first paragraph."""
        normal = normalise_text(text)
        if normal in self._exclusions.texts:
            self._counts["texts of evaluation sets"] += 1
            return False
        if is_first and normal in self._seen:
            self._counts["first paragraphs that came before"] += 1
            return False
        if is_first:
            self._seen.add(normal)
        return True

    def build(self) -> Pairs:
        """Build the matrices."""
        built = {name: rows.build() for name, rows in self._rows.items()}
        asked = {kind: Questions(_mark(built[kind]), np.array(owners)) for kind, owners in self._owners.items()}
        parts = built["code"], _mark(built["names"]), _mark(built["places"])
        functions = Functions(*parts, np.array(self._packages))
        return Pairs(
            list(self._vocabulary),
            functions,
            asked["first"],
            asked["later"],
            asked["comments"],
            asked["blocks"],
            asked["asked"],
            built["block_code"],
            self._counts,
        )


def list_code_words(identifiers: str) -> list[str]:
    """Return the words of identifiers as the encoder sums them: a word repeated in other identifiers counts again."""
    return [word for each in identifiers.encode().split() for word in stem_cached(each)[:MAX_WORDS]]


def _mark(matrix: Matrix) -> Matrix:
    """Return the matrix with 1 in place of every count."""
    matrix.data[:] = 1
    return matrix


def make_pairs(
    files: Iterable[Iterator[Mined]],
    packages: Sequence[str],
    exclusions: Exclusions,
    questions: Iterable[AskedQuestion],
) -> Pairs:
    """Build the pairs of all packages, in their order; packages: their names."""
    numbers = {name: number for number, name in enumerate(packages)}
    asked: dict[tuple[int, str, str], list[str]] = {}
    for each in questions:
        asked.setdefault((numbers[each.package], each.path, each.qualname), []).append(each.text)
    maker = PairMaker(exclusions, asked)
    for package, functions in enumerate(files):
        for mined in functions:
            maker.add(mined, package)
    return maker.build()
