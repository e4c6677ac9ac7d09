"""Draws of the same items in another run: labels of two runs that are compared tell the most where items are the same.

Chance drew the items, in the other run. It drew each of that run's scored answers with the same chance, so each of this
run's answers to items that both runs scored has one chance, too, and no answer needs a weight. A draw for a decision
took some verdicts of the other run's judge more than others: this run's answers would have other chances, so it is
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbook.errors import ConfigError, UsageError
from benchbook.labels.drawing import BOTH, Unit
from benchbook.labels.labels import LabelBook
from benchbook.labels.sheet import (
    LabelledRun,
    RunByRows,
    derived_anew,
    drawn_by,
    drawn_by_items,
    is_as_drawn,
    new_labels,
    units_of,
)
from benchbook.record.facts import EarlierDraw, ItemsOf, LabelsStarted
from benchbook.record.folder import Record, is_record
from benchbook.text import plural


def sample_items_of(
    record: Record, out: str | Path, *, items_of: LabelBook, runs: str | Path = "runs", seed: int = 0
) -> LabelBook:
    """Draw a run's answers to the items that `items_of`, labels of another run, were drawn of, into the folder `out`.

    The other run is looked for in `runs`, beside this run and beside its labels: its draw is made again. Labels whose
    items are themselves those of a third run lead to that one.

    Raises: UsageError where `out` exists, where the items were not drawn by one chance for all, and where the runs are
        not of one eval set with as many repeats.
    """
    began = _first_draw(items_of)
    other = _record_of(began, (Path(runs), record.path.absolute().parent, items_of.path.absolute().parent))
    with derived_anew(other) as there, derived_anew(record) as here:
        _same_samples(items_of, there, here)
        units = _drawn_there(items_of, began, there)
        plan = ItemsOf(
            run_id=began.run_id,
            run_sha256=began.run_sha256,
            draw=began.draw,
            items=[item for item, _ in units],
            repeats=[repeat for _, repeat in units] if any(repeat for _, repeat in units) else [],
            scored_here_alone=_scored_here_alone(there, here),
        )
        try:
            drawn = drawn_by_items(here, plan, seed=seed, run_sha256=here.derived.manifest.journal_sha256)
        except ConfigError:
            none = f"has a scored answer to none of the {plural(len(units), 'item')}"
            raise UsageError(f"{record.path}: {none} that {items_of.path} is of") from None
        return new_labels(out, here, drawn, seed=seed, stratify=(), items_of=plan)


def n_not_drawn(started: LabelsStarted) -> int:
    """The items of the other run's labels to which this run has no scored answer."""
    return 0 if started.items_of is None else len(started.items_of.items) - started.strata[BOTH].n_drawn


def other_items(started: LabelsStarted, there: LabelledRun, here: LabelledRun) -> Iterator[str]:
    """The faults of what a draw says of the other run: all that does not follow from that run."""
    items_of = started.items_of
    if items_of is None:
        return
    repeats = items_of.repeats or [0] * len(items_of.items)
    units = units_of(there)
    try:
        again = [units[sample] for sample in drawn_by(there, items_of.draw).samples]
    except ConfigError:
        again = []
    if [*zip(items_of.items, repeats, strict=True)] != again:
        yield f"items_of: not the items that the seed {items_of.draw.seed} draws from the run {items_of.run_id}"
    if items_of.scored_here_alone != _scored_here_alone(there, here):
        yield f"items_of: found other samples scored here alone than those without a score in {items_of.run_id}"


def record_of_items(items_of: ItemsOf, folders: Sequence[Path]) -> Record | None:
    """The other run, where one of its name is in these folders."""
    found = (Record(folder / items_of.run_id) for folder in folders)
    return next((one for one in found if is_record(one.path)), None)


def _first_draw(book: LabelBook) -> ItemsOf:
    """The draw by chance that a record of labels comes from; without its items, where that is its own."""
    started = book.started
    if started.items_of is not None:
        return started.items_of
    if started.allocation is not None:
        raise UsageError(
            f"{book.path}: drawn for the decision of run {started.run_id}, more of some of its judge's verdicts than "
            "of others, so another run's answers to these items are no fair draw; draw by chance, without --for"
        )
    draw = EarlierDraw(sha256=book.sha256, seed=started.seed, stratify=started.stratify, strata=started.strata)
    return ItemsOf(run_id=started.run_id, run_sha256=started.run_sha256, draw=draw, items=[])


def _record_of(began: ItemsOf, folders: Sequence[Path]) -> Record:
    found = record_of_items(began, folders)
    if found is None:
        places = ", ".join(dict.fromkeys(str(folder) for folder in folders))
        raise UsageError(f"{began.run_id}: the run that the items were drawn from is not in {places}; say --runs DIR")
    return found


def _same_samples(book: LabelBook, there: LabelledRun, here: LabelledRun) -> None:
    """Raises: UsageError where a sample of one run is not of the item and the repeat that the other's is of."""
    for run in (there, here):
        if isinstance(run, RunByRows):
            raise UsageError(
                f"{run.record.path}: people label answers of {run.started.spec} row by row, not item by item; "
                "draw by chance, without --items-of"
            )
    one, two = there.derived.manifest, here.derived.manifest
    if one.journal_sha256 == two.journal_sha256:
        raise UsageError(f"{book.path}: its items were drawn from this run; label what it holds")
    if one.dataset_version_or_hash != two.dataset_version_or_hash:
        raise UsageError(
            f"{here.record.path}: is over the eval set {two.dataset_id}, and {one.run_id} over {one.dataset_id} with "
            "another hash: the items are not the same"
        )
    if one.repeats != two.repeats:
        raise UsageError(
            f"{here.record.path}: found {plural(two.repeats, 'repeat')}; expected {one.repeats}, as {one.run_id} has, "
            "for the same samples to be drawn"
        )


def _drawn_there(book: LabelBook, began: ItemsOf, there: LabelledRun) -> list[Unit]:
    """The items and repeats that were drawn, in the order shown. Raises: UsageError where chance did not draw them."""
    started = book.started
    if there.derived.manifest.journal_sha256 != began.run_sha256:
        now = there.derived.manifest.journal_sha256
        raise UsageError(f"{book.path}: of run {began.run_id} with hash {began.run_sha256}; it has {now} now")
    units = units_of(there)
    if started.items_of is None and not is_as_drawn(there, started):
        raise UsageError(f"{book.path}: its seed draws other samples from {began.run_id}: somebody chose them")
    try:
        return [units[sample] for sample in drawn_by(there, began.draw).samples]
    except ConfigError as error:
        raise UsageError(f"{book.path}: its draw can't be made again from {began.run_id}: {error}") from None


def _scored_here_alone(there: LabelledRun, here: LabelledRun) -> list[int]:
    scored = frozenset(units_of(there).values())
    return sorted(sample for sample, unit in units_of(here).items() if unit not in scored)
