"""How the batches of a run stand, by its journal and by their vendors; and batches that are given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import msgspec

from benchbook.ask.batches.targets import vendor_of
from benchbook.ask.limits import Stop
from benchbook.ask.starting import Asks
from benchbook.errors import UsageError, VendorError
from benchbook.record.batches import BatchLedger, HeldBatch
from benchbook.record.facts import BatchCollected, BatchEnd, Reply, Resumed, RunStarted
from benchbook.record.folder import Record, at_work
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import JournalLine, read_journal


def last_config(record: Record, started: RunStarted) -> dict[str, Any]:
    """The settings of the last sitting."""
    config = started.config
    for line in read_journal(record.journal):
        if isinstance(line.fact, Resumed):
            config = line.fact.config
    return config


class BatchStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How one batch stands: by the journal, and by its vendor where that was asked."""

    batch: str
    vendor_id: str | None
    form: str
    address: str | None  # None: its file is carried by hand
    role: str
    judge: int
    state: str  # prepared, submitted, or how it ended
    n_requests: int
    n_replies: int
    n_failures: int
    n_out: int
    n_doubled: int = 0  # lines more than one of a request, of which the first stands
    n_strange: int = 0  # lines that answer no request of it
    vendor_state: str | None = None
    vendor_counts: dict[str, int] = {}
    vendor_said: str | None = None  # why nothing is known from there


def standing_of(batches: Sequence[HeldBatch]) -> list[BatchStanding]:
    """How batches stand by the journal alone."""
    return [
        BatchStanding(
            batch=one.id,
            vendor_id=one.submitted.vendor_id if one.submitted is not None else None,
            form=one.prepared.form,
            address=one.prepared.address,
            role=one.prepared.role,
            judge=one.prepared.judge,
            state=one.collected.end if one.collected else "submitted" if one.submitted else "prepared",
            n_requests=one.prepared.n_requests,
            n_replies=one.n_replies,
            n_failures=one.n_failures,
            n_out=one.n_out,
            n_doubled=0 if one.collected is None else one.collected.n_doubled,
            n_strange=0 if one.collected is None else one.collected.n_strange,
        )
        for one in batches
    ]


def batches_of(record: Record) -> list[HeldBatch]:
    """The batches that a record's journal names. Raises: RecordError, RecordDamagedError."""
    ledger = BatchLedger()
    for line in read_journal(record.journal):
        ledger.note(line.fact)
    return list(ledger.batches.values())


def status(evaluator: Asks[Any, Any], record: Record, *, ask: bool = True) -> list[BatchStanding]:
    """How each batch of a record stands; with `ask` their vendors are asked, too. Nothing is recorded.

    Raises: RecordError, RecordDamagedError.
    """
    batches = batches_of(record)
    standings = standing_of(batches)
    if not ask or not any(one.collected is None and one.submitted is not None for one in batches):
        return standings
    with _roles_of(evaluator, record) as role_of:
        return [_asked_vendor(one, role_of, told) for one, told in zip(batches, standings, strict=True)]


def _asked_vendor(batch: HeldBatch, role_of: RoleOf, standing: BatchStanding) -> BatchStanding:
    if batch.submitted is None or batch.collected is not None:
        return standing
    try:
        state = vendor_of(batch.prepared, role_of(batch)).state(batch.submitted.vendor_id)
    except VendorError as error:
        return msgspec.structs.replace(standing, vendor_said=str(error))
    return msgspec.structs.replace(standing, vendor_state=state.said, vendor_counts=dict(state.counts))


RoleOf = Callable[[HeldBatch], Any]


@contextmanager
def _roles_of(evaluator: Asks[Any, Any], record: Record) -> Iterator[RoleOf]:
    """Finds the settings of the role that a batch asks."""
    config = evaluator.settings(last_config(record, record.started()), "resume")
    opened = evaluator.reopen(record, config)
    with closing(opened.questions(record, Stop())) as questions:

        def role_of(batch: HeldBatch) -> Any:
            one = batch.prepared
            reply = Reply(sample=one.samples[0][0], role=one.role, judge=one.judge)
            return opened.roles[questions.endpoint_of(reply)][0]

        yield role_of


def cancel(evaluator: Asks[Any, Any], record: Record, names: Sequence[str] = ()) -> list[BatchStanding]:
    """Ask that batches end now, all that are out or the named ones; what was carried out comes with `collect`.

    One whose file is carried by hand, and one that its vendor does not know, is over at once: its requests without a
    result may be sent again. So is one of which nobody knows whether it was made, if it is named: then that is the
    caller's word.
    Raises: UsageError for an id of none; RecordError; VendorError.
    """
    ledger = BatchLedger()
    with at_work(record), JournalWriter(record.journal, on_line=lambda line: _note(ledger, line)) as journal:
        wanted = [one for one in ledger.open if not names or one.id in names]
        if unknown := set(names) - {one.id for one in wanted}:
            known = ", ".join(one.id for one in ledger.open) or "none"
            raise UsageError(f"batch {min(unknown)}: is not out; those that are: {known}")
        with _roles_of(evaluator, record) as role_of:
            for batch in wanted:
                _cancel(batch, role_of, journal, ledger, is_named=bool(names))
    return standing_of(list(ledger.batches.values()))


def _note(ledger: BatchLedger, line: JournalLine) -> None:
    ledger.note(line.fact)


def _cancel(batch: HeldBatch, role_of: RoleOf, journal: JournalWriter, ledger: BatchLedger, *, is_named: bool) -> None:
    end: BatchEnd = "cancelled"
    detail = "given up: its file was carried by hand"
    if batch.prepared.address is not None and batch.submitted is None:
        if not is_named:
            return  # `collect` finds out whether it was made
        end, detail = "not_sent", "given up: nobody knew whether it was made"
    elif batch.prepared.address is not None and batch.submitted is not None:
        try:
            vendor_of(batch.prepared, role_of(batch)).cancel(batch.submitted.vendor_id)
        except VendorError as error:
            if not error.definite or error.cause != "not_found":
                raise
            detail = str(error)[:500]
        else:
            return
    fact = BatchCollected(
        batch=batch.id, end=end, detail=detail, n_replies=batch.n_replies, n_failures=batch.n_failures
    )
    journal.append(fact)
    ledger.note(fact)
