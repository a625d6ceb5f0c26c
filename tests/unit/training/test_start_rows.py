"""Initial rows of words are near those of similar words in a language model."""

from __future__ import annotations

import numpy as np
import pytest
from start_rows import SIGNS, Known, make_start, narrow

DIMENSION = 32
MODEL = 48


def draw(count: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=(count, MODEL)).astype(np.float32)


def know(vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> Known:
    """Return a model with vectors of the first words."""
    return Known(np.arange(len(vectors)), vectors)


def test_narrowed_vectors_have_length_1() -> None:
    narrowed = narrow(draw(200), DIMENSION)
    assert narrowed.shape == (200, DIMENSION)
    assert np.linalg.norm(narrowed, axis=1) == pytest.approx(np.ones(200), abs=1e-5)


def test_words_that_the_model_finds_alike_begin_alike() -> None:
    vectors = draw(200)
    vectors[1] = vectors[0] + 0.1 * vectors[2]
    start = make_start([f"word{n}" for n in range(200)], np.ones(200, np.float32), know(vectors), DIMENSION)
    cosines = start @ start[0] / np.linalg.norm(start, axis=1) / np.linalg.norm(start[0])
    assert cosines[1] > 0.9
    assert np.abs(cosines[2:]).max() < 0.8


def test_a_row_is_as_long_as_its_word_is_rare() -> None:
    rarity = np.append(np.ones(200, np.float32), np.array([1, 2, 4], np.float32))
    start = make_start([f"word{n}" for n in range(203)], rarity, know(draw(200)), DIMENSION)
    assert np.linalg.norm(start[200:], axis=1) == pytest.approx(SIGNS * rarity[200:], abs=1e-5)


def test_a_word_that_the_model_does_not_know_has_its_signs() -> None:
    vectors = draw(200)
    words = [f"word{n}" for n in range(201)]
    start = make_start(words, np.ones(201, np.float32), know(vectors), DIMENSION)
    assert len(set(np.abs(start[200]).tolist())) == 1
