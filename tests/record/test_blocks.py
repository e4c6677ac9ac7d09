"""A journal read in blocks is the journal read line by line: state, findings, facts by sample, and errors."""

from __future__ import annotations

import hashlib
import json
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError
from benchbook.record.blocks import CallLines, read_blocks
from benchbook.record.checking import FactsCheck
from benchbook.record.facts import RunStarted
from benchbook.record.joined_state import read_state
from benchbook.record.packing import zstd
from benchbook.record.reading import JournalLine, read_journal
from benchbook.record.state import JournalState, WriterState

N_ITEMS, REPEATS = 5, 2

_texts = st.sampled_from(["Seven.", 'a ":-5 smile', '"judge":', "é\u2028", "\ud800 half", "", "x" * 400, None])
_counts = st.sampled_from([None, 0, 1, 12, -3, 2**63, 10**25])
_replies = st.fixed_dictionaries(
    {"kind": st.just("reply"), "sample": st.integers(0, 9), "role": st.sampled_from(["candidate", "judge"])},
    optional={
        "text": _texts,
        "judge": st.sampled_from([0, 1]),
        "attempt": st.sampled_from([0, 1, 2]),
        "latency_e2e_ms": _counts,
        "model_reported": st.sampled_from([None, "m", "n", "\udfff"]),
        "own": st.just("{}"),
    },
)
_failures = st.fixed_dictionaries(
    {
        "kind": st.just("failure"),
        "sample": st.integers(0, 9),
        "role": st.sampled_from(["candidate", "judge"]),
        "error": st.sampled_from(["timeout", "provider_error"]),
        "ends": st.sampled_from(["attempt", "sample", "sitting", "run"]),
    },
    optional={"status": st.sampled_from([None, 500, 1_000, -1]), "detail": st.sampled_from(["", 'said ":-('])},
)
_others = st.sampled_from(
    [
        {"kind": "interrupted", "reason": "asked to"},
        {"kind": "resumed", "code_version": {}, "environment": {}, "config": {"a": 1}},
        {"kind": "run_ended"},
        {"kind": "reply", "sample": 99, "role": "judge"},
        {"kind": "reply", "sample": -1, "role": "candidate"},
        {"kind": "reply", "sample": 2**70, "role": "candidate"},
        {"kind": "sealed", "segment": 1, "sha256": "0" * 64, "lines_sha256": "0" * 64},
        {"kind": "unheard of"},
    ]
)  # fmt: skip
_times = st.sampled_from(["2026-01-31T09:30:00.000Z"] * 8 + ["2026-01-31T09:30:00Z", "1969-01-31T09:30:00.000Z", "now"])
_spellings = st.sampled_from(
    ["canonical"] * 12 + ["spaced", "cr", "other prev", "other seq", "unknown", "blank", "cut"]
)
_lines = st.lists(
    st.tuples(st.one_of(_replies, _replies, _replies, _failures, _others), _times, _spellings), max_size=14
)


def _started() -> dict[str, Any]:
    hashes = {"spec_sha256": "0" * 64, "plan_sha256": "0" * 64}
    return {
        "kind": "run_started", "run_id": "r", "spec": "s@v1", **hashes, "n_items": N_ITEMS, "repeats": REPEATS,
        "config": {}, "inputs": {}, "identity": {}, "code_version": {}, "environment": {},
    }  # fmt: skip


def _write(journal: Path, lines: list[tuple[dict[str, Any], str, str]], cuts: set[int], sealed: bool) -> None:
    """A chain of these facts, with their faults, in segments that end behind the facts in `cuts`."""
    prev, segments = "0" * 64, [b""]
    for seq, (fact, at, spelling) in enumerate([(_started(), "2026-01-31T09:30:00.000Z", "canonical"), *lines]):
        whole = {
            **fact,
            "at": at,
            "prev": "1" * 64 if spelling == "other prev" else prev,
            "seq": seq + (spelling == "other seq"),
        }
        if spelling == "unknown":
            whole["zeal"] = 1
        raw = json.dumps(whole).encode() if spelling == "spaced" else canonical_json(whole)
        raw += b"\r" if spelling == "cr" else b""
        prev = hashlib.sha256(raw).hexdigest()
        segments[-1] += raw + (b"\n\n" if spelling == "blank" else b"" if spelling == "cut" else b"\n")
        if seq in cuts:
            segments.append(b"")
    for number, data in enumerate(segments, start=1):
        is_sealed = sealed and number < len(segments) and data
        path = journal / f"{number:06d}.jsonl{'.zst' if is_sealed else ''}"
        path.write_bytes(zstd.compress(data) if is_sealed else data)


def _line_by_line(journal: Path) -> tuple[JournalState, FactsCheck]:
    state: WriterState | None = None
    check = FactsCheck(journal)
    for line in read_journal(journal):
        if state is None:
            assert isinstance(line.fact, RunStarted)
            state = WriterState.begin(journal, line.fact)
        state.add(line)
        check.look_at(line)
    assert state is not None
    return state, check


def _told(state: JournalState, check: FactsCheck) -> dict[str, Any]:
    names = ("ended", "interrupted", "resumed", "config", "n_facts", "n_segments", "last_line", "last_sha256")
    return {
        **{name: getattr(state, name) for name in names},
        "candidate": list(state.candidate_reported.counts.items()),
        "judges": {judge: list(one.counts.items()) for judge, one in state.judges_reported.items()},
        "findings": check.findings,
        "facts": list(state.index.by_sample()),
    }


def _outcome(read: Any, journal: Path) -> Any:
    try:
        return _told(*read(journal))
    except BenchbookError as error:
        return type(error), str(error)


def _in_blocks(journal: Path) -> tuple[JournalState, FactsCheck]:
    check = FactsCheck(journal)
    return read_state(journal, check), check


@settings(max_examples=400, deadline=None)
@given(lines=_lines, cuts=st.sets(st.integers(0, 14), max_size=3), sealed=st.booleans())
def test_blocks_tell_what_lines_tell(
    lines: list[tuple[dict[str, Any], str, str]], cuts: set[int], sealed: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        journal = Path(name) / "journal"
        journal.mkdir()
        _write(journal, lines, cuts, sealed)
        assert _outcome(_in_blocks, journal) == _outcome(_line_by_line, journal)


def _as_lines(found: Iterator[JournalLine | CallLines]) -> Iterator[JournalLine]:
    for one in found:
        yield from one.lines() if isinstance(one, CallLines) else [one]


def test_most_lines_come_in_blocks_and_are_the_same_lines(tmp_path: Path) -> None:
    plain = (
        {"kind": "reply", "sample": 1, "role": "candidate", "text": "Seven."},
        "2026-01-31T09:30:00.000Z",
        "canonical",
    )
    _write(tmp_path, [plain] * 40, {20}, sealed=True)
    found = list(read_blocks(tmp_path))
    assert [len(one.facts) for one in found if isinstance(one, CallLines)] == [20, 20]
    assert list(_as_lines(iter(found))) == list(read_journal(tmp_path))


def test_samples_are_found_in_ranges_wherever_their_facts_lie(tmp_path: Path) -> None:
    """Facts of 10 samples, twice in opposite orders, so that each sample's lie far apart."""
    order = [*range(10), *reversed(range(10))]
    lines = [
        (
            {"kind": "reply", "sample": one, "role": "candidate", "text": "x" * 90},
            "2026-01-31T09:30:00.000Z",
            "canonical",
        )
        for one in order
    ]
    _write(tmp_path, lines, {4, 9, 14}, sealed=False)
    index = read_state(tmp_path).index
    whole = list(index.by_sample())
    assert [sample for sample, _ in whole] == list(range(10))
    assert [fact.seq for fact in whole[3][1]] == [4, 17]
    assert index.between(3, 7) == whole[3:7]
    assert [one for first, end in index.ranges() for one in index.between(first, end)] == whole
    alone = index.alone(3, 7)
    assert list(alone.by_sample()) == whole[3:7]
    assert pickle.loads(pickle.dumps(alone)).between(0, 99) == whole[3:7]
