"""Learned rows are the average of several runs."""

from __future__ import annotations

import numpy as np
from learned import Learned, average_rows


def make_rows(seed: int) -> Learned:
    dice = np.random.default_rng(seed)
    text, name, place = dice.normal(size=(3, 5, 4)).astype(np.float32)
    return Learned(text, name, place, np.array([1, 0.5, 0.25], np.float32) * seed)


def test_runs_are_averaged_part_by_part() -> None:
    first, second = make_rows(1), make_rows(2)
    averaged = average_rows([first, second])
    assert np.allclose(averaged.name, (first.name + second.name) / 2)
    assert averaged.weights.tolist() == [1.5, 0.75, 0.375]
    assert {part.dtype for part in averaged} == {np.dtype(np.float32)}


def test_one_run_is_its_own_average() -> None:
    only = make_rows(3)
    assert all(np.array_equal(mine, its) for mine, its in zip(average_rows([only]), only, strict=True))
