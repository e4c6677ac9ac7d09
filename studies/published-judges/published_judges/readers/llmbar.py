"""princeton-nlp/LLMBar: two answers, of which people agreed on the better; judged in both orders.

Read from the table that docs/examples/llmbar.py takes: a row a pair, a judge and a strategy.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from published_judges.judgement import RIGHT, WRONG, Judgement


def read(folder: Path) -> Iterator[Judgement]:
    with (folder / "judgements.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for swapped in (False, True):
                said = row["winner_ba" if swapped else "winner_ab"]
                yield Judgement(
                    source="llmbar",
                    judge=f"{row['judge']} {row['strategy']}",
                    model=RIGHT,
                    against=WRONG,
                    item=f"{row['subset']} {row['item']}",
                    score=float(said == row["gold"]) if said in ("1", "2") else None,
                    people=1.0,
                    reading="given" if said in ("1", "2") else "none",
                    swapped=swapped,
                )
