"""Errors and savings of `--until-decided`, printed in the manual: by decisions/test_until_decided_simulated.py, and
compared with another run by decisions/test_until_shown_simulated.py."""

from __future__ import annotations

# set, items, result of all of them, decided early (%), wrong (%), items asked (median), calls saved (mean, %)
SIMULATED = """
perfect        100 READY         100.0   0.0   66.0  34.0
perfect        300 READY         100.0   0.0   79.0  73.7
perfect       1000 READY         100.0   0.0   84.0  91.6
good           100 READY         100.0   0.0   87.0  16.9
good           300 READY         100.0   0.0  138.0  56.9
good          1000 READY         100.0   0.0  164.0  83.7
fair           100 READY         100.0   0.1   97.0   5.1
fair           300 READY         100.0   0.1  203.5  34.3
fair          1000 READY         100.0   0.1  313.0  68.5
bad            100 NOT_READY     100.0   0.0   49.0  53.9
bad            300 NOT_READY     100.0   0.1   80.0  74.0
bad           1000 NOT_READY     100.0   0.0  100.0  89.4
hardly_ready   100 READY           1.1   0.6  100.0   0.5
hardly_ready   300 READY           2.4   1.5  300.0   1.5
hardly_ready  1000 READY           3.0   2.0 1000.0   2.1
hardly_not     100 NOT_READY      85.4   1.6   96.0   6.5
hardly_not     300 NOT_READY      85.2   2.9  296.0   4.6
hardly_not    1000 NOT_READY      85.9   3.9  996.0   4.8
made_up        100 NOT_READY      94.8   0.6   89.0  14.3
made_up        300 NOT_READY      95.2   1.9  287.0   7.4
made_up       1000 NOT_READY      95.0   2.4  986.0   4.5
unscored       100 INCONCLUSIVE    1.6   1.6  100.0   0.2
unscored       300 INCONCLUSIVE    3.5   3.5  300.0   2.1
unscored      1000 INCONCLUSIVE    4.2   4.2 1000.0   3.3
"""

# points by which the model is better, items that only one of both passes (%), items, then in %: shown early, wrong,
# wrong by that or by a comparison of all items; items asked (median), calls saved (mean, %)
SIMULATED_PAIRS = """
 0 10  300    1.7  1.7   5.2   300.0   1.1
 0 10 1000    2.3  2.3   6.4  1000.0   1.6
 0 20  300    2.8  2.8   6.8   300.0   1.8
 0 20 1000    2.7  2.7   6.8  1000.0   2.3
 0 40  300    3.2  3.2   7.5   300.0   2.7
 0 40 1000    3.5  3.5   8.1  1000.0   2.9
 3 10  300   16.8  0.0   0.0   300.0   7.1
 3 10 1000   57.2  0.0   0.0   869.5  27.6
 3 10 3000   98.6  0.0   0.0   869.0  66.9
 3 20  300    8.3  0.1   0.2   300.0   4.4
 3 20 1000   24.2  0.2   0.2  1000.0  12.1
 3 20 3000   72.0  0.1   0.1  1976.5  37.4
 3 40  300    5.0  0.3   0.7   300.0   3.4
 3 40 1000   10.2  0.4   0.5  1000.0   6.2
 3 40 3000   31.5  0.6   0.6  3000.0  15.3
 5 10  300   52.2  0.0   0.0   286.0  23.0
 5 10 1000   98.5  0.0   0.0   296.0  65.4
 5 20  300   22.8  0.0   0.1   300.0  10.6
 5 20 1000   73.0  0.1   0.1   638.0  38.2
 5 40  300   11.1  0.2   0.4   300.0   6.1
 5 40 1000   33.1  0.2   0.2  1000.0  16.4
10 10  300  100.0  0.0   0.0    77.0  73.3
10 10 1000  100.0  0.0   0.0    77.0  92.0
10 20  300   87.8  0.0   0.0   142.0  48.0
10 20 1000  100.0  0.0   0.0   152.0  82.7
10 40  300   46.3  0.0   0.0   300.0  22.7
10 40 1000   97.3  0.1   0.1   327.0  62.8
"""

_HEAD = (
    "set", "items", "all of them give", "decided early, %", "otherwise than all, %", "items asked, median",
    "calls saved, %",
)  # fmt: skip


def until_decided_markdown() -> str:
    """The table as it stands in docs/explanation/statistics.md."""
    lines = ["| " + " | ".join(_HEAD) + " |", "| --- | ---: | --- |" + " ---: |" * 4]
    for line in SIMULATED.strip().splitlines():
        name, items, decision, *figures = line.split()
        lines.append("| " + " | ".join([name.replace("_", " "), items, f"`{decision}`", *figures]) + " |")
    return "\n".join(lines) + "\n"


_HEAD_OF_PAIRS = (
    "better by, points", "only one passes, %", "items", "shown early, %", "wrongly, %", "wrongly, or by all items, %",
    "items asked, median", "calls saved, %",
)  # fmt: skip


def until_shown_markdown() -> str:
    """The table of pairs as it stands there."""
    lines = ["| " + " | ".join(_HEAD_OF_PAIRS) + " |", "|" + " ---: |" * len(_HEAD_OF_PAIRS)]
    lines += ["| " + " | ".join(line.split()) + " |" for line in SIMULATED_PAIRS.strip().splitlines()]
    return "\n".join(lines) + "\n"
