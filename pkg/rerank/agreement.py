"""Count how far candidates agree on what comes out: wrong code is wrong in many ways, right code in one.

A candidate's score is the share of votes that give its value, over the inputs on which a value can be expected. Whoever
raises agrees with nobody: on an input that most refuse nothing can be learned, and it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pkg.rerank.comparison import STRICT, equal_values

Values = Sequence[str | None]  # of one candidate, one an input; None where it gave none


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one candidate agrees with all."""

    score: float  # 0 to 1
    partners: int  # votes that agree on every input that counts, its own included
    inputs: int  # that count


def measure_agreement(outcomes: Sequence[Values], votes: Sequence[int]) -> list[Agreement]:
    """Compare the values of all candidates input by input; each candidate weighs its votes."""
    columns = [column for column in _list_columns(outcomes) if _counts(column, votes)]
    groups = [_group_values(column) for column in columns]
    total = sum(votes)
    return [_measure_one(index, groups, votes, total) for index in range(len(outcomes))]


def _list_columns(outcomes: Sequence[Values]) -> list[list[str | None]]:
    return [list(column) for column in zip(*outcomes, strict=True)]


def _counts(column: list[str | None], votes: Sequence[int]) -> bool:
    """Tell whether at least half of the votes give a value."""
    return 2 * sum(vote for value, vote in zip(column, votes, strict=True) if value is not None) >= sum(votes)


def _group_values(column: list[str | None]) -> list[int]:
    """Number the distinct values of one input; -1 stands for no value."""
    distinct: list[str] = []
    groups = []
    for value in column:
        if value is None:
            groups.append(-1)
            continue
        place = next(
            (index for index, other in enumerate(distinct) if equal_values(value, other, STRICT)), len(distinct)
        )
        if place == len(distinct):
            distinct.append(value)
        groups.append(place)
    return groups


def _measure_one(index: int, groups: list[list[int]], votes: Sequence[int], total: int) -> Agreement:
    """Give the mean share of the votes that agree with one candidate."""
    shared = [
        sum(vote for group, vote in zip(column, votes, strict=True) if group == column[index])
        if column[index] >= 0
        else 0
        for column in groups
    ]
    partners = sum(vote for other, vote in enumerate(votes) if all(column[other] == column[index] for column in groups))
    return Agreement(sum(shared) / (total * len(groups)) if groups else 0.0, partners, len(groups))
