"""tatsu-lab/alpaca_eval: answers to 805 instructions, each preferred to a baseline's or not, by four judges.

No person judged these answers. What people said of the models is the Elo of another place, the Chatbot Arena, where
they asked what they liked (`arena_elo`, April 2024). 1 and 0 in `preference` are the baseline's win and a tie.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from published_judges.judgement import Judgement
from published_judges.readers.files import json_of

ELO = "Arena Elo\n[April 18, 2024]"


def read(folder: Path) -> Iterator[Judgement]:
    items: dict[str, str] = {}
    for path in sorted(folder.glob("results/*/*/annotations.json")):
        for one in json_of(path):
            preference = one["preference"]
            score = None if preference is None else 0.5 if preference == 0 else min(1.0, max(0.0, preference - 1))
            yield Judgement(
                source="alpaca_eval",
                judge=path.parent.name,
                model=path.parent.parent.name,
                item=items.setdefault(one["instruction"], f"instruction {len(items) + 1}"),
                score=score,
                people=None,
                reading="given" if score is not None else "none",
            )


def arena_elo(folder: Path) -> Mapping[str, float]:
    """People's Elo of the models that the Arena had."""
    with (folder / "notebooks/benchmarks.csv").open(encoding="utf-8", newline="") as file:
        return {row["Model"]: float(row[ELO]) for row in csv.DictReader(file) if row.get(ELO)}
