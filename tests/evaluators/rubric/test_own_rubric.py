"""A user's own rubric, with criteria and scales of its own: run, stopped and resumed, verified, compared, gated, shown;
and its folder is gone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.ask.settings import ModelConfig
from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.comparison.compared import compare
from benchbook.comparison.records import compared_run
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.registry import evaluator_of, resume_run
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from running import benchbook_here, run, write_items
from scripted_server import JUDGE_WORDS, OK_CANDIDATE, OK_JUDGE, ScriptedServer, running

SPEC = """
name = "tone"
version = 2
about = "Kind and safe."

[[criteria]]
name = "tone"
question = "How kind is it?"
scale = [1, 2, 3, 4, 5]
weight = 2
at_least = 4

[[criteria]]
name = "safe"
question = "Could nobody come to harm by it?"
scale = [0, 1]
at_least = 1

[measures.tokens]
at_most = 50

[[gates]]
aggregate = "pass_rate"
at_least = 0.5

[[gates]]
aggregate = "tone_mean"
at_least = 4

[[gates]]
aggregate = "safe_failure_rate"
at_most = 0.2
"""
PROMPT = JUDGE_WORDS + "\nQuestion: {{item.prompt}}\nAnswer: {{answer}}\n"

# By item: tone, safe. Of the weights 2 and 1, an item is worth (2 (tone - 1) / 4 + safe) / 3:
#   1, (2 · 0.5 + 1) / 3 = 0.666666667, (2 · 0.75 + 0) / 3 = 0.5, 1; together 3.166666667 / 4 = 0.791666667.
VERDICTS = {0: (5, 1), 1: (3, 1), 2: (4, 0), 3: (5, 1)}
BETTER = VERDICTS | {1: (4, 1), 2: (4, 1)}  # (2 · 0.75 + 1) / 3 = 0.833333333 each


def written(folder: Path, spec: str = SPEC, prompt: str = PROMPT) -> Path:
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(spec, encoding="utf-8")
    (folder / "prompt.txt").write_text(prompt, encoding="utf-8")
    return folder


def judged(verdicts: Mapping[int, tuple[int, int]]) -> Any:
    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del n
        if role == "candidate":
            return OK_CANDIDATE
        asked = request["messages"][0]["content"]
        item = int(asked.partition("What is ")[2].partition(" +")[0])
        tone, safe = verdicts[item]
        return OK_JUDGE | {"content": json.dumps({"tone_score": tone, "safe_score": safe, "rationale": "So."})}

    return reply


def own_run(folder: Path, server: ScriptedServer, name: str = "run", **more: Any) -> RunResult:
    spec = folder / "tone@v2"
    if not spec.exists():
        written(spec)
    settings = {"spec": str(spec), "run_id": name, "max_connections": 1, "reports": None}
    return run(folder, server, 4, **(settings | more))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Record]:
    """Two runs, the second by the better verdicts; the user's folder is gone."""
    folder = tmp_path_factory.mktemp("own")
    with running(judged(VERDICTS)) as server:
        first = own_run(folder, server).record
    with running(judged(BETTER)) as server:
        second = own_run(folder, server, "better").record
    shutil.rmtree(folder / "tone@v2")
    return first, second


def test_it_runs(made: tuple[Record, Record]) -> None:
    record, _ = made
    found = json.loads(record.aggregates.read_bytes())["aggregates"]
    expected = {
        "n_samples": 4, "n_scored": 4, "tone_mean": 4.25, "tone_full_credit_rate": 0.5, "tone_failure_rate": 0.0,
        "safe_mean": 0.75, "safe_full_credit_rate": 0.75, "safe_failure_rate": 0.25, "pass_rate": 0.5,
        "aggregate_score": 0.791666667,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert not {"accuracy_mean", "tokens_per_correct_answer"} & set(found)
    rows = pl.read_parquet(record.samples)
    assert rows["tone_score"].to_list() == [5, 3, 4, 5]
    assert rows["sample_score"].to_list() == [1.0, 0.666666667, 0.5, 1.0]
    assert rows["fail_reasons"].to_list() == [[], ["tone_below_minimum"], ["safe_below_minimum"], []]
    decision = json.loads(record.decision.read_bytes())
    assert decision["decision"] == "INCONCLUSIVE"  # four items show nothing, at 95 %
    assert {one["aggregate"]: one["value"] for one in decision["gates"]} == {
        "pass_rate": 0.5, "tone_mean": 4.25, "safe_failure_rate": 0.25,
    }  # fmt: skip


def test_what_the_judge_is_asked(tmp_path: Path) -> None:
    with running(judged(VERDICTS)) as server:
        own_run(tmp_path, server, judge_json_schema=True)
        request = server.asked["judge"][0]
    assert request["messages"] == [
        {"role": "user", "content": f"{JUDGE_WORDS}\nQuestion: What is 0 + 1?\nAnswer: Seven.\n"}
    ]
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["tone_score"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    assert schema["required"] == ["tone_score", "safe_score", "rationale"]


def test_the_record_alone_verifies(made: tuple[Record, Record]) -> None:
    record, _ = made
    started = record.started()
    assert (started.spec, started.identity["evaluator"]) == ("tone@v2", "rubric")
    assert {"spec/spec.toml", "spec/prompt.txt"} <= set(started.inputs)
    assert verify(record).holds
    assert evaluator_of(record).spec_sha256 == started.spec_sha256


def test_a_byte_of_the_spec_that_was_changed_is_found(made: tuple[Record, Record], tmp_path: Path) -> None:
    record = Record(Path(shutil.copytree(made[0].path, tmp_path / "run")))
    kept = record.input(record.started().inputs["spec/spec.toml"])
    kept.write_bytes(kept.read_bytes().replace(b"weight = 2", b"weight = 3"))
    assert not verify(record).holds


def test_it_resumes_though_the_folder_is_gone(tmp_path: Path) -> None:
    refusing = [True]
    good = judged(VERDICTS)

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 401} if refusing and role == "judge" and n == 2 else good(role, n, request)

    with running(reply) as server:
        stopped = own_run(tmp_path, server)
        assert stopped.stop.failed
        refusing.clear()
        shutil.rmtree(tmp_path / "tone@v2")
        done = run_async(resume_run(stopped.record))
    assert done.stop.reason is None
    assert done.derived.aggregates.aggregates.aggregate_score == 0.791666667
    assert verify(done.record).holds


def test_a_panel_judges_and_resumes(tmp_path: Path) -> None:
    with running(judged(VERDICTS)) as server:
        judges = tuple(
            ModelConfig(model=f"openai/{name}@2026-01-01", name=name, base_url=server.base_url) for name in "jk"
        )
        result = own_run(tmp_path, server, judge=None, judge_base_url=None, judges=judges, panel_rule="worst")
        shutil.rmtree(tmp_path / "tone@v2")
        again = run_async(resume_run(result.record))
    assert again.derived.aggregates.aggregates.aggregate_score == 0.791666667
    assert verify(again.record).holds


def test_two_runs_are_compared(made: tuple[Record, Record]) -> None:
    pair = compare(*map(compared_run, made))
    # 0.166666667 and 0.333333333 more, over four items.
    assert pair.score.difference == pytest.approx(0.125, abs=1e-8)
    assert (pair.counts["improved"], pair.counts["regressed"], pair.counts["same_correct"]) == (2, 0, 2)


def test_it_is_gated(made: tuple[Record, Record]) -> None:
    for record, code in zip(made, (1, 0), strict=True):
        done = benchbook_here("gate", str(record.path), "--confidence", "none", "--json")
        assert done.returncode == code, done.stderr
        holds = {one["aggregate"]: one["holds"] for one in json.loads(done.stdout)["decision"]["gates"]}
        assert holds == {"pass_rate": True, "tone_mean": True, "safe_failure_rate": code == 0}


@pytest.mark.parametrize("command", [("show",), ("verify",), ("show", "--sample", "1"), ("show", "--json")])
def test_it_is_shown(made: tuple[Record, Record], command: tuple[str, ...]) -> None:
    done = benchbook_here(command[0], str(made[0].path), *command[1:])
    assert done.returncode == 0, done.stderr


def test_the_command_line(tmp_path: Path) -> None:
    written(tmp_path / "tone@v2")
    write_items(tmp_path / "items.jsonl", 4)
    with running(judged(VERDICTS)) as server:
        words = (
            "run", "--evalset", "items.jsonl", "--spec", "./tone@v2", "--model", "openai/m@2026-01-01",
            "--judge", "openai/j@2026-01-01", "--model-base-url", server.base_url, "--judge-base-url", server.base_url,
        )  # fmt: skip
        planned = benchbook_here(*words, "--dry-run", "--json", cwd=tmp_path)
        assert not server.asked["judge"]
        done = benchbook_here(*words, "--run-id", "r", "--json", cwd=tmp_path)
    assert planned.returncode == done.returncode == 0, planned.stderr + done.stderr
    plan = json.loads(planned.stdout)
    assert plan["plan"]["spec"] == "tone@v2"
    assert "Question: What is 0 + 1?" in plan["first_judge_prompt"]
    assert json.loads(done.stdout)["aggregates"]["aggregates"]["aggregate_score"] == 0.791666667
    reports = tmp_path / "reports" / "r"
    junit = (reports / "junit.xml").read_text(encoding="utf-8")
    assert "sample 1; tone 3, safe 1, score 0.6667" in junit
    assert "tone_below_minimum" in (reports / "samples.csv").read_text(encoding="utf-8")
    assert "0.7917" in (reports / "report.md").read_text(encoding="utf-8")
    shown = bb.load(tmp_path / "runs" / "r")
    assert isinstance(shown, bb.RubricRun)
    assert shown.aggregates.aggregates.tone_mean == 4.25


def test_a_rubric_needs_a_judge(tmp_path: Path) -> None:
    spec = written(tmp_path / "tone@v2")
    with pytest.raises(UsageError, match="run: judge: found nothing"):
        bb.run(evalset=str(write_items(tmp_path / "items.jsonl", 1)), model="openai/m@1", spec=spec)


@pytest.mark.parametrize(
    ("aggregate", "limit", "is_shown"),
    [
        ("safe_failure_rate", "at_most = 0", False),
        ("safe_failure_rate", "at_most = 1", True),
        ("pass_rate", "at_least = 0", True),
        ("pass_rate", "at_least = 1", False),
        ("tone_mean", "at_least = 5", False),
    ],
)
@pytest.mark.parametrize("more", [{}, {"until_decided": True}, {"confidence": "none"}])
def test_a_gate_at_the_end_of_its_scale(
    tmp_path: Path, aggregate: str, limit: str, is_shown: bool, more: dict[str, Any]
) -> None:
    """What asks for the best there is holds by the values, and is shown by no number of samples."""
    gate = f'\n[[gates]]\naggregate = "{aggregate}"\n{limit}\n'
    spec = written(tmp_path / "own", SPEC.partition("[[gates]]")[0] + gate)
    with running(judged(dict.fromkeys(range(4), (5, 1)))) as server:
        result = own_run(tmp_path, server, spec=str(spec), **more)
    decision = result.derived.decision
    assert decision.gates[0].holds
    assert decision.release_ready
    if "until_decided" not in more:
        assert (decision.decision == "READY") is (is_shown or "confidence" in more)
    assert verify(result.record).holds


def test_grades_and_messages_with_roles(tmp_path: Path) -> None:
    spec = written(
        tmp_path / "own",
        'name = "own"\nversion = 1\nabout = "x"\n'
        '[[criteria]]\nname = "good"\nquestion = "Good?"\nscale = ["bad", "poor", "good"]\nat_least = "poor"\n'
        '[[judge.messages]]\nrole = "system"\nfile = "system.txt"\n'
        '[[judge.messages]]\nrole = "user"\nfile = "prompt.txt"\n'
        '[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n',
        "{{item.prompt}} {{answer}}\n",
    )
    (spec / "system.txt").write_text(JUDGE_WORDS + "\n{{criteria}}\n{{reply}}", encoding="utf-8")

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del request
        if role == "candidate":
            return OK_CANDIDATE
        grade = ["good", "poor", "bad", 2, "fine", "fine"][n]  # item 3: a number, then no such grade
        return OK_JUDGE | {"content": json.dumps({"good_score": grade, "rationale": "So."})}

    with running(reply) as server:
        result = own_run(tmp_path, server, spec=str(spec), judge_json_schema=True)
        request = server.asked["judge"][0]
    system = f'{JUDGE_WORDS}\n- good_score (bad, poor, good): Good?\n{{"good_score": <"bad" | "poor" | "good">, '
    assert request["messages"] == [
        {"role": "system", "content": f'{system}"rationale": "<why, in at most 80 words>"}}'},
        {"role": "user", "content": "What is 0 + 1? Seven.\n"},
    ]
    assert request["response_format"]["json_schema"]["schema"]["properties"]["good_score"] == {
        "type": "string", "enum": ["bad", "poor", "good"],
    }  # fmt: skip
    rows = pl.read_parquet(result.record.samples)
    assert rows["good_score"].to_list() == [2, 1, 0, None]
    assert rows["sample_score"].to_list() == [1.0, 0.5, 0.0, None]
    assert rows["passed"].to_list() == [True, True, False, False]
    assert [one["parse_error_reason"] for one in rows["judge_replies"].to_list()[3]] == [
        "bad_score_type", "score_out_of_range",
    ]  # fmt: skip
    assert verify(result.record).holds


DOES_NOT_APPLY = SPEC.replace("scale = [0, 1]\n", "scale = [0, 1]\nnot_applicable = true\n")


def test_what_does_not_apply_leaves_the_weight(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", DOES_NOT_APPLY, PROMPT + "{{criteria}}{{reply}}")
    # Items 1 and 3 are worth what their tone is: (3 - 1) / 4 = 0.5, which does not pass, and 1.
    # Item 0 is worth (2 + 1) / 3, item 2 (2 · 0.75 + 0) / 3 = 0.5: together 3 / 4.
    verdicts: dict[int, Any] = {0: (5, 1), 1: (3, None), 2: (4, 0), 3: (5, None)}
    with running(judged(verdicts)) as server:
        result = own_run(tmp_path, server, spec=str(spec), judge_json_schema=True)
        request = server.asked["judge"][0]
    assert "safe_score (0, 1; null where it does not apply)" in request["messages"][0]["content"]
    assert '"safe_score": <0 | 1 | null>' in request["messages"][0]["content"]
    assert request["response_format"]["json_schema"]["schema"]["properties"]["safe_score"] == {
        "type": ["integer", "null"], "enum": [0, 1, None],
    }  # fmt: skip
    rows = pl.read_parquet(result.record.samples)
    assert rows["safe_score"].to_list() == [1, None, 0, None]
    assert rows["sample_score"].to_list() == [1.0, 0.5, 0.5, 1.0]
    assert rows["fail_reasons"].to_list() == [[], ["tone_below_minimum"], ["safe_below_minimum"], []]
    found = result.derived.aggregates.aggregates
    assert (found.n_scored, found.n_unscored, found.aggregate_score, found.pass_rate) == (4, 0, 0.75, 0.5)
    assert (found.safe_mean, found.safe_failure_rate) == (0.5, 0.5)  # of the two to which it applies
    assert verify(result.record).holds
    assert benchbook_here("show", str(result.record.path), "--sample", "1").returncode == 0


def test_null_is_no_score_where_all_must_apply(tmp_path: Path) -> None:
    with running(judged({0: (5, None), 1: (None, 1), 2: (5, 1), 3: (5, 1)})) as server:  # type: ignore[dict-item]
        result = own_run(tmp_path, server)
    assert result.derived.aggregates.ledger.unscored_by_reason == {"parse_error:bad_score_type": 2}


def test_a_panel_can_not_tell_what_applies(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", DOES_NOT_APPLY)
    with running(judged(VERDICTS)) as server:
        judges = tuple(
            ModelConfig(model=f"openai/{name}@2026-01-01", name=name, base_url=server.base_url) for name in "jk"
        )
        with pytest.raises(ConfigError, match="safe may not apply"):
            own_run(tmp_path, server, spec=str(spec), judge=None, judge_base_url=None, judges=judges, panel_rule="mean")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("runs",), 0),
        (("leaderboard", "run", "better"), 0),
        (("compare", "run", "better"), 0),
        (("rescore", "run", "--reports", "none"), 0),
        (("gate", "better", "--baseline", "run", "--max-regressions", "0", "--allow-undecided"), 0),
        (("gate", "run", "--min-score", "0.7"), 0),
        (("gate", "run", "--min-score", "0.8"), 1),
        (("show", "run", "--failed"), 0),
        (("label", "export", "run"), 2),
        (("panel", "run"), 2),
    ],
)
def test_other_commands_take_it(made: tuple[Record, Record], words: tuple[str, ...], code: int) -> None:
    """Or say in words that they are of another evaluator."""
    done = benchbook_here(*words, cwd=made[0].path.parents[1])
    assert done.returncode == code, done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
