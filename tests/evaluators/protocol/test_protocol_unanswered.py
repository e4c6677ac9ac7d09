"""SPEC R1.3b: an evaluation whose judge was not reached is neither invalid nor a gap of the judge's: not there yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.protocol.asking import prepare_judging
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.protocol.rows import ProtocolAggregates
from benchbook.evaluators.protocol.tables import derive_protocol
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure, Interrupted, Reply, Resumed, RunEnded
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter
from judging import make_set

REPLY = "No."
LAST: dict[str, Any] = {
    "error": "provider_error",
    "ends": "sitting",
    "cause": "server_error",
    "detail": "status 503: busy",
}


def made(folder: Path, *facts: Any, probes: int = 0) -> Record:
    """A record of the judges j and k about the four outputs of target m, with these facts."""
    make_set(folder, targets=("m",))
    values = {
        "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "probes": probes, "run_id": "run",
        "judges": [{"model": "openai/j@1"}, {"model": "openai/k@1"}],
    }  # fmt: skip
    prepared = prepare_judging(judging_config_from_mapping(values, "test"))
    record = create_record(folder / "runs", "run", prepared.inputs, lambda inputs: prepared.first_fact("run", inputs))
    with JournalWriter(record.journal) as journal:
        for fact in facts:
            journal.append(fact)
    return record


def derived(record: Record) -> ProtocolAggregates:
    return derive_protocol(record, record.path).aggregates


def answered(*samples: int) -> list[Reply]:
    return [Reply(sample=sample, role="judge", text=REPLY) for sample in samples]


def failed(sample: int, **changes: Any) -> Failure:
    return Failure(sample=sample, role="judge", **(LAST | changes))


def test_what_was_not_reached_is_counted_apart_by_judge_and_cause(tmp_path: Path) -> None:
    """Samples alternate between j and k: 1, 3 and 5 are k's."""
    facts = [*answered(0, 2, 4, 6, 7), failed(1), failed(3, cause="connection", detail="refused"), failed(5)]
    found = derived(made(tmp_path, *facts, Interrupted(reason="nobody there")))
    assert (found.n_evaluations, found.n_invalid, found.n_unanswered) == (5, 5, 3)
    assert [(one.failures, one.unanswered) for one in found.judges] == [
        ({}, {}),
        ({}, {"connection": 1, "server_error": 2}),
    ]
    assert {(gap.judge_model, gap.flag, gap.why) for gap in found.gaps} == {("k", None, "unanswered")}
    assert (len(found.gaps), found.analysis.n_gaps) == (3, 0)
    assert [one.words for one in found.unanswered] == found.warnings[:2]
    assert [(one.judge, one.cause, one.n_samples) for one in found.unanswered] == [
        ("k", "server_error", 2), ("k", "connection", 1),
    ]  # fmt: skip
    assert found.warnings[0].startswith("2 of 8 samples are unanswered: the judge k's server at ")
    assert found.warnings[0].endswith("failed: status 503: busy. Wait until it is well.")
    assert "judges[1].base_url" in found.warnings[1]
    assert found.warnings[2].endswith("resuming the run asks for it again.")


@pytest.mark.parametrize("ends", ["sitting", "run", "attempt"])
@pytest.mark.parametrize(
    ("error", "cause"), [("timeout", "time_limit"), ("timeout", None), ("provider_error", None), ("cancelled", None)]
)
def test_however_a_call_failed_it_is_not_there_yet(tmp_path: Path, ends: str, error: str, cause: str | None) -> None:
    """A judge's time-out too: that it is slow says nothing about the output."""
    last = failed(1, ends=ends, error=error, cause=cause)
    found = derived(made(tmp_path, *answered(0), last, Interrupted(reason="stopped")))
    assert (found.n_unanswered, found.judges[1].unanswered) == (1, {cause or error: 1})
    assert {(gap.judge_model, gap.why) for gap in found.gaps} == {
        ("j", "not_asked"), ("k", "not_asked"), ("k", "unanswered"),
    }  # fmt: skip


def test_what_is_answered_after_a_resume_was_never_unanswered(tmp_path: Path) -> None:
    facts = [failed(number) for number in range(8)]
    resumed = Resumed(code_version={}, environment={}, config={})
    found = derived(made(tmp_path, *facts, Interrupted(reason="down"), resumed, *answered(*range(8)), RunEnded()))
    assert (found.n_unanswered, found.gaps, found.n_evaluations) == (0, [], 8)
    assert not any("unanswered" in warning for warning in found.warnings)


def test_a_run_that_was_ended_as_it_is_says_so(tmp_path: Path) -> None:
    record = made(tmp_path, *answered(*range(7)), failed(7), RunEnded(accepts_unanswered=True))
    found = derived(record)
    assert (found.n_unanswered, [gap.why for gap in found.gaps]) == (1, ["unanswered"])
    assert found.warnings[1].endswith("the run was ended as it is.")
    assert [str(finding) for finding in verify(record).findings if "samples.parquet" in finding.file] == []


def test_a_probe_whose_judge_was_not_reached_is_counted_and_no_gap(tmp_path: Path) -> None:
    found = derived(made(tmp_path, *answered(*range(8)), failed(9), Interrupted(reason="down"), probes=1))
    assert (found.n_unanswered, found.gaps) == (1, [])


def test_a_servers_words_are_text(tmp_path: Path) -> None:
    found = derived(made(tmp_path, failed(0, detail="\x1b[31m <b>\u202e\n" + "x" * 900), Interrupted(reason="down")))
    assert all(warning.isprintable() and len(warning) < 600 for warning in found.warnings)
