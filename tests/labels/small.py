"""A small book of labels, of no run that is there, and what people do with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from benchbook.labels.labels import LabelBook, SheetRow, create_labels, give_labels, open_labels, take_back
from benchbook.labels.state import Given
from benchbook.record.facts import LabelField, LabelsStarted
from crashing import Say

RUN = "a" * 64
ACCURACY: LabelField = "accuracy_score"
FAITHFULNESS: LabelField = "faithfulness_score"


def book(folder: Path, samples: int = 3, **fields: Any) -> LabelBook:
    rows = [
        SheetRow(sample=10 + n, item_id=f"i{n}", prompt=f"Question {n}?", answer=f"Answer {n}.", **fields)
        for n in range(samples)
    ]

    def first(inputs: dict[str, str]) -> LabelsStarted:
        return LabelsStarted(
            run_id="run", run_sha256=RUN, spec="rubric@v1", seed=1, stratify=[], strata={},
            samples=[row.sample for row in rows], hidden=[], inputs=inputs, drawn_by="benchbook",
        )  # fmt: skip

    return create_labels(folder / "labels", rows, first)


def label(sample: int, who: str, score: Literal[0, 1, 2], field: LabelField = ACCURACY, **more: Any) -> Given:
    return Given(sample, who, field, score, **more)


# ── for tests that let something go wrong on the way ─────────────────────────────────────────────────────────


def labelled(folder: Path) -> None:
    give_labels(book(folder), [label(10, "ann", 2)])


def imports(folder: Path, say: Say) -> None:
    give_labels(open_labels(folder / "labels"), [label(sample, "bob", 1, note="so") for sample in (10, 11, 12)])
    say("recorded")


def gives(folder: Path, say: Say) -> None:
    give_labels(open_labels(folder / "labels"), [label(11, "bob", 1)])
    say("recorded")


def undoes(folder: Path, say: Say) -> None:
    take_back(open_labels(folder / "labels"), "ann")
    say("recorded")


def creates(folder: Path, say: Say) -> None:
    book(folder)
    say("made")
