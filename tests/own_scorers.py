"""Scorer functions, runs of them, and their journals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchbook as bb
from benchbook.evaluators.answers.tables import DERIVED_FILES
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.record.facts import Outcomes
from benchbook.record.reading import read_journal, segment_files

ITEMS = [{"id": f"i{n}", "prompt": f"What is {n} + 1?", "expected_answer": str(n + 1), "level": n} for n in range(6)]
# By `near`: 1, 1 / (1 + 1) = 0.5, not a number, not in 0 to 1, blank, missing. Of the four that count: 1.5 / 4 = 0.375.
ANSWERS = {"i0": "1", "i1": "3", "i2": "three", "i3": "nan", "i4": " "}
PREDICTIONS = [{"item_id": name, "predicted": text} for name, text in ANSWERS.items()]


@bb.scorer(name="near", passes_at=0.75)
def near(item: Any, answer: str) -> Any:
    off = abs(float(answer) - float(item.expected_answer))
    score = 1 / (1 + off)
    return score if off != off else {"score": score, "off": off, "why": f"off by {off:g}"}


def scored(folder: Path, by: Any = near, predictions: Any = PREDICTIONS, run_id: str = "run", **more: Any) -> bb.Run:
    return bb.score(by, ITEMS, predictions, runs=folder / "runs", run_id=run_id, **more)


def outcomes_in(path: Path) -> list[int]:
    """The samples with outcomes in a journal, in its order."""
    facts = (line.fact for line in read_journal(path / "journal"))
    return [one.sample for fact in facts if isinstance(fact, Outcomes) for one in fact.outcomes]


def cut(path: Path, keeps: Callable[[int, Any], bool]) -> None:
    """Cut a record as a kill would: its journal ends before the first fact that `keeps` refuses."""
    (segment,) = segment_files(path / "journal")
    lines = segment.read_bytes().splitlines(keepends=True)
    facts = [line.fact for line in read_journal(path / "journal")]
    n = next(place for place, fact in enumerate(facts) if not keeps(place, fact))
    segment.write_bytes(b"".join(lines[:n]))
    for name in DERIVED_FILES:
        (path / name).unlink()


def equal(item: Any, answer: str) -> bool:
    return bool(item["expected_answer"] == answer)


def changed(item: Any, answer: str) -> bool:
    return bool(item["expected_answer"] != answer)


class Asking:
    """A model that knows the answers but fails on some items, and a scorer that notes its calls."""

    def __init__(self) -> None:
        self.broken: set[int] = set()
        self.scored: list[str] = []

    def model(self) -> Callable[[str], str]:
        def model(prompt: str) -> str:
            number = int(prompt.split()[2])
            if number in self.broken:
                raise ConnectionError("gone")
            return str(number + 1)

        return model

    def scorer(self) -> Scorer:
        @bb.scorer(name="exact")
        def exact(item: Any, answer: str) -> bool:
            self.scored.append(item["id"])
            return bool(item["expected_answer"] == answer)

        return exact
