"""What a run does beyond one sample: limits, cache, repeats, identity (SPEC R3.5, R3.6, R7)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError
from benchbook.evaluators.registry import resume_run, start_run
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.verify import verify
from benchbook.record.tables import read_rows
from rubric_v1 import ROW
from running import config, run
from scripted_server import GOOD_VERDICT, OK_CANDIDATE, OK_JUDGE, ScriptedServer, always_good, running


def rows(result: RunResult) -> list[RubricRow]:
    return list(read_rows(result.record.samples, ROW))


def verdict(accuracy: int, faithfulness: int) -> dict[str, Any]:
    return OK_JUDGE | {
        "content": json.dumps(GOOD_VERDICT | {"accuracy_score": accuracy, "faithfulness_score": faithfulness})
    }


# ── stopping ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_cost_limit_stops_and_the_run_resumes(tmp_path: Path) -> None:
    with running(always_good) as server:
        # A sample costs (20 + 200) * 1 + (2 + 20) * 10 = 440 millionths of a dollar.
        result = run(
            tmp_path, server, 20, max_cost_usd=Decimal("0.0022"), max_connections=1,
            model_input_price=Decimal(1), model_output_price=Decimal(10),
            judge_input_price=Decimal(1), judge_output_price=Decimal(10),
        )  # fmt: skip
        assert result.stop.reason is not None
        assert "cost limit" in result.stop.reason
        assert len(rows(result)) == 5
        assert result.derived.decision is not None
        assert result.derived.decision.decision == "INCONCLUSIVE"
        assert "incomplete: 5 of 20 samples" in result.derived.decision.reasons[0]
        resumed = run_async(resume_run(result.record, {"max_cost_usd": Decimal(1)}))
    assert resumed.derived.decision is not None
    assert (resumed.derived.decision.release_ready, resumed.derived.decision.caps) == (True, ())
    assert resumed.derived.aggregates.candidate_cost_usd == "0.000800"  # 20 * (20 * 1 + 2 * 10) / 1e6
    assert resumed.derived.aggregates.evaluator_cost_usd == "0.008000"


def test_ten_equal_refusals_in_a_row_stop_the_run(tmp_path: Path) -> None:  # R3.6
    with running(lambda role, n, request: {"status": 400, "body": {"error": {"message": "not so"}}}) as server:
        result = run(tmp_path, server, 50, max_connections=1)
        assert len(server.asked["candidate"]) == 10
    assert result.stop.reason is not None
    assert "10 samples in a row" in result.stop.reason


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_at_once_and_the_sample_is_asked_again(tmp_path: Path, status: int) -> None:  # R3.6
    refusing = [True]

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": status} if refusing else always_good(role, n, request)

    with running(reply) as server:
        result = run(tmp_path, server, 6, max_connections=1)
        assert len(server.asked["candidate"]) == 1
        refusing.clear()
        resumed = run_async(resume_run(result.record))
    assert result.stop.failed
    assert [row.accuracy_score for row in rows(resumed)] == [2] * 6
    assert verify(resumed.record).holds


# ── the response cache (R3.5, R7.3) ──────────────────────────────────────────────────────────────────────


def cached_run(folder: Path, server: ScriptedServer, name: str, **settings: Any) -> RunResult:
    return run(folder, server, 3, run_id=name, cache=str(folder / "cache.sqlite"), **settings)


def test_nothing_is_cached_unless_asked_for(tmp_path: Path) -> None:
    with running(always_good) as server:
        run(tmp_path, server, 3, run_id="a")
        run(tmp_path, server, 3, run_id="b")
        assert len(server.asked["candidate"]) == 6


def test_a_hit_is_marked_and_keeps_its_first_latency(tmp_path: Path) -> None:
    with running(always_good) as server:
        first = cached_run(tmp_path, server, "a", model_output_price=Decimal(10), judge_output_price=Decimal(10))
        again = cached_run(tmp_path, server, "b", model_output_price=Decimal(10), judge_output_price=Decimal(10))
        assert (len(server.asked["candidate"]), len(server.asked["judge"])) == (3, 3)
    assert [row.cached for row in rows(first)] == [False] * 3
    assert [row.cached for row in rows(again)] == [True] * 3
    assert [row.latency_e2e_ms for row in rows(again)] == [row.latency_e2e_ms for row in rows(first)]
    assert any("response cache" in warning for warning in again.derived.aggregates.warnings)
    costs = [(a.candidate_cost_usd, a.evaluator_cost_usd) for a in (first.derived.aggregates, again.derived.aggregates)]
    assert costs == [("0.000060", "0.000600"), ("0.000000", "0.000000")]  # 3 * 2 and 3 * 20 tokens; then none


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"model": "openai/other@2026-01-01"}, id="model"),
        pytest.param({"model": "openai/m@2026-02-02"}, id="version"),
        pytest.param({"model_params": {"temperature": 1}}, id="parameter"),
    ],
)
def test_another_model_or_parameter_is_asked_anew(tmp_path: Path, change: dict[str, Any]) -> None:
    with running(always_good) as server:
        cached_run(tmp_path, server, "a")
        cached_run(tmp_path, server, "b", **change)
        assert len(server.asked["candidate"]) == 6


def test_repeats_pass_the_cache_by(tmp_path: Path) -> None:
    with running(always_good) as server:
        cached_run(tmp_path, server, "a", repeats=3)
        assert len(server.asked["candidate"]) == 9
        cached_run(tmp_path, server, "b", repeats=3)
        assert len(server.asked["candidate"]) == 15  # the first repeat's three came from the cache


def test_a_parse_retry_passes_the_cache_by(tmp_path: Path) -> None:
    def first_is_bad(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 200, "content": "bad"} if role == "judge" and n % 2 == 0 else always_good(role, n, request)

    with running(first_is_bad) as server:
        cached_run(tmp_path, server, "a", max_connections=1)
        again = cached_run(tmp_path, server, "b", max_connections=1)
        assert len(server.asked["judge"]) == 9  # 6, then 3 retries of the cached rejected replies
    assert [row.parse_retries for row in rows(again)] == [1] * 3


# ── repeats (R7.3) ───────────────────────────────────────────────────────────────────────────────────────


def test_repeats_give_mean_sd_and_agreement(tmp_path: Path) -> None:
    """Two items, three repeats, asked one by one. Item 0: always 2 and 2. Item 1: 2 and 2, then twice 0 and 2."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate":
            return OK_CANDIDATE
        return verdict(0, 2) if n in (3, 5) else verdict(2, 2)

    with running(reply) as server:
        result = run(tmp_path, server, 2, repeats=3, max_connections=1)
    found = result.derived.aggregates
    # Scores: 1 and 1; 1 and 0.55; 1 and 0.55 (latency and tokens far below their targets): means 1, 0.775, 0.775.
    (score,) = [one for one in found.repeats if one.aggregate == "aggregate_score"]
    assert score.per_repeat == [1.0, 0.775, 0.775]
    assert (score.mean, score.sd) == (0.85, 0.129903811)  # sd = sqrt((0.15^2 + 2 * 0.075^2) / 2)
    assert found.item_agreement is not None
    agreement = found.item_agreement
    assert (agreement.n_items, agreement.same_answer) == (2, 2)
    assert (agreement.same_scores, agreement.same_passed) == (1, 1)
    assert [(row.sample, row.repeat, row.item_id) for row in rows(result)][2:4] == [(2, 1, "i0"), (3, 1, "i1")]


def test_a_benchmark_asks_three_times() -> None:
    from benchbook.evaluators.settings import config_from_mapping

    names = {"evalset": "e", "model": "openai/m@1", "judge": "openai/j@1"}
    assert config_from_mapping(names, "test").n_repeats == 1
    assert config_from_mapping(names | {"benchmark": True}, "test").n_repeats == 3


# ── identity (R7.1, R7.2) ────────────────────────────────────────────────────────────────────────────────


def named(name: str) -> Any:
    return lambda role, n, request: always_good(role, n, request) | {"model": name}


@pytest.mark.parametrize(
    ("model", "says", "version"),
    [
        pytest.param("openai/gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-08-06", id="the-provider-names-a-snapshot"),
        pytest.param("openai/m@1.2", "m", "1.2", id="declared"),
        pytest.param("openai/m-20260101", "m", "m-20260101", id="the-name-holds-a-date"),
    ],
)
def test_the_models_version_is_found(tmp_path: Path, model: str, says: str, version: str) -> None:
    with running(named(says)) as server:
        result = run(tmp_path, server, 2, model=model, benchmark=True, repeats=1)
    assert result.stop.reason is None
    assert result.derived.manifest.model_version == version
    assert result.derived.manifest.missing_metadata == []


@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/chat-latest@1"])
def test_a_floating_alias_is_refused_in_a_benchmark(tmp_path: Path, model: str) -> None:  # R7.2
    with running(named("gpt-4o")) as server:
        result = run(tmp_path, server, 30, model=model, benchmark=True, max_connections=1)
        assert len(server.asked["candidate"]) == 1
    assert result.stop.reason is not None
    assert "floating alias" in result.stop.reason


def test_a_model_without_a_version_ends_without_a_decision(tmp_path: Path) -> None:  # R7.1
    with running(named("m")) as server:
        result = run(tmp_path, server, 30, model="openai/m", max_connections=1)
        assert len(server.asked["candidate"]) == 1
    assert result.derived.decision is None
    assert result.derived.manifest.missing_metadata == ["model_version"]
    assert json.loads(result.record.decision.read_bytes())["release_ready"] is False


def test_a_snapshot_that_changes_makes_the_run_inconclusive(tmp_path: Path) -> None:  # R7.2
    def moving(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | {"model": f"m-2026-01-0{1 + (n > 2)}"}

    with running(moving) as server:
        result = run(tmp_path, server, 6, max_connections=1)
    assert result.derived.decision is not None
    assert result.derived.decision.decision == "INCONCLUSIVE"
    assert "the model's snapshot or fingerprint changed during the run" in result.derived.decision.reasons
    assert {row.model_reported for row in rows(result)} == {"m-2026-01-01", "m-2026-01-02"}


def test_a_judge_whose_scores_do_not_vary_is_told(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = run(tmp_path, server, 6)
    assert any("gave all 6 answers the same scores" in warning for warning in result.derived.aggregates.warnings)


# ── recorded outputs (R1.4) ──────────────────────────────────────────────────────────────────────────────


def recorded(folder: Path, server: ScriptedServer, text: str, **settings: Any) -> RunResult:
    outputs = folder / "outputs.jsonl"
    outputs.write_text(text, encoding="utf-8")
    values = {"model": "recorded/m@1", "model_base_url": None, "outputs": str(outputs)} | settings
    return run_async(start_run(config(folder, server, 3, **values)))


def test_recorded_outputs_are_judged_and_missing_ones_are_unanswered(tmp_path: Path) -> None:
    lines = '{"id": "i0", "completion": "1"}\n{"id": "i2", "completion": null}\n'
    with running(always_good) as server:
        result = recorded(tmp_path, server, lines, unmeasured=("latency", "tokens"))
        assert server.asked["candidate"] == []
        assert len(server.asked["judge"]) == 1
    assert [row.accuracy_score for row in rows(result)] == [2, None, 0]
    ledger = result.derived.aggregates.ledger
    assert (ledger.no_answer_by_reason, ledger.unanswered_by_cause) == ({"empty": 1}, {"not_recorded": 1})
    assert result.stop.reason == (
        "1 sample is unanswered: the recorded outputs have none for this item. "
        "Add them to the file, and start a new run."
    )
    assert result.derived.manifest.unmeasured == ["latency", "tokens"]
    assert verify(result.record).holds


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        pytest.param('{"id": "i9", "output": "x"}\n', "outputs.jsonl:1: item_id", id="unknown-id"),
        pytest.param('{"id": "i0", "output": "x"}\n' * 2, "outputs.jsonl:2: item_id", id="twice"),
        pytest.param('{"id": "i0", "output": 3}\n', "outputs.jsonl:1: output", id="not-text"),
        pytest.param('{"id": "i0", "output": "x", "latency_ms": -1}\n', "latency_e2e_ms", id="negative"),
        pytest.param('{"id": "i0"}\n', "output", id="no-output-column"),
        pytest.param('{"id": "i0", "output": "x", "response": "y"}\n', "output and response", id="two-columns"),
        pytest.param("[1]\n", "outputs.jsonl:1", id="no-object"),
    ],
)
def test_faulty_outputs_are_named_and_nothing_is_written(tmp_path: Path, lines: str, named: str) -> None:
    from benchbook.errors import UsageError

    with running(always_good) as server, pytest.raises(UsageError, match=named):
        recorded(tmp_path, server, lines)
    assert not (tmp_path / "runs").exists()


def test_an_answer_beside_the_outputs_is_not_taken_for_one(tmp_path: Path) -> None:
    """It may well be the reference: it is neither read nor a reason to refuse the file."""
    lines = "".join(f'{{"id": "i{n}", "output": "said {n}", "answer": "expected"}}\n' for n in range(3))
    with running(always_good) as server:
        result = recorded(tmp_path, server, lines)
    assert [row.candidate_answer for row in rows(result)] == ["said 0", "said 1", "said 2"]


def test_latency_is_unmeasured_of_recorded_outputs_alone(tmp_path: Path) -> None:
    with running(always_good) as server, pytest.raises(ConfigError, match="only with recorded outputs"):
        run(tmp_path, server, unmeasured=("latency",))


def test_a_server_without_usage_may_be_declared(tmp_path: Path) -> None:
    """Without tokens no sample passes; declared, they are left out, and the decision is never better than open."""

    def untold(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {name: one for name, one in always_good(role, n, request).items() if name != "usage"}

    with running(untold) as server:
        plain = run(tmp_path, server, 2)
        declared = run(tmp_path, server, 2, unmeasured=("tokens",), run_id="declared")
    assert [row.passed for row in rows(plain)] == [False, False]
    assert 'unmeasured = ["tokens"]' in plain.derived.aggregates.warnings[0]
    assert [row.passed for row in rows(declared)] == [True, True]
    assert declared.derived.decision.decision == "INCONCLUSIVE"
    assert verify(declared.record).holds
