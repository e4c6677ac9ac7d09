"""A log in the harness's form: written, and read again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.exchange.audit.auditing import audited
from benchbook.exchange.lm_eval.reading import opened
from benchbook.exchange.lm_eval.writing import written
from benchbook.exchange.log import Claim, ForeignLog, LogFailure, LogHeader, LogSample, LogScore, LogScorer
from exchange.lm_eval.harness_files import choice_row, results, row, task_hash, write_run
from support import examples, shared_data


class _Made(ForeignLog):
    """A log of another tool."""

    def __init__(self, samples: list[LogSample], **header: Any) -> None:
        self.header = LogHeader(
            **{"tool": "inspect", "tool_version": "1", "form": "eval", "task": "a task/1", "model": "acme/m", **header}
        )
        self.files = {}
        self._samples = samples

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        yield from self._samples


def read_again(log: ForeignLog, folder: Path) -> ForeignLog:
    written(log, folder)
    (again,) = opened(folder)
    return again


# ── its own logs ─────────────────────────────────────────────────────────────────────────────────────────────


def _texts() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    numbers = {"sample_len": 2, "em,strict": 0.5, "em_stderr,strict": 0.5, "em,loose": 1.0, "em_stderr,loose": "N/A"}
    rows = [
        row(k, "#### 4", filtered_by=name, em=value)
        for name, value in (("strict", 0.0), ("loose", 1.0))
        for k in (0, 1)
    ]
    return results({"t": numbers}), rows


def _choices() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    stated = results({"t": {"sample_len": 2, "acc,none": 0.5, "f1,none": 1.0, "acc_stderr,none": 0.5}})
    stated["configs"]["t"] |= {"output_type": "multiple_choice", "target_delimiter": " "}
    for one in stated["configs"]["t"]["metric_list"]:
        one["aggregation"] = {"acc": "mean", "f1": "f1"}[one["metric"]]
    return stated, [
        choice_row(0, [-3.5, -1.25, -2.0], acc=1.0, f1=[1, 1]),
        choice_row(1, [-1.0, -2.0, -2.5], acc=0.0, f1=[0, 1]),
    ]


def _weighed(kind: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    metric, value = ("perplexity", -2.5) if kind == "loglikelihood" else ("word_perplexity", [-2.5, 2])
    stated = results({"t": {"sample_len": 1, f"{metric},none": 3.5}})
    stated["configs"]["t"] |= {"output_type": kind, "target_delimiter": " ", "metric_list": [{"metric": metric}]}
    argument = {"arg_0": "It is", "arg_1": "4"} if kind == "loglikelihood" else {"arg_0": "It is 4"}
    resps: list[Any] = [[["-2.5", "False"]]] if kind == "loglikelihood" else [["-2.5"]]
    one = row(0, **{metric: value}) | {
        "arguments": {"gen_args_0": argument},
        "resps": resps,
        "filtered_resps": resps[0],
    }
    return stated, [one]


def _several() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    one = row(0, em=1.0) | {"resps": [["3", "4", "4"]], "filtered_resps": ["4"]}
    two = row(1, em=None) | {"resps": [["9", "4"]], "filtered_resps": ["4"]}
    two["arguments"]["gen_args_0"]["arg_0"] = [json.dumps([{"role": "user", "content": "né?"}], ensure_ascii=False)]
    return results({"t": {"sample_len": 2, "em,none": 1.0, "em_stderr,none": "N/A"}}), [one, two]


RUNS = {
    "texts": _texts, "choices": _choices, "loglikelihood": lambda: _weighed("loglikelihood"),
    "rolling": lambda: _weighed("loglikelihood_rolling"), "several": _several,
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
def test_a_log_of_the_harness_is_the_same_when_it_is_read_again(tmp_path: Path, run: str) -> None:
    stated, rows = RUNS[run]()
    (log,) = opened(write_run(tmp_path / "in", stated, {"t": rows}))
    again = read_again(log, tmp_path / "out")
    assert list(again.samples()) == list(log.samples())
    one, other = (msgspec.to_builtins(each.header) for each in (log, again))
    for each in (one, other):
        each["metadata"].pop("task_hash", None)
    assert other == one
    assert {note.code for note in again.notes()} - {"limited", "several_answers"} == set()


def test_the_rows_are_those_that_the_harness_wrote(tmp_path: Path) -> None:
    stated, rows = _texts()
    (log,) = opened(write_run(tmp_path / "in", stated, {"t": rows}))
    written(log, tmp_path / "out")
    (samples,) = (tmp_path / "out").glob("samples_*.jsonl")
    found = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    for one in (*found, *rows):
        one["arguments"] = one["arguments"]["gen_args_0"]["arg_0"]
    assert found == rows
    (again,) = (tmp_path / "out").glob("results_*.json")
    assert json.loads(again.read_text("utf-8"))["task_hashes"] == {"t": task_hash(rows)}


def test_a_real_log_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    log = opened(shared_data("foreign-logs") / "lm_eval")[0]
    again = read_again(log, tmp_path / "out")
    assert list(again.samples()) == list(log.samples())
    assert again.header.claims == log.header.claims


# ── those of others ──────────────────────────────────────────────────────────────────────────────────────────


def _sample(id_: str, value: float | None = 1.0, **more: Any) -> LogSample:
    said = {"unscored": "NaN"} if value is None else {}
    return LogSample(
        **{
            "id": id_, "prompt": f"What is {id_}?", "answer": "4", "references": ("4",),
            "scores": {"match": LogScore(value=value, **said)}, **more,
        }
    )  # fmt: skip


def _claim(metric: str, value: float, formula: Any, **more: Any) -> Claim:
    return Claim(scorer="match", metric=metric, value=value, where=metric, formula=formula, **more)


def test_another_tool_s_log_has_its_numbers_where_the_harness_has_them(tmp_path: Path) -> None:
    claims = (_claim("accuracy", 0.5, "mean"), _claim("stderr", 0.5, "stderr"), _claim("std", 0.7, "std"))
    made = _Made(
        [_sample("0"), _sample("1", 0.0)],
        claims=claims, n_claimed=2, created_at="2026-02-03T04:05:06+01:00",
        scorers=(LogScorer(name="match", higher_is_better=False),), metadata={"record": "0" * 64},
    )  # fmt: skip
    lost = written(made, tmp_path / "out")
    assert [one.what for one in lost] == ["1 number of the log have no place there: std"]
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        "results_2026-02-03T03-05-06.000000.json", "samples_a_task_1_2026-02-03T03-05-06.000000.jsonl",
    ]  # fmt: skip
    stated = json.loads(next((tmp_path / "out").glob("results_*")).read_text("utf-8"))
    said = stated["configs"]["a task/1"]["metadata"]
    assert {name: said[name] for name in ("version", "record")} == {"version": "N/A", "record": "0" * 64}
    (again,) = opened(tmp_path / "out")
    assert (again.header.task, again.header.model, again.header.created_at) == (
        "a task/1", "acme/m", "2026-02-03T03:05:06Z",
    )  # fmt: skip
    assert [(one.where, one.value, one.formula) for one in again.header.claims] == [
        ("results.a task/1.sample_len", 2.0, "n_samples"),
        ("results.a task/1.match,none", 0.5, "mean"),
        ("results.a task/1.match_stderr,none", 0.5, "stderr"),
        ("n-samples.a task/1.effective", 2.0, "n_samples"),
    ]
    assert [one.higher_is_better for one in again.header.scorers] == [False]


def test_what_a_row_has_no_place_for_stands_in_its_document_and_is_told(tmp_path: Path) -> None:
    samples = [
        _sample("a", None, context="Once", category="x", input_tokens=3, metadata={"k": [1]}),
        _sample("a", repeat=1, answer=None, failure=LogFailure(message="500", kind="error")),
        _sample("b", references=("4", "four")),
    ]
    lost = {one.what: one.n for one in written(_Made(samples), tmp_path / "out")}
    assert lost == {
        "an unscored sample has null there, without the reason": 1,
        "a failure stands in the row's document alone, and the row has no answer": 1,
        "facts that rows have no place for stand in their documents": 1,
        "several right answers are one text there": 1,
        "a repeat is a row of the same document": 1,
        "documents have numbers there, and these ids are texts": 3,
    }
    (again,) = opened(tmp_path / "out")
    first, second, third = again.samples()
    line, *_ = next((tmp_path / "out").glob("samples_*.jsonl")).read_text("utf-8").splitlines()
    assert json.loads(line)["doc"] == {
        "id": "a", "context": "Once", "category": "x", "input_tokens": 3,
        "scores": {"match": {"unscored": "NaN"}}, "metadata": {"k": [1]},
    }  # fmt: skip
    assert (first.context, first.category, first.input_tokens, first.metadata) == ("Once", "x", 3, {"k": [1]})
    assert first.scores["match,none"] == LogScore(value=None, unscored="NaN")
    assert (second.repeat, second.failure) == (1, samples[1].failure)
    assert third.references == ("4", "four")


def test_a_log_without_a_mean_gets_that_of_its_values(tmp_path: Path) -> None:
    again = read_again(_Made([_sample("0", 0.25), _sample("1", 0.75), _sample("2", None)]), tmp_path / "out")
    numbers = {one.where.rpartition(".")[2]: one.value for one in again.header.claims}
    assert numbers["match,none"] == 0.5
    assert numbers["match_stderr,none"] == pytest.approx(0.25)


@pytest.mark.parametrize("names", [("a,b", 'a"b'), ("doc_id", "metrics"), ("", "\x00"), ("x_stderr", "x")])
def test_scorers_of_any_name_are_written(tmp_path: Path, names: tuple[str, ...]) -> None:
    scores = {name: LogScore(value=float(number)) for number, name in enumerate(names)}
    (found,) = read_again(_Made([_sample("0", scores=scores)]), tmp_path / "out").samples()
    assert [score.value for score in found.scores.values()] == [0.0, 1.0]


def test_the_names_of_a_log_that_was_imported_are_the_harness_s_again(tmp_path: Path) -> None:
    scores = {name: LogScore(value=1.0) for name in ("acc,none", "acc,strict-match", "a, b")}
    (found,) = read_again(_Made([_sample("0", scores=scores)]), tmp_path / "out").samples()
    assert list(found.scores) == ["acc,none", "a_ b,none", "acc,strict-match"]


def test_a_group_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found a group of tasks"):
        written(_Made([], samples_of=("a", "b")), tmp_path / "out")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        written(_Made([_sample("0")]), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


TEXTS = st.text(max_size=8)
SCORES = st.dictionaries(
    st.sampled_from(["match", "f1", "judge"]),
    st.floats(-1e6, 1e6).map(lambda value: LogScore(value=value)) | st.just(LogScore(value=None, unscored="error")),
    max_size=3,
)
SAMPLES = st.lists(
    st.builds(
        LogSample,
        id=st.integers(0, 50).map(str) | TEXTS,
        prompt=TEXTS,
        references=st.lists(TEXTS.filter(bool), max_size=1).map(tuple),
        answer=st.none() | TEXTS,
        scores=SCORES,
    ),
    max_size=6,
    unique_by=lambda one: one.id,
)


@given(SAMPLES)
@examples(25)
def test_what_is_written_is_read_and_its_numbers_follow(samples: list[LogSample]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        again = read_again(_Made(samples), Path(folder) / "out")
        found = list(again.samples())
        audit = audited(again)
    assert [(one.id, one.prompt, one.answer, one.references) for one in found] == [
        (one.id, one.prompt, one.answer, one.references) for one in samples
    ]
    values = [{name: score.value for name, score in one.scores.items()} for one in samples]
    assert [{name.removesuffix(",none"): score.value for name, score in one.scores.items()} for one in found] == values
    assert audit.n_do_not_follow == 0
    assert all(note.code != "task_hash" for note in again.notes())
    for claim in again.header.claims:
        assert claim.value is None or math.isfinite(claim.value)
