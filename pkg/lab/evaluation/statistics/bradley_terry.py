"""Rank systems by pairwise comparisons: maximum-likelihood strengths (Bradley and Terry, 1952)."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import NamedTuple

import numpy as np

ROUNDS = 10_000
CLOSE = 1e-10  # convergence threshold; strengths are shares of 1
UNBEATEN, BEATEN, UNCOMPARED = "never beaten by the others", "never wins against the others", "not compared with them"
ONE_WAY = "never beaten by those that it beats"


class Ranked(NamedTuple):
    """Strengths of systems, and systems without one."""

    strengths: dict[str, float]  # log strengths with mean 0, the strongest first
    apart: dict[str, str]  # systems without a finite strength, with the reason


def rank_systems(wins: Mapping[tuple[str, str], float]) -> Ranked:
    """Rank systems by how often the first of a pair beats the second; a tie counts half for each.

    A system that never loses, or never wins, has no finite strength and is returned separately.
    """
    from networkx import DiGraph, ancestors, descendants, strongly_connected_components

    graph = DiGraph()
    for (winner, loser), count in wins.items():
        graph.add_nodes_from((winner, loser))
        if count > 0:
            graph.add_edge(winner, loser)
    groups = sorted(strongly_connected_components(graph), key=lambda group: (-len(group), sorted(group)))
    ranked = groups[0] if groups and len(groups[0]) > 1 else set()
    apart = {}
    for system in sorted(set(graph) - ranked):
        others = ranked or set(graph) - {system}
        beats, loses = others & descendants(graph, system), others & ancestors(graph, system)
        apart[system] = ONE_WAY if beats and loses else UNBEATEN if beats else BEATEN if loses else UNCOMPARED
    return Ranked(_fit(sorted(ranked), wins), apart)


def _fit(systems: list[str], wins: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Fit the strengths by Zermelo's update, which increases the likelihood in each round (Hunter, 2004)."""
    if not systems:
        return {}
    won = np.array([[wins.get((one, other), 0.0) for other in systems] for one in systems])
    np.fill_diagonal(won, 0.0)
    games, totals = won + won.T, won.sum(axis=1)
    strengths = np.full(len(systems), 1 / len(systems))
    for _ in range(ROUNDS):
        before = strengths
        strengths = totals / (games / (before[:, None] + before[None, :])).sum(axis=1)
        strengths /= strengths.sum()
        if np.abs(strengths - before).max() < CLOSE:
            break
    logs = [log(each) for each in strengths]
    mean = sum(logs) / len(logs)
    found = {system: value - mean for system, value in zip(systems, logs, strict=True)}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
