"""lm-evaluation-harness's files, made by hand: what is read of them, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.lm_eval.reading import opened
from benchbook.exchange.log import ForeignLog, LogSample
from benchbook.exchange.tools import opened_logs, recognised, seen_at
from exchange.lm_eval.harness_files import TIME, choice_row, results, row, task_hash, write_run
from support import shared_data

NUMBERS = {"sample_len": 3, "acc,none": 2 / 3, "acc_stderr,none": 1 / 3}


def logs_of(path: Path) -> dict[str, ForeignLog]:
    return {log.header.task: log for log in opened(path)}


def samples_of(path: Path, *, whole: bool = True) -> list[LogSample]:
    (log,) = opened(path)
    return list(log.samples(whole=whole))


def codes_of(log: ForeignLog) -> dict[str, int]:
    list(log.samples())
    return {one.code: one.n for one in log.notes()}


# ── a run ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_task_is_a_log_with_its_samples_and_the_run_s_header(tmp_path: Path) -> None:
    rows = [row(0, acc=1.0), row(1, acc=1.0), row(2, "5", acc=0.0)]
    (log,) = opened_logs(write_run(tmp_path / "acme__m", results({"sums": NUMBERS}), {"sums": rows}))
    header = log.header
    assert (header.tool, header.tool_version, header.task, header.model) == ("lm_eval", "0.4.13", "sums", "acme/m")
    assert (header.dataset, header.status, header.n_claimed) == ("acme/data:main", "complete", 3)
    assert header.created_at == "2026-01-02T03:04:05.250000Z"
    assert header.prompt_template == "What is {{q}}?"
    assert header.generation_params == {"until": ["\n"], "temperature": 0.0}
    assert header.metadata["num_fewshot"] == 5
    (scorer,) = header.scorers
    assert (scorer.name, scorer.lowest, scorer.highest, scorer.higher_is_better) == ("acc,none", 0.0, 1.0, True)
    assert sorted(log.files) == [f"results_{TIME}.json", f"samples_sums_{TIME}.jsonl"]
    first, _, last = log.samples()
    assert (first.id, first.prompt, first.references, first.answer) == ("0", "What is 0?", ("4",), "4")
    assert first.metadata == {"doc": {"q": 0}, "target": "4"}
    assert (first.scores["acc,none"].value, first.scores["acc,none"].answer, first.where) == (1.0, "4", "line 1")
    assert (last.scores["acc,none"].value, last.where) == (0.0, "line 3")
    assert log.notes()[0].code == "limited"


def test_no_key_of_the_model_s_arguments_is_kept(tmp_path: Path) -> None:
    (log,) = opened(write_run(tmp_path, results({"sums": NUMBERS}), {}))
    assert log.header.metadata["model_args"]["max_length"] == "8"
    assert not {"verysecret", "u:pw1"} & {word for word in ("verysecret", "u:pw1") if word in str(log.header)}


def test_without_its_document_a_sample_is_the_same(tmp_path: Path) -> None:
    path = write_run(tmp_path, results({"sums": NUMBERS}), {"sums": [row(k, acc=1.0) for k in range(3)]})
    for whole, lean in zip(samples_of(path), samples_of(path, whole=False), strict=True):
        assert lean.metadata == {}
        whole.metadata = {}
        assert lean == whole


def test_claims_have_their_place_and_their_formula(tmp_path: Path) -> None:
    (log,) = opened(write_run(tmp_path, results({"sums": NUMBERS}), {"sums": [row(0, acc=1.0)]}))
    assert [(one.where, one.scorer, one.metric, one.value, one.formula) for one in log.header.claims] == [
        ("results.sums.sample_len", "", "sample_len", 3.0, "n_samples"),
        ("results.sums.acc,none", "acc,none", "acc", 2 / 3, "mean"),
        ("results.sums.acc_stderr,none", "acc,none", "acc_stderr", 1 / 3, "stderr"),
        ("n-samples.sums.effective", "", "effective", 3.0, "n_samples"),
    ]


@pytest.mark.parametrize(
    ("metric", "aggregation", "formula", "of_error"),
    [
        ("m", "mean", "mean", "stderr"),
        ("m", "nanmean", "mean", None),
        ("m", "median", "upper_median", None),
        ("perplexity", "perplexity", "perplexity", None),
        ("word_perplexity", None, "weighted_perplexity", None),
        ("bits_per_byte", "bits_per_byte", "bits_per_unit", None),
        ("f1", None, "f1", None),
        ("mcc", "matthews_corrcoef", "matthews", None),
        ("bleu", "bleu", None, None),
        ("brier_score", None, None, None),
        ("m", "def mine(items):\n    return max(items)\n", None, None),
        ("unlisted", None, None, None),
    ],
)
def test_the_formula_is_that_of_the_task_s_aggregation(
    tmp_path: Path, metric: str, aggregation: str | None, formula: str | None, of_error: str | None
) -> None:
    stated = results({"t": {f"{metric},none": 0.5, f"{metric}_stderr,none": 0.1}})
    listed: dict[str, Any] = (
        {"metric": metric} if aggregation is None else {"metric": metric, "aggregation": aggregation}
    )
    stated["configs"]["t"]["metric_list"] = None if metric == "unlisted" else [listed]
    (log,) = opened(write_run(tmp_path, stated, {}))
    value, error, _ = log.header.claims
    assert (value.formula, error.formula) == (formula, of_error)
    assert all(bool(one.why_not) == (one.formula is None) for one in log.header.claims)


@pytest.mark.parametrize("stated", ["N/A", None, float("nan"), float("inf"), True, "0.5", [1]])
def test_what_is_no_number_is_claimed_as_none(tmp_path: Path, stated: Any) -> None:
    (log,) = opened(write_run(tmp_path, results({"t": {"acc,none": 0.5, "acc_stderr,none": stated}}), {}))
    error = log.header.claims[1]
    assert (error.value, error.formula) == (None, None)
    assert "no number" in error.why_not


# ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────

TWO = {"sample_len": 3, "em,strict": 1 / 3, "em,loose": 2 / 3}


def _two_filters(ids: list[int] = [0, 1, 2]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:  # noqa: B006
    strict = [row(k, "#### 4", filtered_by="strict", em=float(k == 0)) for k in ids]
    loose = [row(k, "#### 4", filtered_by="loose", em=float(k < 2)) for k in ids]
    for one in loose:
        one["filtered_resps"] = ["4"]
    return strict, loose


def test_rows_of_several_filters_are_one_sample(tmp_path: Path) -> None:
    strict, loose = _two_filters()
    found = samples_of(write_run(tmp_path, results({"t": TWO}), {"t": strict + loose}))
    assert [(one.id, one.repeat, one.where) for one in found] == [
        ("0", 0, "line 1"),
        ("1", 0, "line 2"),
        ("2", 0, "line 3"),
    ]
    assert [[score.value for score in one.scores.values()] for one in found] == [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    assert list(found[0].scores) == ["em,strict", "em,loose"]
    assert (found[0].answer, found[0].scores["em,loose"].answer) == ("#### 4", "4")


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(lambda a, b: [*a[::2], *b[::2], *a[1::2], *b[1::2]], id="two processes"),
        pytest.param(lambda a, b: [one for pair in zip(a, b, strict=True) for one in pair], id="by document"),
        pytest.param(lambda a, b: [*a, *b[::-1]], id="one backwards"),
        pytest.param(lambda a, b: [*a[::-1], *b], id="the other backwards"),
        pytest.param(lambda a, b: [*b, *a], id="filters in another order"),
    ],
)
@pytest.mark.parametrize("n", [3, 300])
def test_the_order_of_rows_is_nothing_to_a_sample(tmp_path: Path, order: Any, n: int) -> None:
    strict, loose = _two_filters(list(range(n)))
    found = samples_of(write_run(tmp_path, results({"t": TWO}), {"t": order(strict, loose)}))
    assert sorted(int(one.id) for one in found) == list(range(n))
    assert all(one.repeat == 0 and len(one.scores) == 2 for one in found)
    assert all(one.scores["em,strict"].value == float(one.id == "0") for one in found)


@pytest.mark.parametrize(("without", "ids"), [(4, ["0", "1", "2"]), (1, ["0", "2", "1"])])
def test_a_row_that_is_missing_is_noted_and_moves_no_other(tmp_path: Path, without: int, ids: list[str]) -> None:
    strict, loose = _two_filters()
    rows = strict + loose
    del rows[without]
    path = write_run(tmp_path, results({"t": TWO}), {"t": rows})
    found = samples_of(path)
    assert [one.id for one in found] == ids
    assert sorted(len(one.scores) for one in found) == [1, 2, 2]
    assert codes_of(*opened(path))["missing_rows"] == 1


def test_documents_that_come_again_are_repeats_and_noted(tmp_path: Path) -> None:
    strict, loose = _two_filters()
    path = write_run(tmp_path, results({"t": TWO}), {"t": strict + loose + strict + loose})
    assert [(one.id, one.repeat) for one in samples_of(path)] == [
        ("0", 0),
        ("1", 0),
        ("2", 0),
        ("0", 1),
        ("1", 1),
        ("2", 1),
    ]
    assert codes_of(*opened(path))["doubled_documents"] == 3


# ── choices and log-likelihoods ──────────────────────────────────────────────────────────────────────────────


def _choices(stated: dict[str, Any]) -> dict[str, Any]:
    stated["configs"]["t"] |= {"output_type": "multiple_choice", "target_delimiter": " "}
    return stated


def test_the_answer_is_the_likeliest_choice(tmp_path: Path) -> None:
    rows = [choice_row(0, [-3.0, -1.0, -2.0], acc=1.0), choice_row(1, [-1.0, -1.0, -2.0], target="2", acc=0.0)]
    first, tied = samples_of(write_run(tmp_path, _choices(results({"t": NUMBERS})), {"t": rows}))
    assert (first.prompt, first.choices, first.answer, first.references) == (
        "Colour 0?", ("red", "green", "blue"), "green", ("green",),
    )  # fmt: skip
    assert (tied.answer, tied.references, tied.scores["acc,none"].answer) == ("red", ("blue",), "red")
    assert first.metadata["log_likelihoods"] == [-3.0, -1.0, -2.0]


def test_an_unknown_log_likelihood_leaves_no_answer(tmp_path: Path) -> None:
    rows = [choice_row(0, [-3.0, float("nan"), -2.0], acc=1.0)]
    (found,) = samples_of(write_run(tmp_path, _choices(results({"t": NUMBERS})), {"t": rows}))
    assert (found.answer, found.scores["acc,none"].value) == (None, 1.0)


@pytest.mark.parametrize(
    ("target", "references"),
    [("0", ("red",)), ("[0, 2]", ("red", "blue")), ("blue", ("blue",)), ("7", ()), (1, ("green",)), ("", ())],
)
def test_a_target_names_choices_by_number_or_text(tmp_path: Path, target: Any, references: tuple[str, ...]) -> None:
    rows = [{**choice_row(0, [-1.0, -2.0, -3.0], acc=1.0), "target": target}]
    (found,) = samples_of(write_run(tmp_path, _choices(results({"t": NUMBERS})), {"t": rows}))
    assert found.references == references


def test_a_target_that_may_be_two_choices_is_no_reference(tmp_path: Path) -> None:
    one = choice_row(0, [-1.0, -2.0, -3.0], target="2", acc=1.0)
    for number, text in enumerate(("2", "3", "4")):
        one["arguments"][f"gen_args_{number}"]["arg_1"] = f" {text}"
    (found,) = samples_of(write_run(tmp_path, _choices(results({"t": NUMBERS})), {"t": [one]}))
    assert (found.choices, found.references, found.answer) == (("2", "3", "4"), (), "2")


def test_choices_weighed_without_their_question_are_no_choices(tmp_path: Path) -> None:
    one = choice_row(0, [-1.0, -2.0, -3.0], acc=1.0)
    for number, text in enumerate(("red", "green", "blue"), 3):
        one["arguments"][f"gen_args_{number}"] = {"arg_0": "", "arg_1": f" {text}"}
        one["resps"].append([["-0.1", "False"]])
    (found,) = samples_of(write_run(tmp_path, _choices(results({"t": NUMBERS})), {"t": [one]}))
    assert (found.choices, found.answer) == (("red", "green", "blue"), "red")


def test_choices_that_stand_in_the_question(tmp_path: Path) -> None:
    one = choice_row(0, [-3.0, -1.0, -2.0], acc=1.0)
    for number, name in enumerate(("Ann", "Bob", "Cy")):
        one["arguments"][f"gen_args_{number}"] = {"arg_0": f"It was {name}", "arg_1": " who won."}
    (found,) = samples_of(write_run(tmp_path, _choices(results({"t": NUMBERS})), {"t": [one]}))
    assert (found.prompt, found.answer) == ("It was ", "It was Bob")


def test_where_nothing_was_written_there_is_no_answer(tmp_path: Path) -> None:
    one = row(0, perplexity=-2.5) | {
        "arguments": {"gen_args_0": {"arg_0": "It is", "arg_1": " four"}},
        "resps": [[["-2.5", "True"]]],
        "filtered_resps": [["-2.5", "True"]],
    }
    rolling = row(1, perplexity=-4.5) | {
        "arguments": {"gen_args_0": {"arg_0": "All of it."}}, "resps": [["-4.5"]], "filtered_resps": ["-4.5"],
    }  # fmt: skip
    for found in samples_of(write_run(tmp_path, None, {"t": [one, rolling]})):
        assert found.answer is None
        assert found.metadata["log_likelihoods"] == [found.scores["perplexity,none"].value]


def test_several_answers_of_a_document_are_scored_together(tmp_path: Path) -> None:
    one = row(0, acc=1.0) | {"resps": [["3", "4", "4"]], "filtered_resps": ["4"]}
    path = write_run(tmp_path, results({"t": NUMBERS}), {"t": [one]})
    (found,) = samples_of(path)
    assert (found.answer, found.metadata["responses"]) == ("4", ["3", "4", "4"])
    assert codes_of(*opened(path))["several_answers"] == 1


def test_a_conversation_has_its_messages(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
    ]
    one = row(0, acc=1.0)
    one["arguments"]["gen_args_0"]["arg_0"] = [json.dumps(messages)]
    path = write_run(tmp_path, None, {"t": [one]})
    (found,) = samples_of(path)
    assert (found.prompt, found.messages) == ("system: Be brief.\n\nuser: Hi", messages)
    assert samples_of(path, whole=False)[0].messages is None


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("held", "value", "parts", "unscored"),
    [
        (1, 1.0, None, None),
        (True, 1.0, None, None),
        (-0.25, -0.25, None, None),
        ("0.5", 0.5, None, None),
        ("True", 1.0, None, None),
        ([-13.5, 9], None, (-13.5, 9.0), None),
        ([0, 1], None, (0.0, 1.0), None),
        (float("nan"), None, None, "NaN"),
        (float("-inf"), None, None, "-Infinity"),
        (10**400, None, None, "no finite number"),
        (None, None, None, "null"),
        (["a", "b"], None, None, "no number of its own"),
        ([1, "[0.5 0.5]"], None, None, "no number of its own"),
        ([], None, None, "no number of its own"),
        ({"a": 1}, None, None, "no number of its own"),
        ("good", None, None, "no number of its own"),
    ],
)
def test_a_value_is_a_number_or_says_why_not(
    tmp_path: Path, held: Any, value: float | None, parts: tuple[float, ...] | None, unscored: str | None
) -> None:
    (found,) = samples_of(write_run(tmp_path, None, {"t": [row(0, m=held)]}))
    score = found.scores["m,none"]
    assert (score.value, score.parts, score.unscored) == (value, parts, unscored)


def test_a_metric_that_a_row_does_not_have_is_no_score(tmp_path: Path) -> None:
    rows = [row(0, a=1.0), row(1, b=0.0), row(2)]
    found = samples_of(write_run(tmp_path, None, {"t": rows}))
    assert [list(one.scores) for one in found] == [["a,none"], ["b,none"], []]


def test_ids_of_any_kind(tmp_path: Path) -> None:
    rows = [row(one, m=1.0) for one in (7, "7", "x", -1, 2**70, 7)]
    found = samples_of(write_run(tmp_path, None, {"t": rows}))
    assert [(one.id, one.repeat) for one in found] == [
        ("7", 0), ("7", 0), ("x", 0), ("-1", 0), (str(2**70), 0), ("7", 1),
    ]  # fmt: skip


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────


def _grouped(group: dict[str, Any], **more: Any) -> dict[str, Any]:
    tasks = {"a": {"sample_len": 3, "acc,none": 1 / 3}, "b": {"sample_len": 1, "acc,none": 1.0}}
    stated = results(tasks, groups={"both": {"alias": "both", **group}}, **more)
    stated["results"]["both"] = {"alias": "both", **group}
    stated["group_subtasks"] = {"outer": ["both", "c"], "both": ["a", "b"], "a": [], "b": []}
    return stated


SAMPLES = {"a": [row(k, acc=float(k == 0)) for k in range(3)], "b": [row(0, acc=1.0)]}


@pytest.mark.parametrize(
    ("value", "formula", "clusters"),
    [(0.5, "mean", None), (2 / 3, "mean_of_means", "task"), (0.9, "mean", None)],
)
def test_a_group_has_its_tasks_samples(tmp_path: Path, value: float, formula: str, clusters: str | None) -> None:
    path = write_run(tmp_path, _grouped({"acc,none": value, "acc_stderr,none": 0.25}), SAMPLES)
    group = logs_of(path)["both"]
    assert (group.header.samples_of, group.header.n_claimed) == (("a", "b"), 4)
    claims = {one.where: one for one in group.header.claims}
    for place in ("results", "groups"):
        one = claims[f"{place}.both.acc,none"]
        assert (one.value, one.formula, one.clusters) == (value, formula, clusters)
        error = claims[f"{place}.both.acc_stderr,none"]
        assert (error.formula, error.clusters) == ("stderr_of_means" if clusters else "pooled_stderr", "task")
    found = list(group.samples(whole=False))
    assert [(one.id, one.metadata) for one in found] == [
        ("a/0", {"task": "a"}), ("a/1", {"task": "a"}), ("a/2", {"task": "a"}), ("b/0", {"task": "b"}),
    ]  # fmt: skip
    assert sorted(group.files) == [f"results_{TIME}.json", f"samples_a_{TIME}.jsonl", f"samples_b_{TIME}.jsonl"]


@pytest.mark.parametrize(
    ("version", "formula"),
    [
        (None, "pooled_stderr"),
        ("0.4.13", "stderr_of_means"),
        ("0.4.12", "pooled_stderr"),
        ("0.4.9.2", "pooled_stderr"),
        ("0.4.2", None),
    ],
)
def test_the_error_of_an_unweighted_mean_differs_between_versions(
    tmp_path: Path, version: str | None, formula: str | None
) -> None:
    stated = _grouped({"acc,none": 2 / 3, "acc_stderr,none": 0.25}, lm_eval_version=version)
    claims = {one.where: one for one in logs_of(write_run(tmp_path, stated, SAMPLES))["both"].header.claims}
    assert claims["results.both.acc_stderr,none"].formula == formula


def test_how_old_versions_pooled_errors_is_not_told(tmp_path: Path) -> None:
    stated = _grouped({"acc,none": 0.5, "acc_stderr,none": 0.25}, lm_eval_version=None, **{"n-samples": None})
    claims = {one.where: one for one in logs_of(write_run(tmp_path, stated, SAMPLES))["both"].header.claims}
    assert claims["results.both.acc_stderr,none"].formula is None


@pytest.mark.parametrize(
    ("version", "error", "formula"),
    [
        ("0.4.9", 0.9, "pooled_stderr"),
        (None, (7 / 90) ** 0.5, "pooled_stderr"),  # ((3 - 1) / 9 * 3 + (2 - 1) / 4 * 2) / (5 - 2) / 5
        (None, 0.9, None),  # 0.4.3 pooled the groups' errors, and 0.4.4 to 0.4.8 those of tasks
    ],
)
def test_the_error_of_a_group_of_groups(tmp_path: Path, version: str | None, error: float, formula: str | None) -> None:
    stated = results({
        "a": {"sample_len": 3, "acc,none": 1 / 3, "acc_stderr,none": 1 / 3},
        "c": {"sample_len": 2, "acc,none": 0.5, "acc_stderr,none": 0.5},
    }, lm_eval_version=version)  # fmt: skip
    stated["results"]["outer"] = {"acc,none": 0.4, "acc_stderr,none": error}
    stated["group_subtasks"] = {"outer": ["inner", "c"], "inner": ["a"]}
    claims = {one.where: one for one in logs_of(write_run(tmp_path, stated, {}))["outer"].header.claims}
    assert claims["results.outer.acc_stderr,none"].formula == formula


def test_a_group_that_holds_itself_ends(tmp_path: Path) -> None:
    stated = _grouped({"acc,none": 0.5})
    stated["group_subtasks"]["both"] = ["a", "both", "b", "outer"]
    assert logs_of(write_run(tmp_path, stated, SAMPLES))["both"].header.samples_of == ("a", "b")


# ── hashes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_hash_of_a_task_s_rows_holds(tmp_path: Path) -> None:
    strict, loose = _two_filters()
    stated = results({"t": TWO}, task_hashes={"t": task_hash(strict + loose)})
    assert codes_of(*opened(write_run(tmp_path, stated, {"t": strict + loose}))) == {"limited": 7}


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda rows: rows.pop(), {"task_hash", "missing_rows"}),
        (lambda rows: rows.reverse(), {"task_hash"}),
        (lambda rows: rows[0].update(target="5"), {"target_hash"}),
        (lambda rows: rows[0]["arguments"]["gen_args_0"].update(arg_0="What?"), {"prompt_hash"}),
        (lambda rows: rows[0].update(target_hash="0" * 64), {"target_hash", "task_hash"}),
        (lambda rows: rows[0].update(em=0.5), set()),
    ],
)
def test_what_was_changed_is_noted(tmp_path: Path, change: Any, codes: set[str]) -> None:
    strict, loose = _two_filters()
    rows = strict + loose
    stated = results({"t": TWO}, task_hashes={"t": task_hash(rows)})
    change(rows)
    assert set(codes_of(*opened(write_run(tmp_path, stated, {"t": rows})))) - {"limited"} == codes


def test_rows_without_hashes_are_not_checked(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row(0, acc=1.0).items() if not key.endswith("_hash")}]
    stated = results({"t": NUMBERS}, task_hashes={"t": "0" * 64})
    assert set(codes_of(*opened(write_run(tmp_path, stated, {"t": rows})))) == {"limited"}


# ── real files ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_real_run_that_was_cut(tmp_path: Path) -> None:
    held, absent = opened_logs(shared_data("foreign-logs") / "lm_eval")
    samples = list(held.samples())
    assert (held.header.task, held.header.n_claimed, len(samples)) == ("math_perturbed_full", 5000, 10)
    assert {score.value for one in samples for score in one.scores.values()} == {0.0}
    assert samples[0].references == ("3",)
    assert [one.code for one in held.notes()] == ["task_hash"]
    assert (absent.header.form, absent.header.n_claimed, list(absent.samples())) == ("results alone", 5000, [])
    assert [one.value for one in absent.header.claims[:2]] == [0.0004, 0.0002828144211304471]


def test_what_the_harness_wrote_is_recognised(tmp_path: Path) -> None:
    write_run(tmp_path / "run", results({"sums": NUMBERS}), {"sums": [row(0, acc=1.0)]})
    for path in (tmp_path / "run", *(tmp_path / "run").iterdir()):
        assert recognised(path).name == "lm_eval"


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"results": []}', '{"results": {"version": 2, "stats": {}}}', '{"doc_id": 1}', '{"results": {}}',
     '{"evalId": "eval-1", "results": {"alias": {}}}', '{"eval": {}, "samples": []}'],
)  # fmt: skip
def test_what_others_wrote_is_not(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    from benchbook.exchange.lm_eval.reading import recognises

    assert not recognises(seen_at(path))
    assert not recognises(seen_at(tmp_path))
    with pytest.raises(InputError, match="no file of the harness"):
        opened(path)
