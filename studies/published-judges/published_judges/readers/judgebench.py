"""ScalerLab/JudgeBench: two answers of one model, of which one is right; each judge is asked in both orders.

Nothing says which model is better, so no models are ranked. Judges called arena_hard write a text with a verdict in
double brackets; reward models give numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from published_judges.judgement import RIGHT, WRONG, Judgement, Reading
from published_judges.readers.files import json_lines

PREFERENCES = {"A>B": 1.0, "B>A": 0.0, "A=B": 0.5}
_BRACKETS = re.compile(r"\[\[([^\]]{1,8})\]\]")


def read(folder: Path) -> Iterator[Judgement]:
    for path in sorted(folder.glob("outputs/*.jsonl")):
        named = dict(part.partition("=")[::2] for part in path.stem.split(","))
        judge = f"{named['judge_model']} ({named['judge_name']}; answers of {named['response_model']})"
        for pair in json_lines(path):
            for number, said in enumerate(pair["judgments"]):
                yield _judgement(judge, pair, said or {}, swapped=number == 1)


def _judgement(judge: str, pair: dict[str, Any], said: dict[str, Any], *, swapped: bool) -> Judgement:
    first = PREFERENCES.get(str(said.get("decision")))  # of the answer that was shown first
    first_is_right = (pair["label"] == "A>B") is not swapped
    return Judgement(
        source="judgebench",
        judge=judge,
        model=RIGHT,
        against=WRONG,
        item=f"{pair['response_model']} {pair['pair_id']}",
        score=None if first is None else first if first_is_right else 1 - first,
        people=1.0,
        reading="none" if first is None else _reading(said["judgment"]),
        swapped=swapped,
    )


def _reading(judgment: dict[str, Any]) -> Reading:
    """Strict: the text has one verdict in brackets. A guess: it has none, or several, and its authors chose one."""
    if "scores" in judgment:
        return "given"
    return "strict" if len(_BRACKETS.findall(judgment["response"])) == 1 else "guess"
