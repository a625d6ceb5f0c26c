"""Fit a linear ranker: weights by which right candidates outscore the others of their question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DECAY = 0.01  # regularisation of every weight to 0 or a prior, in deviations of its feature; .003 to .1 score alike
STEPS, NEAR = 30, 1e-3  # steps of the fit, and the largest change of a weight at which it ends, in the same unit
LOWEST = -50.0  # lower bound of a sum relative to the highest of its question: its share is then 0

NEWTON_STEPS, FLATNESS = 30, 1e-3


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of one question: features [candidates, features], which are right, and the question's weight."""

    features: Floats
    right: npt.NDArray[np.bool_]
    weight: float


@dataclass(frozen=True)
class Stack:
    """The concatenated candidates of many questions."""

    features: Floats  # [candidates, features]
    right: npt.NDArray[np.bool_]  # [candidates]
    starts: npt.NDArray[np.int64]  # [questions]: first candidate of each
    worth: Floats  # [questions]

    @cached_property
    def answered(self) -> Stack:
        """Return the questions that have a right candidate."""
        counts = np.diff(self.starts, append=len(self.right))
        has_right = np.logical_or.reduceat(self.right, self.starts)
        kept, counts = np.repeat(has_right, counts), counts[has_right]
        return Stack(self.features[kept], self.right[kept], np.cumsum(counts) - counts, self.worth[has_right])


@dataclass(frozen=True, slots=True)
class Ranker:
    """A fitted ranker; the logistic function of a sum plus the offset is the rate at which first hits are right."""

    weights: Floats
    offset: float


def stack_judged(judged: Sequence[Judged]) -> Stack:
    """Concatenate questions; those without candidates are left out."""
    kept = [each for each in judged if len(each.right)]
    counts = np.array([len(each.right) for each in kept], np.int64)
    return Stack(
        np.concatenate([each.features for each in kept]),
        np.concatenate([each.right for each in kept]),
        np.cumsum(counts) - counts,
        np.array([each.weight for each in kept]),
    )


def fit_ranker(judged: Sequence[Judged]) -> Ranker:
    """Fit weights and offset; questions without a right candidate affect only the offset."""
    return fit_stacks([stack_judged(judged)])


def fit_stacks(stacks: Sequence[Stack], start: Floats | None = None, prior: Floats | None = None) -> Ranker:
    """Fit weights and offset to all questions of some stacks, starting from given weights [features] if any.

    prior: weights [features] to regularise towards, if the questions are few.
    """
    weights = _fit_weights([each.answered for each in stacks if each.right.any()], start, prior)
    return Ranker(*fit_offset(stacks, weights))


def fit_offset(stacks: Sequence[Stack], weights: Floats) -> tuple[Floats, float]:
    """Scale weights [features] and fit an offset, so that sums predict how often a first hit is right."""
    sums, right, worth = zip(*(_list_firsts(each, weights) for each in stacks), strict=True)
    scale, offset = _fit_rate(np.concatenate(sums), np.concatenate(right), np.concatenate(worth))
    return weights * scale, offset


def _list_firsts(stack: Stack, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return for each question the sum of its first candidate, whether that is right, and the question's weight."""
    sums = stack.features @ weights
    ends = np.append(stack.starts[1:], len(sums))
    first = np.array([low + np.argmax(sums[low:high]) for low, high in zip(stack.starts, ends, strict=True)], np.int64)
    return sums[first], stack.right[first].astype(np.float64), stack.worth


def _fit_weights(stacks: Sequence[Stack], start: Floats | None, prior: Floats | None) -> Floats:
    """Maximise the softmax share of the right candidates of each question, by Newton's method with halved steps.

    Every weight is regularised towards the prior one, or 0. The curvature is that of the shares of all candidates
    alone, an upper bound of the true one.
    """
    size = stacks[0].features.shape[1]
    total, spread = sum(float(each.worth.sum()) for each in stacks), _measure_spread(stacks)
    prior = np.zeros(size) if prior is None else prior
    weights = prior if start is None else start

    def measure(tried: Floats) -> tuple[float, Floats, Floats]:
        losses, slopes, curves = zip(*(_measure_slope(each, tried) for each in stacks), strict=True)
        pull = DECAY * spread * (tried - prior)
        return sum(losses) / total + pull @ (tried - prior) / 2, sum(slopes) / total + pull, sum(curves) / total

    loss, slope, curve = measure(weights)
    for _ in range(STEPS):
        step = np.linalg.solve(curve + np.diag(DECAY * spread), slope)
        while (found := measure(weights - step))[0] > loss and np.abs(step * np.sqrt(spread)).max() > NEAR:
            step = step / 2
        if np.abs(step * np.sqrt(spread)).max() <= NEAR:
            break
        weights, (loss, slope, curve) = weights - step, found
    return weights


def _measure_spread(stacks: Sequence[Stack]) -> Floats:
    """Return the variance of each feature [features]."""
    count = sum(len(each.features) for each in stacks)
    mean = sum(each.features.sum(axis=0) for each in stacks) / count
    squares = sum(np.square(each.features - mean).sum(axis=0) for each in stacks)
    return np.asarray(squares / count + 1e-9, np.float64)


def _measure_slope(stack: Stack, weights: Floats) -> tuple[float, Floats, Floats]:
    """Return the loss, its gradient [features] and its curvature [features, features]."""
    counts = np.diff(stack.starts, append=len(stack.right))
    worth = np.repeat(stack.worth, counts)
    sums = stack.features @ weights
    sums -= np.repeat(np.maximum.reduceat(sums, stack.starts), counts)
    powers = np.exp(np.maximum(sums, LOWEST))
    rights = np.where(stack.right, powers, 0.0)
    all_of, right_of = np.add.reduceat(powers, stack.starts), np.add.reduceat(rights, stack.starts)
    shares, rights = powers / np.repeat(all_of, counts), rights / np.repeat(right_of, counts)
    weighted = stack.features * shares[:, None]
    means = np.add.reduceat(weighted, stack.starts)
    curve = stack.features.T @ (weighted * worth[:, None]) - means.T @ (means * stack.worth[:, None])
    loss = float(stack.worth @ np.log(all_of / right_of))
    return loss, stack.features.T @ ((shares - rights) * worth), curve


def _fit_rate(sums: Floats, right: Floats, worth: Floats) -> tuple[float, float]:
    """Fit scale and offset of a logistic curve by Newton's method: the rate at which a first hit of a sum is right.

    The sums are centred, and slight regularisation to a flat curve keeps the steps small.
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
