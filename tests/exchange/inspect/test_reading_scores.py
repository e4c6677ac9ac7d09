"""Values as numbers, their names, the claims made of them, and judges whose verdict is read by guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.audit.auditing import audited
from benchbook.exchange.inspect.reading_judges import doubt_of
from benchbook.exchange.inspect.reading_values import as_number
from benchbook.exchange.log import Claim, LogSample
from inspect_made import as_file, header, open_log, sample, scores


def of(folder: Path, *samples: dict[str, Any], **head: Any) -> tuple[list[LogSample], list[str]]:
    """The samples of a log, and the codes of its notes."""
    with open_log(as_file(folder, samples, header(**head))) as log:
        return list(log.samples()), [note.code for note in log.notes()]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        ("c", None),
        ("yes", 1.0),
        ("YES", 1.0),
        ("True", 1.0),
        ("no", 0.0),
        ("False", 0.0),
        ("3.14", 3.14),
        ("-5", -5.0),
        ("1e3", 1000.0),
        (" 7 ", 7.0),
        ("maybe", None),
        ("", None),
        (True, 1.0),
        (False, 0.0),
        (2, 2.0),
        (0.25, 0.25),
        (-1, -1.0),
        ("nan", None),
        ("inf", None),
        (None, None),
        (10**400, None),
        ([1], None),
        ({"a": 1}, None),
    ],
)
def test_values_are_the_numbers_that_inspect_takes_them_for(value: Any, number: float | None) -> None:
    assert as_number(value) == number


@pytest.mark.parametrize(
    ("score", "expected", "notes"),
    [
        pytest.param({"value": "P"}, (0.5, "P", None), [], id="partial"),
        pytest.param({"value": "maybe"}, (0.0, "maybe", None), ["no_number"], id="no-number"),
        pytest.param({"value": None}, (None, None, "null"), [], id="null"),
        pytest.param({"value": float("nan")}, (None, None, "NaN"), [], id="NaN"),
        pytest.param({"value": float("nan"), "reason": "refusal"}, (None, None, "refusal"), [], id="reason"),
        pytest.param(
            {"value": float("nan"), "metadata": {"unscored_reason": "grade_parse"}},
            (None, None, "grade_parse"),
            [],
            id="reason-of-before",
        ),
        pytest.param({"value": float("-inf")}, (None, None, "no finite number"), [], id="infinite"),
        pytest.param({"value": 1, "history": []}, (1.0, None, None), [], id="never-edited"),
        pytest.param(
            {"value": 0, "history": [{"value": 1}, {"value": 0, "provenance": {"author": "ann"}}]},
            (0.0, None, None),
            ["edited_score"],
            id="edited",
        ),
        pytest.param(
            {"value": 0, "history": [{"value": 0, "provenance": {"author": "ann"}}]},
            (0.0, None, None),
            ["edited_score"],
            id="added-later",
        ),
    ],
)
def test_a_score_is_a_number_or_has_a_reason(
    score: dict[str, Any], expected: tuple[Any, ...], notes: list[str], tmp_path: Path
) -> None:
    (read,), found = of(tmp_path, sample(scores={"match": score}))
    made = read.scores["match"]
    assert ((made.value, made.said, made.unscored), found) == (expected, notes)


def test_words_of_a_score_are_kept(tmp_path: Path) -> None:
    score = {"value": "C", "answer": {"x": [1]}, "explanation": "because \x1b[31m"}
    (read,), _ = of(tmp_path, sample(scores={"match": score}))
    assert (read.scores["match"].answer, read.scores["match"].explanation) == ('{"x":[1]}', "because \x1b[31m")


def test_parts_of_a_value_have_the_names_of_the_results(tmp_path: Path) -> None:
    value = {"length": 4, "right": "C", "other": None, "more": float("nan")}
    results = {
        "scores": [scores("length", "parts", mean=4), scores("right", "parts", accuracy=1), scores("list", mean=1)]
    }
    (read,), notes = of(
        tmp_path, sample(scores={"parts": {"value": value}, "list": {"value": [1, "I"]}}), results=results
    )
    assert {name: (one.value, one.unscored) for name, one in read.scores.items()} == {
        "length": (4.0, None),
        "right": (1.0, None),
        "parts.other": (None, "null"),
        "parts.more": (None, "NaN"),
        "list.1": (1.0, None),
        "list.2": (0.0, None),
        "list": (None, "a value of several parts"),
    }
    assert notes == ["null_part"]


def test_numbers_of_a_value_of_several_parts_are_not_computed(tmp_path: Path) -> None:
    """Of the whole, that is: each part's are."""
    results = {"scores": [scores("parts", own=3, accuracy=1), scores("a", "parts", mean=1)]}
    log = open_log(as_file(tmp_path, [sample(scores={"parts": {"value": {"a": 1}}})], header(results=results)))
    claims = {(one.scorer, one.metric): (one.formula, one.why_not) for one in log.header.claims}
    assert claims["parts", "accuracy"] == (None, "its values have several parts")
    assert claims["a", "mean"] == ("mean", "")


GROUPED = {"metric": {"type": "metric", "name": "mean", "params": {}}, "group_key": "kind"}
CLUSTERED = {"metric": {"type": "metric", "name": "stderr", "params": {"cluster": "family"}}, "group_key": "kind"}


def metric(name: str, value: Any = 0.5, group: str | None = None, **params: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "params": params} | ({} if group is None else {"group": group})


@pytest.mark.parametrize(
    ("told", "formula", "more"),
    [
        pytest.param(metric("accuracy"), "mean", {}, id="accuracy"),
        pytest.param(metric("inspect_ai/mean"), "mean", {}, id="with-its-package"),
        pytest.param(metric("stderr"), "stderr", {}, id="stderr"),
        pytest.param(metric("stderr", cluster="family"), "stderr_of_clusters", {"clusters": "family"}, id="clusters"),
        pytest.param(
            {"name": "stderr", "value": 1, "options": {"cluster": "f"}},
            "stderr_of_clusters",
            {"clusters": "f"},
            id="options",
        ),
        pytest.param(metric("std"), "std", {}, id="std"),
        pytest.param(metric("var"), "var", {}, id="var"),
        pytest.param(
            metric("accuracy", to_float="mine"),
            None,
            {"why_not": "it turns values into numbers by a rule"},
            id="own-numbers",
        ),
        pytest.param(
            metric("bootstrap_stderr", num_samples=100), None, {"why_not": "it is drawn by chance"}, id="chance"
        ),
        pytest.param(metric("lower", group="ci"), None, {"why_not": "an end of an interval"}, id="interval"),
        pytest.param(
            metric("x", group="frequency"), None, {"why_not": "'frequency' is not computed"}, id="other-group"
        ),
        pytest.param(metric("elo"), None, {"why_not": "'elo' is not computed again here"}, id="unknown"),
        pytest.param(
            metric("pkg/mean"), None, {"why_not": "'pkg/mean' is a metric of the eval's own"}, id="other-package"
        ),
        pytest.param(metric("odd", group="grouped", **GROUPED), "mean", {"only": ("kind", "odd")}, id="group"),
        pytest.param(metric("all", group="grouped", **GROUPED), "mean", {}, id="all-groups"),
        pytest.param(
            metric("all", group="grouped", **GROUPED, all="groups"),
            "mean_of_means",
            {"clusters": "kind"},
            id="mean-of-groups",
        ),
        pytest.param(
            metric("all", group="grouped", **CLUSTERED, all="groups"),
            None,
            {"why_not": "the mean of the groups' numbers"},
            id="mean-of-groups-errors",
        ),
        pytest.param(
            metric("all", group="grouped", **GROUPED, all=False),
            "mean",
            {"only": ("kind", "all")},
            id="group-called-all",
        ),
        pytest.param(
            metric("in odd ones", group="grouped", **GROUPED, name_template="in {group_name} ones"),
            "mean",
            {"only": ("kind", "odd")},
            id="template",
        ),
        pytest.param(
            metric("odd", group="grouped", **CLUSTERED),
            "stderr_of_clusters",
            {"only": ("kind", "odd"), "clusters": "family"},
            id="clusters-in-groups",
        ),
        pytest.param(metric("odd", group="grouped"), None, {"why_not": "does not say by what"}, id="group-of-nothing"),
    ],
)
def test_a_metric_follows_from_values_by_a_formula_or_says_why_not(
    told: dict[str, Any], formula: str | None, more: dict[str, Any], tmp_path: Path
) -> None:
    log = open_log(as_file(tmp_path, [], header(results={"scores": [scores("match", key=told)]})))
    (claim,) = [one for one in log.header.claims if one.metric == "key"]
    assert (claim.scorer, claim.formula, claim.where) == ("match", formula, "results.scores[0].metrics.key")
    assert more.pop("why_not", "") in claim.why_not
    assert {"only": claim.only, "clusters": claim.clusters} == {"only": None, "clusters": None} | more
    assert (claim.formula is None) == bool(claim.why_not)


@pytest.mark.parametrize(
    ("listed", "formula"),
    [
        pytest.param([{"name": "inspect_ai/mean"}], "mean", id="own"),
        pytest.param([{"name": "mean"}], None, id="somebody-else's"),
        pytest.param({"a": [{"name": "mean"}]}, None, id="somebody-else's-of-a-part"),
        pytest.param([{"b": [{"name": "mean"}]}], None, id="mixed"),
        pytest.param(None, "mean", id="not-listed"),
        pytest.param(7, "mean", id="no-list"),
    ],
)
@pytest.mark.parametrize("where", ["scorers", "metrics"])
def test_a_metric_of_the_same_name_may_be_of_the_evals_own(
    listed: Any, formula: str | None, where: str, tmp_path: Path
) -> None:
    told = {"scorers": [{"name": "match", "metrics": listed}]} if where == "scorers" else {"metrics": listed}
    log = open_log(as_file(tmp_path, [], header(eval=told, results={"scores": [scores("match", mean=0.5)]})))
    (claim,) = [one for one in log.header.claims if one.metric == "mean"]
    assert claim.formula == formula


@pytest.mark.parametrize(
    ("epochs", "told", "reducer", "counted", "expected"),
    [
        pytest.param(1, ["mean"], None, None, None, id="one-epoch"),
        pytest.param(2, ["mean"], None, None, "mean", id="as-configured"),
        pytest.param(2, None, None, None, "mean", id="by-default"),
        pytest.param(2, ["mode"], None, None, "mode", id="mode"),
        pytest.param(3, ["mean", "at_least_2"], "at_least_2", None, "at_least_2", id="named"),
        pytest.param(3, ["pass_at_2"], "pass_at_2", 2, "pass_at_2", id="pass-at"),
        pytest.param(1, ["at_least_1"], "at_least_1", None, "at_least_1", id="that-changes-one-value"),
        pytest.param(2, [], None, 4, None, id="none"),
        pytest.param(2, ["mean"], None, 4, None, id="of-all-repeats"),
        pytest.param(2, ["mean"], None, 2, "mean", id="of-items"),
        pytest.param(2, ["mine"], "mine", None, "not known here", id="own"),
    ],
)
def test_repeats_become_one_value_before(
    epochs: int, told: Any, reducer: str | None, counted: int | None, expected: str | None, tmp_path: Path
) -> None:
    more = {"reducer": reducer} | ({} if counted is None else {"scored_samples": counted, "unscored_samples": 0})
    results = {"total_samples": 2 * epochs, "scores": [scores("match", more=more, accuracy=0.5)]}
    head = header(eval={"config": {"epochs": epochs, "epochs_reducer": told}}, results=results)
    (claim,) = [one for one in open_log(as_file(tmp_path, [], head)).header.claims if one.metric == "accuracy"]
    if claim.formula is None:
        assert expected is not None
        assert expected in claim.why_not
    else:
        assert claim.reducer == expected


def test_a_variance_was_that_of_a_population_in_old_versions(tmp_path: Path) -> None:
    for version, formula in (("0.3.60", "population_var"), ("0.3.120", "var"), ("dev", "var")):
        head = header(eval={"packages": {"inspect_ai": version}}, results={"scores": [scores("match", var=0.5)]})
        claims = open_log(as_file(tmp_path, [], head)).header.claims
        assert [one.formula for one in claims if one.metric == "var"] == [formula]


def test_counts_are_claims_too(tmp_path: Path) -> None:
    more = {"scored_samples": 1, "unscored_samples": 1}
    results = {"completed_samples": 1, "scores": [scores("match", more=more, accuracy=float("nan"))]}
    claims: tuple[Claim, ...] = open_log(as_file(tmp_path, [], header(results=results))).header.claims
    assert [(one.scorer, one.metric, one.value, one.formula) for one in claims] == [
        ("", "total_samples", 2.0, "n_samples"),
        ("", "completed_samples", 1.0, "n_completed"),
        ("match", "accuracy", None, "mean"),
        ("match", "scored_samples", 1.0, "n_scored"),
        ("match", "unscored_samples", 1.0, "n_unscored"),
    ]


def test_all_numbers_of_a_log_follow(tmp_path: Path) -> None:
    """By hand: 1, 0, 0.5 and unscored; an error has no score. sqrt(((0.5)^2 + (0.5)^2) / 2 / 3) = 0.28867…"""
    more = {"scored_samples": 3, "unscored_samples": 1}
    results = {
        "total_samples": 5,
        "completed_samples": 4,
        "scores": [scores("match", more=more, accuracy=0.5, stderr=0.28867513459481287, var=0.25)],
    }
    values = ["C", "I", "P", float("nan")]
    samples = [sample(n, value) for n, value in enumerate(values)] + [sample(9, error={"message": "X()"}, scores={})]
    with open_log(as_file(tmp_path, samples, header(results=results))) as log:
        found = audited(log)
    assert {one.metric: one.verdict for one in found.claims} == dict.fromkeys(
        ["total_samples", "completed_samples", "accuracy", "stderr", "var", "scored_samples", "unscored_samples"],
        "follows",
    )


# ── judges ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reply", "said", "words"),
    [
        ("It is right.\n\nGRADE: C", "C", None),
        ("GRADE: I", "I", None),
        ("**GRADE: P**", "P", None),
        ("GRADE:C.", "C", None),
        ("No downgrade: I think.\nGRADE: C", "C", None),
        ("GRADE: I\nno, GRADE: C", "C", "several verdicts: 'I', 'C'"),
        ("GRADE: C GRADE: C", "C", "several verdicts: 'C', 'C'"),
        ("GRADE: a " * 9, "I", "'a', …"),
        ("grade: c", "C", "in lower case"),
        ("Grade: C", "C", "in lower case"),
        ("GRADE: c", "C", "in lower case"),
        ("GRADE: CI", "C", "is 'CI', and no single letter"),
        ("GRADE: Correct", "C", "is 'Correct', and no single letter"),
        ("GRADE: **C**", "C", "is '', and no single letter"),
        ("GRADE: C", "I", "is C, and the value I"),
        ("I would say that it is correct.", "C", "has no `GRADE:`"),
        ("", "I", "has no `GRADE:`"),
        ("Grade not found in model output: GRADE C", "I", "counts as a wrong answer"),
    ],
)
def test_one_clear_verdict_is_beyond_doubt_and_nothing_else_is(reply: str, said: str, words: str | None) -> None:
    found = doubt_of(reply, said)
    assert found is None if words is None else found is not None and words in found


@pytest.mark.parametrize(
    ("score", "words"),
    [
        pytest.param({"value": "C", "explanation": "GRADE: C"}, None, id="clear"),
        pytest.param({"value": "C", "explanation": "grade: c"}, "in lower case", id="unclear"),
        pytest.param({"value": "C"}, "reply is not in the log", id="no-reply"),
        pytest.param({"value": float("nan"), "explanation": "GRADE: CI"}, None, id="unscored"),
        pytest.param(
            {"value": "I", "explanation": "GRADE: C", "history": [{"value": "C"}, {"value": "I"}]}, None, id="edited"
        ),
    ],
)
def test_a_guessed_verdict_says_why(score: dict[str, Any], words: str | None, tmp_path: Path) -> None:
    results = {"scores": [scores("model_graded_qa", accuracy=1)]}
    (read,), _ = of(tmp_path, sample(scores={"model_graded_qa": score}), results=results)
    found = read.scores["model_graded_qa"].guessed
    assert found is None if words is None else found is not None and words in found


def test_a_pattern_of_its_own_is_never_run(tmp_path: Path) -> None:
    """It may be one that takes for ever."""
    results = {"scores": [scores("model_graded_qa", more={"params": {"grade_pattern": "(a+)+$"}}, accuracy=1)]}
    score = {"value": "C", "explanation": "a" * 100 + "!"}
    (read,), _ = of(tmp_path, sample(scores={"model_graded_qa": score}), results=results)
    assert read.scores["model_graded_qa"].guessed == "its verdict is found by a pattern of its own, '(a+)+$'"


def test_another_scorer_with_a_grading_in_its_metadata_is_a_judge(tmp_path: Path) -> None:
    score = {"value": "C", "explanation": "so be it", "metadata": {"grading": []}}
    (read,), _ = of(tmp_path, sample(scores={"match": score}))
    assert read.scores["match"].guessed == "the judge's reply has no `GRADE:`"


@pytest.mark.parametrize(
    ("params", "told", "judge"),
    [
        pytest.param({"model": "openai/judge"}, {}, "openai/judge", id="model"),
        pytest.param({"model": {"model": "openai/judge", "config": {}}}, {}, "openai/judge", id="model-with-settings"),
        pytest.param({"model": ["a/x", {"model": "b/y"}]}, {}, "a/x, b/y", id="panel"),
        pytest.param({}, {"model_roles": {"grader": {"model": "c/z"}}}, "c/z", id="role"),
        pytest.param({"model_role": "judge"}, {"model_roles": {"judge": [{"model": "c/z"}]}}, "c/z", id="named-role"),
        pytest.param({}, {"model_roles": {}}, "mockllm/model", id="the-evaluated-model"),
    ],
)
def test_the_judge_is_whom_the_log_names(
    params: dict[str, Any], told: dict[str, Any], judge: str, tmp_path: Path
) -> None:
    results = {
        "scores": [scores("model_graded_fact", more={"params": params}, accuracy=1), scores("match", accuracy=1)]
    }
    log = open_log(as_file(tmp_path, [], header(eval=told, results=results)))
    assert [(one.name, one.judge) for one in log.header.scorers] == [("model_graded_fact", judge), ("match", None)]


def test_without_results_the_scorers_are_those_that_the_eval_lists(tmp_path: Path) -> None:
    told = {"scorers": [{"name": "model_graded_qa", "options": {"model": "a/x"}}, {"name": "pkg/match"}, 7]}
    log = open_log(as_file(tmp_path, [], header(eval=told, results={"scores": []})))
    assert [(one.name, one.judge) for one in log.header.scorers] == [("model_graded_qa", "a/x"), ("match", None)]
