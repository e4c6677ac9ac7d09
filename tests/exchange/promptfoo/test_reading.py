"""promptfoo's results as samples, and its numbers as claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.log import Claim, LogFailure, LogScore
from promptfoo_files import check, document, failed, logs_of, result, samples_of, written
from support import peak_memory_mb


def _scores(folder: Path, one: dict[str, Any]) -> dict[str, LogScore]:
    return samples_of(written(folder, document([one])))[0].scores


def test_a_result_is_a_sample(tmp_path: Path) -> None:
    (sample,) = samples_of(written(tmp_path, document([result(3)])))
    assert (sample.id, sample.repeat, sample.prompt, sample.answer) == ("3", 0, "Capital of country 3?", "Paris")
    assert (sample.input_tokens, sample.output_tokens, sample.latency_ms) == (9, 3, 40)
    assert (sample.finish_reason, sample.failure, sample.where) == ("stop", None, "results.results[0]")
    assert sample.scores == {
        "score": LogScore(value=1.0, passed=True),
        "assert.contains": LogScore(value=1.0, passed=True),
    }
    assert sample.metadata["vars"] == {"country": "country 3"}


def test_the_header_says_what_the_file_says(tmp_path: Path) -> None:
    provider = {"id": "openai:gpt-x", "config": {"temperature": 0.5, "apiKey": "sk-1234567890", "top_p": "high"}}
    config = {"description": "Capitals", "providers": [provider], "tests": "file://capitals.csv"}
    metrics = {"testPassCount": 1, "testFailCount": 2, "testErrorCount": 0}
    (log,) = logs_of(written(tmp_path, document([result()], [metrics], config=config)))
    header = log.header
    assert (header.tool, header.tool_version, header.form) == ("promptfoo", "0.121.20", "JSON, version 3")
    assert (header.task, header.model, header.dataset) == ("Capitals", "openai:gpt-x", "file://capitals.csv")
    assert (header.created_at, header.n_claimed, header.status) == ("2026-01-02T03:04:05.678Z", 3, "complete")
    assert header.generation_params == {"temperature": 0.5}
    assert header.prompt_template == "Capital of {{country}}?"
    assert [one.name for one in header.scorers] == ["score", "assert.contains"]


@pytest.mark.parametrize(
    ("one", "failure", "score"),
    [
        pytest.param(failed(), LogFailure(message="HTTP 500"), LogScore(value=None, unscored="error"), id="an error"),
        pytest.param(
            failed(message="Evaluation timed out after 100ms: Error"),
            LogFailure(message="Evaluation timed out after 100ms: Error", kind="timeout"),
            LogScore(value=None, unscored="timeout"),
            id="a timeout",
        ),
        pytest.param(
            result(checks=[check("contains", passed=False, score=0, reason="no Par in it")]),
            None,
            LogScore(value=0.0, passed=False, explanation="no Par in it"),
            id="an assertion that failed also has an error",
        ),
        pytest.param(
            failed(message="No output", failureReason=0, response={}),
            None,
            LogScore(value=0.0, passed=False, explanation="No output"),
            id="an answer without text is the model's",
        ),
        pytest.param(
            {**failed(), "failureReason": None},
            LogFailure(message="HTTP 500"),
            LogScore(value=None, unscored="error"),
            id="an error where no reason for failures is told",
        ),
        pytest.param(
            result(score=10**400),
            None,
            LogScore(value=None, unscored="no score", passed=True),
            id="a number beyond numbers",
        ),
        pytest.param(
            result(score=None), None, LogScore(value=None, unscored="no score", passed=True), id="no score is no 0"
        ),
    ],
)
def test_only_an_error_is_a_failure(
    tmp_path: Path, one: dict[str, Any], failure: LogFailure | None, score: LogScore
) -> None:
    (sample,) = samples_of(written(tmp_path, document([one])))
    assert sample.failure == failure
    assert sample.scores["score"] == score
    assert sample.latency_ms == (None if failure else one["latencyMs"])


@pytest.mark.parametrize(
    ("output", "answer"),
    [("Paris", "Paris"), ({"b": 1, "a": "é"}, '{"b":1,"a":"é"}'), ([1, 2], "[1,2]"), (None, None), (7, "7"), ("", "")],
)
def test_an_answer_is_text(tmp_path: Path, output: Any, answer: str | None) -> None:
    (sample,) = samples_of(written(tmp_path, document([result(response={"output": output})])))
    assert sample.answer == answer


@pytest.mark.parametrize(
    ("raw", "prompt", "messages"),
    [
        pytest.param("[not JSON", "[not JSON", None, id="text"),
        pytest.param("[1, 2]", "[1, 2]", None, id="another array"),
        pytest.param('[{"role": "user", "content": "Hi"}]', "Hi", [{"role": "user", "content": "Hi"}], id="one turn"),
        pytest.param(
            '[{"role": "system", "content": "Brief"}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]}]',
            "system: Brief\n\nuser: Hi",
            [{"role": "system", "content": "Brief"}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
            id="two turns",
        ),
    ],
)
def test_a_conversation_is_read_as_one(tmp_path: Path, raw: str, prompt: str, messages: Any) -> None:
    (sample,) = samples_of(written(tmp_path, document([result(prompt={"raw": raw, "label": "x"})])))
    assert (sample.prompt, sample.messages) == (prompt, messages)


def test_the_latency_of_a_cached_answer_is_nobodys(tmp_path: Path) -> None:
    one = result(response={"output": "Paris", "cached": True, "tokenUsage": {"cached": 12, "total": 12}}, latencyMs=2)
    (log,) = logs_of(written(tmp_path, document([one], [{"totalLatencyMs": 2, "tokenUsage": {"cached": 12}}])))
    (sample,) = log.samples()
    assert (sample.latency_ms, sample.input_tokens, sample.output_tokens) == (None, None, None)
    assert (sample.metadata["totalLatencyMs"], sample.metadata["tokenUsage.cached"]) == (2, 12)
    assert [(one.code, one.n) for one in log.notes()] == [("cached", 1)]


def test_each_check_has_a_name_of_its_own(tmp_path: Path) -> None:
    inner = check("contains", passed=True, score=1, metric="part")
    about_set = {"assertionSet": {"type": "assert-set", "metric": "whole"}}
    a_set = {"pass": True, "score": 0.5, "reason": "enough", "componentResults": [inner], "metadata": about_set}
    checks = [
        check("contains", passed=True, score=1),
        check("contains", passed=False, score=0, reason="no"),
        check("contains", passed=True, score=1, metric="part"),
        a_set,
        inner,
        {"pass": True, "score": 1, "reason": "of a script"},
    ]
    one = result(checks=checks, namedScores={"part": 1, "whole": 0.5, "contains": 0, "odd": "high"})
    scores = _scores(tmp_path, one)
    assert {name: score.value for name, score in scores.items()} == {
        "score": 4.5 / 6,
        "assert.contains": 1,
        "assert.contains#2": 0,
        "assert.contains.part": 1,
        "assert.assert-set.whole": 0.5,
        "assert.contains.part#2": 1,
        "assert.check": 1,
        "namedScores.part": 1,
        "namedScores.whole": 0.5,
        "namedScores.contains": 0,
        "namedScores.odd": None,
    }
    assert scores["assert.contains#2"].explanation == "no"


_JUDGED = {"value": "Is it right?", "metric": "right"}


@pytest.mark.parametrize(
    ("grading", "guessed"),
    [
        pytest.param(check("llm-rubric", passed=True, score=0.8, reason="fine"), None, id="clear"),
        pytest.param(
            check("llm-rubric", passed=True, score=0, reason="meh"),
            "the judge's reply passes it with a score of 0",
            id="a pass of 0",
        ),
        pytest.param(
            check("not-llm-rubric", passed=False, score=1, reason="meh"),
            "the judge's reply fails it with a score of 1",
            id="a fail of 1",
        ),
        pytest.param(
            check("g-eval", passed=True, score=1, reason="Grading passed"),
            "the judge gave no reason; what its reply lacked was filled in",
            id="no reason",
        ),
        pytest.param(check("llm-rubric", passed=True, score=0, reason="meh", weight=0), None, id="of no weight"),
        pytest.param(check("javascript", passed=True, score=0, reason="meh"), None, id="nobody judged"),
        pytest.param(
            {**check("llm-rubric", passed=True, score=0, reason="meh"), "pass": "true"},
            "the judge's reply has texts where a truth value and a number belong",
            id="a text for a pass",
        ),
    ],
)
def test_what_can_only_be_guessed_is_told(tmp_path: Path, grading: dict[str, Any], guessed: str | None) -> None:
    scores = _scores(tmp_path, result(checks=[grading]))
    assert [one.guessed for one in scores.values()] == [guessed, guessed]


@pytest.mark.parametrize(
    "grading",
    [
        pytest.param(
            check("llm-rubric", passed=False, score=0, reason="HTTP 401", metadata={"graderError": True}, **_JUDGED),
            id="marked",
        ),
        pytest.param(
            check(
                "llm-rubric", passed=False, score=0, reason="Could not extract JSON from llm-rubric response", **_JUDGED
            ),
            id="no JSON",
        ),
        pytest.param(check("factuality", passed=False, score=0, reason="No output", **_JUDGED), id="no reply"),
    ],
)
def test_a_judges_reply_that_could_not_be_read_is_no_score(tmp_path: Path, grading: dict[str, Any]) -> None:
    one = result(checks=[grading, check("contains", passed=True, score=1)], namedScores={"right": 0})
    (log,) = logs_of(written(tmp_path, document([one])))
    (sample,) = log.samples()
    judged = f"assert.{grading['assertion']['type']}.right"
    assert sample.scores[judged].value is None
    assert sample.scores[judged].unscored == "the judge's reply could not be read"
    assert sample.scores["namedScores.right"].value is None
    assert sample.scores["score"].value == 0.5  # as promptfoo has it
    assert sample.scores["score"].guessed == "1 reply of a judge that could not be read, taken for 0"
    assert [note.code for note in log.notes()] == ["unreadable_reply"]


@pytest.mark.parametrize(
    ("own", "options", "of_prompt", "judge"),
    [
        ("openai:gpt-j", "openai:other", None, "openai:gpt-j"),
        (None, {"id": "openai:gpt-j", "config": {"apiKey": "sk-1"}}, None, "openai:gpt-j"),
        (None, {"text": {"id": "openai:gpt-j"}}, None, "openai:gpt-j"),
        (None, None, {"provider": "file://judge.js"}, "file://judge.js"),
        ("https://user:pw@judge.example/v1?key=abc", None, None, "https://[key removed]judge.example/v1"),
        (None, None, None, None),
    ],
)
def test_the_judge_is_named(tmp_path: Path, own: Any, options: Any, of_prompt: Any, judge: str | None) -> None:
    graded = check("llm-rubric", passed=True, score=1, **({"provider": own} if own else {}))
    one = result(checks=[graded], prompt={"raw": "x", "label": "x", "config": of_prompt})
    one["testCase"]["options"] = {"provider": options}
    (log,) = logs_of(written(tmp_path, document([one])))
    assert {scorer.name: scorer.judge for scorer in log.header.scorers} == {"score": None, "assert.llm-rubric": judge}


def test_a_repeat_is_the_same_item_asked_again(tmp_path: Path) -> None:
    """Repeats have indexes of their own: 0 and 1 are asked again as 2 and 3, and here the second round came first."""
    same = [{**result(n), **{name: result(n % 2)[name] for name in ("vars", "testCase", "prompt")}} for n in range(4)]
    path = written(tmp_path, document([same[n] for n in (2, 1, 3, 0)]))
    assert [(one.id, one.repeat) for one in samples_of(path)] == [("0", 1), ("1", 0), ("1", 1), ("0", 0)]
    assert logs_of(path)[0].header.repeats == 2


def test_test_cases_that_can_not_be_told_apart_are_no_repeats(tmp_path: Path) -> None:
    """Texts and variables may be stripped from what promptfoo writes."""
    bare = {"vars": {}, "testCase": {"assert": []}, "prompt": {"raw": "[prompt stripped]", "label": "x"}}
    assert [one.id for one in samples_of(written(tmp_path, document([result(n, **bare) for n in range(3)])))] == [
        "0",
        "1",
        "2",
    ]


def test_of_two_results_of_a_test_case_the_last_counts(tmp_path: Path) -> None:
    results = [failed(0), result(1), result(0, response={"output": "again"})]
    (log,) = logs_of(written(tmp_path, document(results)))
    assert [(one.id, one.answer) for one in log.samples()] == [("1", "Paris"), ("0", "again")]
    assert [(one.id, one.answer) for one in log.samples()] == [("1", "Paris"), ("0", "again")]  # again
    assert [(one.code, one.n) for one in log.notes()] == [("doubled_result", 1)]


def test_each_column_is_a_log(tmp_path: Path) -> None:
    results = [result(0, 1, response={"output": "b"}), result(0, 0, response={"output": "a"})]
    path = written(tmp_path, document(results, [{}, {}, {}]))
    logs = logs_of(path)
    assert [[one.answer for one in log.samples()] for log in logs] == [["a"], ["b"], []]
    assert [log.header.metadata["column"] for log in logs] == [0, 1, 2]


def _claim(log_claims: tuple[Claim, ...], metric: str) -> Claim:
    (found,) = (one for one in log_claims if one.metric == metric)
    return found


def test_claims_say_how_they_follow(tmp_path: Path) -> None:
    metrics = {
        "score": 0.5,
        "testPassCount": 1,
        "testFailCount": 0,
        "testErrorCount": 2,
        "assertPassCount": 3,
        "totalLatencyMs": 40,
        "tokenUsage": {"prompt": 9, "completion": 3, "total": 12, "assertions": {"total": 4}},
        "namedScores": {"right": 2.0, "twice": 4.0},
        "namedScoresCount": {"right": 1},
        "redteam": {"pluginPassCount": {"x": 1}},
        "cost": 0.25,
    }
    config = {"derivedMetrics": [{"name": "twice", "value": "right * 2"}]}
    (log,) = logs_of(
        written(tmp_path, document([result()], [metrics], {"successes": 1, "durationMs": 5}, config=config))
    )
    claims = log.header.claims
    place = "results.prompts[0].metrics"
    assert _claim(claims, "score") == Claim(
        scorer="score", metric="score", value=0.5, where=f"{place}.score", formula="sum"
    )
    assert _claim(claims, "cost") == Claim(
        scorer="", metric="cost", value=0.25, where=f"{place}.cost", formula="sum", field="cost"
    )
    said = {one.metric: (one.formula, one.field, bool(one.why_not)) for one in claims}
    assert said == {
        "score": ("sum", None, False),
        "testPassCount": ("n_passed", None, False),
        "testFailCount": ("n_failed", None, False),
        "testErrorCount": ("n_errors", None, False),
        "assertPassCount": ("sum", "assertPassCount", False),
        "totalLatencyMs": ("sum", "totalLatencyMs", False),
        "cost": ("sum", "cost", False),
        "tokenUsage.prompt": ("sum_of_input_tokens", None, False),
        "tokenUsage.completion": ("sum_of_output_tokens", None, False),
        "tokenUsage.total": ("sum", "tokenUsage.total", False),
        "tokenUsage.assertions.total": ("sum", "tokenUsage.assertions.total", False),
        "namedScores.right": ("sum", "namedScores.right", False),
        "namedScores.twice": (None, None, True),
        "namedScoresCount.right": ("sum", "namedScoresCount.right", False),
        "redteam.pluginPassCount.x": (None, None, True),
        "successes": ("n_passed", None, False),
        "durationMs": (None, None, True),
    }


def test_numbers_of_all_columns_are_no_columns_own(tmp_path: Path) -> None:
    stats = {"successes": 2, "failures": 0, "errors": 0}
    first, second = logs_of(written(tmp_path, document([result(0, 0), result(0, 1)], [{}, {}], stats)))
    assert second.header.claims == ()
    assert [(one.metric, one.formula, one.of_file) for one in first.header.claims] == [
        ("successes", None, "n_passed"),
        ("failures", None, "n_failed"),
        ("errors", None, "n_errors"),
    ]
    assert {one.why_not for one in first.header.claims} == {"it is of all 2 columns of the file together"}


def test_what_a_result_adds_to_weighted_metrics(tmp_path: Path) -> None:
    checks = [check("contains", passed=True, score=1, metric="a"), check("equals", passed=True, score=0.5, metric="a")]
    one = result(checks=checks, namedScores={"a": 0.875, "b": 0.5})
    one["gradingResult"] |= {"namedScoreWeights": {"a": 4}, "tokensUsed": {"total": 30, "prompt": 20, "completion": 10}}
    (sample,) = samples_of(written(tmp_path, document([one])))
    del sample.metadata["vars"]
    assert sample.metadata == {
        "assertPassCount": 2,
        "assertFailCount": 0,
        "totalLatencyMs": 40,
        "cost": 0.25,
        "tokenUsage.total": 12,
        "tokenUsage.numRequests": 1,
        "tokenUsage.assertions.total": 30,
        "tokenUsage.assertions.prompt": 20,
        "tokenUsage.assertions.completion": 10,
        "namedScores.a": 3.5,  # 0.875 x 4
        "namedScoresCount.a": 2,
        "namedScoreWeights.a": 4,
        "namedScores.b": 0.5,
        "namedScoresCount.b": 1,
        "namedScoreWeights.b": 1,
    }


def test_names_that_yaml_made_numbers_are_names(tmp_path: Path) -> None:
    one = result(checks=[check("contains", passed=True, score=1, metric=2024)], namedScores={"2024": 1})
    one["testCase"]["description"] = 7
    (sample,) = samples_of(written(tmp_path, document([one])))
    assert set(sample.scores) == {"score", "assert.contains.2024", "namedScores.2024"}
    assert (sample.metadata["namedScoresCount.2024"], sample.metadata["description"]) == (1, 7)


def test_metrics_may_have_variables_in_their_names(tmp_path: Path) -> None:
    checks = [check("contains", passed=True, score=1, metric="of {{ country }}, {{n}}") for _ in range(2)]
    one = result(checks=checks, namedScores={"of x, 7": 1}, vars={"country": "x", "n": 7})
    (sample,) = samples_of(written(tmp_path, document([one])))
    assert {"assert.contains.of x, 7", "namedScores.of x, 7"} < set(sample.scores)
    assert sample.metadata["namedScoresCount.of x, 7"] == 2


def test_metrics_whose_names_are_computed_are_counted_by_promptfoo_alone(tmp_path: Path) -> None:
    name = "of {{country | upper}}"
    one = result(checks=[check("contains", passed=True, score=1, metric=name)], namedScores={"of x": 1})
    metrics = {"namedScores": {"of x": 1}, "namedScoresCount": {"of x": 1}}
    (log,) = logs_of(written(tmp_path, document([one], [metrics])))
    assert [(claim.metric, claim.formula) for claim in log.header.claims] == [
        ("namedScores.of x", "sum"),
        ("namedScoresCount.of x", None),
    ]


def test_right_answers_are_references(tmp_path: Path) -> None:
    checks = [
        check("equals", passed=True, score=1, value="Paris"),
        check("contains", passed=True, score=1, value="P"),
        check("similar", passed=True, score=1, value="{{expected}}"),
        check("factuality", passed=True, score=1, value="It is Paris"),
    ]
    assert samples_of(written(tmp_path, document([result(checks=checks)])))[0].references == ("Paris", "It is Paris")


def test_a_result_without_assertions_is_told_of(tmp_path: Path) -> None:
    one = result(checks=[], gradingResult={"pass": True, "score": 1, "reason": "No assertions"}, score=1)
    (log,) = logs_of(written(tmp_path, document([one])))
    assert [(note.code, note.n) for note in log.notes()] == [("unchecked", 1)]


def test_keys_stay_in_the_file(tmp_path: Path) -> None:
    secret = "sk-1234567890abcdef"
    one = result(
        metadata={"http": {"headers": {"authorization": f"Bearer {secret}"}}, "token": secret},
        provider={"id": "https://api.example/v1?api_key=" + secret, "label": "", "config": {"apiKey": secret}},
    )
    one["response"]["metadata"] = one["response"]["raw"] = {"headers": {"x-api-key": secret}}
    config = {"env": {"K": secret}, "providers": [{"id": "openai:gpt-x", "config": {"apiKey": secret}}]}
    for name, content in {
        "a.json": json.dumps(document([one], config=config, runtimeOptions={"env": secret})),
        "b.jsonl": json.dumps(one) + "\n",
    }.items():
        (log,) = logs_of(written(tmp_path, content, name))
        assert secret not in f"{log.header}{log.notes()}{list(log.samples())}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(json.dumps(document([result()]))[:800], "results.results[0]: found the file's end", id="cut"),
        pytest.param(
            json.dumps(document([result(), result(1)])).replace('"testIdx": 1', '"testIdx": "1"'),
            "results.results[1]: another form than it should have: Expected `int`, got `str` - at `$.testIdx`",
            id="an index that is no number",
        ),
        pytest.param(
            json.dumps(document([result(column=1)])),
            "promptIdx: found results of column 1; expected 1 column",
            id="a column that is not there",
        ),
        pytest.param(
            json.dumps(document([result(10**9)])),
            "results.results[0].testIdx: found 1000000000; expected 0 to 9,999,999",
            id="a huge index",
        ),
        pytest.param(
            json.dumps(document([result(testCase={"vars": 7})])),
            "results.results[0].testCase: another form than it should have: Expected `object | null`",
            id="a test case that is none",
        ),
        pytest.param('{"evalId": "x", "results": {"version": 3}}', "found nothing; expected promptfoo's", id="nothing"),
        pytest.param(
            json.dumps(document([result(vars={"deep": "here"})])).replace('"here"', "[" * 5000 + "]" * 5000),
            "results.results[0]: found JSON nested too deeply",
            id="deep",
        ),
    ],
)
def test_an_error_says_where_it_stops_making_sense(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        logs_of(written(tmp_path, content))
    assert said in str(raised.value)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_results(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    text = "a word " * 200
    with path.open("w", encoding="utf-8") as file:
        for n in range(8_000):
            one = result(n, n % 2, response={"output": text})
            file.write(json.dumps(one) + "\n")
    code = (
        "import sys; from benchbook.exchange.tools import opened_logs;"
        "logs = list(opened_logs(sys.argv[1])); assert sum(1 for log in logs for _ in log.samples()) == 8000;"
        "assert not {'polars', 'pyarrow', 'numpy', 'scipy', 'yaml'} & set(sys.modules)"
    )
    exit_code, peak = peak_memory_mb(code, [str(path)])
    assert exit_code == 0
    assert peak < 60, "the file has 18 MB"
