"""How often a run at a gate's edge is decided, by bounds and by points (decisions/test_sure_simulated.py)."""

from __future__ import annotations

NAMES = {
    "pass_rate": "85 % pass",
    "faithfulness": "5 % are made up",
    "latency": "5 % are too slow",
    "score": "the score is 0.80: 47 % perfect, the others half right",
    "score_rare": "the score is 0.80: nearly all slow and long, a few worth nothing",
    "all_at_once": "5 % wrong, 5 % made up, 5 % too slow",
    "unscored": "3 % made up, 2 % without a verdict",
}
"""Descriptions of the sets. In each, a gate lies at its limit: any claim about it is wrong in half of all cases."""

SURE = """
pass_rate          5   0.0   0.3  45.1  54.9
pass_rate         59   4.5   1.5  44.9  55.1
pass_rate        100   2.8   1.3  56.8  43.2
pass_rate        300   4.1   1.4  51.6  48.4
pass_rate       1000   4.4   1.3  51.4  48.6
pass_rate      10000   5.0   1.1  49.8  50.2
faithfulness       5   0.0   0.1  77.1  22.9
faithfulness      59   4.5   1.3  42.4  57.6
faithfulness     100   3.6   1.4  62.1  37.9
faithfulness     300   3.7   1.1  56.6  43.4
faithfulness    1000   5.0   1.0  54.0  46.0
faithfulness   10000   4.7   1.4  50.3  49.7
latency            5   0.0   0.2  77.1  22.9
latency           59   5.0   0.7  66.0  34.0
latency          100   3.5   0.8  61.8  38.2
latency          300   3.1   1.3  54.5  45.5
latency         1000   4.5   1.0  53.8  46.2
latency        10000   4.8   1.3  50.7  49.3
score              5   0.0   0.0  43.5  56.5
score             59   0.4   0.9  50.4  49.6
score            100   1.1   1.1  49.8  50.2
score            300   2.2   1.1  52.6  47.4
score           1000   3.7   1.0  51.2  48.8
score          10000   3.8   1.1  48.5  51.5
score_rare         5   0.0   0.0  74.2  25.9
score_rare        59   3.1   0.2  55.8  44.2
score_rare       100   1.8   0.1  50.8  49.2
score_rare       300   4.2   0.3  55.6  44.4
score_rare      1000   4.2   0.7  47.3  52.7
score_rare     10000   4.1   1.0  50.3  49.7
all_at_once        5   0.0   0.4  43.8  56.2
all_at_once       59   0.2   2.4  22.7  77.3
all_at_once      100   0.1   3.0  33.8  66.2
all_at_once      300   0.1   2.5  27.3  72.7
all_at_once     1000   0.1   2.5  24.0  76.0
all_at_once    10000   0.1   2.8  21.1  78.9
unscored           5   0.0   0.0  77.7  13.6
unscored          59   4.7   0.0  43.8  25.7
unscored         100   3.5   0.1  61.4   7.8
unscored         300   3.2   0.0  57.2   1.6
unscored        1000   4.5   0.0  53.3   0.0
unscored       10000   4.3   0.0  51.4   0.0
"""


def sure_markdown() -> str:
    """The table as it stands in docs/explanation/statistics.md."""
    lines = [
        "| samples | n | `READY`, % | `NOT_READY`, % | by points: `READY`, % | by points: `NOT_READY`, % |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for line in SURE.strip().splitlines():
        name, n, *figures = line.split()
        lines.append("| " + " | ".join([NAMES[name], f"{int(n):,}", *figures]) + " |")
    return "\n".join(lines) + "\n"
