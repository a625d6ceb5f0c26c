"""Fit a linear ranker: the weights under which right candidates outweigh the others of their question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DECAY = 0.01  # pull of every weight towards 0, in standard deviations of its feature; .003 to .1 score alike
STEPS, NEAR = 30, 1e-4  # of the fit of the weights: it ends where a step adds less than this to a sum of features

HALVINGS = 20  # of a step, at most
LEAST_SHARE = 1e-300  # of the right candidates, where rounding leaves none

NEWTON_STEPS, FLATNESS = 30, 1e-3


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of one question: their features [candidates, features], which are right, what it counts."""

    features: Floats
    right: npt.NDArray[np.bool_]
    weight: float


@dataclass(frozen=True)
class Stack:
    """The candidates of many questions, one after another."""

    features: Floats  # [candidates, features]
    right: npt.NDArray[np.bool_]  # [candidates]
    starts: npt.NDArray[np.int64]  # [questions]: its first candidate
    worth: Floats  # [questions]

    @cached_property
    def answered(self) -> Stack:
        """Give the questions that have a right candidate."""
        counts = np.diff(self.starts, append=len(self.right))
        has_right = np.logical_or.reduceat(self.right, self.starts)
        kept, counts = np.repeat(has_right, counts), counts[has_right]
        return Stack(self.features[kept], self.right[kept], np.cumsum(counts) - counts, self.worth[has_right])


@dataclass(frozen=True, slots=True)
class Ranker:
    """A fitted ranker; with the offset, a sum squeezed between 0 and 1 is the rate at which first hits are right."""

    weights: Floats
    offset: float


def stack_judged(judged: Sequence[Judged]) -> Stack:
    """Put questions together; one without candidates is left out."""
    kept = [each for each in judged if len(each.right)]
    counts = np.array([len(each.right) for each in kept], np.int64)
    return Stack(
        np.concatenate([each.features for each in kept]),
        np.concatenate([each.right for each in kept]),
        np.cumsum(counts) - counts,
        np.array([each.weight for each in kept]),
    )


def fit_ranker(judged: Sequence[Judged]) -> Ranker:
    """Fit weights and offset; questions without a right candidate teach the offset alone."""
    return fit_stacks([stack_judged(judged)])


def fit_stacks(stacks: Sequence[Stack], start: Floats | None = None) -> Ranker:
    """Fit weights and offset to all questions of some stacks, from other weights [features] on where there are any."""
    weights = _fit_weights([each.answered for each in stacks if each.right.any()], start)
    return Ranker(*fit_offset(stacks, weights))


def fit_offset(stacks: Sequence[Stack], weights: Floats) -> tuple[Floats, float]:
    """Scale weights [features] and find an offset, so that their sum tells how often a first hit is right."""
    firsts = [np.concatenate(each) for each in zip(*map(lambda stack: _list_firsts(stack, weights), stacks))]
    scale, offset = _fit_rate(*firsts)
    return weights * scale, offset


def _list_firsts(stack: Stack, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Give the sum of the first candidate of each question, whether it is right, and what the question counts."""
    sums = stack.features @ weights
    ends = np.append(stack.starts[1:], len(sums))
    first = np.array([low + np.argmax(sums[low:high]) for low, high in zip(stack.starts, ends, strict=True)], np.int64)
    return sums[first], stack.right[first].astype(np.float64), stack.worth


def _fit_weights(stacks: Sequence[Stack], start: Floats | None) -> Floats:
    """Raise the softmax share of the right candidates of each question, by Newton's method.

    The curve is that of the shares of all candidates alone, which is never less than the true one.
    """
    total, size = sum(each.worth.sum() for each in stacks), stacks[0].features.shape[1]
    spread = np.concatenate([each.features for each in stacks]).var(axis=0) + 1e-9
    weights = np.zeros(size) if start is None else start
    for _ in range(STEPS):
        slopes, curves = zip(*(_measure_slope(each, weights) for each in stacks), strict=True)
        slope = sum(slopes) / total + DECAY * spread * weights
        step = np.linalg.solve(sum(curves) / total + np.diag(DECAY * spread), slope)
        weights = _go_down(stacks, weights, step, DECAY * spread * total)
        if np.abs(step * np.sqrt(spread)).max() < NEAR:
            break
    return weights


def _go_down(stacks: Sequence[Stack], weights: Floats, step: Floats, decay: Floats) -> Floats:
    """Take a step, or so much of it that the loss does not grow: with few questions a whole one may lead astray."""
    before = _measure_loss(stacks, weights, decay)
    for _ in range(HALVINGS):
        if _measure_loss(stacks, weights - step, decay) <= before:
            break
        step = step / 2
    return weights - step


def _measure_loss(stacks: Sequence[Stack], weights: Floats, decay: Floats) -> float:
    """Measure what is to be made small: the logarithms of the shares of the right candidates, and the decay."""
    loss = 0.5 * float(decay @ (weights * weights))
    for stack in stacks:
        sums = stack.features @ weights
        starts, counts = stack.starts, np.diff(stack.starts, append=len(sums))
        powers = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), counts))
        rights = np.add.reduceat(np.where(stack.right, powers, 0.0), starts)
        loss -= float(stack.worth @ np.log(np.maximum(rights / np.add.reduceat(powers, starts), LEAST_SHARE)))
    return loss


def _measure_slope(stack: Stack, weights: Floats) -> tuple[Floats, Floats]:
    """Give slope [features] and curve [features, features] of what is to be made small."""
    counts = np.diff(stack.starts, append=len(stack.right))
    worth = np.repeat(stack.worth, counts)
    sums = stack.features @ weights
    shares = _share(sums, stack.starts, counts)
    rights = _share(np.where(stack.right, sums, -np.inf), stack.starts, counts)
    weighted = stack.features * shares[:, None]
    means = np.add.reduceat(weighted, stack.starts)
    curve = stack.features.T @ (weighted * worth[:, None]) - means.T @ (means * stack.worth[:, None])
    return stack.features.T @ ((shares - rights) * worth), curve


def _share(sums: Floats, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> Floats:
    """Give each candidate its softmax share among those of its question."""
    powers = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), counts))
    shares: Floats = powers / np.repeat(np.add.reduceat(powers, starts), counts)
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
