"""One look at all batches of a record: intents are settled, results recorded, and what follows is sent.

Each step leaves the journal so that the process may end after it, by whatever: an intent is on the disk before its
requests leave, a vendor's id once it is known, and a batch is over only once all of its results are recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchbook.ask.asking import Call
from benchbook.ask.batches.budget import BatchBudget
from benchbook.ask.batches.calls import calls_now, is_given_up
from benchbook.ask.batches.facts_held import HeldFactsOfBatches
from benchbook.ask.batches.recording import Recorder
from benchbook.ask.batches.request_file import RequestFile
from benchbook.ask.batches.results import ResultFiles
from benchbook.ask.batches.targets import BatchTarget, vendor_of, wire_of
from benchbook.ask.batches.vendor import BatchVendor, VendorState
from benchbook.ask.requests import request_sha256
from benchbook.ask.settings import BatchSettings
from benchbook.ask.work import Questions
from benchbook.errors import RecordError, UsageError, VendorError
from benchbook.record.batches import BATCHES, HeldBatch
from benchbook.record.facts import BatchCollected, BatchSubmitted, Fact, Failure, Reply
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.standing import seconds_of
from benchbook.text import sentences
from benchbook.writing import cant_be_written, make_folder, written_whole

# guides/batch, "Rate limits": tokens that wait in batches are limited, and a batch over the limit fails.
_TOO_MANY = ("token_limit_exceeded", "Enqueued token limit")


@dataclass(slots=True)
class BatchSitting:
    """The batches of a record whose journal is held. `targets` are by endpoint; None for whom nobody is asked for.

    `to_files` is the folder into which requests are written for somebody else to carry.
    """

    record: Record
    journal: JournalWriter
    held: HeldFactsOfBatches
    questions: Questions
    targets: Mapping[str, BatchTarget | None]
    settings: BatchSettings
    recorder: Recorder
    budget: BatchBudget
    to_files: Path | None = None
    clock: Callable[[], float] = time.time
    refused: VendorError | None = None  # the last call that a vendor did not take, in this look
    has_changed: bool = True  # since it was last looked for what could be sent
    is_full: bool = False  # the vendor takes no more until a batch is over
    _fatal: VendorError | None = None
    _vendors: dict[tuple[str, str], BatchVendor] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.record.path / BATCHES

    def look(self) -> None:
        """Do all that can be done now. What a vendor refuses is in `refused`, and is tried in the next look.

        Raises: RecordError; VendorError where a person must act.
        """
        self.refused = self._fatal = None
        for batch in self.held.ledger.open:
            if batch.prepared.address is None:
                continue
            with self._noting_refusals():
                if batch.submitted is None:
                    self._settle(batch)
                if batch.submitted is not None:
                    self._collect(batch)
        if self._fatal is not None:
            raise self._fatal
        if self.has_changed and not self.is_full and self.recorder.stop.reason is None and self.refused is None:
            self._send_next()

    @property
    def is_over(self) -> bool:
        """True if nothing is waited for, and nothing can be asked."""
        if self.held.ledger.open or self.refused is not None:
            return False
        return not self.has_changed or self.recorder.stop.reason is not None

    def sweep(self) -> None:
        """Remove what a killed process left in the folder; requests for files that are not there yet are put there."""
        if not self.folder.is_dir():
            return
        by_hand = {one.id for one in self.held.ledger.open if one.prepared.address is None}
        for path in sorted(self.folder.iterdir()):
            if path.suffix == ".requests" and path.stem in by_hand:
                if self.to_files is not None:
                    self._put(path, self.to_files)
                continue
            path.unlink()
        with suppress(OSError):
            self.folder.rmdir()

    # ── intents whose call was not answered ──────────────────────────────────────────────────────────────

    def _settle(self, batch: HeldBatch) -> None:
        """Find out whether a batch was made. Until that is known, nothing of it is sent again."""
        taken = {one.submitted.vendor_id for one in self.held.ledger.batches.values() if one.submitted is not None}
        sought = self._vendor(batch).find(batch.prepared, taken)
        if sought.vendor_id is not None:
            self._append(BatchSubmitted(batch=batch.id, vendor_id=sought.vendor_id))
        elif sought.is_sure and self.clock() - seconds_of(batch.prepared.at) >= self.settings.settle_seconds:
            self._append(BatchCollected(batch=batch.id, end="not_sent"))
            self._forget_file(batch)
            self.has_changed = True

    # ── results ──────────────────────────────────────────────────────────────────────────────────────────

    def _collect(self, batch: HeldBatch) -> None:
        """Record a batch's results, if it has come to its end."""
        assert batch.submitted is not None  # noqa: S101 - whoever calls has looked
        vendor = self._vendor(batch)
        state = vendor.state(batch.submitted.vendor_id)
        if state.end is None:
            return
        path = self._made_folder() / f"{batch.id}.results"
        with written_whole(path, synced=False) as file:
            hashes = vendor.fetch(state, file)
        with closing(ResultFiles([path], {batch.id: batch})) as files:
            self._record_end(batch, state, files, hashes, vendor)
        path.unlink()
        with suppress(OSError):
            self.folder.rmdir()

    def _record_end(
        self, batch: HeldBatch, state: VendorState, files: ResultFiles, hashes: list[str], vendor: BatchVendor
    ) -> None:
        assert state.end is not None  # noqa: S101
        if state.end == "failed" and not state.files:
            self.recorder.record(batch, vendor.wire, files, vendor.http.keys)
            self._note_failed(batch, state.detail or "it does not say why")
        else:
            self.recorder.record(batch, vendor.wire, files, vendor.http.keys, end=state.end)
            self.is_full = False
        self.recorder.over(batch, state.end, hashes, state.detail)
        self.journal.sync()
        self.has_changed = True

    def _note_failed(self, batch: HeldBatch, why: str) -> None:
        """A vendor refused a whole file, and looked at no request. Where it has too many already, they go out once one
        of these is over; else the next file would be refused alike."""
        if any(word in why for word in _TOO_MANY) and any(one is not batch for one in self.held.ledger.open):
            self.is_full = True
        else:
            self.recorder.stop.because(sentences(f"batch {batch.id} failed: {why}"), failed=True)

    def take_files(self, paths: list[Path]) -> None:
        """Record the results in files that somebody brings.

        A batch is over once each of its requests has a result. Raises: UsageError where no line is of a batch that is
        open; RecordError.
        """
        known = {one.id: one for one in self.held.ledger.open}
        with closing(ResultFiles(paths, known)) as files:
            if not files.of and files.n_strange:
                raise UsageError(
                    f"{paths[0]}: no line has the id of a request that is waited for; expected results of "
                    f"{', '.join(known) or 'a batch that is not over'}"
                )
            for name in files.of:
                batch = known[name]
                self.recorder.record(batch, wire_of(batch.prepared), files)
                if not batch.n_out:
                    self.recorder.over(batch, "completed")
                    self._forget_file(batch)
                self.journal.sync()
            self.has_changed = True

    # ── what follows ─────────────────────────────────────────────────────────────────────────────────────

    def _send_next(self) -> None:
        """Send all that can be asked now, each endpoint's requests in files of their own."""
        self.held.facts.read_on()
        self.has_changed = False
        files: dict[str, RequestFile] = {}
        try:
            for sample in self.questions.order(self.journal, self.held):
                for call in self._calls(sample):
                    if not self._add(files, call):
                        self.has_changed = True
                        return
                if self.recorder.stop.reason is not None or self.questions.is_decided:
                    return
            for name in list(files):
                if not self._send(name, files.pop(name)):
                    self.has_changed = True
                    return
        finally:
            for file in files.values():
                file.drop()
            with suppress(OSError):
                self.folder.rmdir()

    def _calls(self, sample: int) -> list[Call]:
        """The calls that can be made for a sample now, and are not out."""
        held = self.held
        if held.is_done(sample) or not held.may_be_asked(sample):
            return []
        facts = held.facts_of(sample)
        if facts and self.questions.is_finished(facts):
            held.mark_done(sample)
            return []
        calls = []
        for call in calls_now(self.questions.begin(sample, facts)):
            if held.is_out(sample, call.role, call.judge) or is_given_up(facts, call, held.sitting_began):
                continue
            if self.targets[call.endpoint] is None:
                self._not_recorded(call)
            else:
                calls.append(call)
        return calls

    def _not_recorded(self, call: Call) -> None:
        """Whoever was recorded has no output for this: it is unanswered, as when a run asks (R1.3a)."""
        failure = Failure(
            sample=call.sample,
            role=call.role,
            error="provider_error",
            ends="sitting",
            detail="the recorded outputs have none for this item",
            cause="not_recorded",
            request_sha256=request_sha256(call.body),
        )
        self._append(failure)

    def _add(self, files: dict[str, RequestFile], call: Call) -> bool:
        """Add a call to its endpoint's file; one that is full is sent first. False where a vendor takes no more."""
        target = self.targets[call.endpoint]
        assert target is not None  # noqa: S101 - `_calls` leaves out others
        while call.endpoint not in files or not files[call.endpoint].add(call):
            if call.endpoint in files and not self._send(call.endpoint, files.pop(call.endpoint)):
                return False
            files[call.endpoint] = RequestFile(self._made_folder(), target.wire, target.limits, call)
        return True

    def _send(self, endpoint: str, file: RequestFile) -> bool:
        """Record the intent, then send. False where the vendor did not take it: the rest waits for the next look."""
        target = self.targets[endpoint]
        assert target is not None  # noqa: S101
        most_usd = self.budget.most_usd(target, file.n_requests, file.n_bytes)
        if (why := self.budget.why_not(most_usd)) is not None:
            file.drop()
            self.recorder.stop.because(why)
            return False
        prepared = file.whole(target.address, most_usd)
        self._append(prepared)
        self.journal.sync()
        if target.address is None:
            if self.to_files is not None:
                self._put(file.path, self.to_files)
            return True
        batch = self.held.ledger.batches[prepared.batch]
        try:
            vendor_id = self._vendor(batch).submit(prepared, file.path, target.model)
        except VendorError as error:
            if error.definite:
                self._append(BatchCollected(batch=batch.id, end="not_sent", detail=str(error)[:500]))
                self._forget_file(batch)
                if error.needs_a_person:
                    self.journal.sync()
                    raise
            self.refused = error
            return False
        self._append(BatchSubmitted(batch=batch.id, vendor_id=vendor_id))
        self.journal.sync()
        self._forget_file(batch)
        return True

    # ── parts of all of these ────────────────────────────────────────────────────────────────────────────

    def _made_folder(self) -> Path:
        """The folder for files on their way. Raises: RecordError."""
        try:
            make_folder(self.folder)
        except OSError as error:
            raise RecordError(cant_be_written(self.folder, error)) from None
        return self.folder

    def _append(self, fact: Fact) -> None:
        self.journal.append(fact)
        self.held.note_fact(fact)

    def _vendor(self, batch: HeldBatch) -> BatchVendor:
        """The calls to a batch's vendor. Raises: ConfigError where its key is missing."""
        prepared = batch.prepared
        endpoint = self.questions.endpoint_of(
            Reply(sample=prepared.samples[0][0], role=prepared.role, judge=prepared.judge)
        )
        target = self.targets[endpoint]
        key = (endpoint, prepared.address or "")
        if key not in self._vendors:
            assert target is not None  # noqa: S101 - nobody is sent a batch that is asked of nobody
            self._vendors[key] = vendor_of(prepared, target.role)
        return self._vendors[key]

    def _noting_refusals(self) -> _Noting:
        return _Noting(self)

    def _forget_file(self, batch: HeldBatch) -> None:
        (self.folder / f"{batch.id}.requests").unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _put(self, path: Path, folder: Path) -> None:
        """Move a file of requests to where it is carried from. Raises: RecordError."""
        target = folder / f"{self.record.run_id}-{path.stem}.jsonl"
        try:
            make_folder(folder)
            with path.open("rb") as source, written_whole(target) as file:
                while piece := source.read(1 << 20):
                    file.write(piece)
            path.unlink()
        except OSError as error:
            raise RecordError(cant_be_written(target, error)) from None


@dataclass(slots=True)
class _Noting:
    """Keeps a vendor's refusal for the end of the look, so that other batches are looked at, too."""

    sitting: BatchSitting

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if not isinstance(error, VendorError):
            return False
        self.sitting.refused = error
        if error.needs_a_person:
            self.sitting._fatal = self.sitting._fatal or error
        return True
