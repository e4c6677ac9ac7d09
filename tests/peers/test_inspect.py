"""Logs that the real Inspect AI wrote, with scripted models: we read what its own reader reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.audit.auditing import audited
from benchbook.exchange.inspect.reading_values import as_number
from benchbook.exchange.log import LogHeader, LogNote, LogSample
from benchbook.exchange.tools import opened_logs, recognised
from peers.conftest import Peer

pytestmark = pytest.mark.xdist_group("inspect")  # all logs are made once

NAMES = [
    "match", "match-json", "epochs", "epochs-json", "epochs-mean", "parts", "parts-json", "groups", "groups-json",
    "errors", "failed", "score-error", "scored-error", "limits", "judge", "judge-role", "choices", "conversations",
    "unscored", "edited", "invalidated", "chunked",
]  # fmt: skip
GUESSED = [
    None,
    "the judge's reply has several verdicts: 'I', 'C'",
    "the judge's verdict is in lower case",
    None,  # unscored: no verdict is read
    None,
    None,
]


@pytest.fixture(scope="session")
def logs(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """By name, the path of each log and what Inspect reads in it."""
    folder = tmp_path_factory.mktemp("inspect")
    made: dict[str, dict[str, Any]] = peer("inspect_logs.py", ".", cwd=folder)
    return {name: {**said, "path": folder / said["path"].removeprefix("file://")} for name, said in made.items()}


def read(path: Path) -> tuple[LogHeader, dict[tuple[str, int], LogSample], list[LogNote]]:
    (log,) = opened_logs(path)
    with log:
        samples = list(log.samples())
        by_key = {(one.id, one.repeat + 1): one for one in samples}
        assert len(by_key) == len(samples)
        return log.header, by_key, log.notes()


def parts_of(scores: dict[str, Any]) -> dict[str, Any]:
    """Values as we name them: those of a scorer's parts by the parts' names."""
    return {
        name: value
        for scorer, held in scores.items()
        for name, value in (held.items() if isinstance(held, dict) else [(scorer, held)])
    }


def test_each_log_is_tried(logs: dict[str, dict[str, Any]]) -> None:
    assert sorted(logs) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_what_inspects_own_reader_reads(name: str, logs: dict[str, dict[str, Any]]) -> None:
    said = logs[name]
    assert recognised(said["path"]).name == "inspect"
    header, samples, _ = read(said["path"])
    assert header.status == {"success": "complete", "error": "failed"}[said["status"]]
    assert header.n_claimed == said["total"]
    assert set(samples) == {(str(one["id"]), one["epoch"]) for one in said["samples"]}
    for one in said["samples"]:
        found = samples[str(one["id"]), one["epoch"]]
        assert (found.answer or "") == one["answer"]
        assert found.limit == one["limit"]
        assert (found.failure is not None) == (one["error"] is not None or one["invalid"])
        assert one["error"] in (None, found.failure.message if found.failure else None)
        expected = {part: as_number(value) for part, value in parts_of(one["scores"]).items()}
        assert {part: score.value for part, score in found.scores.items()} == expected
        assert all((score.value is None) == bool(score.unscored) for score in found.scores.values())


@pytest.mark.parametrize("name", NAMES)
def test_each_number_of_the_results_is_a_claim_that_follows(name: str, logs: dict[str, dict[str, Any]]) -> None:
    """But for the ends of intervals, which nobody computes again."""
    said = logs[name]
    (log,) = opened_logs(said["path"])
    with log:
        claims = log.header.claims
        numbers = audited(log).claims
    stated = [as_number(value) for scores in said["scores"] for value in scores["metrics"].values()]
    counts = [scores[count] for scores in said["scores"] for count in ("scored", "unscored")]
    assert sorted(map(repr, (one.value for one in claims if one.scorer))) == sorted(
        map(repr, [*stated, *map(float, counts)])
    )
    assert {one.metric for one in claims if one.formula is None} <= {"lower", "upper", "completed_samples"}
    assert [(one.where, one.reason) for one in numbers if one.verdict == "does_not_follow"] == []
    assert all(one.verdict == "follows" for one in numbers if one.formula is not None)


@pytest.mark.parametrize(("name", "note"), [("edited", "edited_score"), ("invalidated", "invalidated")])
def test_what_people_changed_is_noted(name: str, note: str, logs: dict[str, dict[str, Any]]) -> None:
    assert [(one.code, one.n) for one in read(logs[name]["path"])[2]] == [(note, 1)]


@pytest.mark.parametrize("name", ["judge", "judge-role"])
def test_verdicts_that_are_read_by_guess_say_so(name: str, logs: dict[str, dict[str, Any]]) -> None:
    header, samples, _ = read(logs[name]["path"])
    (scorer,) = header.scorers
    assert scorer.judge == "mockllm/model"
    assert [samples[str(n), 1].scores[scorer.name].guessed for n in range(1, 7)] == GUESSED


def test_a_conversation_and_choices_are_read_whole(logs: dict[str, dict[str, Any]]) -> None:
    _, samples, _ = read(logs["conversations"]["path"])
    assert samples["talk", 1].messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2 + 2?"},
    ]
    assert set(samples) == {("talk", 1), ("a/b ü", 1), ("1", 1)}
    _, samples, _ = read(logs["choices"]["path"])
    assert (samples["c", 1].choices, samples["c", 1].references) == (("stone", "pear"), ("B",))


def test_tokens_are_the_models_and_not_the_judges(logs: dict[str, dict[str, Any]]) -> None:
    _, samples, _ = read(logs["judge"]["path"])
    assert {one.input_tokens for one in samples.values()} == {12}
    _, samples, _ = read(logs["limits"]["path"])
    assert {one.input_tokens for one in samples.values()} == {24}  # two turns
