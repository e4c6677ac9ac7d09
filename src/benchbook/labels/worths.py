"""The worth of each item of a run as judged, and as people would judge: comparisons of runs are corrected by it.

Items are the units, not samples: of several repeats an item has the mean, as in comparisons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.evaluators.correctable import MeanOfScores
from benchbook.labels.carried import LabelsOfRun, labels_of_run
from benchbook.labels.labels import LabelBook
from benchbook.labels.sheet import LabelledRun, RunByRows, derived_anew
from benchbook.record.folder import Record


@dataclass(frozen=True, slots=True)
class ItemWorth:
    """An item's worth by a metric from 0 to 1: `judge` over all of its judged repeats; over those that people labelled,
    `people` by their scores and `judge_there` by the judge's. `answers` is the hash of the texts of all its repeats.
    """

    judge: float
    judge_there: float | None
    people: float | None
    answers: str


@dataclass(frozen=True, slots=True)
class RunWorths:
    """A run's judged items under their ids, by the metrics that labels can correct: `score`, `passing`, or both.

    `is_drawn` says that the labels are a chance draw of this run's answers: drawn from it, or from another run of which
    it has every labelled answer. Where there are such, others are left out: answers that two runs share are like each
    other more than like the rest.
    """

    by_metric: Mapping[str, Mapping[str, ItemWorth]]
    is_drawn: bool
    is_rate: Mapping[str, bool]  # by metric
    groups: Mapping[str, str | None]  # by item

    @property
    def n_labelled(self) -> int:
        """Items with a label that counts for any of the metrics."""
        n = (sum(one.people is not None for one in items.values()) for items in self.by_metric.values())
        return max(n, default=0)

    def clusters(self, items: Iterable[str]) -> list[str | None]:
        """The name of what each item shares with others: its group, or itself; None throughout where none has one."""
        if all(one is None for one in self.groups.values()):
            return [None for _ in items]
        return [f"item {one}" if self.groups[one] is None else f"group {self.groups[one]}" for one in items]


def worths_of_runs(records: Sequence[Record], books: Sequence[LabelBook]) -> list[RunWorths]:
    """The worths of each run's items, derived anew. Labels count for every run that gave the labelled answers.

    Raises: UsageError for labels that fit none of the runs, for runs whose numbers labels can't correct, and where
        nobody labelled any answer.
    """
    for book in books:
        if book.started.allocation is not None:
            why = "was drawn for a decision, more of some verdicts than of others"
            raise UsageError(f"{book.path}: {why}: it corrects its own run (calibrate, gate), and no comparison")
    refused: dict[int, UsageError] = {}
    fit: set[int] = set()
    found = []
    for record in records:
        with derived_anew(record) as run:
            held = []
            for place, book in enumerate(books):
                try:
                    held.append(labels_of_run(book, run))
                except UsageError as error:
                    refused[place] = error
                else:
                    fit.add(place)
            found.append(_worths(run, held))
    for place in sorted(refused.keys() - fit):
        raise refused[place]
    if not any(one.n_labelled for one in found):
        raise UsageError(f"{', '.join(str(book.path) for book in books)}: nobody labelled an answer")
    return found


@dataclass(frozen=True, slots=True)
class _Metric:
    """A metric that labels correct: the criteria that it is made of, and its value of a row by any scores."""

    name: str
    of: frozenset[str]
    is_rate: bool
    value: Callable[[Any, Sequence[int]], float]


def _metrics(run: LabelledRun) -> list[_Metric]:
    """Raises: UsageError where people can't say all that the run's numbers are made of."""
    correctable = run.evaluator.correctable(run.started)
    if correctable is not None:
        places = {mean.name: (place, mean) for place, mean in enumerate(correctable.means)}
        chosen = {metric: places[name] for metric, name in correctable.compared.items() if name in places}
        worth = correctable.worth
        return [
            _Metric(name, mean.of, mean.is_rate, partial(_of_mean, worth, place, mean))
            for name, (place, mean) in chosen.items()
        ]
    names = [one.name for one in run.criteria]
    if isinstance(run, RunByRows) or len(names) != 1 or run.criteria[0].column != run.columns.passed:
        raise UsageError(
            f"{run.record.path}: was scored under {run.started.spec}; labels correct comparisons under a rubric whose "
            "criteria always apply, and under what scores an answer as right or wrong"
        )
    metrics = ["passing"] if run.columns.is_graded else ["score"]
    return [_Metric(name, frozenset(names), is_rate=True, value=lambda _, scores: float(scores[0])) for name in metrics]


def _of_mean(worth: Callable[[Any], Any], place: int, mean: MeanOfScores, row: Any, scores: Sequence[int]) -> float:
    value: float = worth(row)(scores)[place]
    return value / (mean.highest - mean.lowest)


def _worths(run: LabelledRun, held: Sequence[LabelsOfRun]) -> RunWorths:
    metrics, names = _metrics(run), [one.name for one in run.criteria]
    own = _together([one.gold for one in held if one.carried is None or one.carried.n_used == one.carried.n_labelled])
    gold = own or _together([one.gold for one in held])
    texts: dict[str, list[str]] = {}
    groups: dict[str, str | None] = {}
    values: dict[str, dict[str, list[tuple[float, float | None]]]] = {one.name: {} for one in metrics}
    for row in run.scored():
        judged = [score for score in run.scores(row) if score is not None]
        if len(judged) < len(names):
            continue
        texts.setdefault(row.item_id, []).append(run.answer(row) or "")
        groups[row.item_id] = row.group
        said = gold.get(row.sample, {})
        theirs = [said.get(name, score) for name, score in zip(names, judged, strict=True)]
        for metric in metrics:
            people = metric.value(row, theirs) if metric.of <= said.keys() else None
            values[metric.name].setdefault(row.item_id, []).append((metric.value(row, judged), people))
    answers = {item: hashlib.sha256(canonical_json(sorted(all_of))).hexdigest() for item, all_of in texts.items()}
    return RunWorths(
        by_metric={
            name: {item: _item(parts, answers[item]) for item, parts in items.items()} for name, items in values.items()
        },
        is_drawn=bool(own) or not gold,
        is_rate={one.name: one.is_rate for one in metrics},
        groups=groups,
    )


def _item(parts: Sequence[tuple[float, float | None]], answers: str) -> ItemWorth:
    labelled = [(judge, people) for judge, people in parts if people is not None]
    return ItemWorth(
        judge=_mean([judge for judge, _ in parts]),
        judge_there=_mean([judge for judge, _ in labelled]) if labelled else None,
        people=_mean([people for _, people in labelled]) if labelled else None,
        answers=answers,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _together(golds: Iterable[Mapping[int, Mapping[str, int | None]]]) -> dict[int, dict[str, int]]:
    """Labels of several folders, by sample and criterion. What two of them say differently is left out."""
    found: dict[int, dict[str, int]] = {}
    doubtful = set[tuple[int, str]]()
    for gold in golds:
        for sample, said in gold.items():
            for name, score in said.items():
                if score is not None and found.setdefault(sample, {}).setdefault(name, score) != score:
                    doubtful.add((sample, name))
    for sample, name in doubtful:
        del found[sample][name]
    return found
