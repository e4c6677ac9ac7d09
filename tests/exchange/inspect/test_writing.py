"""Logs written as Inspect's `.eval`, and read again: the same scores, texts and ledger, or a loss that is named."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.exchange.inspect.reading import opened
from benchbook.exchange.inspect.writing import written
from benchbook.exchange.log import Claim, ForeignLog, LogFailure, LogSample, LogScore, LogScorer, Lost
from benchbook.exchange.of_record import log_of_record
from benchbook.text import storable
from labelled import judged_run
from made_logs import Made, sample
from support import examples


def read(path: Path) -> dict[str, Any]:
    """Every member's JSON, by its name."""
    with zipfile.ZipFile(path) as archive:
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_DEFLATED}
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def through(log: ForeignLog, folder: Path) -> tuple[dict[str, Any], list[Lost]]:
    path = folder / "log.eval"
    path.unlink(missing_ok=True)
    lost = written(log, path)
    return read(path), lost


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_archive_by_hand(tmp_path: Path) -> None:
    """Two items twice: 1 and 0 make 0.5, 1 and nothing make 1. Their mean is 0.75, and s / sqrt(n) = 0.25."""
    values = {("a", 0): 1.0, ("a", 1): 0.0, ("b", 0): 1.0, ("b", 1): None}
    samples = [
        sample(
            id=name, repeat=repeat, scores={"right": LogScore(value=one, unscored=None if one is not None else "slow")}
        )
        for (name, repeat), one in values.items()
    ]
    claims = (Claim(scorer="right", metric="primary_score", value=2 / 3, where="x", formula="mean"),)
    found, lost = through(Made(samples, repeats=2, claims=claims, metadata={"record_sha256": "f" * 64}), tmp_path)
    assert list(found) == [
        "_journal/start.json", "samples/a_epoch_1.json", "samples/a_epoch_2.json", "samples/b_epoch_1.json",
        "samples/b_epoch_2.json", "summaries.json", "reductions.json", "header.json",
    ]  # fmt: skip
    header = found["header.json"]
    assert (header["version"], header["status"], header["eval"]["model"]) == (2, "success", "acme/m")
    assert header["eval"]["metadata"]["record_sha256"] == "f" * 64
    assert header["eval"] == found["_journal/start.json"]["eval"]
    assert header["eval"]["config"] == {"epochs": 2, "epochs_reducer": ["mean"]}
    (score,) = header["results"]["scores"]
    assert {name: one["value"] for name, one in score["metrics"].items()} == {
        "primary_score": 2 / 3, "mean": 0.75, "stderr": 0.25,
    }  # fmt: skip
    assert (score["scored_samples"], score["unscored_samples"]) == (2, 0)
    assert header["results"]["total_samples"] == 4
    assert header["eval"]["headline_metric"] == {"scorer": "right", "metric": "primary_score"}
    assert found["reductions.json"] == [
        {"scorer": "right", "reducer": "mean", "samples": [
            {"value": 0.5, "sample_id": "a"}, {"value": 1.0, "sample_id": "b"},
        ]}
    ]  # fmt: skip
    unscored = found["samples/b_epoch_2.json"]["scores"]["right"]
    assert math.isnan(unscored["value"])
    assert unscored["reason"] == "slow"
    assert [one["id"] for one in found["summaries.json"]] == ["a", "a", "b", "b"]
    assert lost == []


def test_no_sample_at_all_is_a_log_all_the_same(tmp_path: Path) -> None:
    found, lost = through(Made([], scorers=(LogScorer(name="right"),)), tmp_path)
    assert found["summaries.json"] == []
    assert found["header.json"]["results"]["scores"][0]["metrics"] == {}
    assert lost == []


@pytest.mark.parametrize(
    ("one", "place", "value", "said"),
    [
        (sample(context="page 1"), "metadata.context", "page 1", "`context`"),
        (sample(input_tokens=3), "output.usage.output_tokens", 0, "tokens"),
        (sample(finish_reason="eos"), "output.metadata.finish_reason", "eos", "stopped"),
        (sample(finish_reason="length"), "output.choices.0.stop_reason", "max_tokens", ""),
        (sample(limit="patience"), "limit.reason", "patience", "limits"),
        (sample(limit="token"), "limit.type", "token", ""),
        (sample(failure=LogFailure(message="slow", kind="timeout"), answer=None), "error.message", "slow", "timeout"),
        (sample(failure=LogFailure(message="HTTP 500"), answer=None), "error.message", "HTTP 500", ""),
        (sample(scores={"s": LogScore(value=0.5, said="P")}), "scores.s.value", "P", ""),
        (sample(scores={"s": LogScore(value=1.0, said="I")}), "scores.s.metadata.said", "I", "`said`"),
        (sample(scores={"s": LogScore(value=2.0, said="good")}), "scores.s.value", 2.0, "`said`"),
        (sample(scores={"s": LogScore(value=None, parts=(1, 2))}), "scores.s.metadata.parts", [1, 2], "`parts`"),
        (sample(references=("2", "two")), "target", ["2", "two"], ""),
        (sample(references=()), "target", [], ""),
        (sample(references=("",)), "target", [""], ""),
        (sample(messages=[{"role": "developer", "content": "Be brief."}]), "messages.0.role", "system", "developer"),
        (
            sample(messages=[{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image"}]}]),
            "messages.0.content", 'Hi\n{"type": "image"}', "",
        ),
        (sample(messages=[{"role": "tool", "content": "3", "name": "add"}]), "messages.0.content", "3", "tool calls"),
        (sample(answer="\ud835"), "output.completion", "\\ud835", "surrogate"),
    ],
)  # fmt: skip
def test_what_has_no_field_is_told(tmp_path: Path, one: LogSample, place: str, value: Any, said: str) -> None:
    found, lost = through(Made([one]), tmp_path)
    at = found["samples/a_epoch_1.json"]
    for name in place.split("."):
        at = at[int(name)] if isinstance(at, list) else at[name]
    assert at == value
    assert [said in loss.what for loss in lost] == ([True] if said else [])


@pytest.mark.parametrize(
    ("said", "place", "value"),
    [
        ({"status": "failed", "error": "out of memory"}, ("error", "message"), "out of memory"),
        ({"status": "cancelled"}, ("status",), "cancelled"),
        ({"status": "being_written"}, ("status",), "started"),
        ({"status": "not_known"}, ("status",), "success"),
        ({"model": None}, ("eval", "model"), "none/none"),
        ({"created_at": None}, ("eval", "created"), "1970-01-01T00:00:00+00:00"),
        ({"created_at": "yesterday"}, ("eval", "created"), "1970-01-01T00:00:00+00:00"),
        ({"created_at": "2026-11-29T20:00:00+02:00"}, ("eval", "created"), "2026-11-29T18:00:00+00:00"),
        (
            {"generation_params": {"temperature": 1, "seed": 1.5, "stop": ["a"], "min_p": 0}},
            ("plan", "config"), {"temperature": 1, "stop_seqs": ["a"]},
        ),
        ({"scorers": (LogScorer(name="s", judge="acme/j"),)}, ("eval", "model_roles", "grader", "model"), "acme/j"),
    ],
)  # fmt: skip
def test_what_a_header_says(tmp_path: Path, said: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    found, _ = through(Made([sample()], **said), tmp_path)
    at = found["header.json"]
    for name in place:
        at = at[name]
    assert at == value


def test_what_has_no_field_comes_back_from_the_metadata(tmp_path: Path) -> None:
    """Scales, judges, passes, guesses, parts, kinds of failures and what was sent, and numbers with their formulas."""
    one = sample(
        group="g", finish_reason="eos", input_tokens=3, metadata={"group": "own"},
        messages=[{"role": "developer", "content": "Be brief.", "name": "us"}],
        scores={
            "grade": LogScore(value=7.0, passed=True, guessed="its verdict is in lower case"),
            "sum": LogScore(value=None, parts=(1.0, 2.0)),
        },
    )  # fmt: skip
    late = sample(id="b", answer=None, failure=LogFailure(message="slow", kind="timeout"))
    scorers = (LogScorer(name="grade", lowest=0.0, highest=10.0, judge="acme/j", passes_at=6.0), LogScorer(name="sum"))
    claims = (
        Claim(scorer="grade", metric="pass_rate", value=1.0, where="", formula="share_passed"),
        Claim(scorer="grade", metric="score", value=0.7, where="", why_not="it is on a scale from 0 to 1"),
    )
    written(Made([one, late], scorers=scorers, claims=claims), tmp_path / "log.eval")
    (log,) = opened(tmp_path / "log.eval")
    with log:
        first, second = log.samples()
    assert (first.messages, first.group, first.finish_reason) == (one.messages, "g", "eos")
    assert (first.input_tokens, first.output_tokens, first.metadata) == (3, None, {"group": "own"})
    assert first.scores == one.scores
    assert second.failure == late.failure
    assert log.header.scorers == scorers
    found = {claim.metric: claim for claim in log.header.claims}
    assert (found["pass_rate"].formula, found["pass_rate"].decimals) == ("share_passed", 9)
    assert (found["score"].formula, found["score"].why_not) == (None, "it is on a scale from 0 to 1")


def test_ids_lead_nowhere_and_hide_nothing(tmp_path: Path) -> None:
    ids = ["../../etc/passwd", "/abs", "a\\b", "a\x00b", "\x1b[31m", "", "x" * 1000, "deep/er", "a", "a"]
    found, lost = through(Made([sample(id=one) for one in ids]), tmp_path)
    names = [name for name in found if name.startswith("samples/")]
    assert sorted(found[name]["id"] for name in names) == sorted(ids)
    assert all(".." not in name.split("/") and name.isprintable() and len(name) < 250 for name in names)
    assert {"samples/deep/er_epoch_1.json", "samples/a_epoch_1.json"} < set(names)
    assert [one.n for one in lost] == [7]  # the empty id is a name: `_epoch_1`


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(2, 2), None])
    for name in ("a.eval", "b.eval"):
        written(log_of_record(record), tmp_path / name)
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()


def test_another_name_is_refused_and_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ends in \.eval"):
        written(Made([]), tmp_path / "log.json")

    class Broken(Made):
        def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
            yield sample()
            raise UsageError("no more")

    with pytest.raises(UsageError, match="no more"):
        written(Broken([]), tmp_path / "log.eval")
    assert list(tmp_path.iterdir()) == []


# ── the property ─────────────────────────────────────────────────────────────────────────────────────────────

_texts = st.text(max_size=20) | st.sampled_from(["\ud800", "é\U0001f600", "<script>", "NaN", "attachment://x"])
_maybe = st.none() | _texts
_numbers = st.floats(allow_nan=False, allow_infinity=False)
_scores = st.one_of(
    st.builds(LogScore, value=_numbers, answer=_maybe, explanation=_maybe),
    st.builds(LogScore, value=st.none(), unscored=_texts, answer=_maybe, explanation=_maybe),
    st.sampled_from([LogScore(value=1.0, said="C"), LogScore(value=0.0, said="I", passed=False)]),
)
_json = st.recursive(st.none() | st.booleans() | _numbers | _texts, lambda one: st.lists(one, max_size=2), max_leaves=4)
_samples = st.builds(
    LogSample,
    id=st.sampled_from(["1", "a/b", "..", "é", "x\ny"]) | _texts,
    repeat=st.integers(0, 2),
    prompt=_texts,
    references=st.lists(_texts, max_size=2).map(tuple),
    choices=st.lists(_texts, max_size=2).map(tuple),
    context=_maybe,
    answer=_maybe,
    scores=st.dictionaries(st.sampled_from(["right", "short", "é"]) | _texts, _scores, max_size=3),
    failure=st.none() | st.builds(LogFailure, message=_texts, kind=st.sampled_from(["error", "timeout", "cancelled"])),
    limit=st.none() | st.sampled_from(["time", "token", "message", "patience"]),
    finish_reason=st.none() | st.sampled_from(["stop", "length", "content_filter", "eos"]),
    group=_maybe,
    category=_maybe,
    input_tokens=st.none() | st.integers(0, 1 << 40),
    output_tokens=st.none() | st.integers(0, 1 << 40),
    latency_ms=st.none() | st.integers(0, 1 << 40),
    model_reported=st.none() | st.sampled_from(["m-2", "é"]),
    metadata=st.dictionaries(st.sampled_from(["page", "level"]), _json, max_size=2),
)

made_samples = st.lists(_samples, max_size=5, unique_by=lambda one: (storable(one.id), one.repeat))

# A field of a sample, and the word by which a loss of it is known.
_LOSSES = {
    "context": "`context`", "group": "`group`", "category": "`category`", "failure": "a failure was",
    "limit": "limits", "finish_reason": "stopped", "input_tokens": "tokens", "output_tokens": "tokens",
    "passed": "`passed`",
}  # fmt: skip


def _again(whole: dict[str, Any]) -> dict[str, Any]:
    """What a reader who knows Inspect's fields, and nobody's metadata, takes from a sample."""
    output, usage, limit = whole["output"], whole["output"].get("usage") or {}, whole["limit"]
    stop = output["choices"][0].get("stop_reason") if output["choices"] else None
    took = whole["total_time"]
    return {
        "id": whole["id"],
        "repeat": whole["epoch"] - 1,
        "prompt": whole["input"],
        "references": (whole["target"],) if isinstance(whole["target"], str) else tuple(whole["target"]),
        "choices": tuple(whole["choices"] or ()),
        "context": None,
        "answer": output["completion"] if output["choices"] else None,
        "scores": {name: _score_again(one) for name, one in (whole["scores"] or {}).items()},
        "failure": None if whole["error"] is None else ("error", whole["error"]["message"]),
        "limit": None if limit is None else limit["type"],
        "finish_reason": {"max_tokens": "length"}.get(stop, stop),
        "group": None,
        "category": None,
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "latency_ms": None if took is None else round(took * 1000),
    }


def _score_again(score: dict[str, Any]) -> dict[str, Any]:
    value = {"C": 1.0, "I": 0.0}.get(score["value"], score["value"])
    return {
        "value": None if isinstance(value, float) and math.isnan(value) else value,
        "unscored": score["reason"],
        "passed": None,
        "answer": score["answer"],
        "explanation": score["explanation"],
    }


def _as_it_was(one: LogSample) -> dict[str, Any]:
    names = list(_again_names)
    found = {name: getattr(one, name) for name in names if name not in ("scores", "failure")}
    found["scores"] = {
        name: {field: getattr(score, field) for field in ("value", "unscored", "passed", "answer", "explanation")}
        for name, score in one.scores.items()
    }
    found["failure"] = None if one.failure is None else (one.failure.kind, one.failure.message)
    return _stored(found)


_again_names = (
    "id", "repeat", "prompt", "references", "choices", "context", "answer", "scores", "failure", "limit",
    "finish_reason", "group", "category", "input_tokens", "output_tokens", "latency_ms",
)  # fmt: skip


def _stored(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, tuple | list):
        return type(value)(map(_stored, value))
    return {storable(name): _stored(one) for name, one in value.items()} if isinstance(value, dict) else value


def _differing(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for name, value in before.items():
        if name == "scores":
            assert value.keys() == after[name].keys()
            for scorer, score in value.items():
                yield from (field for field in score if score[field] != after[name][scorer][field])
        elif value != after[name]:
            yield name


@pytest.mark.slow
@examples(150)
@given(made_samples)
def test_what_comes_back_is_what_went_or_a_loss_that_is_named(
    tmp_path_factory: pytest.TempPathFactory, samples: list[LogSample]
) -> None:
    found, lost = through(Made(samples, repeats=3), tmp_path_factory.getbasetemp())
    wholes = {(one["id"], one["epoch"] - 1): one for name, one in found.items() if name.startswith("samples/")}
    back = {key: _again(one) for key, one in wholes.items()}
    assert len(back) == len(samples)
    differ = {
        name
        for one in samples
        for name in _differing(_as_it_was(one), back[storable(one.id), one.repeat])
    }  # fmt: skip
    for name in differ:
        assert any(_LOSSES[name] in loss.what for loss in lost), name
    for name, word in _LOSSES.items():
        if any(word in loss.what for loss in lost):
            assert differ & {other for other, its in _LOSSES.items() if its == word}, name
    for one in samples:
        assert _stored(one.metadata).items() <= wholes[storable(one.id), one.repeat]["metadata"].items()
    ledger = [sum(score["value"] is None for one in back.values() for score in one["scores"].values())]
    assert ledger == [sum(score.value is None for one in samples for score in one.scores.values())]
    assert found["header.json"]["results"]["completed_samples"] == sum(one.failure is None for one in samples)


@examples(60)
@given(made_samples)
def test_our_own_reader_gives_it_back(tmp_path_factory: pytest.TempPathFactory, samples: list[LogSample]) -> None:
    """All of it: also what Inspect has no field for, which is told as lost, and stands in the metadata."""
    path = tmp_path_factory.getbasetemp() / "read.eval"
    path.unlink(missing_ok=True)
    written(Made(samples, repeats=3), path)
    (log,) = opened(path)
    with log:
        back = {(one.id, one.repeat): one for one in log.samples()}
    assert len(back) == len(samples)
    for one in samples:
        was, found = _as_it_was(one), _as_it_was(back[storable(one.id), one.repeat])
        for scores in (was["scores"], found["scores"]):
            for score in scores.values():
                score["unscored"] = None if score["unscored"] is None else "for a reason"  # which is put on one line
        assert list(_differing(was, found)) == []
