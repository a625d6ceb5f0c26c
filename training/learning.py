"""Learn the rows of words from pairs, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from batches import Sampler
from known_words import embed_words
from learned import Learned
from matrices import Floats, Pairs
from rows import Model
from start_rows import Known, make_start

STEPS, WARM_UP = 600, 20
RATE, LAST_RATE = 0.03, 1e-4
TEMPERATURE = 0.05
FEWEST = 3  # texts that a word must occur in to get a learned row; other words keep their signs
LEAST_RARITY = 0.3


def measure_rarity(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return the rarity of each word, 1 on average, and the number of texts that contain it."""
    functions = pairs.functions
    counts = np.asarray((functions.code > 0).sum(axis=0)).ravel()
    for questions in (pairs.first, pairs.asked):
        counts = counts + np.asarray(questions.words.sum(axis=0)).ravel()
    rarity = np.maximum(np.log(functions.code.shape[0] / (counts + 1)), LEAST_RARITY)
    return (rarity / rarity.mean()).astype(np.float32), counts.astype(np.float32)


def know_words(pairs: Pairs, forms: Mapping[str, str]) -> Known:
    """Return the language model's vectors of all words that get learned rows."""
    _, counts = measure_rarity(pairs)
    chosen = np.flatnonzero(counts >= FEWEST)
    return Known(chosen, embed_words([pairs.words[number] for number in chosen.tolist()], forms))


def learn_rows(
    pairs: Pairs,
    packages: Sequence[str],
    known: Known,
    dimension: int,
    seed: int,
    tell: Callable[[str], None],
) -> Learned:
    """Learn the rows; the rate decays to nearly 0, so that the last steps change little."""
    rarity, counts = measure_rarity(pairs)
    model = Model(make_start(pairs.words, rarity, known, dimension), counts + 1 >= FEWEST)
    sampler = Sampler(pairs, packages, seed)
    total = 0.0
    for step in range(STEPS):
        rate = RATE * (1 - step / STEPS) * min(1.0, (step + 1) / WARM_UP) + LAST_RATE
        total += model.learn(sampler.draw(), rate, TEMPERATURE)
        if (step + 1) % 100 == 0:
            tell(f"step {step + 1} of {STEPS}: loss {total / 100:.3f}, weights {model.weights.round(2).tolist()}")
            total = 0.0
    return model.freeze()
