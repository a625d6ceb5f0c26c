"""Statistics of evaluations; distributions and tests are those of scipy."""

from pkg.lab.evaluation.statistics.bootstrap import find_mean_interval
from pkg.lab.evaluation.statistics.bradley_terry import rank_systems
from pkg.lab.evaluation.statistics.proportions import (
    NORMAL_95,
    Interval,
    Paired,
    compare_paired,
    find_share_interval,
    pass_at_k,
)
from pkg.lab.evaluation.statistics.rating_shares import count_extremes, count_wins, list_extremes
from pkg.lab.evaluation.statistics.spreads import count_scores, describe_values
from pkg.lab.evaluation.statistics.welch import compare_means
from pkg.lab.evaluation.statistics.win_rates import average_win_rates, weight_shares

__all__ = [
    "NORMAL_95",
    "Interval",
    "Paired",
    "average_win_rates",
    "compare_means",
    "compare_paired",
    "count_extremes",
    "count_scores",
    "count_wins",
    "describe_values",
    "find_mean_interval",
    "find_share_interval",
    "list_extremes",
    "pass_at_k",
    "rank_systems",
    "weight_shares",
]
