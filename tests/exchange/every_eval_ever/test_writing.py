"""Every Eval Ever is written: what comes back is what was there, and what the form can't hold is told."""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.exchange.every_eval_ever.writing import written
from benchbook.exchange.log import ForeignLog, LogFailure, LogHeader, LogSample, LogScore, LogScorer
from benchbook.exchange.tools import opened_logs
from benchbook.exchange.totals import ScorerTotals
from support import examples

SCORER = LogScorer(name="exact", lowest=0.0, highest=1.0)


class MadeLog(ForeignLog):
    """A log of samples that a test made."""

    def __init__(self, samples: list[LogSample], **changes: Any) -> None:
        said = {
            "tool": "benchbook", "tool_version": "1", "form": "record", "task": "capitals", "model": "acme/m1",
            "scorers": (SCORER,), "created_at": "2026-01-02T03:04:05Z",
        }  # fmt: skip
        self.header = LogHeader(**(said | changes))
        self.files = {}
        self._samples = samples

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        del whole
        yield from self._samples


def sample(name: str = "s1", value: float | None = 1.0, **changes: Any) -> LogSample:
    score = {"exact": LogScore(value=value, passed=None if value is None else value == 1)}
    said = {"id": name, "prompt": "?", "answer": "Paris", "scores": score}
    return LogSample(**(said | changes))


def files_of(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The aggregate and its rows."""
    (place,) = folder.rglob("*.json")
    rows = [json.loads(line) for file in folder.rglob("*.jsonl") for line in file.read_bytes().split(b"\n") if line]
    return json.loads(place.read_bytes()), rows


def read_back(folder: Path) -> tuple[LogHeader, list[LogSample]]:
    (place,) = folder.rglob("*.json")
    (log,) = opened_logs(place)
    with log:
        return log.header, list(log.samples())


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_WORDS = st.text(string.ascii_letters, min_size=1, max_size=8)
_MAYBE = st.none() | _WORDS
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
_SCORES = st.builds(
    lambda value, passed, said, answer, explanation, guessed: LogScore(
        value=value, passed=passed, said=said, answer=answer, explanation=explanation, guessed=guessed
    ),
    st.floats(0, 1), st.booleans(), _MAYBE, st.none() | _TEXTS, st.none() | _TEXTS, _MAYBE,
)  # fmt: skip
_MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": _TEXTS}), max_size=3
)
_FAILURES = st.none() | st.builds(lambda message, kind: LogFailure(message=message, kind=kind), _TEXTS, _WORDS)
_SAMPLES = st.fixed_dictionaries(
    {
        "prompt": _TEXTS,
        "references": st.lists(_TEXTS, max_size=2).map(tuple),
        "choices": st.lists(_TEXTS, max_size=2).map(tuple),
        "context": st.none() | _TEXTS,
        "answer": st.none() | _TEXTS,
        "scores": st.fixed_dictionaries({"exact": _SCORES, "fluent": _SCORES}),
        "failure": _FAILURES,
        "limit": _MAYBE,
        "finish_reason": _MAYBE,
        "group": _MAYBE,
        "category": _MAYBE,
        "input_tokens": st.none() | st.integers(0, 9),
        "output_tokens": st.none() | st.integers(0, 9),
        "latency_ms": st.none() | st.integers(0, 9),
        "model_reported": _MAYBE,
        "messages": st.none() | _MESSAGES,
        "metadata": st.dictionaries(_WORDS.map(lambda word: f"m_{word}"), _JSON, max_size=3),
    }
)


@given(st.lists(_SAMPLES, min_size=1, max_size=4), st.integers(1, 2))
@examples(60)
def test_what_is_written_is_read_as_it_was(fields: list[dict[str, Any]], repeats: int) -> None:
    samples = [
        LogSample(id=f"s{number}", repeat=repeat, **one)
        for number, one in enumerate(fields)
        for repeat in range(repeats)
    ]
    fluent = LogScorer(name="fluent", lowest=0.0, highest=1.0, passes_at=0.5)
    with TemporaryDirectory() as folder:
        lost = written(MadeLog(samples, scorers=(SCORER, fluent), repeats=repeats), Path(folder) / "out")
        header, found = read_back(Path(folder) / "out")
    assert lost == []
    for one in found:
        one.where = ""
    assert found == samples
    assert header.scorers == (SCORER, fluent)
    assert (header.task, header.model, header.created_at) == ("capitals", "acme/m1", "2026-01-02T03:04:05Z")
    assert (header.repeats, header.n_claimed, header.status) == (repeats, len(samples), "complete")


def test_the_same_log_is_the_same_bytes(tmp_path: Path) -> None:
    log = MadeLog([sample()], metadata={"record_sha256": "ab" * 32})
    for name in ("a", "b"):
        written(log, tmp_path / name)
    names = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*.*")) for name in ("a", "b")
    ]
    assert names[0] == names[1]
    assert [(tmp_path / "a" / one).read_bytes() for one in names[0]] == [
        (tmp_path / "b" / one).read_bytes() for one in names[0]
    ]
    other = MadeLog([sample()], metadata={"record_sha256": "cd" * 32})
    written(other, tmp_path / "c")
    assert {path.name for path in (tmp_path / "c").rglob("*.json")}.isdisjoint(one.name for one in names[0])


def test_the_aggregate_says_who_made_it_and_where_the_rows_are(tmp_path: Path) -> None:
    log = MadeLog(
        [sample()], metadata={"record_sha256": "ab" * 32}, dataset="geo", dataset_version="v2",
        prompt_template="Q: {prompt}",
        generation_params={"temperature": 0, "top_p": 0.5, "max_tokens": 5, "seed": 7, "stop": ["x"]},
    )  # fmt: skip
    assert written(log, tmp_path / "out") == []
    aggregate, rows = files_of(tmp_path / "out")
    (samples,) = (tmp_path / "out").rglob("*.jsonl")
    assert aggregate["detailed_evaluation_results"] == {
        "format": "jsonl",
        "file_path": samples.relative_to(tmp_path / "out").as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(samples.read_bytes()).hexdigest(),
        "total_rows": 1,
    }
    assert samples.relative_to(tmp_path / "out").parts[:4] == ("data", "geo", "acme", "m1")
    assert aggregate["source_metadata"]["source_name"] == "Benchbook"
    assert aggregate["source_metadata"]["additional_details"]["record_sha256"] == "ab" * 32
    assert aggregate["evaluation_id"] == "capitals/acme_m1/1767323045"
    assert (aggregate["evaluation_timestamp"], aggregate["retrieved_timestamp"]) == ("1767323045", "1767323045")
    (result,) = aggregate["evaluation_results"]
    assert result["source_data"] == {
        "dataset_name": "geo", "source_type": "other", "additional_details": {"version": "v2"}
    }  # fmt: skip
    assert result["generation_config"] == {
        "generation_args": {"temperature": 0, "top_p": 0.5, "max_tokens": 5, "prompt_template": "Q: {prompt}"},
        "additional_details": {"seed": "7", "stop": '["x"]'},
    }
    assert rows[0]["evaluation_id"] == aggregate["evaluation_id"]


# ── unscored samples, and the mean of the others ─────────────────────────────────────────────────────────


def test_what_was_not_scored_goes_to_error_and_into_no_mean(tmp_path: Path) -> None:
    failed = LogFailure(message="connection reset", kind="error")
    samples = [
        sample("s1", 1.0), sample("s2", 0.0), sample("s3", 1.0),
        sample("s4", None, scores={"exact": LogScore(value=None, unscored="NaN")}),
        sample("s5", None, answer=None, failure=failed),
        sample("s6", None, scores={}),
    ]  # fmt: skip
    lost = written(MadeLog(samples), tmp_path / "out")
    assert [(one.n, one.what.split(":")[0]) for one in lost] == [
        (3, "a row must have a score and a word on correctness")
    ]
    aggregate, rows = files_of(tmp_path / "out")
    assert [one["evaluation"] for one in rows[3:]] == [{"score": 0.0, "is_correct": False}] * 3
    assert [one.get("error") for one in rows] == [
        None, None, None, "Not scored, and no score of 0: NaN",
        "No answer, and no fault of the model's that is known: connection reset",
        "Not scored, and no score of 0: nobody scored it",
    ]  # fmt: skip
    details = aggregate["evaluation_results"][0]["score_details"]
    assert details["score"] == 2 / 3
    assert details["details"] == {"scored": "3", "unscored": "3"}
    assert details["uncertainty"]["num_samples"] == 3
    header, found = read_back(tmp_path / "out")
    assert [one.scores["exact"].value for one in found[:5]] == [1.0, 0.0, 1.0, None, None]
    assert [one.scores["exact"].unscored for one in found[3:5]] == ["NaN", "no answer"]
    assert found[5].scores == {}
    assert (found[4].failure, found[4].answer) == (failed, None)
    assert header.n_claimed == 6


def test_the_error_is_over_items(tmp_path: Path) -> None:
    """Two items, each asked twice: means 0.5 and 1. Deviation sqrt(0.125), error that by sqrt(2): 0.25."""
    samples = [
        sample(f"s{n}", value, repeat=repeat)
        for n, values in enumerate(([0, 1], [1, 1]))
        for repeat, value in enumerate(values)
    ]
    written(MadeLog(samples, repeats=2), tmp_path / "out")
    aggregate, _ = files_of(tmp_path / "out")
    details = aggregate["evaluation_results"][0]["score_details"]
    assert details["score"] == 0.75
    assert details["uncertainty"]["standard_error"] == {"value": pytest.approx(0.25), "method": "analytic"}
    assert details["uncertainty"]["num_samples"] == 2
    header, _ = read_back(tmp_path / "out")
    assert [(one.metric, one.formula, one.reducer) for one in header.claims][:2] == [
        ("exact", "mean", None), ("standard_error", "stderr", "mean"),
    ]  # fmt: skip


def test_how_sure_it_is() -> None:
    """Of 0, 0, 1, 1: mean 1/2, deviation sqrt(1/3), error sqrt(1/12); the interval is that of `bounded_mean`."""
    from benchbook.statistics.bounded import bounded_mean

    totals = ScorerTotals(is_repeated=False)
    for number, value in enumerate((0.0, 0.0, 1.0, 1.0)):
        totals.add(str(number), value)
    found = totals.sureness(SCORER)
    assert found.deviation == pytest.approx((1 / 3) ** 0.5)
    assert found.error == pytest.approx((1 / 12) ** 0.5)
    expected = bounded_mean([0.0, 0.0, 1.0, 1.0])
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    by_t = totals.sureness(LogScorer(name="x"))  # 3.182 is Student's t of 3 degrees
    assert by_t.high == pytest.approx(0.5 + 3.1824 * (1 / 12) ** 0.5, rel=1e-4)
    assert by_t.method == "Student's t"
    totals.add("vast", 1e308)
    assert totals.sureness(LogScorer(name="x")).error is None


def test_the_interval_of_items_that_were_asked_twice_is_that_of_clusters() -> None:
    from benchbook.statistics.bounded import bounded_mean

    totals, values = ScorerTotals(is_repeated=True), [1.0, 3.0, 5.0, 5.0, 2.0, 4.0]
    for number, value in enumerate(values):
        totals.add(f"s{number // 2}", value)
    found = totals.sureness(LogScorer(name="x", lowest=1, highest=5))
    expected = bounded_mean(values, lowest=1, highest=5, clusters=[0, 0, 1, 1, 2, 2])
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (found.n, found.method) == (3, expected.method)


# ── what the form can't hold ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (MadeLog([sample(scores={"exact": LogScore(value=0.5)})]), "a row must say whether the answer is correct"),
        (MadeLog([sample("s1", 7.0)]), "values of exact are outside of its scale"),
        (MadeLog([sample("s1", float("inf"))]), "a score that is no finite number"),
        (MadeLog([sample("s1", None)]), "a result must have a score: exact scored no sample"),
        (MadeLog([]), "there is no sample"),
        (MadeLog([sample(messages=[{"role": "user", "content": [1]}])]), "a message is a text with a role"),
        (MadeLog([sample(metadata={"benchbook": "x"})]), "the name `benchbook` is taken"),
        (MadeLog([sample()], scorers=(LogScorer(name="exact", judge="j"),)), "`llm_scoring` must have the judge's"),
        (MadeLog([sample()], model="m1"), "a store has models by who made them, and m1 says nothing of that"),
    ],
)  # fmt: skip
def test_what_is_lost_is_told(tmp_path: Path, log: MadeLog, told: str) -> None:
    lost = written(log, tmp_path / "out")
    assert any(one.what.startswith(told) for one in lost), lost
    list(opened_logs(tmp_path / "out"))  # and it can be read


@pytest.mark.parametrize(
    ("model", "dataset", "parts"),
    [
        ("acme/m1", "geo", ("geo", "acme", "m1")),
        ("m1", "geo", ("geo", "unknown", "m1")),
        ("a/b/c:d", "x/y", ("x_y", "a", "b_c_d")),
        ("../..", "..", ("_", "_", "_")),
        ("CON/nul.txt", "data", ("_data", "_CON", "_nul.txt")),
        ("a\0b/c\u2028d", " . ", ("_", "a_b", "c_d")),
        (None, "g" * 500, ("g" * 120, "unknown", "unknown")),
    ],
)
def test_names_are_safe_in_any_folder(tmp_path: Path, model: str | None, dataset: str, parts: tuple[str, ...]) -> None:
    written(MadeLog([sample()], model=model, dataset=dataset), tmp_path / "out")
    (place,) = (tmp_path / "out").rglob("*.json")
    assert place.relative_to(tmp_path / "out").parts[1:-1] == parts


def test_no_text_ends_a_line_for_their_validator(tmp_path: Path) -> None:
    """It splits rows at each of Unicode's ends of lines."""
    text = "a\u2028b\u2029c\u0085d\x0be\x1cf\r\n"
    written(MadeLog([sample(answer=text)]), tmp_path / "out")
    (file,) = (tmp_path / "out").rglob("*.jsonl")
    assert len(file.read_text("utf-8").splitlines()) == 1
    assert read_back(tmp_path / "out")[1][0].answer == text
