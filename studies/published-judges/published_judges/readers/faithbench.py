"""vectara/FaithBench: summaries by ten models, each true to its source or not, by people and by eight detectors.

People marked spans. A summary is not true where the worst mark is `Unwanted` or `Questionable`, as its authors have it;
`Benign` additions are let pass. The texts were chosen because detectors disagree about them, so all detectors look
worse here than they are elsewhere. Three detectors give a share from 0 to 1, the others a verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from published_judges.judgement import Judgement
from published_judges.readers.files import json_of

NOT_TRUE = ("Unwanted", "Questionable")
NO_JUDGES = {"summarizer", "raw_sample_id"}


def read(folder: Path) -> Iterator[Judgement]:
    for item, sample in summaries(folder):
        people = people_of(sample["annotations"])
        for judge, said in sample["metadata"].items():
            if judge not in NO_JUDGES:
                yield Judgement(
                    source="faithbench",
                    judge=judge,
                    model=sample["metadata"]["summarizer"],
                    item=item,
                    score=None if said is None else float(said),
                    people=people,
                    reading="given" if said is not None else "none",
                    reply="" if said is None else json.dumps(said),
                )


def summaries(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The samples, each with the name of its source's item."""
    for path in sorted(folder.glob("data_for_release/batch_*.json")):
        items: dict[str, str] = {}
        for sample in json_of(path)["samples"]:
            yield items.setdefault(sample["source"], f"{path.stem} source {len(items) + 1}"), sample


def people_of(annotations: list[dict[str, Any]]) -> float:
    """1 where nobody marked anything that is not true."""
    marks = [mark for one in annotations for mark in one["label"]]
    return float(not any(mark.startswith(NOT_TRUE) for mark in marks))
