"""Holds the facts of each sample against its plan: who is asked what, how often, and what ends it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.ask.work import is_answered
from benchbook.evaluators.candidate import template_fault
from benchbook.record.checking import MOST_FINDINGS
from benchbook.record.derived_files import Discrepancy
from benchbook.record.facts import Reply, Role, SampleFact
from benchbook.record.folder import Record
from benchbook.record.places import place_of_fact
from benchbook.record.state import JournalState
from benchbook.text import plural

NOBODY_ASKED = "names a request, and nobody was asked: it was made elsewhere"
AFTER_THE_END = "comes after a fact that ended the sample"


class FactsOfPart:
    """The first findings about the facts of some samples, each with its place in the journal. `n_finished` counts
    samples."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.n_finished = 0
        self.findings: list[Discrepancy] = []
        self.samples: list[int] = []  # of each finding

    @property
    def are_enough(self) -> bool:
        return len(self.findings) >= MOST_FINDINGS

    def add(self, fact: SampleFact, what: str) -> None:
        """Note that a fact is not as the plan has it."""
        self._note(fact.sample, *place_of_fact(self._journal, fact.seq), what)

    def add_missing(self, sample: int, what: str) -> None:
        """Note that there is no fact where the plan has one."""
        self._note(sample, "journal", None, f"{what}, and the journal has none")

    def _note(self, sample: int, file: str, line: int | None, what: str) -> None:
        self.findings.append(Discrepancy(file, line, f"sample {sample}: {what}"))
        self.samples.append(sample)

    def hold_once_asked(self, facts: Sequence[SampleFact], role: Role, sha256: str) -> None:
        """Hold the facts of a sample that needs one answer: each asks the same, once more after a failure."""
        is_ended = False
        for fact in facts:
            if fact.request_sha256 != sha256:
                self.add(fact, other_request())
            elif (fact.role, fact.judge, fact.attempt) != (role, 0, 1):
                self.add(fact, f"found {said(fact)}; the plan asks the {role}, once")
            elif is_ended:
                self.add(fact, AFTER_THE_END)
            is_ended = is_ended or is_answered([fact])
        self.n_finished += is_ended

    def hold_made_elsewhere(self, facts: Sequence[SampleFact], expected: Reply | None, source: str) -> None:
        """Hold the facts of a sample whose answer stands in an input: one, with all that is there.

        `expected` is given the place of the fact.
        """
        fact = facts[-1]
        if expected is not None:
            expected.seq, expected.prev, expected.at = fact.seq, fact.prev, fact.at
        if len(facts) != 1 or fact != expected:
            self.add(fact, f"{source} says something else than this fact")


class HeldFacts(FactsOfPart):
    """The same of all samples, in whichever parts they come, and of the plan's own template."""

    def __init__(self, record: Record, state: JournalState) -> None:
        super().__init__(record.journal)
        self._state = state
        if (what := template_fault(record, state.started)) is not None:
            self.findings.append(Discrepancy("journal/000001.jsonl", 1, what))
            self.samples.append(-1)

    def merge(self, part: FactsOfPart, *, by_sample: bool = False) -> None:
        """Add what was found of the samples that come after these; with `by_sample`, all of a sample or nothing."""
        self.n_finished += part.n_finished
        last = -1
        for sample, finding in zip(part.samples, part.findings, strict=True):
            if self.are_enough and not (by_sample and sample == last):
                return
            last = sample
            self.findings.append(finding)
            self.samples.append(sample)

    def hold_end(self) -> None:
        """Hold the run's end against its samples: it says of all that they have their outcome, unless it was accepted
        that some have none."""
        ended, n_left = self._state.ended, self._state.n_samples - self.n_finished
        if ended is not None and not ended.accepts_unanswered and n_left > 0 and not self.findings:
            what = f"the run has ended, and {plural(n_left, 'sample')} of {self._state.n_samples:,} have no outcome"
            self.findings.append(Discrepancy("journal", None, what))


def other_request(whose: str = "") -> str:
    """The words for a fact whose request does not follow from the record."""
    return f"inputs and template render to another {whose}request than this fact names"


def said(fact: SampleFact) -> str:
    """Who is asked by a fact, in words: `attempt 2 of judge 1`."""
    who = fact.role if fact.role == "candidate" else f"judge {fact.judge}"
    return f"attempt {fact.attempt} of the {who}"
