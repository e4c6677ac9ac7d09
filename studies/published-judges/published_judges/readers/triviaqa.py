"""UMass-Meta-LLM-Eval: answers to questions of TriviaQA, right or wrong by people and by eleven judges.

A row an answer, a column a judge: `True`, `False`, or nothing where its reply could not be read. Two of the judges are
no models: EM asks for the very answer, Contains that it stands in the text. Both files are of their own, with other
prompts and other labels, so their judges are told apart.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from published_judges.judgement import Judgement

SHARES = {"True": 1.0, "False": 0.0}
NO_JUDGES = {"model", "response", "question", "references", "benchmark", "HumanJudgement", "Human-Eval",
             "Human-Eval_Confidence"}  # fmt: skip


def read(folder: Path) -> Iterator[Judgement]:
    for path in sorted(folder.glob("results/*.csv")):
        version = path.stem.rpartition("_")[2]
        with path.open(encoding="utf-8", newline="") as file:
            yield from _rows(csv.DictReader(file), version)


def _rows(rows: csv.DictReader[str], version: str) -> Iterator[Judgement]:
    items: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    judges = [name for name in rows.fieldnames or () if name not in NO_JUDGES]
    for row in rows:
        people = SHARES.get(row.get("HumanJudgement") or row.get("Human-Eval") or "")
        item = items.setdefault(row["question"], f"{version} question {len(items) + 1}")
        if people is None or (row["model"], item) in seen:  # nobody judged it; or a model answered twice
            continue
        seen.add((row["model"], item))
        for judge in judges:
            score = SHARES.get(row[judge])
            yield Judgement(
                source="triviaqa",
                judge=f"{version} {judge}",
                model=row["model"],
                item=item,
                score=score,
                people=people,
                reading="given" if score is not None else "none",
            )


def relabelled(folder: Path) -> tuple[int, int]:
    """Of the answers that both files have, how many have another label in the second; and how many there are."""
    labels: list[dict[tuple[str, str, str], str]] = []
    for path in sorted(folder.glob("results/*.csv")):
        of_file: dict[tuple[str, str, str], str] = {}
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                people = row.get("HumanJudgement") or row.get("Human-Eval") or ""
                if people in SHARES:
                    of_file.setdefault((row["question"], row["model"], row["response"]), people)
        labels.append(of_file)
    first, second = labels
    shared = first.keys() & second.keys()
    return sum(first[one] != second[one] for one in shared), len(shared)
