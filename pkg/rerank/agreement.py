"""Count how far candidates agree on what comes out: wrong code is wrong in many ways, right code in one.

Candidates that do the same on every input that counts are a group, and the larger group is the better one. Of equal
groups that which holds the candidate given first is better, and then the one whose values others share more often; this
last alone tells those apart with whom nobody agrees. Whoever raises agrees with nobody: on an input that most refuse
nothing can be learned, and it is left out. A share of values without groups rates two wrong answers that are mostly
alike above a right one that differs from both where it matters; the first half of the tasks of MBPP asked by their text
alone, where agreement is all there is, is what this was chosen on (benchmarks/results/rerank.json).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pkg.rerank.comparison import STRICT, equal_values

Values = Sequence[str | None]  # of one candidate, one an input; None where it gave none
Row = tuple[int, ...]  # the same, each value by the number of its kind; -1 for none


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one candidate agrees with all."""

    score: float  # 0 to 1
    partners: int  # votes of its group: that agree on every input that counts, its own included
    inputs: int  # that count


def measure_agreement(outcomes: Sequence[Values], votes: Sequence[int], first: int | None = None) -> list[Agreement]:
    """Compare the values of all candidates input by input; each candidate weighs its votes.

    first: the place of the candidate that was given first, where it is among them.
    """
    columns = [column for column in _list_columns(outcomes) if _counts(column, votes)]
    groups = [_group_values(column) for column in columns]
    rows = list(zip(*groups, strict=True)) or [()] * len(outcomes)
    leader = None if first is None else rows[first]
    return [_measure_one(row, rows, votes, leader) for row in rows]


def count_answers(outcomes: Sequence[Values], votes: Sequence[int]) -> int:
    """Count by votes how many values were given."""
    return sum(vote * sum(value is not None for value in values) for values, vote in zip(outcomes, votes, strict=True))


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


def _measure_one(row: Row, rows: Sequence[Row], votes: Sequence[int], leader: Row | None) -> Agreement:
    """Rate a candidate by its group, and then by the mean share of the votes that give its values."""
    if not row:
        return Agreement(0.0, sum(votes), 0)
    total = sum(votes)
    partners = sum(vote for other, vote in zip(rows, votes, strict=True) if other == row)
    shared = sum(_count_shared(row, other) * vote for other, vote in zip(rows, votes, strict=True))
    leads = row == leader and partners > 1
    share = 1.0 if leads else shared / (total * len(row))
    return Agreement((partners - 1 + share) / total if any(value >= 0 for value in row) else 0.0, partners, len(row))


def _count_shared(row: Row, other: Row) -> int:
    return sum(one == another and one >= 0 for one, another in zip(row, other, strict=True))
