"""Records of a published set, by Benchbook's own doors: recorded answers, a scripted judge, and people's labels.

FOLDER/inputs/KEY/…                  what the records are made from
FOLDER/runs/SOURCE-JUDGE-MODEL/      a record for each judge and model
FOLDER/runs/labels-KEY-MODEL/        people's labels of a model's answers, for all judges of them
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import benchbook as bb
from published_judges.judgement import Judgement
from published_judges.records.inputs import plain, write_answers, write_items, write_rubric, write_script
from published_judges.records.published import Grade, PeoplesLabel, PublishedSet


@dataclass(frozen=True, slots=True)
class MadeRecord:
    """A record, with the judgements that it is of, by item."""

    judge: str
    model: str
    judgements: Mapping[str, Judgement]
    run: bb.RubricRun


@dataclass(frozen=True, slots=True)
class MadeSet:
    """The records of a set; `labels` by model, none where no person was asked."""

    published: PublishedSet
    records: Sequence[MadeRecord]
    labels: Mapping[str, bb.Labels]


def make(published: PublishedSet, version: str, folder: Path) -> MadeSet:
    """Make all records of a set. `version` says where the answers and replies are from: `llm_eval-7c0bf28e`.

    Raises: BenchbookError; ValueError where two names are one folder, or a run stops.
    """
    records = list(_records(published, version, folder))
    labels = {model: _labels(published, model, records, folder) for model in published.labels}
    return MadeSet(published, records, labels)


def _records(published: PublishedSet, version: str, folder: Path) -> Iterator[MadeRecord]:
    inputs = folder / "inputs" / published.key
    spec = write_rubric(published.question, inputs)
    items = write_items(published.items, inputs / f"{published.key}.jsonl")
    answers = {
        model: write_answers(texts, inputs / f"answers-{plain(model)}.jsonl")
        for model, texts in published.answers.items()
    }
    for (judge, model), judgements in published.cells().items():
        source = next(iter(judgements.values())).source
        run_id = plain(f"{source}-{judge}-{model}")
        if (folder / "runs" / run_id).exists():
            raise ValueError(f"{run_id}: a second judge and model of this name")
        run = bb.run(
            spec=spec,
            evalset=items,
            ids=_some(judgements, published, inputs / "ids" / f"{run_id}.txt"),
            model=f"recorded/{_word(model)}@{version}",
            outputs=answers[model],
            judge=f"scripted/{_word(judge)}@{version}",
            judge_path=write_script(published, judgements, inputs / "replies" / f"{run_id}.json"),
            runs=folder / "runs",
            run_id=run_id,
        )
        if run.stopped:
            raise ValueError(f"{run.path}: {run.stopped}")
        yield MadeRecord(judge, model, judgements, run)


def _word(name: str) -> str:
    return "-".join(name.split())


def _some(judgements: Mapping[str, Judgement], published: PublishedSet, path: Path) -> Path | None:
    """A file with the items that the judge was asked about, where these are not all."""
    if judgements.keys() == published.items.keys():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{item}\n" for item in judgements), encoding="utf-8")
    return path


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────


def _labels(published: PublishedSet, model: str, records: Sequence[MadeRecord], folder: Path) -> bb.Labels:
    """People's labels of a model's answers, drawn from the record in which most of them have a score."""
    of_model = [one for one in records if one.model == model]
    fullest = max(of_model, key=lambda one: one.run.aggregates.aggregates.n_scored)
    return labelled(published, fullest, folder / "runs" / plain(f"labels-{published.key}-{model}"))


def labelled(published: PublishedSet, record: MadeRecord, out: Path, only: Collection[str] | None = None) -> bb.Labels:
    """Labels of all answers of a record that have a score, or of those to `only` these items: what people gave them."""
    labels = bb.label(record.run, n=record.run.aggregates.aggregates.n_scored, out=out)
    given = published.labels[record.model]
    sheet = [row for row in labels.sheet.iter_rows(named=True) if only is None or row["item_id"] in only]
    drawn = {row["sample"]: given[row["item_id"]] for row in sheet}
    column = f"{published.question.criterion}_score"
    for settles in (False, True):
        rows = [
            {"sample": sample, column: one.grade, "labeller": one.labeller}
            for sample, labels_of_it in drawn.items()
            for one in labels_of_it
            if one.settles is settles
        ]
        if rows:
            labels.give(rows, adjudicates=settles)
    return labels


def standing(labels: Sequence[PeoplesLabel]) -> Grade:
    """The grade that stands of an answer: the one that settles it, or the one that all gave."""
    return labels[-1].grade
