"""Runs ranked over one eval set: `bb.leaderboard`, as an object that prints well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.comparison.corrected_results import CorrectedScore
from benchbook.comparison.leaderboard import Leaderboard
from benchbook.comparison.leaderboard import leaderboard as ranked
from benchbook.comparison.records import ranked_run
from benchbook.errors import UsageError
from benchbook.labels.labels import LabelBook
from benchbook.library.comparing import looked_over, on_one_evalset
from benchbook.library.labelling import LabelsLike, books_of
from benchbook.library.objects import AnyRun, record_of
from benchbook.library.twins import in_thread
from benchbook.record.folder import Record

if TYPE_CHECKING:
    import polars


def leaderboard(
    *run: AnyRun,
    evalset: str | None = None,
    metric: str = "score",
    confidence: float = 0.95,
    labels: LabelsLike | Iterable[LabelsLike] = (),
    runs: str | Path = "runs",
) -> RunRanking:
    """Rank runs over one eval set, and say which can't be told from the best, as `benchbook leaderboard` does.

    Without a `run`, all finished records in the folder `runs` that are on the newest one's eval set, or on `evalset`,
    an id or a hash. `metric` is what runs are ranked by: `score`, `passing`, `contained`, or a criterion such as
    `accuracy_score`. `confidence` is of rank intervals, and of the set that holds the best run. With `labels`, folders
    of people's labels or `Labels`, runs whose answers are labelled have their score as people would judge, too.

    Raises: UsageError where there is no such record or metric, for runs that can't be ranked together, and for labels
        of none of their answers; RecordError.
    """
    if run and evalset:
        raise UsageError("evalset: chooses among a folder's records; leave it out, or the runs")
    records = [record_of(one, runs) for one in run] or None
    books = books_of(labels)
    return ranking_of(records, runs, evalset=evalset, metric=metric, confidence=confidence, labels=books)


leaderboard_async = in_thread(leaderboard)


def ranking_of(
    named: list[Record] | None,
    runs: str | Path,
    *,
    evalset: str | None = None,
    metric: str = "score",
    confidence: float = 0.95,
    labels: Sequence[LabelBook] = (),
) -> RunRanking:
    """As `leaderboard`, for records that are open already; without any, for those of the folder."""
    if named:
        found = _ranked(named, metric, confidence)
        return RunRanking(found, people=_for_people(found, named, labels))
    looked = looked_over(runs)
    records, n_others = on_one_evalset(looked, runs, evalset)
    left_out = [f"Damaged: {one.record.run_id}: {one.damaged}" for one in looked if one.damaged is not None]
    left_out += [f"Misnamed: {one.misnamed}" for one in looked if one.misnamed is not None]
    found = _ranked(records, metric, confidence)
    return RunRanking(found, n_others, tuple(left_out), _for_people(found, records, labels))


def _ranked(records: list[Record], metric: str, confidence: float) -> Leaderboard:
    from benchbook.views.several_runs import with_titles

    return with_titles(ranked(map(ranked_run, records), metric=metric, confidence=confidence))


def _for_people(
    found: Leaderboard, records: Sequence[Record], labels: Sequence[LabelBook]
) -> tuple[CorrectedScore, ...]:
    """The scores as people would judge, of the ranked runs that no other one shares its name with."""
    if not labels:
        return ()
    from benchbook.comparison.corrected import corrected_scores_of
    from benchbook.labels.worths import worths_of_runs

    ranked_names = [one.run for one in found.places]
    shown = [one for one in records if ranked_names.count(one.run_id) == 1]
    worths = worths_of_runs(shown, labels)
    known = dict.fromkeys(name for one in worths for name in one.by_metric)
    if found.metric not in known:
        raise UsageError(f"labels: found the metric {found.metric}; they correct {' and '.join(known)} of these runs")
    return corrected_scores_of(found, {one.run_id: of_run for one, of_run in zip(shown, worths, strict=True)})


class RunRanking:
    """A leaderboard: `found` has the places, from the best to the worst. `n_others` records of the folder are not in
    it; `left_out` has a line for each of those with which something is wrong. `people` has the score as people would
    judge of each run that has labels, where some were given."""

    def __init__(
        self,
        found: Leaderboard,
        n_others: int = 0,
        left_out: tuple[str, ...] = (),
        people: tuple[CorrectedScore, ...] = (),
    ) -> None:
        self.found = found
        self.n_others = n_others
        self.left_out = left_out
        self.people = people

    @cached_property
    def places(self) -> polars.DataFrame:
        """A row for each ranked run: rank and its interval, score, p against the best, whether it may be the best."""
        import polars as pl

        return pl.DataFrame([msgspec.to_builtins(one) for one in self.found.places])

    def __str__(self) -> str:
        from benchbook.views.several_runs import leaderboard_lines

        return "\n".join(leaderboard_lines(self.found, self.n_others, self.left_out, self.people))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment
        from benchbook.views.several_runs import leaderboard_document

        return fragment(leaderboard_document(self.found, self.n_others, self.left_out, self.people))

    def __repr__(self) -> str:
        best = [one.run for one in self.found.places if one.among_best]
        return f"<RunRanking of {len(self.found.places)} runs, the best among {', '.join(best)}>"
