"""Fit a linear ranker: the weights under which right candidates outweigh the others of their question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STEPS, RATE = 400, 0.05
DECAY = 0.01  # pull of every weight towards 0, in standard deviations of its feature; .003 to .1 score alike

NEWTON_STEPS, FLATNESS = 30, 1e-3


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of one question: their features [candidates, features], which are right, what it counts."""

    features: Floats
    right: npt.NDArray[np.bool_]
    weight: float


@dataclass(frozen=True, slots=True)
class Ranker:
    """A fitted ranker; with the offset, a sum squeezed between 0 and 1 is the rate at which first hits are right."""

    weights: Floats
    offset: float


def fit_ranker(judged: Sequence[Judged]) -> Ranker:
    """Fit weights and offset; questions without a right candidate teach the offset alone."""
    weights = _fit_weights([each for each in judged if each.right.any()])
    firsts = [(each, int(np.argmax(each.features @ weights))) for each in judged if len(each.right)]
    sums = np.array([each.features[first] @ weights for each, first in firsts])
    right = np.array([each.right[first] for each, first in firsts], np.float64)
    scale, offset = _fit_rate(sums, right, np.array([each.weight for each, _ in firsts]))
    return Ranker(weights * scale, offset)


def _fit_weights(judged: Sequence[Judged]) -> Floats:
    """Raise the softmax share of the right candidates of each question, by Adam with fixed steps."""
    features = np.concatenate([each.features for each in judged])
    right = np.concatenate([each.right for each in judged])
    counts = np.array([len(each.right) for each in judged])
    starts, owners = np.cumsum(counts) - counts, np.repeat(np.arange(len(judged)), counts)
    worth = np.array([each.weight for each in judged])[owners]
    worth /= sum(each.weight for each in judged)
    deviations = features.std(axis=0) + 1e-9
    scaled = features / deviations
    weights, momentum, square = np.zeros((3, features.shape[1]))
    for step in range(1, STEPS + 1):
        shares = _share(scaled @ weights, starts, owners)
        rights = _share(np.where(right, scaled @ weights, -np.inf), starts, owners)
        slope = scaled.T @ ((shares - rights) * worth) + DECAY * weights
        momentum = 0.9 * momentum + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        weights = weights - RATE * momentum / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    fitted: Floats = weights / deviations
    return fitted


def _share(sums: Floats, starts: npt.NDArray[np.int64], owners: npt.NDArray[np.int64]) -> Floats:
    """Give each candidate its softmax share among those of its question."""
    powers = np.exp(sums - np.maximum.reduceat(sums, starts)[owners])
    shares: Floats = powers / np.add.reduceat(powers, starts)[owners]
    return shares


def _fit_rate(sums: Floats, right: Floats, worth: Floats) -> tuple[float, float]:
    """Fit scale and offset of a logistic curve by Newton's method: how often a first hit of this sum is right.

    The sums are centred, and a slight pull to a flat curve keeps the steps small.
    """
    centre, spread = float(sums.mean()), float(sums.std()) or 1.0
    inputs, worth = np.stack(((sums - centre) / spread, np.ones(len(sums))), axis=1), worth / worth.sum()
    found = np.zeros(2)
    for _ in range(NEWTON_STEPS):
        rate = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ ((rate - right) * worth) + FLATNESS * found
        curve = (inputs * (rate * (1 - rate) * worth)[:, None]).T @ inputs + FLATNESS * np.eye(2)
        found = found - np.linalg.solve(curve, slope)
    scale = max(float(found[0]), FLATNESS) / spread
    return scale, float(found[1]) - scale * centre
