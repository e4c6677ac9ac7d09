"""One pass over a journal: the state of the run, who answered, and where each sample's facts are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from benchbook.errors import RecordDamagedError, RecordError
from benchbook.record.batches import PriceFactors
from benchbook.record.blocks import CallLines, read_blocks
from benchbook.record.fact_index import FactIndex
from benchbook.record.facts import (
    FIRST_PREV,
    BatchPrepared,
    Failure,
    Interrupted,
    LogOutcomes,
    Outcomes,
    Reply,
    Resumed,
    RunEnded,
    RunStarted,
)
from benchbook.record.joined import JoinedJournals
from benchbook.record.joined_index import JoinedFacts, JoinedOutcomes
from benchbook.record.outcome_index import OutcomeIndex
from benchbook.record.reading import JournalLine, place_in
from benchbook.spilled import SpilledNumbers

_MAX_KINDS = 50


class Reported:
    """The names and fingerprints that a model gave itself over a run, counted."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str | None, str | None]] = Counter()

    def add(self, model: str | None, fingerprint: str | None) -> None:
        self.add_kind((model, fingerprint), 1)

    def add_kind(self, key: tuple[str | None, str | None], times: int) -> None:
        if key in self.counts or len(self.counts) < _MAX_KINDS:
            self.counts[key] += times

    def take(self, more: Reported) -> None:
        """Add what it said later."""
        for key, times in more.counts.items():
            self.add_kind(key, times)

    @property
    def changed(self) -> bool:
        """True if the model changed under way: it reported one name or fingerprint, and later another."""
        return len({model for model, _ in self.counts if model}) > 1 or len({one for _, one in self.counts if one}) > 1

    @property
    def names(self) -> list[str]:
        """The names that the model gave itself, the most frequent first."""
        counted: Counter[str] = Counter()
        for (model, _), count in self.counts.items():
            if model:
                counted[model] += count
        return sorted(counted, key=lambda name: (-counted[name], name))

    def most_common(self) -> tuple[str | None, str | None]:
        return min(self.counts, key=lambda key: (-self.counts[key], str(key))) if self.counts else (None, None)


@dataclass(slots=True, kw_only=True)
class JournalState:
    """The content of a journal, except for the samples themselves."""

    journal: Path
    started: RunStarted
    index: FactIndex | JoinedFacts
    candidate_reported: Reported = field(default_factory=Reported)
    outcomes: OutcomeIndex | JoinedOutcomes  # a scorer's, or an imported log's; empty under every other evaluator
    judges_reported: dict[int, Reported] = field(default_factory=lambda: defaultdict(Reported))  # by their numbers
    price_factors: PriceFactors = field(default_factory=PriceFactors)  # of replies that came in batches
    ended: RunEnded | None = None
    interrupted: Interrupted | None = None
    resumed: int = 0
    config: dict[str, Any] = field(default_factory=dict)  # the last sitting's
    n_facts: int = 0
    n_segments: int = 1
    last_line: int = 0  # its number in the last segment
    last_sha256: str = FIRST_PREV
    joined: JoinedJournals | None = None  # the shards that all of it is from

    @property
    def n_samples(self) -> int:
        return self.started.n_items * self.started.repeats

    def has_place_for(self, sample: int) -> bool:
        """True unless it is a sample of a shard that was not joined."""
        return self.joined is None or self.joined.set.shard_with(sample) is not None

    @property
    def state(self) -> str:
        """`complete`, `interrupted` (on purpose), or `open` (still going on, or killed)."""
        return "complete" if self.ended else "interrupted" if self.interrupted else "open"


@dataclass(slots=True, kw_only=True)
class WriterState(JournalState):
    """The state of one writer's journal, which comes of its lines."""

    index: FactIndex
    outcomes: OutcomeIndex

    @classmethod
    def begin(cls, journal: Path, started: RunStarted) -> WriterState:
        """The state before the first line, which says how the run was started."""
        return cls(
            journal=journal,
            started=started,
            index=FactIndex(journal),
            outcomes=OutcomeIndex(journal),
            config=started.config,
        )

    def put_by(self, into: SpilledNumbers) -> None:
        """Move the places of facts about samples there, until somebody asks for them."""
        self.index.places.put_by(into)
        self.outcomes.places.put_by(into)

    def add(self, line: JournalLine) -> None:
        for sample in samples_of(line):
            if not 0 <= sample < self.n_samples:
                reason = f"sample {sample} is none of the {self.n_samples} that were planned"
                raise RecordDamagedError(place_in(self.journal, line.segment), line.number, reason)
        self.n_facts += 1
        self.n_segments, self.last_line = line.segment, line.number
        self.last_sha256 = line.sha256
        self.index.add(line)
        match line.fact:
            case Reply() as reply:
                is_judge = reply.role == "judge"
                reported = self.judges_reported[reply.judge] if is_judge else self.candidate_reported
                reported.add(reply.model_reported, reply.fingerprint)
            case Outcomes() | LogOutcomes() as outcomes:
                self.outcomes.add(line, outcomes)
            case BatchPrepared() as prepared:
                self.price_factors.add(prepared)
            case Interrupted() as interrupted:
                self.interrupted = interrupted
            case Resumed() as resumed:
                self.resumed += 1
                self.config = resumed.config
                self.interrupted = None
            case RunEnded() as ended:
                self.ended = ended
            case _:
                pass

    def add_calls(self, block: CallLines) -> None:
        """Add lines that follow each other."""
        try:
            samples = block.samples
        except OverflowError:
            samples = None
        if samples is None or samples.min() < 0 or samples.max() >= self.n_samples:
            for line in block.lines():
                self.add(line)
            return
        self.n_facts += len(block.facts)
        self.n_segments, self.last_line = block.segment, block.number + len(block.facts) - 1
        self.last_sha256 = block.sha256
        self.index.add_all(block.segment, samples, block.starts)
        replies = [fact for fact in block.facts if type(fact) is Reply]
        if len(set(map(_name_of, replies))) == len(set(map(_fingerprint_of, replies))) == 1 and not any(
            map(_judge_of, replies)
        ):
            n_judged = [fact.role for fact in replies].count("judge")
            kinds = {("judge", 0, *_identity_of(replies[0])): n_judged}
            kinds[("candidate", 0, *_identity_of(replies[0]))] = len(replies) - n_judged
        else:
            kinds = Counter(map(_who_replied, replies))
        for (role, judge, model, fingerprint), times in kinds.items():
            if times:
                reported = self.judges_reported[judge] if role == "judge" else self.candidate_reported
                reported.add_kind((model, fingerprint), times)


_who_replied = attrgetter("role", "judge", "model_reported", "fingerprint")
_identity_of = attrgetter("model_reported", "fingerprint")
_name_of, _fingerprint_of, _judge_of = attrgetter("model_reported"), attrgetter("fingerprint"), attrgetter("judge")


def samples_of(line: JournalLine) -> Iterable[int]:
    """The samples that a fact is about."""
    match line.fact:
        case Reply(sample=sample) | Failure(sample=sample):
            return (sample,)
        case Outcomes(outcomes=outcomes) | LogOutcomes(outcomes=outcomes):
            return (one.sample for one in outcomes)
        case _:
            return ()


class LineLooker(Protocol):
    """Looks at the lines of a journal in their order, whichever way they come.

    Before those of a segment that is read at once, it is shown all of these together.
    """

    def look_at_segment(self, path: Path, lines: bytes) -> None: ...

    def look_at(self, line: JournalLine) -> None: ...

    def look_at_calls(self, block: CallLines) -> None: ...


def read_writer_state(journal: Path, looker: LineLooker | None = None) -> WriterState:
    """Read one writer's journal once, its chain checked. `looker` is shown each line.

    Raises: RecordDamagedError; RecordError if it does not begin with run_started.
    """
    state: WriterState | None = None
    for found in read_blocks(journal) if looker is None else read_blocks(journal, looker.look_at_segment):
        if state is None:
            if not isinstance(found, JournalLine) or not isinstance(found.fact, RunStarted):
                break
            state = WriterState.begin(journal, found.fact)
        if isinstance(found, CallLines):
            state.add_calls(found)
            if looker is not None:
                looker.look_at_calls(found)
            continue
        state.add(found)
        if looker is not None:
            looker.look_at(found)
    if state is None:
        raise RecordError(f"{journal.parent}: the journal does not begin with run_started; nothing was asked yet")
    return state
