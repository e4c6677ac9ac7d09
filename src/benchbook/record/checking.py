"""Holds each line of a journal against its writer: the bytes that it gives a fact, their values, and their order.

Whether a fact follows from the plan and the inputs, the record's evaluator says. All of it is a finding of `verify`:
whoever reads a record needs no more than that its lines are facts in a chain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchbook.canonical import canonical_json, canonical_lines
from benchbook.errors import RecordError
from benchbook.record.batches import BatchLedger
from benchbook.record.blocks import CallLines
from benchbook.record.derived_files import Discrepancy, sha256_of
from benchbook.record.facts import (
    Fact,
    Failure,
    Interrupted,
    Label,
    LabelsStarted,
    Reply,
    Resumed,
    RunEnded,
    RunStarted,
    Sealed,
)
from benchbook.record.first_difference import lines_differ
from benchbook.record.folder import RUN_ID
from benchbook.record.reading import JournalLine, is_sha256, segment_files, segment_number
from benchbook.text import quoted

MOST_FINDINGS = 20
# In canonical JSON this stands before a number below zero; in a text the quotation mark is escaped, and its line is
# looked at by itself for nothing.
_BELOW_ZERO = re.compile(rb'":-')
_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.", re.ASCII)
_MILLISECONDS = frozenset(f"{number:03d}Z" for number in range(1_000))
_COUNTS_OF_REPLY = (
    "latency_e2e_ms", "latency_model_ms", "time_to_first_token_ms", "queue_ms", "retry_ms", "input_tokens",
    "output_tokens", "output_tokens_reported", "reasoning_characters", "judge",
)  # fmt: skip
_COUNTS_OF_FAILURE = ("latency_ms", "queue_ms", "retry_ms", "judge")
_at_of, _attempt_of, _judge_of, _batch_of = map(attrgetter, ("at", "attempt", "judge", "batch"))
_counts_of_reply = attrgetter(*_COUNTS_OF_REPLY)
_counts_of_failure = attrgetter(*_COUNTS_OF_FAILURE)


class FactsCheck:
    """Looks at the lines of a run's journal in their order; `findings` are the first of them.

    Other journals have an order of their own (`_out_of_order`).
    """

    def __init__(self, journal: Path) -> None:
        self.findings: list[Discrepancy] = []
        self._journal = journal
        self._before: Fact | None = None
        self._has_ended = False
        self._segment = 0
        self._hashes: dict[int, tuple[str, str]] = {}  # of sealed segments: of the file, and of its lines
        self._sealed: set[int] = set()  # those whose seal has these hashes
        self._second = ""  # of the last time that was looked at, with its full stop
        self._batches = BatchLedger()

    def look_at(self, line: JournalLine) -> None:
        fact = line.fact
        if (what := self._batches.note(fact)) is not None:
            self._note(line, iter((what,)))
        if canonical_json(fact) != line.raw or not self._is_time(fact.at) or not self._follows(line):
            self._note(line, self._faults(line))
        if isinstance(fact, Reply | Failure):
            if not _is_sound(fact):
                self._note(line, _faults_of_call(fact))
        elif isinstance(fact, RunStarted):
            self._note(line, _faults_of_start(fact))
        elif isinstance(fact, RunEnded):
            self._has_ended = True
        elif isinstance(fact, Sealed) and line.number == 1 and self._is_seal_before(fact, line.segment):
            self._sealed.add(fact.segment)
        self._before, self._segment = fact, line.segment

    def look_at_segment(self, path: Path, lines: bytes) -> None:
        """Take the hashes of a sealed segment, which is read at once."""
        if path.suffix == ".zst":
            self._hashes[segment_number(path)] = sha256_of(path), sha256_of(lines)

    def _is_seal_before(self, seal: Sealed, segment: int) -> bool:
        hashes = self._hashes.get(seal.segment)
        return seal.segment == segment - 1 and hashes == (seal.sha256, seal.lines_sha256)

    def seals_hold(self) -> bool:
        """True if each sealed segment was seen to have the bytes that the next one's first line names.

        Else they have to be looked at again: one was read line by line, or not at all.
        """
        try:
            files = segment_files(self._journal)
        except (RecordError, OSError):
            return False
        return {segment_number(path) for path in files if path.suffix == ".zst"} == self._sealed

    def look_at_calls(self, block: CallLines) -> None:
        """The same for answers that follow each other; of one by one where anything about them is not plain."""
        self.look_at(block.line(0))
        if self._has_ended or not self._are_plain(block):
            for place in range(1, len(block.facts)):
                self.look_at(block.line(place))
        self._before, self._segment = block.facts[-1], block.segment

    def _are_plain(self, block: CallLines) -> bool:
        """True if nothing is wrong with any of these lines."""
        data, facts = block.data, block.facts
        if any(map(_batch_of, facts)):
            return False  # whether each was asked for in its batch goes by those before it
        if _BELOW_ZERO.search(data) is not None or min(map(_attempt_of, facts)) < 1 or any(map(_judge_of, facts)):
            return False
        if any(not _is_status(fact.status) for fact in facts if type(fact) is Failure):
            return False
        times = list(map(_at_of, facts))
        if not _MILLISECONDS.issuperset({at[20:] for at in times}):
            return False
        if not all(self._is_time(f"{second}000Z") for second in {at[:20] for at in times}):
            return False
        try:
            return canonical_lines(facts) == data
        except UnicodeEncodeError:  # a lone surrogate
            return False

    def _note(self, line: JournalLine, faults: Iterator[str]) -> None:
        where = f"journal/{line.segment:06d}.jsonl"
        left = MOST_FINDINGS - len(self.findings)
        self.findings += [Discrepancy(where, line.number, what) for what in islice(faults, left)]

    def _faults(self, line: JournalLine) -> Iterator[str]:
        fact = line.fact
        if (written := canonical_json(fact)) != line.raw:
            yield written_otherwise(fact, line.raw, written)
        if not self._is_time(fact.at):
            yield f"at: found {quoted(fact.at)}; expected a time as 2026-01-31T09:30:00.000Z, and none before 1970"
        yield from self._out_of_order(line)
        yield from self._out_of_seals(line)

    def _is_time(self, at: str) -> bool:
        if at[:20] == self._second:
            return at[20:] in _MILLISECONDS
        if not _SECOND.fullmatch(at[:20]) or at[20:] not in _MILLISECONDS or at < "1970":
            return False
        try:
            datetime.fromisoformat(at)
        except ValueError:
            return False
        self._second = at[:20]
        return True

    def _follows(self, line: JournalLine) -> bool:
        """True for what most lines are: an answer after another, in the same segment."""
        calls = (Reply, Failure)
        in_segment = line.segment == self._segment and not self._has_ended
        return in_segment and type(line.fact) in calls and type(self._before) in calls

    def _out_of_order(self, line: JournalLine) -> Iterator[str]:
        fact, before = line.fact, self._before
        if self._has_ended and not isinstance(fact, Sealed):
            yield "comes after run_ended, and nothing does"
        elif isinstance(fact, RunStarted) != (before is None):
            yield "is a second first fact: a run begins once"
        elif isinstance(fact, Label | LabelsStarted):
            yield "is a fact of people's labels, and a run's journal has none"
        elif isinstance(before, Interrupted) and not isinstance(fact, Resumed | Sealed):
            yield "comes after interrupted; expected resumed"

    def _out_of_seals(self, line: JournalLine) -> Iterator[str]:
        fact, begins_segment = line.fact, line.segment != self._segment and self._before is not None
        if begins_segment and not isinstance(fact, Sealed):
            # Writers that were killed before the seal once left such segments; the one before stands as it was.
            if not (self._journal / f"{self._segment:06d}.jsonl").is_file():
                yield "begins a segment; expected the seal of the one before"
        elif isinstance(fact, Sealed) and not begins_segment:
            yield "seals no segment"
        elif isinstance(fact, Sealed) and fact.segment != self._segment:
            yield f"seals segment {fact.segment}; expected {self._segment}, which is before this one"


def _is_sound(fact: Reply | Failure) -> bool:
    counts = _counts_of_reply(fact) if isinstance(fact, Reply) else _counts_of_failure(fact)
    is_counted = all(count is None or count >= 0 for count in counts)
    if not is_counted or fact.attempt < 1 or (fact.judge and fact.role == "candidate"):
        return False
    return isinstance(fact, Reply) or _is_status(fact.status)


def _faults_of_call(fact: Reply | Failure) -> Iterator[str]:
    for name in _COUNTS_OF_REPLY if isinstance(fact, Reply) else _COUNTS_OF_FAILURE:
        value = getattr(fact, name)
        if value is not None and value < 0:
            yield f"{name}: found {value}; expected 0 or more"
    if fact.attempt < 1:
        yield f"attempt: found {fact.attempt}; expected 1 or more"
    if fact.role == "candidate" and fact.judge:
        yield f"judge: found {fact.judge}, of what the candidate said; expected none"
    if isinstance(fact, Failure) and not _is_status(fact.status):
        yield f"status: found {fact.status}; expected a status of HTTP"


def _is_status(status: int | None) -> bool:
    return status is None or 0 <= status <= 999


def _faults_of_start(fact: RunStarted) -> Iterator[str]:
    if not RUN_ID.fullmatch(fact.run_id):
        yield f"run_id: found {quoted(fact.run_id)}; expected a name for a folder"
    named = {"spec_sha256": fact.spec_sha256, "plan_sha256": fact.plan_sha256}
    named |= {f"inputs.{name}": sha256 for name, sha256 in fact.inputs.items()}
    for name, sha256 in named.items():
        if not is_sha256(sha256):
            yield f"{name}: found {quoted(sha256)}; expected 64 hexadecimal digits"


def written_otherwise(fact: Fact, raw: bytes, written: bytes) -> str:
    """The difference between a line and the bytes that its fact is written as, in words."""
    names = list[str]()

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names.extend(name for name, _ in pairs)
            names[:] = [next(name for place, name in enumerate(names) if name in names[:place])]
        return found

    content = json.loads(raw.decode("utf-8", "replace"), object_pairs_hook=noted)
    if names:
        return f"has the field {quoted(names[0])} twice"
    unknown = [name for name in content if name not in (*fact.__struct_fields__, "kind")]
    if unknown:
        return f"has the field {quoted(unknown[0])}, and no {content['kind']} that Benchbook writes has one"
    return f"has the values of a fact in other bytes: {lines_differ(raw, written, 'Benchbook writes')}"
