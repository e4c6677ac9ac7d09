"""Labels belong to answers: those that were drawn from one run hold for another that gave the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.contract import LabelCriterion
from benchbook.labels.labels import LabelBook, answer_sha256
from benchbook.labels.sheet import LabelledRun
from benchbook.labels.state import scores_words

if TYPE_CHECKING:
    from benchbook.labels.calibration_corrected import GoldScores  # loads NumPy


class CarriedFrom(msgspec.Struct, frozen=True, kw_only=True):
    """Another run that the labels were drawn from, and the number of its labelled answers that this one has too.

    Both runs have an answer where item, prompt, context, expected answer and text are the same.
    """

    run_id: str
    run_sha256: str
    n_labelled: int
    n_used: int


@dataclass(frozen=True, slots=True)
class LabelsOfRun:
    """People's scores of a run's answers, by sample and criterion, without those in dispute.

    None says that a criterion does not apply to the answer.
    """

    gold: Mapping[int, Mapping[str, int | None]]
    carried: CarriedFrom | None  # None: they were drawn from this run

    def scores(self, criteria: Sequence[LabelCriterion]) -> GoldScores:
        """People's scores by these criteria, which apply to every answer: a label that one does not is no score."""
        names = {one.name for one in criteria}
        return {
            sample: {name: score for name, score in said.items() if name in names and score is not None}
            for sample, said in self.gold.items()
        }


def labels_of_run(book: LabelBook, run: LabelledRun) -> LabelsOfRun:
    """The labels as they hold for a run: the one that they were drawn from, or another with some of its answers.

    Raises: UsageError where people were asked by other criteria than the run was scored by, or no labelled answer is
        among the run's.
    """
    _same_criteria(book, run)
    started, of_samples = book.started, _gold(book)
    drawn_here = started.run_sha256 == run.derived.manifest.journal_sha256
    if drawn_here and not run.by_answer:
        return LabelsOfRun(of_samples, None)
    if started.allocation is not None:
        raise UsageError(
            f"{book.path}: drawn for the decision of run {started.run_id} with hash {started.run_sha256}, from some of "
            "its judge's verdicts more than from others, so its labels hold for no other run; draw from this one"
        )
    of_answers = _by_answer(book, of_samples)
    gold = {sample: of_answers[answer] for sample, answer in _answers(book, run) if answer in of_answers}
    used = {id(labels) for labels in gold.values()}  # an answer may be given in several repeats
    if not gold:
        none = f"none of its {len(of_answers)} labelled answers is there" if of_answers else "nobody labelled an answer"
        raise UsageError(
            f"{book.path}: labels run {started.run_id} with hash {started.run_sha256}; {run.record.path} has "
            f"{run.derived.manifest.journal_sha256}, and {none}"
        )
    if drawn_here:
        return LabelsOfRun(gold, None)
    carried = CarriedFrom(
        run_id=started.run_id, run_sha256=started.run_sha256, n_labelled=len(of_answers), n_used=len(used)
    )
    return LabelsOfRun(gold, carried)


def _same_criteria(book: LabelBook, run: LabelledRun) -> None:
    asked = {name: one.scores for name, one in book.state.criteria.items()}
    for one in run.criteria:
        if asked.get(one.name) != one.scores:
            found = ", ".join(f"{name} ({scores_words(scores)})" for name, scores in asked.items())
            raise UsageError(
                f"{book.path}: found labels of {found}; expected {one.name} ({scores_words(one.scores)}), "
                f"by which {run.record.path} was scored under {run.started.spec}"
            )


def _gold(book: LabelBook) -> dict[int, dict[str, int | None]]:
    gold: dict[int, dict[str, int | None]] = {}
    for sample in book.started.samples:
        for name in book.state.criteria:
            if (found := book.state.gold(sample, name)).is_settled:
                gold.setdefault(sample, {})[name] = found.score
    return gold


def _by_answer(book: LabelBook, gold: Mapping[int, Mapping[str, int | None]]) -> dict[str, dict[str, int | None]]:
    """The labels by the answer's hash. For an answer drawn twice, in two repeats, those that differ are left out."""
    found: dict[str, dict[str, int | None]] = {}
    doubtful: set[tuple[str, str]] = set()
    for sample, labels in gold.items():
        answer = answer_sha256(book.sheet[sample])
        of_answer = found.setdefault(answer, {})
        for name, score in labels.items():
            if of_answer.setdefault(name, score) != score:
                doubtful.add((answer, name))
    for answer, name in doubtful:
        del found[answer][name]
    return {answer: labels for answer, labels in found.items() if labels}


def _answers(book: LabelBook, run: LabelledRun) -> list[tuple[int, str]]:
    """The scored samples of a run whose text is that of a labelled answer, with their answers' hashes."""
    texts = {row.answer for row in book.sheet.values()}
    answers = {row.sample: answer for row in run.scored() if (answer := run.answer(row)) in texts}
    return [(row.sample, answer_sha256(row)) for row in run.sheet(answers)]
