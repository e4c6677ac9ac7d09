"""statistics: intervals, paired tests, agreement, corrections, power. Pure functions over arrays; nothing about runs.

estimate    a number that stands for a larger whole, with its interval. Where nothing can be said it is None, with a
            reason; never NaN, never 0.
"""

from benchbook.statistics.means import clustered_mean, t_interval
from benchbook.statistics.percentiles import percentile_ranks
from benchbook.statistics.proportions import wilson
from benchbook.statistics.results import Estimate, RankInterval

__all__ = ["Estimate", "RankInterval", "clustered_mean", "percentile_ranks", "t_interval", "wilson"]
