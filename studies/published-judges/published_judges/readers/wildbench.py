"""allenai/WildBench: answers to 1,024 real requests, graded 1 to 10 by two judges, one of them in two editions.

No person graded these answers: here judges are held against judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from published_judges.judgement import Judgement
from published_judges.readers.files import json_of

GRADES = {str(grade): (grade - 1) / 9 for grade in range(1, 11)}


def read(folder: Path) -> Iterator[Judgement]:
    for path in sorted(folder.glob("eval_results/*/score.v2/*/*.json")):
        judge = f"{path.parent.name.removeprefix('eval=')} ({path.parts[-4]})"
        for one in json_of(path):
            score = GRADES.get(str(one.get("score")).strip())
            yield Judgement(
                source="wildbench",
                judge=judge,
                model=path.stem,
                item=one["session_id"],
                score=score,
                people=None,
                reading="given" if score is not None else "none",
            )
