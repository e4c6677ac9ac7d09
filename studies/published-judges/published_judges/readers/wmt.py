"""google/wmt-mqm-human-evaluation: translations whose errors three translators marked, each on their own.

Here one person is the judge, and the mean of the other two is what people say: how far a judge can agree with people
at all. A segment loses 5 for a major error, 1 for a minor one, 0.1 for one of punctuation and 25 for no translation
(Freitag et al. 2021), at most 25; a score is what is left of 25.
"""

from __future__ import annotations

import io
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from published_judges.judgement import Judgement

WORST = 25.0
UNCOUNTED = ("HOTW-test", "No-error")  # a test of attention; nothing found
SOURCE = "Source issue"


class Segment(NamedTuple):
    language: str
    system: str
    place: str  # document and segment


def read(folder: Path) -> Iterator[Judgement]:
    for path in sorted(folder.glob("generalMT2023/*/*.tar.gz")):
        for segment, lost in _lost(path).items():
            scores = {rater: 1 - min(WORST, points) / WORST for rater, points in lost.items()}
            for rater, score in scores.items():
                others = [other for name, other in scores.items() if name != rater]
                yield Judgement(
                    source="wmt",
                    judge=f"{segment.language} {rater}",
                    model=segment.system,
                    item=f"{segment.language} {segment.place}",
                    score=score,
                    people=sum(others) / len(others) if others else None,
                )


def _lost(path: Path) -> dict[Segment, dict[str, float]]:
    """What each rater takes off each segment."""
    found: dict[Segment, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in _table(path).split("\n")[1:]:
        if not line:
            continue
        system, document, segment, _, rater, _, _, category, severity, *_ = line.split("\t")
        where = Segment(path.parent.name, system, f"{document} {segment}")
        found[where][rater] += points(category, severity)
    return found


def _table(path: Path) -> str:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".tsv") and "/." not in f"/{member.name}":
                file = archive.extractfile(member)
                if file is not None:
                    return io.TextIOWrapper(file, encoding="utf-8", newline="\n").read()
    raise ValueError(f"{path}: no table is in it")


def points(category: str, severity: str) -> float:
    """What an error takes off."""
    if severity in UNCOUNTED or category == SOURCE:
        return 0.0
    if category.startswith("Non-translation"):
        return WORST
    if severity == "Minor":
        return 0.1 if category == "Fluency/Punctuation" else 1.0
    return 5.0
