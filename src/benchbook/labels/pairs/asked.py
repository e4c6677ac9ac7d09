"""The verdicts of a judge on runs in pairs, from the records of both orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_of
from benchbook.labels.pairs.folder import PairsFolder
from benchbook.labels.pairs.shown import pair_in
from benchbook.labels.pairs.verdicts import First, PairedAnswers, Place, Showing
from benchbook.record.derived_files import check_derived
from benchbook.record.folder import Record
from benchbook.record.tables import read_frames

if TYPE_CHECKING:
    import polars

BETTER, USABLE = "better_score", "usable_score"
_STEPS = 2  # of `better`: the second answer, neither, the first


def judges_pairs(evaluator: Evaluator) -> bool:
    """True for a rubric that says which of two answers is better."""
    metrics = () if evaluator.compared is None else evaluator.compared.metrics
    return any(one.column == BETTER and (one.lowest, one.highest) == (0, _STEPS) for one in metrics)


def check_rubric(evaluator: Evaluator, spec: str) -> None:
    """Refuse a rubric that does not. Raises: ConfigError."""
    if not judges_pairs(evaluator):
        expected = "a rubric with a criterion better of three grades; `benchbook rubric init NAME --pairs` writes one"
        raise ConfigError("spec", spec, expected)


def verdicts_asked(folder: PairsFolder) -> Iterator[tuple[Place, PairedAnswers]]:
    """The verdicts of each order of each pair, of a panel each judge's own.

    Raises: UsageError where a record is not complete; RecordError, also for a changed table.
    """
    if (lacking := folder.lacking()) is not None:
        resumes = f"benchbook judge pairs --resume {folder.path}"
        raise UsageError(f"{folder.path}: is not complete ({lacking} is not); go on with it: {resumes}")
    for first, second in folder.plan.orders:
        record = folder.order(first, second)
        check_derived(record, record.samples.name)
        models = folder.plan.sources[first].model, folder.plan.sources[second].model
        for judge, item, better, usable, answers in _rows(record):
            yield (str(record.path), None), _verdict(judge, item, models, better, usable, answers)


def _verdict(
    judge: str, item: str, models: tuple[str, str], better: int | None, usable: int | None, answers: str
) -> PairedAnswers:
    """A verdict on two answers of which that of the first model was shown first."""
    shown = pair_in(answers)
    if shown is None:  # a record that verifies has nothing else
        raise UsageError(f"{item}: the judged text is no pair of answers")
    first: First = "a"
    won = None if better is None else better / _STEPS
    return PairedAnswers(
        judge=judge,
        item=item,
        model_a=models[0],
        model_b=models[1],
        showings=(Showing(won=won, first=first, both_bad=won == 0.5 and usable == 0),),
        chars_a=len(shown[0]),
        chars_b=len(shown[1]),
    )


def _rows(record: Record) -> Iterator[tuple[str, str, int | None, int | None, str]]:
    """Who judged, the item, both scores and the judged text; a row for each judge."""
    name = str(evaluator_of(record).read(record).manifest.evaluator_model_id)
    for frame in read_frames(record.samples):
        for row in _needed(frame).iter_rows(named=True):
            votes = row.get("votes") or ()
            said = ((vote["name"], vote) for vote in votes) if votes else ((name, row),)
            for judge, scores in said:
                yield judge, row["item_id"], scores[BETTER], scores.get(USABLE), row["candidate_answer"]


def _needed(frame: polars.DataFrame) -> polars.DataFrame:
    wanted: Any = [one for one in ("item_id", BETTER, USABLE, "candidate_answer", "votes") if one in frame.columns]
    return frame.select(wanted)
