"""UMass-Meta-LLM-Eval: answers to questions of TriviaQA, right or wrong by people and by eleven judges.

A row an answer, a column a judge: `True`, `False`, or nothing where its reply could not be read. Two of the judges are
no models: EM asks for the very answer, Contains that it stands in the text. Both files are of their own, with other
prompts and other labels, so their judges are told apart. Answers are in neither: the column `response` has the prompt.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from published_judges.judgement import Judgement

SHARES = {"True": 1.0, "False": 0.0}
NO_JUDGES = {"model", "response", "question", "references", "benchmark", "HumanJudgement", "Human-Eval",
             "Human-Eval_Confidence"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A row: an answer that people judged, and what the judges said of it, by their names."""

    version: str
    item: str
    model: str
    question: str
    references: str
    people: float
    said: Mapping[str, str]


def read(folder: Path) -> Iterator[Judgement]:
    for one in answered(folder):
        for judge, said in one.said.items():
            score = SHARES.get(said)
            yield Judgement(
                source="triviaqa",
                judge=f"{one.version} {judge}",
                model=one.model,
                item=one.item,
                score=score,
                people=one.people,
                reading="given" if score is not None else "none",
                reply=said,
            )


def answered(folder: Path) -> Iterator[AnsweredQuestion]:
    """The answers of both files that people judged, each model's first to a question."""
    for path in sorted(folder.glob("results/*.csv")):
        version = path.stem.rpartition("_")[2]
        with path.open(encoding="utf-8", newline="") as file:
            yield from _rows(csv.DictReader(file), version)


def _rows(rows: csv.DictReader[str], version: str) -> Iterator[AnsweredQuestion]:
    items: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    judges = [name for name in rows.fieldnames or () if name not in NO_JUDGES]
    for row in rows:
        people = SHARES.get(row.get("HumanJudgement") or row.get("Human-Eval") or "")
        item = items.setdefault(row["question"], f"{version} question {len(items) + 1}")
        if people is None or (row["model"], item) in seen:  # nobody judged it; or a model answered twice
            continue
        seen.add((row["model"], item))
        yield AnsweredQuestion(
            version=version,
            item=item,
            model=row["model"],
            question=row["question"],
            references=row["references"],
            people=people,
            said={judge: row[judge] for judge in judges},
        )
