"""How often 95 % intervals hold the true value: measured by statistics/test_coverage.py, printed in the manual."""

from __future__ import annotations

# n, rate:         20, 0.02 20, 0.5  20, 0.98 50, 0.02 50, 0.5  50, 0.98 200, 0.02 200, 0.5 200, 0.98
COVERAGE = """
wilson             94.0     95.9     94.0     92.2     93.5     92.2     93.3     94.4     93.3
clopper_pearson    99.3     95.9     99.3     98.2     96.7     98.2     96.2     96.0     96.2
t_of_passes        100(33)  95.9     100(33)  99.9(64) 93.5     99.9(64) 92.4(98) 94.4     92.4(98)
t_of_scores        78.0     94.9     78.4     85.7     94.8     86.1     92.2     95.0     92.3
bca_of_scores      83.6     93.5     83.4     90.4     94.1     90.5     93.0     94.7     93.1
jeffreys_of_scores 99.1     97.4     99.1     98.6     95.8     98.7     97.8     95.2     97.9
t_of_grades        93.5     94.8     100(33)  95.1     94.8     99.9(64) 95.1     95.0     88.7(98)
jeffreys_of_grades 96.6     95.7     93.9(33) 95.4     95.3     96.2(64) 95.1     95.1     97.2(98)
clustered_t        100(21)  91.7     100(22)  100(46)  93.4     100(46)  85.9(92) 94.6     85.9(92)
clustered_rate     99.8     99.9     99.9     99.1     97.2     99.1     98.4     95.5     98.3
paired_t           100(33)  95.1     100(33)  99.7(63) 95.6     99.7(63) 95.8(98) 95.1     95.8(98)
paired_mid_p       100      97.5     100      100      95.6     100      98.4     95.1     98.4
paired_bounded     100      99.8     100      100      98.4     100      99.9     96.0     99.9
paired_clusters    100      98.3     100      100      95.8     100      99.2     95.4     99.2
bonett_price       100      97.5     100      100      96.0     100      99.5     95.4     99.5
lang_reiczigel     98.4     96.5     98.3     95.5     95.4     95.5     94.8     95.0     94.9
prediction_powered_normal 97.8(33) 91.9 98.5(34) 98.9(64) 94.1  99.1(64) 92.1(98) 94.9     92.0(98)
prediction_powered 98.8(33) 94.9     98.8(34) 99.2(64) 95.0     99.4(63) 99.3(98) 95.0     99.3(98)
kappa_bca          48.4(83) 97.4(98) 47.1(83) 72.9     95.2     72.5     95.9     94.9     95.8
kappa              98.2(99) 95.0     97.2(99) 94.8     95.5     93.9     94.5     95.0     94.0
gwet_ac1           95.8     96.8     95.5     94.9     95.2     95.2     94.9     95.0     95.1
median_ranks       95.9     95.9     95.9     96.7     96.7     96.7     96.0     96.0     96.0
"""
DEFAULTS = {
    "wilson", "jeffreys_of_scores", "jeffreys_of_grades", "clustered_rate", "paired_mid_p",
    "paired_bounded", "paired_clusters",
    "prediction_powered", "kappa", "gwet_ac1", "median_ranks",
}  # fmt: skip
"""The methods that are used by default: their rows are in bold."""

_HEAD = ("n, rate", "20, 0.02", "20, 0.5", "20, 0.98", "50, 0.02", "50, 0.5", "50, 0.98")
_HEAD += ("200, 0.02", "200, 0.5", "200, 0.98")


def coverage_markdown() -> str:
    """The table as it stands in docs/explanation/statistics.md."""
    lines = ["| " + " | ".join(_HEAD) + " |", "| --- |" + " ---: |" * (len(_HEAD) - 1)]
    for line in COVERAGE.strip().splitlines():
        name, *figures = line.split()
        shown = f"**`{name}`**" if name in DEFAULTS else f"`{name}`"
        lines.append("| " + " | ".join([shown, *(figure.replace("(", " (") for figure in figures)]) + " |")
    return "\n".join(lines) + "\n"
