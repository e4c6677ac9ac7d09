"""Runs compared: `bb.compare` as an object of Polars frames that prints well, and the regression gate over records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.comparison.compared import Comparison, ComparisonSet, compare_runs
from benchbook.comparison.compared import compare as compare_pair
from benchbook.comparison.corrected import corrected_differences, corrected_set, not_worse_for_people
from benchbook.comparison.corrected_results import CorrectedDifference, NotWorseForPeople
from benchbook.comparison.difference import Difference
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.measures import SCORE
from benchbook.comparison.records import compared_run, compared_run_derived, manifest_of, training_loss
from benchbook.comparison.regressions import (
    DEFAULT_MARGIN,
    GateFinding,
    GateOutcome,
    RegressionCheck,
    check_regressions,
    check_score,
    failing_outcome,
    with_findings,
)
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.measured import Measured
from benchbook.evaluators.registry import evaluator_of
from benchbook.labels.labels import LabelBook
from benchbook.labels.worths import RunWorths, worths_of_runs
from benchbook.library.labelling import LabelsLike, books_of
from benchbook.library.objects import AnyRun, record_of
from benchbook.record.derived_files import check_whole, inside, misnamed_words
from benchbook.record.folder import Record, records_in
from benchbook.text import storable

if TYPE_CHECKING:
    import polars

    from benchbook.views.comparison_data import ComparisonReport

_NUMBERS = ("n", "mean_a", "mean_b", "difference", "low", "high", "n_lost", "n_won", "p")


def compare(
    a: AnyRun,
    b: AnyRun,
    *more: AnyRun,
    confidence: float = 0.95,
    margin: float | None = None,
    metric: str = SCORE.name,
    labels: LabelsLike | Iterable[LabelsLike] = (),
    runs: str | Path = "runs",
) -> RunComparison:
    """Compare runs item by item, each against the first: paths, ids in the folder `runs`, or runs.

    `margin` asks whether the later run is not worse by more than that, such as 0.02. Runs and slices are shown by
    `metric`: score, passing, contained, a criterion, cost_usd, or for runs alone an aggregate. `labels` are folders of
    people's labels, or `Labels`, of answers of any of the runs: the score is compared as people would judge, too.

    Raises: UsageError for a path that is no record, for runs under different scorers, for a metric that not all of
    them have, and for labels of none of their answers; RecordError.
    """
    records = [record_of(run, runs) for run in (a, b, *more)]
    return compare_records(records, confidence=confidence, margin=margin, metric=metric, labels=books_of(labels))


def compare_records(
    records: list[Record],
    *,
    confidence: float = 0.95,
    margin: float | None = None,
    metric: str = SCORE.name,
    labels: Sequence[LabelBook] = (),
) -> RunComparison:
    """As `compare`, for records that are open already."""
    runs = [compared_run(record) for record in records]
    if len({run.name for run in runs}) < len(runs):  # of several folders
        runs = [replace(run, name=storable(str(record.path))) for run, record in zip(runs, records, strict=True)]
    found = RunComparison(compare_runs(runs, confidence=confidence, margin=margin, by=metric), records)
    return found.with_worths(worths_of_runs(records, labels)) if labels else found


class RunComparison:
    """Two runs compared, or several, each against the first. `pairs` has them in order."""

    def __init__(self, found: ComparisonSet, records: list[Record]) -> None:
        self.found = found
        self._records = records

    def with_worths(self, worths: Sequence[RunWorths]) -> RunComparison:
        """The same, as people would judge, too; `worths` are the runs', in order."""
        return RunComparison(corrected_set(self.found, worths), self._records)

    @property
    def runs(self) -> tuple[ComparedRun, ...]:
        return self.found.runs

    @property
    def pairs(self) -> tuple[Comparison, ...]:
        return self.found.pairs

    @property
    def score(self) -> Difference:
        """The difference of the second run to the first, with its interval and p-value."""
        return self.pairs[0].score

    @property
    def as_people_would_judge(self) -> tuple[CorrectedDifference, ...]:
        """The differences of the second run to the first as people would judge: the score's, and passing's where that
        is another; empty where no labels were given. `pairs` have each their own (`corrected`)."""
        return self.pairs[0].corrected

    @cached_property
    def items(self) -> polars.DataFrame:
        """A row for each item of each pair, `a` and `b` naming the runs: class, expected answer, both texts, scores."""
        import polars as pl

        return pl.concat([pair.items.with_columns(a=pl.lit(pair.a.name), b=pl.lit(pair.b.name)) for pair in self.pairs])

    @cached_property
    def slices(self) -> polars.DataFrame:
        """A row for each section, category and difficulty of each pair, with its adjusted p and its verdict."""
        import polars as pl

        texts = dict.fromkeys(("a", "b", "field", "value"), pl.String)
        numbers = {name: pl.Int64 if name.startswith("n") else pl.Float64 for name in _NUMBERS}
        rows = [
            (
                pair.a.name,
                pair.b.name,
                one.field,
                one.value,
                *(getattr(one.difference, name) for name in _NUMBERS),
                one.p_holm,
                one.difference.verdict,
            )
            for pair in self.pairs
            for one in pair.slices
        ]
        return pl.DataFrame(rows, texts | numbers | {"p_holm": pl.Float64, "verdict": pl.String}, orient="row")

    @property
    def history(self) -> polars.DataFrame | None:
        """Each item's way through three runs or more, by correctness; None for two."""
        return self.found.histories[0].items if self.found.histories else None

    @cached_property
    def report(self) -> ComparisonReport:
        """The report that the views show, with the training curves."""
        from benchbook.views.comparison_data import ComparisonReport

        return ComparisonReport(
            self.found, {run.name: training_loss(record) for run, record in zip(self.runs, self._records, strict=True)}
        )

    def to_html(self) -> str:
        """One page that needs nothing but itself."""
        from benchbook.views.comparison import comparison_html

        return "".join(comparison_html(self.report))

    def to_markdown(self) -> str:
        from benchbook.views.comparison import comparison_markdown

        return "".join(comparison_markdown(self.report))

    def __str__(self) -> str:
        from benchbook.views.comparison import comparison_summary
        from benchbook.views.terminal import document_lines

        return "\n".join(document_lines(comparison_summary(self.report), width=120))

    def _repr_html_(self) -> str:
        from benchbook.views.comparison import comparison_fragment

        return comparison_fragment(self.report)

    def __repr__(self) -> str:
        return f"<RunComparison {' -> '.join(run.name for run in self.runs)}>"


EXIT_CODES: Mapping[GateOutcome, int] = {"holds": 0, "does_not_hold": 1, "not_complete": 3, "undecided": 4}
"""The exit codes of `benchbook gate --baseline` (docs/reference/exit-codes.md)."""


@dataclass(frozen=True, slots=True)
class GateForPeople:
    """The gate as people would judge: what it goes by where labels were given."""

    check: RegressionCheck
    not_worse: NotWorseForPeople


@dataclass(frozen=True, slots=True)
class GateResult:
    """`check` is of both questions together, as judged. `comparison` is None where no baseline was asked about, and
    `people` where no labels were given; the outcome is theirs where they were."""

    run: str
    score: float | None
    check: RegressionCheck
    comparison: Comparison | None
    people: GateForPeople | None = None

    @property
    def outcome(self) -> GateOutcome:
        return self.check.outcome if self.people is None else self.people.check.outcome

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]


def regression_gate(
    record: Record,
    baseline: Record | None,
    *,
    margin: float | None = None,
    max_regressions: int | None = None,
    min_score: Decimal | None = None,
    allow_different: Collection[Measured] = (),
    labels: Sequence[LabelBook] = (),
) -> GateResult:
    """Hold a record against its baseline, and against a least mean score.

    By a margin, DEFAULT_MARGIN unless `max_regressions` is asked instead. Both are derived anew from their journals: a
    file that was edited changes nothing. With `labels` the margin is held against the difference as people would
    judge, too, which the outcome then goes by.

    Raises: UsageError for a margin that can't be, for labels where something else than a margin is asked, and for
        those that fit neither run.
    """
    if labels and (baseline is None or max_regressions is not None or min_score is not None):
        raise UsageError("labels: correct the difference from a baseline by a margin, and nothing that is counted")
    run = compared_run_derived(record)
    check, comparison = RegressionCheck(holds=True, outcome="holds", reasons=()), None
    if margin is None and max_regressions is None:
        margin = DEFAULT_MARGIN
    if baseline is not None:
        comparison = compare_pair(compared_run_derived(baseline), run, margin=margin)
        check = check_regressions(comparison, max_regressions=max_regressions, allow_different=allow_different)
    if min_score is not None:
        check = with_findings(check, [GateFinding(failing_outcome(run), why) for why in check_score(run, min_score)])
    if not labels or baseline is None or comparison is None or comparison.score.not_worse is None:
        return GateResult(run.name, run.score, check, comparison)
    of_a, of_b = worths_of_runs([baseline, record], labels)
    comparison = replace(comparison, corrected=corrected_differences(comparison, of_a, of_b))
    not_worse = not_worse_for_people(comparison, of_a, of_b)
    people = check_regressions(comparison, allow_different=allow_different, people=not_worse)
    return GateResult(run.name, run.score, check, comparison, GateForPeople(people, not_worse))


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """A record of a folder: `measure`, which those on one eval set under one scorer share, or what is wrong with it."""

    record: Record
    measure: tuple[str, ...] | None = None
    is_finished: bool = False  # and no dry run
    damaged: str | None = None
    misnamed: str | None = None


def looked_over(runs: str | Path) -> list[FolderRecord]:
    """The folder's records, the newest first, each read once."""
    return [_looked_at(record) for record in records_in(runs)]


def _looked_at(record: Record) -> FolderRecord:
    try:
        first = check_whole(record)
    except RecordError as error:
        return FolderRecord(record, damaged=inside(record, str(error)), misnamed=misnamed_words(record))
    if (misnamed := misnamed_words(record, first)) is not None:
        return FolderRecord(record, misnamed=misnamed)
    measure, is_finished = _measure(record)
    return FolderRecord(record, measure, is_finished)


def records_on_one_evalset(runs: str | Path, evalset: str | None = None) -> tuple[list[Record], int]:
    """The folder's records on one eval set under one scorer, and how many other records there are.

    `evalset` is its id or hash; by default it is the one of the finished record that was written last. Those that are
    not finished are among them, as far as they have rows: a ranking says so, and gives them no place.

    Raises: UsageError where there is no finished record.
    """
    return on_one_evalset(looked_over(runs), runs, evalset)


def on_one_evalset(
    newest_first: list[FolderRecord], runs: str | Path, evalset: str | None = None
) -> tuple[list[Record], int]:
    """As `records_on_one_evalset`, of a folder that was looked over already."""
    wanted = (one.measure for one in newest_first if one.is_finished and one.measure is not None)
    chosen = next((measure for measure in wanted if evalset is None or evalset in measure[2:]), None)
    if chosen is None:
        raise UsageError(f"{runs}: no finished record{f' on eval set {evalset!r}' if evalset else ''}")
    records = [one.record for one in newest_first if one.measure == chosen]
    return records, len(newest_first) - len(records)


def _measure(record: Record) -> tuple[tuple[str, ...] | None, bool]:
    """Scorer, the hash of its files, eval set's id and its hash; and whether the run is finished, and no dry run.

    None for a run that has no items to be ranked by, or whose manifest can't be read.
    """
    try:
        manifest = manifest_of(record)
    except RecordError:
        return None, False
    if not record.samples.exists() or evaluator_of(record).compared is None:
        return None, False
    names = ("spec", "spec_sha256", "dataset_id", "dataset_version_or_hash")
    is_finished = manifest.get("state") == "complete" and not manifest.get("dry_run")
    return tuple(str(manifest.get(name)) for name in names), is_finished
