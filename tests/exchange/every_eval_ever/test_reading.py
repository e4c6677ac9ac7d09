"""Every Eval Ever is read: an aggregate with its samples, alone, and samples alone; and each trap of the form."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.every_eval_ever.form import EvalRow, hashes_of, sample_hash
from benchbook.exchange.log import Claim, ForeignLog, LogFailure, LogSample
from benchbook.exchange.tools import opened_logs, recognised
from exchange.every_eval_ever.made import NAME, aggregate, laid, lines, metric, result, row
from support import shared_data


def logs_at(path: Path) -> list[ForeignLog]:
    return list(opened_logs(path))


def only(path: Path) -> tuple[ForeignLog, list[LogSample]]:
    """The one log there is, with its samples; it is closed."""
    (log,) = logs_at(path)
    with log:
        return log, list(log.samples())


def claim(log: ForeignLog, metric: str) -> Claim:
    (found,) = [one for one in log.header.claims if one.metric == metric]
    return found


def codes(log: ForeignLog) -> dict[str, int]:
    return {one.code: one.n for one in log.notes()}


# ── the shared example, of the tool's own repository ─────────────────────────────────────────────────────


def test_the_tools_own_example() -> None:
    log, (sample,) = only(shared_data("foreign-logs") / "every_eval_ever" / "aggregate.json")
    header = log.header
    assert (header.form, header.model, header.task) == (
        "Every Eval Ever, schema 0.3.0", "demo-org/demo-model", "demo-source.demo_bench",
    )  # fmt: skip
    assert (header.created_at, header.dataset, header.n_claimed, header.status) == (
        "2025-06-15T15:06:40Z", "demo_bench", 1, "complete",
    )  # fmt: skip
    assert [(one.metric, one.value, one.formula) for one in header.claims] == [("accuracy", 0.75, "mean")]
    score = sample.scores["demo-source.demo_bench"]
    assert (sample.answer, score.answer, score.value, score.passed) == ("The answer is 4.", "4", 1.0, True)
    assert (sample.input_tokens, sample.output_tokens, sample.references) == (12, 5, ("4",))
    assert log.notes() == []  # its samples are found by their hash, under another name


def test_a_folder_of_both_is_one_log_and_its_samples_alone_claim_nothing() -> None:
    folder = shared_data("foreign-logs") / "every_eval_ever"
    assert recognised(folder).name == "every_eval_ever"
    log, samples = only(folder)
    assert set(log.files) == {"aggregate.json", "samples.jsonl"}
    assert len(samples) == 1
    alone, samples = only(folder / "samples.jsonl")
    assert alone.header.claims == ()
    assert alone.header.n_claimed is None
    assert len(samples) == 1


# ── which rows are of which result ───────────────────────────────────────────────────────────────────────


def test_results_of_the_same_samples_are_one_log_with_a_scorer_each(tmp_path: Path) -> None:
    """Also where the rows of one metric all stand before those of the other."""
    rows = [row(f"s{n}", 1.0, result="acc") for n in range(3)] + [row(f"s{n}", 0.25, result="f1") for n in range(3)]
    results = [result(1.0, evaluation_result_id="acc"), result(0.25, evaluation_result_id="f1")]
    log, samples = only(laid(tmp_path, rows, *results))
    assert [one.id for one in samples] == ["s0", "s1", "s2"]
    assert [{name: one.value for name, one in sample.scores.items()} for sample in samples] == [
        {"acc": 1.0, "f1": 0.25}
    ] * 3
    assert (log.header.n_claimed, [one.name for one in log.header.scorers]) == (3, ["acc", "f1"])
    assert [(one.scorer, one.value, one.where) for one in log.header.claims] == [
        ("acc", 1.0, "evaluation_results[0].score_details.score"),
        ("f1", 0.25, "evaluation_results[1].score_details.score"),
    ]


def test_results_of_other_samples_are_logs_of_their_own(tmp_path: Path) -> None:
    """And a sample of both has the same id in each."""
    rows = [
        row("1", 1.0, evaluation_name="art"),
        row("1", 0.0, evaluation_name="law", input={"raw": "?", "reference": []}),
    ]
    results = [
        result(1.0, evaluation_name="art"),
        result(0.0, evaluation_name="law"),
        result(9.0, evaluation_name="sum"),
    ]
    logs = logs_at(laid(tmp_path, rows, *results))
    assert [log.header.task for log in logs] == ["capitals", "law"]  # the first has what no row is of, too
    assert [[one.id for one in log.samples()] for log in logs] == [["1"], ["1"]]
    assert [[one.scorer for one in log.header.claims] for log in logs] == [["art", "sum"], ["law"]]
    assert logs[0].header.claims[1].why_not == "the log holds no samples of this result"
    for log in logs:
        log.close()


def test_one_id_of_two_items_in_one_log_is_told_apart(tmp_path: Path) -> None:
    """An overall result makes one log of two subjects that both number their samples from 1."""
    other = {"raw": "Who wrote Faust?", "reference": ["Goethe"]}
    rows = [
        row("1", 1.0, result="art"), row("1", 0.0, result="law", input=other),
        row("1", 1.0, result="all"), row("1", 0.0, result="all", input=other),
    ]  # fmt: skip
    results = [result(1.0, evaluation_result_id=one) for one in ("art", "law", "all")]
    _, samples = only(laid(tmp_path, rows, *results))
    assert [sorted(one.scores) for one in samples] == [["all", "art"], ["all", "law"]]
    ids = [one.id for one in samples]
    assert len(set(ids)) == 2
    assert all(one.startswith("1#") and len(one) == 10 for one in ids)


@pytest.mark.parametrize(
    ("names", "rows", "scorers", "noted"),
    [
        pytest.param([{}], [row()], ["capitals"], {}, id="by name"),
        pytest.param([{}], [row(evaluation_name="x")], ["capitals"], {"only_result": 1}, id="the only one"),
        pytest.param([{}], [row(result="x")], ["x"], {"no_result": 1}, id="an id that is not there"),
        pytest.param([{}, {}], [row()], ["capitals"], {"which_result": 1}, id="several of the name"),
        pytest.param(
            [{"evaluation_result_id": "capitals/acme_m1/1750000000#accuracy"}],
            [row(result="capitals/acme_m1/1750000000#accuracy")], ["accuracy"], {}, id="an id of this run",
        ),
    ],
)  # fmt: skip
def test_how_a_row_finds_its_result(
    tmp_path: Path, names: list[dict[str, Any]], rows: list[dict[str, Any]], scorers: list[str], noted: dict[str, int]
) -> None:
    log, _ = only(laid(tmp_path, rows, *[result(**one) for one in names]))
    assert [one.name for one in log.header.scorers] == scorers
    assert codes(log) == noted


def test_rows_of_another_evaluation_are_left_out_and_told(tmp_path: Path) -> None:
    place = laid(tmp_path, [row("s1"), row("s2", evaluation_id="other"), row("s3", model_id="acme/m2")], result())
    log, samples = only(place)
    assert [one.id for one in samples] == ["s1"]
    assert codes(log) == {"other_evaluation": 2}


def test_samples_alone_of_two_models_are_two_logs(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(row("s1"), row("s1", model_id="acme/m2")))
    assert [log.header.model for log in logs_at(tmp_path / "rows.jsonl")] == ["acme/m1", "acme/m2"]


def test_repeats_are_counted_in_the_order_of_the_rows(tmp_path: Path) -> None:
    rows = [row("s1", 1.0), row("s2", 1.0), row("s1", 0.0), row("s2", 1.0)]
    log, samples = only(laid(tmp_path, rows, result(0.75)))
    assert [(one.id, one.repeat, one.scores["capitals"].value) for one in samples] == [
        ("s1", 0, 1.0), ("s1", 1, 0.0), ("s2", 0, 1.0), ("s2", 1, 1.0),
    ]  # fmt: skip
    assert (log.header.repeats, log.header.n_claimed) == (2, 4)


# ── claims ───────────────────────────────────────────────────────────────────────────────────────────────

_SURE = {
    "standard_error": {"value": 0.2, "method": "analytic"},
    "standard_deviation": 0.4,
    "confidence_interval": {"lower": 0.1, "upper": 0.9, "confidence_level": 0.95, "method": "wald"},
    "num_samples": 4,
}


def test_how_sure_it_is_are_claims_too(tmp_path: Path) -> None:
    details = {"score": 0.5, "uncertainty": _SURE}
    log, _ = only(laid(tmp_path, [row(f"s{n}", n % 2) for n in range(4)], result(score_details=details)))
    assert [(one.metric, one.value, one.formula) for one in log.header.claims] == [
        ("accuracy", 0.5, "mean"),
        ("standard_error", 0.2, "stderr"),
        ("standard_deviation", 0.4, "std"),
        ("confidence_interval_lower", 0.1, None),
        ("confidence_interval_upper", 0.9, None),
        ("num_samples", 4.0, "n_scored"),
    ]
    assert (
        claim(log, "confidence_interval_upper").why_not
        == "a bound of an interval by wald, which is not computed again here"
    )
    assert claim(log, "standard_error").where == "evaluation_results[0].score_details.uncertainty.standard_error.value"


def test_an_error_over_items_that_were_asked_twice_is_of_their_means(tmp_path: Path) -> None:
    details = {"score": 0.5, "uncertainty": _SURE | {"num_samples": 2}}
    rows = [row(f"s{n}", n % 2) for n in (0, 1, 0, 1)]
    log, _ = only(laid(tmp_path, rows, result(score_details=details), detailed_evaluation_results={
        "format": "jsonl", "file_path": f"{NAME}_samples.jsonl",
    }))  # fmt: skip
    assert claim(log, "standard_error").reducer == "mean"
    assert (claim(log, "num_samples").formula, claim(log, "num_samples").reducer) == ("n_scored", "mean")
    assert log.header.n_claimed == 4  # of two items, each twice


_BY_X = {"metric_parameters": {"aggregation": "x"}}


@pytest.mark.parametrize(
    ("config", "formula", "reducer", "why_not"),
    [
        ({}, "mean", None, ""),
        ({"metric_kind": "elo"}, None, None, "elo is a rating of many models"),
        ({"metric_id": "f1_macro"}, None, None, "macro is of all samples together, and of none alone"),
        ({"metric_name": "Exact match"}, "mean", None, ""),
        ({"metric_name": "Median score"}, "median", None, ""),
        ({"metric_kind": "pass_at_k", "metric_parameters": {"k": 4}}, "mean", "pass_at_4", ""),
        ({"metric_kind": "pass_at_k", "metric_parameters": {"k": 1}}, "mean", None, ""),
        (_BY_X, None, None, "it is aggregated by x, which is not done again here"),
    ],
)  # fmt: skip
def test_which_formula_a_metric_has(
    tmp_path: Path, config: dict[str, Any], formula: str | None, reducer: str | None, why_not: str
) -> None:
    log, _ = only(laid(tmp_path, [row()], result(metric_config=metric(**config))))
    found = log.header.claims[0]
    assert (found.formula, found.reducer, found.why_not) == (formula, reducer, why_not)


def test_the_scale_and_who_judged(tmp_path: Path) -> None:
    judges = [{"model_info": {"name": "j", "id": f"acme/{one}"}} for one in ("j1", "j2")]
    config = metric(
        lower_is_better=True, min_score="-Infinity", max_score=10, llm_scoring={"judges": judges, "input_prompt": "?"}
    )
    log, _ = only(laid(tmp_path, [row(score=3)], result(metric_config=config)))
    (scorer,) = log.header.scorers
    assert (scorer.lowest, scorer.highest, scorer.higher_is_better, scorer.judge) == (
        None,
        10.0,
        False,
        "acme/j1, acme/j2",
    )


def test_rows_from_0_to_1_of_a_metric_in_percent_are_parts_of_it(tmp_path: Path) -> None:
    config = metric(metric_unit="percent", max_score=100.0)
    log, samples = only(laid(tmp_path, [row("s1", 1.0), row("s2", 0.5)], result(75.0, metric_config=config)))
    assert [(one.scores["capitals"].value, one.scores["capitals"].said) for one in samples] == [
        (100.0, "1.0"),
        (50.0, "0.5"),
    ]
    assert log.header.claims[0].value == 75.0


def test_an_aggregate_alone_claims_what_nobody_can_tell(tmp_path: Path) -> None:
    details = {"score": 0.5, "uncertainty": {"num_samples": 80}}
    log, samples = only(laid(tmp_path, None, result(score_details=details)))
    assert samples == []
    assert log.header.n_claimed == 80
    assert {one.why_not for one in log.header.claims} == {"the log holds no samples of this result"}
    assert codes(log) == {"samples_absent": 1}


# ── what was not scored ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("changes", "value", "unscored", "failure"),
    [
        pytest.param({"score": 0.0, "error": None}, 0.0, None, None, id="wrong"),
        pytest.param({"score": 0.0, "error": " "}, 0.0, None, None, id="a blank error is none"),
        pytest.param(
            {"score": 0.0, "error": "no sandbox"}, None, "error", LogFailure(message="no sandbox"),
            id="the harness failed",
        ),
        pytest.param(
            {"score": 0.0, "error": "It timed out"}, None, "error", LogFailure(message="It timed out", kind="timeout"),
            id="it took too long",
        ),
        pytest.param({"score": 0.0, "error": "refusal"}, 0.0, None, None, id="a refusal is the model's doing"),
        pytest.param({"score": 0.5, "error": "retried once"}, 0.5, None, None, id="an error beside a real score"),
        pytest.param({"score": None}, None, "no score", None, id="null"),
        pytest.param({"score": True}, 1.0, None, None, id="a word, before 0.2.1"),
    ],
)  # fmt: skip
def test_an_error_says_that_nothing_was_scored(
    tmp_path: Path, changes: dict[str, Any], value: float | None, unscored: str | None, failure: LogFailure | None
) -> None:
    log, (sample,) = only(laid(tmp_path, [row(**changes)], result()))
    score = sample.scores["capitals"]
    assert (score.value, score.unscored, sample.failure) == (value, unscored, failure)
    if changes.get("error") == "retried once":
        assert codes(log) == {"error_beside_score": 1}
        assert sample.metadata["error"] == "retried once"
    if failure:
        assert score.said == "0.0"


def test_a_bare_nan_is_no_score_and_neither_is_an_unknown_level(tmp_path: Path) -> None:
    config = metric(
        score_type="levels", level_names=["bad", "good"], has_unknown_level=True, min_score=None, max_score=None
    )
    rows = [row("s1", float("nan")), row("s2", -1), row("s3", 1)]
    log, samples = only(laid(tmp_path, rows, result(metric_config=config)))
    assert [one.scores["capitals"].unscored for one in samples] == ["the score is NaN", "its level is unknown", None]
    assert (log.header.scorers[0].lowest, log.header.scorers[0].highest) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("config", "score", "correct", "passed", "contradiction"),
    [
        ({}, 1.0, True, True, False),
        ({}, 0.0, False, False, False),
        ({}, 0.7, False, None, False),  # tools write false of a score in between for want of a word
        ({}, 0.0, True, None, True),
        ({"score_type": "binary"}, 1.0, False, False, True),
        ({"lower_is_better": True}, 1.0, False, False, False),
        ({"lower_is_better": True}, 1.0, True, None, True),
    ],
)
def test_is_correct_is_taken_where_it_is_of_the_score(
    tmp_path: Path, config: dict[str, Any], score: float, correct: bool, passed: bool | None, contradiction: bool
) -> None:
    one = row(evaluation={"score": score, "is_correct": correct})
    log, (sample,) = only(laid(tmp_path, [one], result(metric_config=metric(**config))))
    assert sample.scores["capitals"].passed is passed
    assert ("contradiction" in codes(log)) is contradiction


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_with_tools(tmp_path: Path) -> None:
    messages = [
        {"turn_idx": 0, "role": "user", "content": "Weather?"},
        {"turn_idx": 1, "role": "assistant", "content": None, "tool_calls": [{"id": "t", "name": "weather"}]},
        {"turn_idx": 2, "role": "tool", "content": "rain", "tool_call_id": ["t"]},
        {"turn_idx": 3, "role": "assistant", "content": "It rains."},
    ]
    _, (sample,) = only(laid(tmp_path, [row(interaction_type="agentic", output=None, messages=messages)], result()))
    assert sample.answer == "It rains."
    assert sample.messages == [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "tool_calls": [{"id": "t", "name": "weather"}]},
        {"role": "tool", "content": "rain", "tool_call_id": ["t"]},
    ]


def test_the_rest_of_a_row(tmp_path: Path) -> None:
    one = row(
        input={"raw": "Q", "formatted": "[INST]Q", "reference": ["a", "b"], "choices": ["a", "b", "c"]},
        output={"raw": ["first", "second"], "reasoning_trace": ["hm"]},
        performance={"latency_ms": 12.6},
        answer_attribution=[
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": "f",
                "extraction_method": "x",
                "is_terminal": True,
            }
        ],
        metadata={"subject": "law", "stop_reason": "stop"},
    )
    _, (sample,) = only(laid(tmp_path, [one], result()))
    assert (sample.prompt, sample.references, sample.choices) == ("Q", ("a", "b"), ("a", "b", "c"))
    assert (sample.answer, sample.scores["capitals"].answer) == ("first", "f")
    assert (sample.latency_ms, sample.finish_reason) == (13, "stop")
    assert sample.metadata == {
        "subject": "law", "stop_reason": "stop", "formatted": "[INST]Q", "outputs": ["first", "second"],
        "reasoning_trace": ["hm"],
    }  # fmt: skip


def test_older_schemas_are_read_and_told(tmp_path: Path) -> None:
    """0.2.0 has texts where 0.3 has lists, and `interactions`; its rows name their schema with a prefix."""
    turns = [{"turn_idx": 0, "role": "user", "content": "Q"}, {"turn_idx": 1, "role": "assistant", "content": "B"}]
    old = {"schema_version": "instance_level_eval_0.2.0"}
    rows = [
        row("s1", input={"raw": "Q", "reference": "A"}, output={"raw": "A"}, **old),
        row("s2", interaction_type="multi_turn", output=None, interactions=turns, **old),
    ]
    log, samples = only(laid(tmp_path, rows, result(), schema_version="0.2.0"))
    assert [one.answer for one in samples] == ["A", "B"]
    assert samples[0].references == ("A",)
    assert log.header.form == "Every Eval Ever, schema 0.2.0 (read as 0.3.0)"
    assert codes(log) == {"old_schema": 1}


# ── hashes ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_samples_hash_is_that_of_the_guide() -> None:
    """The value is that of the tool's own example, which its adapters computed."""
    found = sample_hash("What is 2 + 2?", ["4"])
    assert found == "9c94305328f8e70341f9d1880f4eaa6ea7f93b8922e6a03a8cdcf1924d28db0b"


@pytest.mark.parametrize("text", ["Qab", "Qa"])
def test_hashes_of_converters_are_right_as_well(tmp_path: Path, text: str) -> None:
    """Of the input and all references, or the first alone: as the tool's converters of two other tools have it."""
    one = row(input={"raw": "Q", "reference": ["a", "b"]}, sample_hash=hashlib.sha256(text.encode()).hexdigest())
    log, _ = only(laid(tmp_path, [one], result()))
    assert codes(log) == {}


def test_a_hash_of_another_sample_is_noted(tmp_path: Path) -> None:
    good = sample_hash("What is the capital of s1?", ["Paris"])
    log, _ = only(laid(tmp_path, [row("s1", sample_hash=good), row("s2", sample_hash=good)], result()))
    assert codes(log) == {"hash_mismatch": 1}
    assert good in hashes_of(EvalRow(**json_row(row("s1"))))


def json_row(one: dict[str, Any]) -> dict[str, Any]:
    from benchbook.exchange.every_eval_ever.form import RowEvaluation, RowInput

    kept = {name: one[name] for name in ("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id")}
    return kept | {"input": RowInput(**one["input"]), "evaluation": RowEvaluation()}


# ── where the samples are ────────────────────────────────────────────────────────────────────────────────


def test_samples_below_the_aggregate_are_found_and_others_never(tmp_path: Path) -> None:
    """`file_path` is anybody's word."""
    data = lines(row())
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "out.jsonl").write_bytes(data)
    (tmp_path / "in" / "deep" / "rows.jsonl").write_bytes(data)
    (tmp_path / "in" / "link.jsonl").symlink_to(tmp_path / "out.jsonl")

    def held(path: str) -> int:
        place = laid(
            tmp_path / "in", None, result(), detailed_evaluation_results={"format": "jsonl", "file_path": path}
        )
        return len(only(place)[1])

    assert held("deep/rows.jsonl") == 1
    assert held("data/x/deep/rows.jsonl") == 1
    for elsewhere in (
        "../out.jsonl",
        str(tmp_path / "out.jsonl"),
        "link.jsonl",
        "deep/../../out.jsonl",
        "",
        "\0",
        f"{NAME}.json/x",
    ):
        assert held(elsewhere) == 0, elsewhere


def test_samples_that_were_changed_since_are_told(tmp_path: Path) -> None:
    log, samples = only(
        laid(tmp_path, [row("s1"), row("s2")], result(), named={"checksum": "00" * 32, "total_rows": 5})
    )
    assert len(samples) == 2
    assert log.header.n_claimed == 5
    assert codes(log) == {"changed_samples": 1, "rows_missing": 3}


# ── hostile and broken ───────────────────────────────────────────────────────────────────────────────────

_BROKEN: list[Any] = [
    pytest.param(lambda data: data[:-40], "rows.jsonl:2", "no whole JSON", id="cut off"),
    pytest.param(lambda data: data + b"nonsense\n", "rows.jsonl:3", "no whole JSON", id="no JSON"),
    pytest.param(lambda data: data.replace(b"0.3.0", b"0.9.0", 1), "1: schema_version", "schema '0.9.0'", id="newer"),
    pytest.param(lambda data: data.replace(b"{", b'{"x": ' + b"[" * 10_000 + b"]" * 10_000 + b", ", 1), "rows.jsonl:1",
                 "JSON nested too deeply", id="deep"),
    pytest.param(lambda data: data.replace(b'"score": 1.0', b'"score": ' + b"9" * 5000, 1), "rows.jsonl:1",
                 "another form", id="a huge number"),
    pytest.param(lambda data: data.replace(b'"output"', b'"no_output"', 1), "rows.jsonl:1: output",
                 "none of a single turn", id="no output"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "where", "found"), _BROKEN)
def test_what_makes_no_sense_is_refused_with_its_place(
    tmp_path: Path, change: Callable[[bytes], bytes], where: str, found: str
) -> None:
    (tmp_path / "rows.jsonl").write_bytes(change(lines(row("s1"), row("s2"))))
    with pytest.raises(InputError) as error:
        logs_at(tmp_path / "rows.jsonl")
    assert where in str(error.value)
    assert found in str(error.value)


def test_an_aggregate_of_another_schema_or_form_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    for changes, found in (
        ({"schema_version": "1.0.0"}, "schema '1.0.0'"),
        ({"evaluation_results": 3}, "another form"),
    ):
        place.write_text(json.dumps(aggregate(result()) | changes), "utf-8")
        with pytest.raises(InputError, match=found):
            logs_at(place)


def test_rows_of_nothing_but_others_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"found rows of 'other' of 'acme/m1'; expected rows of 'capitals/acme_m1/1750000000'"
    ):
        logs_at(laid(tmp_path, [row(evaluation_id="other")], result()))


def test_odd_texts_are_read_as_they_are(tmp_path: Path) -> None:
    """Half a surrogate pair, a number for an id, keys twice, a byte-order mark, blank lines, no newline at the end."""
    data = lines(row("s1", output={"raw": ["x"]})).replace(b'"x"', rb'"\ud800\u001b[2J"') + b"\n"
    data += lines(row("s2")).replace(b'"s2"', b"2").replace(b'"model_id"', b'"model_id": "z", "model_id"').rstrip()
    (tmp_path / "rows.jsonl").write_bytes(b"\xef\xbb\xbf" + data)
    _, samples = only(tmp_path / "rows.jsonl")
    assert [one.id for one in samples] == ["s1", "2"]
    assert samples[0].answer == "\\ud800\x1b[2J"


def test_other_json_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema_version": "0.3.0", "evaluation_results": []}', "utf-8")
    (tmp_path / "b.jsonl").write_text('{"sample_id": "s1", "score": 1}\n', "utf-8")
    os.mkfifo(tmp_path / "c.json")
    with pytest.raises(InputError, match="a folder without any log"):
        logs_at(tmp_path)


def test_a_few_rows_of_many_samples_are_told_by_the_scores_number(tmp_path: Path) -> None:
    """As of a converter that was given a part of the rows: the score is of 5,000 samples."""
    details = {"score": 0.0, "uncertainty": {"num_samples": 5000}}
    log, samples = only(laid(tmp_path, [row("s1", 0.0), row("s2", 0.0)], result(score_details=details)))
    assert (log.header.n_claimed, len(samples)) == (5000, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"benchbook": json.dumps({"repeat": 10**30})}},
        {"metadata": {"benchbook": "[" * 10_000}},
        {"performance": {"latency_ms": 1e300}},
    ],
)
def test_numbers_beyond_any_count_are_none(tmp_path: Path, changes: dict[str, Any]) -> None:
    _, (sample,) = only(laid(tmp_path, [row(**changes)], result()))
    assert (sample.repeat, sample.latency_ms) == (0, None)
