"""WeOpenML/PandaLM: which of two models' answers is better, by three people and by two judges.

The answers were shown in one order alone, so a judge that prefers a place is not found out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from published_judges.judgement import Judgement
from published_judges.readers.files import json_of

JUDGES = {
    "gpt-3.5-turbo": ("data/gpt-3.5-turbo-testset-v1.json", "gpt_result"),
    "pandalm-7b": ("data/pandalm-7b-testset-v1.json", "pandalm_result"),
}
PREFERENCES = {"1": 1.0, "2": 0.0, "0": 0.5, "Tie": 0.5}


def read(folder: Path) -> Iterator[Judgement]:
    pairs = {one["idx"]: one for one in json_of(folder / "data/testset-v1.json")}
    for judge, (name, field) in JUDGES.items():
        for said in json_of(folder / name):
            pair = pairs[said["idx"]]
            first, second = pair["cmp_key"].split("_")
            people = [PREFERENCES[str(pair[f"annotator{number}"])] for number in (1, 2, 3)]
            score = PREFERENCES.get(str(said[field]))
            yield Judgement(
                source="pandalm",
                judge=judge,
                model=first,
                against=second,
                item=f"pair {said['idx']}",
                score=score,
                people=sum(people) / len(people),
                reading="given" if score is not None else "none",
            )
