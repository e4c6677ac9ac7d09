"""What `--until-decided` errs and saves: by decisions/test_until_decided_simulated.py, printed in the manual."""

from __future__ import annotations

# set, items, what all of them give, decided early (%), wrong (%), items asked (median), calls saved (mean, %)
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
