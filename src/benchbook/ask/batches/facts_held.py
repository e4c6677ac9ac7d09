"""The facts of a record by sample, and which requests are out: eight bytes a fact, some bits a sample.

A run by batch has every sample begun at once, so nothing of them is kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchbook.ask.work import Resume
from benchbook.record.batches import BatchLedger, samples_in
from benchbook.record.fact_index import FactIndex
from benchbook.record.facts import (
    BatchCollected,
    BatchPrepared,
    Fact,
    Failure,
    Interrupted,
    Reply,
    Resumed,
    RunEnded,
    RunStarted,
    SampleFact,
)
from benchbook.record.reading import JournalLine, read_journal

_LOOKED = 1_000  # first facts that are looked at alone, before it is known whether one is enough


class FactsBySample:
    """The facts of a journal by sample. What was appended since is read by `read_on`."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._index = FactIndex(journal)
        self._last: JournalLine | None = None
        self.of = self._index.of

    def add(self, line: JournalLine) -> None:
        """Take the next line of the journal."""
        self._last = line
        self._index.add(line)

    def read_on(self) -> None:
        """Take all lines that came since. Raises: RecordDamagedError."""
        for line in read_journal(self._journal, self._last):
            self.add(line)


class _Bits:
    """A bit for each sample."""

    def __init__(self, n_samples: int) -> None:
        self._bits = bytearray((n_samples + 7) // 8)

    def set(self, sample: int) -> None:
        self._bits[sample >> 3] |= 1 << (sample & 7)

    def drop(self, sample: int) -> None:
        self._bits[sample >> 3] &= ~(1 << (sample & 7))

    def __contains__(self, sample: int) -> bool:
        return bool(self._bits[sample >> 3] >> (sample & 7) & 1)


class _Begun(dict[int, list[SampleFact]]):
    """Samples with facts: those that are in the journal already are there, too, but not kept here."""

    def __init__(self, has_facts: _Bits) -> None:
        super().__init__()
        self._has_facts = has_facts

    def __contains__(self, sample: object) -> bool:
        return super().__contains__(sample) or (isinstance(sample, int) and sample in self._has_facts)


class HeldFactsOfBatches(Resume):
    """All that a sitting knows of a record by its journal: what is done, what is out, and where each fact is."""

    def __init__(
        self,
        journal: Path,
        n_samples: int,
        is_finished: Callable[[list[SampleFact]], bool],
        endpoint_of: Callable[[Reply], str],
    ) -> None:
        super().__init__(n_samples, is_finished, endpoint_of)
        self.n_samples = n_samples
        self._is_finished_by = is_finished
        self.facts = FactsBySample(journal)
        self.ledger = BatchLedger()
        self._has_facts = _Bits(n_samples)
        self._out: dict[tuple[str, int], _Bits] = {}
        self._any_out = _Bits(n_samples)
        self.begun = _Begun(self._has_facts)
        self.sitting_began = 0  # the `seq` of the fact with which the sitting began
        self.ended: RunEnded | None = None
        self.interrupted: Interrupted | None = None
        self.faults: list[str] = []
        self._n_alone = self._n_finished_alone = 0

    def take(self, line: JournalLine) -> None:
        """Take a line that is there when the journal is opened."""
        self.facts.add(line)
        fact = line.fact
        if isinstance(fact, Reply | Failure) and fact.sample not in self._has_facts:
            self._look_at_first(fact)
        self.note_fact(fact)

    def _look_at_first(self, fact: SampleFact) -> None:
        """Where one fact mostly finishes a sample, it is not looked up again."""
        if self._n_alone >= _LOOKED and not self._n_finished_alone:
            return
        self._n_alone += 1
        if self._is_finished_by([fact]):
            self._n_finished_alone += 1
            self.mark_done(fact.sample)

    def note_fact(self, fact: Fact) -> None:
        """Take a fact, of the journal or one that was just appended."""
        if (what := self.ledger.note(fact)) is not None:
            self.faults.append(f"fact {fact.seq}: {what}")
            return
        match fact:
            case Reply() | Failure():
                self._note_sample_fact(fact)
            case RunStarted() | Resumed():
                self.sitting_began, self.interrupted = fact.seq, None
            case BatchPrepared():
                self._factors.add(fact)
                out = self._out.setdefault((fact.role, fact.judge), _Bits(self.n_samples))
                for sample in samples_in(fact):
                    out.set(sample)
                    self._any_out.set(sample)
            case BatchCollected():
                self._nothing_more_of(self.ledger.batches[fact.batch].prepared)
            case Interrupted():
                self.interrupted = fact
            case RunEnded():
                self.ended = fact
            case _:
                pass

    def _note_sample_fact(self, fact: SampleFact) -> None:
        self._has_facts.set(fact.sample)
        if fact.batch is not None:
            self._out[fact.role, fact.judge].drop(fact.sample)
        if isinstance(fact, Reply) and not fact.cached:
            tokens = self.tokens.setdefault(self._endpoint_of(fact), [0, 0])
            factor = 1 if fact.batch is None else self._factors.of(fact)
            tokens[0] += (fact.input_tokens or 0) * factor
            tokens[1] += (fact.output_tokens or 0) * factor

    def _nothing_more_of(self, prepared: BatchPrepared) -> None:
        out = self._out[prepared.role, prepared.judge]
        for sample in samples_in(prepared):
            out.drop(sample)

    def is_out(self, sample: int, role: str, judge: int) -> bool:
        """True if a request of this is in a batch that is not over, and has not come back."""
        out = self._out.get((role, judge))
        return out is not None and sample in out

    def may_be_asked(self, sample: int) -> bool:
        """False where it is seen at once that nothing can be asked of a sample now: its first request is out."""
        if sample in self._has_facts or sample not in self._any_out:
            return True
        return not any(sample in out for out in self._out.values())

    def facts_of(self, sample: int) -> list[SampleFact]:
        """A sample's facts, those that were imported on the way among them."""
        if (imported := self.begun.pop(sample, None)) is not None:
            for fact in imported:
                self._note_sample_fact(fact)
            return imported
        return self.facts.of(sample) if sample in self._has_facts else []
