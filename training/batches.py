"""Draw batches of questions with their answers: docstrings, comments, names, comments with blocks, asked questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matrices import Functions, Matrix, Numbers, Pairs, Questions, weigh_packages
from rows import Batch
from scipy import sparse

SIZE = 2600
SHARES = {"first": 1.0, "later": 0.3, "comments": 0.3, "names": 0.1, "blocks": 0.3, "asked": 0.6}
"""Share of each kind of question in a batch, before normalisation to a sum of 1: its training weight."""

NAME_DROPPED, PLACE_DROPPED = 0.15, 0.3  # shares of answers: dropout, so that the other parts learn to suffice
WORDS_DROPPED = 0.1  # share of the words of each answer: dropout, so that the others learn to suffice
DOCUMENTED = 0.5  # share of answers that include the later paragraphs of the docstring, as real code does
FILLED = 0.15  # share of questions that get the filler words of typed questions
FILLERS = (
    "python", "python how to", "how to", "how do i", "python code to", "in python", "function to", "python check if",
    "python get", "write a function to", "what is the best way to", "code for",
)  # fmt: skip


class Sampler:
    """Draws batches, reproducibly by seed."""

    def __init__(self, pairs: Pairs, packages: Sequence[str], seed: int) -> None:
        self._dice = np.random.default_rng(seed)
        self._pairs = pairs
        self._worth = weigh_packages(packages)[pairs.functions.packages]
        self._later = _join(pairs.later, len(pairs.functions.packages))
        self._named = np.flatnonzero(np.diff(pairs.functions.names.indptr) >= 2)
        numbers = {word: number for number, word in enumerate(pairs.words)}
        self._fillers = [[numbers[word] for word in text.split() if word in numbers] for text in FILLERS]
        total = sum(SHARES.values())
        self._sizes = {kind: int(SIZE * share / total) for kind, share in SHARES.items()}

    def draw(self) -> Batch:
        """Draw one batch; a function occurs at most once for each kind of question."""
        pairs = self._pairs
        drawn = [
            self._ask(pairs.first, "first"),
            self._ask(pairs.later, "later"),
            self._ask(pairs.comments, "comments"),
            self._ask_names(),
            self._ask_blocks(),
            self._ask(pairs.asked, "asked"),
        ]
        columns = zip(*drawn, strict=True)
        questions, *parts = (sparse.vstack(column).tocsr() for column in columns)
        return Batch(self._fill(questions), *parts)

    def _choose(self, owners: Numbers, count: int) -> Numbers:
        """Choose some of the rows owned by functions, by the functions' weights, each function once."""
        limits = np.cumsum(self._worth[owners])
        rows = np.unique(np.searchsorted(limits, self._dice.random(count) * limits[-1], "right"))
        _, firsts = np.unique(owners[rows], return_index=True)
        return np.asarray(rows[firsts], np.int64)

    def _ask(self, questions: Questions, kind: str) -> tuple[Matrix, ...]:
        rows = self._choose(questions.functions, self._sizes[kind])
        functions = questions.functions[rows]
        code = self._pairs.functions.code[functions]
        if kind != "later":
            code = code + self._drop(self._later[functions], 1 - DOCUMENTED)
        return questions.words[rows], self._drop_words(code), *self._place(functions)

    def _ask_names(self) -> tuple[Matrix, ...]:
        """Draw questions that are functions' names, which are removed from their code and headings."""
        functions = self._named[self._choose(self._named, self._sizes["names"])]
        known: Functions = self._pairs.functions
        names = known.names[functions]
        code = known.code[functions] - known.code[functions].multiply(names > 0)
        code = sparse.csr_matrix(code)
        code.eliminate_zeros()
        return names, code, sparse.csr_matrix(names.shape, dtype=np.float32), known.places[functions]

    def _ask_blocks(self) -> tuple[Matrix, ...]:
        rows = self._choose(self._pairs.blocks.functions, self._sizes["blocks"])
        placed = self._place(self._pairs.blocks.functions[rows])
        return self._pairs.blocks.words[rows], self._drop_words(self._pairs.block_code[rows]), *placed

    def _place(self, functions: Numbers) -> tuple[Matrix, Matrix]:
        """Return names and places of functions, some of them dropped."""
        known = self._pairs.functions
        return self._drop(known.names[functions], NAME_DROPPED), self._drop(known.places[functions], PLACE_DROPPED)

    def _drop(self, matrix: Matrix, share: float) -> Matrix:
        kept: npt.NDArray[np.float32] = (self._dice.random(matrix.shape[0]) >= share).astype(np.float32)
        return sparse.csr_matrix(matrix.multiply(kept[:, None]))

    def _drop_words(self, matrix: Matrix) -> Matrix:
        kept = sparse.csr_matrix(matrix)
        kept.data = kept.data * (self._dice.random(len(kept.data)) >= WORDS_DROPPED)
        kept.eliminate_zeros()
        return kept

    def _fill(self, questions: Matrix) -> Matrix:
        """Add filler words to some questions."""
        rows = np.flatnonzero(self._dice.random(questions.shape[0]) < FILLED)
        chosen = [self._fillers[number] for number in self._dice.integers(0, len(self._fillers), len(rows))]
        owners = np.repeat(rows, [len(words) for words in chosen])
        columns = [word for words in chosen for word in words]
        filled = questions + sparse.csr_matrix((np.ones(len(columns), np.float32), (owners, columns)), questions.shape)
        filled = filled.tocsr().astype(np.float32)
        filled.data[:] = 1
        return filled


def _join(questions: Questions, functions: int) -> Matrix:
    """Join all texts about a function into one row: [functions, words]."""
    numbers = np.arange(len(questions.functions))
    shape = functions, len(numbers)
    owners = sparse.csr_matrix((np.ones(len(numbers), np.float32), (questions.functions, numbers)), shape)
    return (owners @ questions.words).tocsr()
