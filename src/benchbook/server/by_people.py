"""Compared and ranked runs as people would judge: computed where labels of their answers are here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchbook.comparison.compared import Comparison
from benchbook.comparison.leaderboard import Leaderboard
from benchbook.errors import BenchbookError, RecordError, UsageError
from benchbook.labels.labels import LabelBook, open_labels
from benchbook.server.comparison_types import PairForPeople, ScoresForPeople
from benchbook.server.label_folders import LabelFolder, stamp_of_labels
from benchbook.server.problems import problem_of
from benchbook.server.services import FoundRun, Services
from benchbook.text import storable
from benchbook.views.comparison_corrected import (
    corrected_notes,
    corrected_sentence,
    corrected_table,
    people_notes,
    turned_sentence,
)
from benchbook.views.views import table_json

if TYPE_CHECKING:
    from benchbook.labels.worths import RunWorths  # what it loads takes a while

MOST_SAMPLES = 50_000  # of all runs together, which are derived anew: 7 s, once
_A, _B = "{a}", "{b}"  # for the two runs, as whoever shows them calls them
_NOTHING = "As people would judge: nothing can be said, since"
_WORTH_COLUMNS = ("class", "item_id", "item_id_b", "group", "prompt_b")


@dataclass(frozen=True, slots=True)
class LabelsOfRuns:
    """The labels that were drawn from some runs, as they stand. `stamp` names their state; empty where none are."""

    folders: tuple[LabelFolder, ...]
    stamp: str

    @property
    def of_state(self) -> tuple[str, ...]:
        """The part of an answer's state that they are; nothing where there are none."""
        return (self.stamp,) if self.stamp else ()


def labels_of(services: Services, run_ids: Sequence[str]) -> LabelsOfRuns:
    """The folders of labels that were drawn from any of these runs."""
    folders = services.labels_of(run_ids)
    return LabelsOfRuns(folders, stamp_of_labels(folders))


def books_that_correct(labels: LabelsOfRuns) -> list[LabelBook]:
    """Those in which people gave labels, and which correct comparisons: chance draws, if there are any.

    Raises: RecordError for labels that are damaged.
    """
    opened = [open_labels(one.path) for one in labels.folders]
    labelled = [book for book in opened if book.state.has_labels]
    return [book for book in labelled if book.started.allocation is None] or labelled


def worths_here(services: Services, runs: Sequence[FoundRun], books: Sequence[LabelBook]) -> list[RunWorths] | str:
    """The worths of each run's items; words where these labels correct none, or the runs are too many."""
    from benchbook.labels.worths import worths_of_runs

    if sum(one.row.n_attempted or 0 for one in runs) > MOST_SAMPLES:
        return f"the runs have more than {MOST_SAMPLES:,} samples, for which only the command line takes the time"
    try:
        return worths_of_runs([one.record for one in runs], books)
    except (UsageError, RecordError) as error:
        return told_of(services, error)


def told_of(services: Services, error: BenchbookError) -> str:
    """The reason why labels correct nothing, without where they are."""
    return problem_of(error, services.settings).detail or "the labels can't be read"


def worths_of(services: Services, runs: Sequence[FoundRun], labels: LabelsOfRuns) -> list[RunWorths]:
    """The worths of each run's items; none where no labels that are here correct them."""
    try:
        books = books_that_correct(labels)
    except RecordError:
        return []
    found = worths_here(services, runs, books) if books else []
    return [] if isinstance(found, str) else found


# ── pairs ────────────────────────────────────────────────────────────────────────────────────────────────────


def without_texts(pair: Comparison) -> Comparison:
    """The pair with no more of its items than `pairs_for_people` reads."""
    kept = [name for name in _WORTH_COLUMNS if name in pair.items.columns]
    return replace(pair, items=pair.items.select(kept))


def pairs_for_people(
    services: Services, runs: Sequence[FoundRun], pairs: Sequence[Comparison], labels: LabelsOfRuns
) -> list[PairForPeople | None]:
    """The pairs of the first run with each other one as people would judge; None where no answer is labelled."""
    if not labels.folders:
        return [None for _ in pairs]
    try:
        books = books_that_correct(labels)
        found = worths_here(services, runs, books) if books else None
    except RecordError as error:
        books, found = [], told_of(services, error)
    if found is None:
        return [None for _ in pairs]
    names = tuple(storable(one.path.name) for one in books or labels.folders)
    if isinstance(found, str):
        return [_refused(found, names) for _ in pairs]
    return [_for_people(pair, found[0], of_b, len(pairs), names) for pair, of_b in zip(pairs, found[1:], strict=True)]


def _for_people(
    pair: Comparison, a: RunWorths, b: RunWorths, n_tests: int, names: tuple[str, ...]
) -> PairForPeople | None:
    from benchbook.comparison.corrected import corrected_differences

    found = corrected_differences(pair, a, b, n_tests=n_tests)
    if not any(one.n_labelled_a or one.n_labelled_b or one.difference is not None for one in found):
        return None
    return PairForPeople(
        labels=names,
        differences=found,
        turned=tuple(words for one in found if (words := turned_sentence(one, _A, _B)) is not None),
        says=corrected_sentence(found[0], _A, _B),
        table=table_json(corrected_table(found, _A, _B)),
        notes=tuple(corrected_notes(found, _A, _B)),
    )


def _refused(why: str, names: tuple[str, ...]) -> PairForPeople:
    return PairForPeople(
        labels=names,
        differences=(),
        turned=(),
        says=f"{_NOTHING} {why}.",
        table=table_json(corrected_table(())),
        notes=(),
    )


# ── a ranking ────────────────────────────────────────────────────────────────────────────────────────────────


def scores_for_people(
    services: Services, found: Leaderboard, runs: Mapping[str, FoundRun], labels: LabelsOfRuns
) -> ScoresForPeople | None:
    """The scores as people would judge of the ranked runs that labels were drawn from; None where there are none.

    `runs` are those on the eval set by their names in the ranking.
    """
    from benchbook.comparison.corrected import corrected_scores_of

    own = {one.run_id for one in labels.folders if one.run_id is not None}
    labelled = {one.run: runs[one.run] for one in found.places if one.run in runs and runs[one.run].row.run_id in own}
    if not labelled:
        return None
    try:
        books = books_that_correct(labels)
    except RecordError:
        return None  # the page of labels says which are damaged
    if not books:
        return None
    names = tuple(storable(book.path.name) for book in books)
    worths = worths_here(services, list(labelled.values()), books)
    if isinstance(worths, str):
        return ScoresForPeople(labels=names, scores=(), notes=(f"{_NOTHING} {worths}.",))
    scores = corrected_scores_of(found, dict(zip(labelled, worths, strict=True)))
    return ScoresForPeople(labels=names, scores=scores, notes=tuple(people_notes(scores))) if scores else None
