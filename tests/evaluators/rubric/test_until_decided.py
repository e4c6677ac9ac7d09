"""Runs that end once they are decided: in a recorded order, resumable, and derived offline to the same item."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask.requests import plan_sha256
from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.registry import resume_run
from benchbook.evaluators.rubric.asking import items_in_order, samples_in_order
from benchbook.evaluators.rubric.plan import Plan, UntilDecided, plan_of
from benchbook.evaluators.rubric.rows import EarlyStop, RubricRow
from benchbook.evaluators.rubric.tables import derive
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Interrupted, Reply, RunEnded
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from rubric_v1 import ROW
from running import benchbook_here, options, run, write_items
from scripted_server import GOOD_VERDICT, OK_JUDGE, ScriptedServer, always_good, running


def early(result: RunResult) -> EarlyStop:
    found = result.derived.aggregates.early_stop
    assert isinstance(found, EarlyStop)
    return found


def rows(result: RunResult) -> list[RubricRow]:
    return list(read_rows(result.record.samples, ROW))


def facts(result: RunResult) -> list[Any]:
    return [line.fact for line in read_journal(result.record.journal)]


def half_wrong(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    if role == "judge" and n % 2:
        return OK_JUDGE | {"content": json.dumps(GOOD_VERDICT | {"accuracy_score": 0})}
    return always_good(role, n, request)


def until_decided(folder: Path, server: ScriptedServer, items: int = 200, **settings: Any) -> RunResult:
    return run(folder, server, items, until_decided=True, **settings)


def test_a_good_model_is_ready_after_a_part_of_the_items(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = until_decided(tmp_path, server, max_connections=1)
        asked = len(server.asked["candidate"])
    found, decision = early(result), result.derived.decision
    assert result.stop.reason is None
    assert decision is not None
    assert (decision.decision, decision.release_ready) == ("READY", True)
    assert decision.reasons == (f"all gates hold, in the worst case too; decided after {asked} of 200 items",)
    assert (found.after_items, found.n_samples_counted, found.n_samples_after) == (asked, asked, 0)
    assert found.n_samples_not_asked == 200 - asked
    assert asked < 100
    assert result.derived.manifest.state == "complete"
    assert len(rows(result)) == asked
    assert verify(result.record).holds


def test_a_bad_one_is_not_ready(tmp_path: Path) -> None:
    with running(half_wrong) as server:
        result = until_decided(tmp_path, server, max_connections=1)
    assert result.derived.decision is not None
    assert result.derived.decision.decision == "NOT_READY"
    assert "decided after" in result.derived.decision.reasons[0]
    assert early(result).n_samples_not_asked > 100


def test_items_are_asked_in_the_order_that_the_plan_says(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = until_decided(tmp_path, server, max_connections=1, order_seed=7)
    plan = plan_of(result.record.started())
    asked = [fact.sample for fact in facts(result) if isinstance(fact, Reply) and fact.role == "candidate"]
    assert asked == list(samples_in_order(plan))[: len(asked)]
    assert asked != sorted(asked)
    assert plan.until_decided == UntilDecided(error=0.05, seed=7, method="betting_without_replacement")
    assert [row.sample for row in rows(result)] == sorted(asked)  # derived in the eval set's order, as ever


def test_what_is_under_way_is_recorded_and_not_counted(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = until_decided(tmp_path, server, 400, max_connections=16)
        asked = len(server.asked["candidate"])
    found = early(result)
    assert found.n_samples_counted + found.n_samples_after == asked
    assert found.n_samples_counted == found.after_items == len(rows(result))
    assert found.n_samples_not_asked == 400 - asked
    assert verify(result.record).holds


def test_where_nothing_is_sure_enough_all_items_are_asked_and_decide(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = until_decided(tmp_path, server, 15)
    found, decision = early(result), result.derived.decision
    assert (found.decision, found.after_items, found.n_samples_not_asked) == (None, None, 0)
    assert decision is not None
    assert (decision.decision, decision.release_ready) == ("INCONCLUSIVE", True)  # by bounds, as any other run
    assert decision.reasons[0] == "release-ready by the rubric's rule; 15 samples can't show it: at least 59 can"
    assert len(rows(result)) == 15


@pytest.mark.slow
def test_all_repeats_of_an_item_come_before_the_next(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = until_decided(tmp_path, server, 120, repeats=3, max_connections=1)
    asked = [fact.sample % 120 for fact in facts(result) if isinstance(fact, Reply) and fact.role == "candidate"]
    found = early(result)
    assert asked == [item for item in asked[::3] for _ in range(3)]
    assert found.after_items is not None
    assert found.n_samples_counted == 3 * found.after_items
    assert verify(result.record).holds


@pytest.mark.slow
def test_a_run_that_was_stopped_by_a_limit_resumes_to_the_same_item(tmp_path: Path) -> None:
    with running(always_good) as server:
        whole = until_decided(tmp_path, server, max_connections=1)
        settings = {
            "max_cost_usd": Decimal("0.01"),
            "model_input_price": Decimal(10),
            "run_id": "parts",
            "max_connections": 1,
        }
        part = until_decided(tmp_path, server, **settings)
        assert "cost limit" in (part.stop.reason or "")
        assert early(part).decision is None
        assert part.derived.decision is not None
        assert part.derived.decision.decision == "INCONCLUSIVE"
        resumed = run_async(resume_run(part.record, {"max_cost_usd": Decimal(1)}))
    assert resumed.stop.reason is None
    assert early(resumed).after_items == early(whole).after_items
    assert verify(resumed.record).holds


def test_bounds_can_not_be_asked_for_when_it_is_resumed(tmp_path: Path) -> None:
    with running(always_good) as server:
        prices = {"max_cost_usd": Decimal("0.005"), "model_input_price": Decimal(10), "max_connections": 1}
        part = until_decided(tmp_path, server, **prices)
        with pytest.raises(ConfigError, match="confidence"):
            run_async(resume_run(part.record, {"confidence": 0.95}))


def test_a_journal_that_decides_without_saying_so_is_ended_and_nobody_asked(tmp_path: Path) -> None:
    """Killed after the deciding reply, before `run_ended` was written."""
    with running(always_good) as server:
        result = until_decided(tmp_path, server, max_connections=1)
        journal = result.record.journal / "000001.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        assert isinstance(facts(result)[-1], RunEnded)
        journal.write_bytes(b"".join(lines[:-1]))
        asked = len(server.asked["candidate"])
        open_run = derive(result.record, result.record.path)
        assert open_run.decision is not None
        assert open_run.decision.decision == "INCONCLUSIVE"
        resumed = run_async(resume_run(result.record))
        assert len(server.asked["candidate"]) == asked
    assert isinstance(facts(resumed)[-1], RunEnded)
    assert resumed.derived.decision is not None
    assert resumed.derived.decision.decision == "READY"


def test_an_end_that_the_facts_do_not_bear_out_decides_nothing(tmp_path: Path) -> None:
    """`run_ended` stands in the journal, but the samples before it are too few: what is derived goes by them."""
    with running(always_good) as server:
        part = until_decided(
            tmp_path, server, max_cost_usd=Decimal("0.005"), model_input_price=Decimal(10), max_connections=1
        )
    assert isinstance(facts(part)[-1], Interrupted)
    path = part.record.journal / "000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    last = json.loads(lines[-1])
    ended = {"kind": "run_ended", "seq": last["seq"], "prev": last["prev"], "at": last["at"]}
    path.write_bytes(b"".join([*lines[:-1], json.dumps(ended).encode() + b"\n"]))
    found = derive(part.record, part.record.path)
    assert found.manifest.state == "complete"
    assert found.decision is not None
    assert (found.decision.decision, found.decision.caps) == ("INCONCLUSIVE", ("incomplete",))
    assert found.decision.reasons[0].startswith("incomplete")


def test_recorded_outputs_save_the_judge(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    counts = {"latency_ms": 100, "input_tokens": 10, "output_tokens": 10}
    lines = [json.dumps({"id": f"i{n}", "output": "7"} | counts) for n in range(200) if n != 150]
    outputs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {"model": "recorded/m@1", "model_base_url": None, "outputs": str(outputs), "max_connections": 1}
    with running(always_good) as server:
        result = until_decided(tmp_path, server, **settings)
        asked = len(server.asked["judge"])
    found = early(result)
    assert found.decision == "READY"
    assert found.n_samples_after == 0
    assert asked in (found.n_samples_counted, found.n_samples_counted - 1)  # the item that has no output may be one
    assert verify(result.record).holds


def test_confidence_is_refused_where_the_run_stopped_early(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = until_decided(tmp_path, server)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with pytest.raises(UsageError, match="it stopped early"):
        derive(result.record, folder, confidence=0.95)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        pytest.param({"confidence": 0.95}, "confidence", id="confidence"),
        pytest.param({"error": 0.01, "until_decided": False}, "error", id="error-alone"),
        pytest.param({"order_seed": 3, "until_decided": False}, "order_seed", id="seed-alone"),
        pytest.param({"unmeasured": ("latency",)}, "unmeasured", id="unmeasured"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(tmp_path: Path, settings: dict[str, Any], says: str) -> None:
    with running(always_good) as server, pytest.raises(ConfigError, match=says):
        run(tmp_path, server, 5, **({"until_decided": True} | settings))


def test_the_rule_is_part_of_the_plan_and_its_absence_is_not(tmp_path: Path) -> None:
    with running(always_good) as server:
        plans = [
            plan_of(run(tmp_path, server, 2, run_id=name, **settings).record.started())
            for name, settings in (
                ("a", {}), ("b", {"until_decided": True}), ("c", {"until_decided": True, "order_seed": 1}),
                ("d", {"until_decided": True, "error": 0.01}),
            )
        ]  # fmt: skip
    assert len({plan_sha256(plan) for plan in plans}) == 4
    assert "until_decided" not in msgspec.to_builtins(plans[0])
    before = {name: value for name, value in msgspec.to_builtins(plans[1]).items() if name != "until_decided"}
    assert plan_sha256(msgspec.convert(before, Plan)) == plan_sha256(plans[0])


def test_the_order_is_a_matter_of_seed_and_eval_set_alone() -> None:
    rule = UntilDecided(error=0.05, seed=0, method="betting_without_replacement")
    order = items_in_order(rule, "ab", 6)
    assert order == [3, 2, 1, 5, 4, 0]
    assert items_in_order(rule, "cd", 50) != items_in_order(rule, "ab", 50)
    assert sorted(items_in_order(rule, "ab", 50)) == list(range(50))
    assert items_in_order(msgspec.structs.replace(rule, error=0.2), "ab", 50) == items_in_order(rule, "ab", 50)


@pytest.mark.slow
def test_the_command_line_tells_what_was_saved(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 150)
    with running(always_good) as server:
        words = options(tmp_path, server, reports=tmp_path / "reports")
        found = benchbook_here("run", *words, "--until-decided", "--error", "0.1", "--json")
        shown = benchbook_here("gate", "run", "--runs", str(tmp_path / "runs"))
    assert (found.returncode, shown.returncode) == (0, 0), found.stderr
    told = json.loads(found.stdout)["aggregates"]["early_stop"]
    assert (told["decision"], told["error"]) == ("READY", 0.1)
    assert told["n_samples_not_asked"] > 0
    report = (tmp_path / "reports" / "run" / "report.md").read_text(encoding="utf-8")
    assert "Until decided" in report
    assert f"Decided after | {told['after_items']} of 150 items" in report
    html = (tmp_path / "reports" / "run" / "report.html").read_text(encoding="utf-8")
    assert "Saved: never asked" in html
    assert b"This run ended once it was decided" in shown.stdout
