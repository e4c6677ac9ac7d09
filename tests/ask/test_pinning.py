"""A run whose models can't be pinned stops after the first answers (SPEC R7.1, R7.2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.limits import Stop
from benchbook.ask.model_id import PinCheck, parse_model_id
from benchbook.ask.requests import RolePlan
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from running import benchbook_here, options, run, write_items
from scripted_server import always_good, running

PINNED = "openai/j@1"


def plan(model: str, judge: str, *, benchmark: bool) -> Plan:
    def role(model_id: str) -> RolePlan:
        return RolePlan(model_id=model_id, provider="openai", name="m", params={})

    return Plan(
        spec="rubric@v1", spec_sha256="", evalset_sha256="", n_items=1, repeats=1, prompt_template_id="",
        prompt_template_sha256="", candidate=role(model), judge=role(judge), benchmark=benchmark,
    )  # fmt: skip


def reason(plan: Plan, *replies: Reply) -> str | None:
    models = {
        "candidate": parse_model_id(plan.candidate.model_id, "model"),
        "judge": parse_model_id(plan.judge.model_id, "judge"),
    }
    stop, pins = Stop(), PinCheck(models, benchmark=plan.benchmark)
    for reply in replies:
        pins.look_at(reply.role, reply, stop)
    return stop.reason


def said(role: Any, model: str | None, fingerprint: str | None = None) -> Reply:
    return Reply(sample=0, role=role, text="x", model_reported=model, fingerprint=fingerprint)


FLOATS, UNTOLD = "is a floating alias", "neither the id nor the provider tells a version"


@pytest.mark.parametrize(
    ("model", "reported", "fingerprint", "in_any_run", "in_a_benchmark"),
    [
        pytest.param("openai/m@1", "m", None, None, None, id="declared"),
        pytest.param("openai/m@1", None, None, None, None, id="declared-and-nothing-told"),
        pytest.param("openai/m-2026-01-01", "m", None, None, None, id="a-snapshots-name"),
        pytest.param("openai/m", "m-2026-01-01", None, None, None, id="the-provider-names-a-snapshot"),
        pytest.param("openai/m", "m", "fp_1", None, None, id="a-fingerprint"),
        pytest.param("openai/m", "m", None, UNTOLD, UNTOLD, id="nobody-tells"),
        pytest.param("openai/m", None, None, UNTOLD, UNTOLD, id="nothing-told"),
        pytest.param("openai/gpt-4o", "gpt-4o-2024-08-06", None, None, None, id="an-alias-with-a-snapshot"),
        pytest.param("openai/gpt-4o", "gpt-4o", "fp_1", None, FLOATS, id="an-alias-with-a-fingerprint-alone"),
        pytest.param("openai/gpt-4o", "gpt-4o", None, UNTOLD, FLOATS, id="an-alias"),
        pytest.param("openai/m-latest@1", "m", None, None, FLOATS, id="latest-though-declared"),
        pytest.param("openai/m-latest@1", "m-20260101", None, None, None, id="latest-with-a-snapshot"),
        pytest.param("openai/gpt-4o@1", "gpt-4o", "fp_1", None, FLOATS, id="an-alias-with-a-version-that-is-none"),
        pytest.param("openai/gpt-4o@1", "gpt-4o-2024-08-06", None, None, None, id="which-the-provider-mends"),
        pytest.param("openai/m@stable", "m", None, None, FLOATS, id="stable"),
        pytest.param("openai/j@main", "j", "fp_1", None, FLOATS, id="main"),
        pytest.param("openai/mistral-large", "mistral-large-2407", None, None, None, id="a-snapshot-by-year-and-month"),
    ],
)
@pytest.mark.parametrize("role", ["candidate", "judge"])
def test_the_first_answer_of_each_role_pins_its_model_or_stops_the_run(
    role: str,
    model: str,
    reported: str | None,
    fingerprint: str | None,
    in_any_run: str | None,
    in_a_benchmark: str | None,
) -> None:
    for benchmark, says in ((False, in_any_run), (True, in_a_benchmark)):
        ids = (model, PINNED) if role == "candidate" else (PINNED, model)
        found = reason(plan(*ids, benchmark=benchmark), said(role, reported, fingerprint))
        assert (says is None and found is None) or (says is not None and found is not None and says in found)


def test_later_answers_are_not_looked_at() -> None:
    checked = plan("openai/m", PINNED, benchmark=False)
    assert reason(checked, said("candidate", "m-2026-01-01"), said("candidate", "m")) is None


def test_each_role_is_looked_at_for_itself() -> None:
    checked = plan("openai/m@1", "openai/j", benchmark=False)
    assert UNTOLD in (reason(checked, said("candidate", "m"), said("judge", "j")) or "")


def test_the_message_says_what_to_write(tmp_path: Path) -> None:
    def nameless(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | {"model": "m"}

    write_items(tmp_path / "items.jsonl", 20)
    with running(nameless) as server:
        found = benchbook_here("run", *options(tmp_path, server, model="openai/m"), "--quiet")
    assert found.returncode == 2
    assert "openai/m: neither the id nor the provider tells a version; write openai/m@version" in found.stderr.decode()


def test_the_message_does_not_offer_what_can_not_help(tmp_path: Path) -> None:
    def nameless(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | {"model": "m"}

    write_items(tmp_path / "items.jsonl", 2)
    with running(nameless) as server:
        found = benchbook_here("run", *options(tmp_path, server, model="openai/m"), "--quiet")
    assert b"--resume" not in found.stderr


def test_a_decision_is_refused_where_a_judge_has_no_version(tmp_path: Path) -> None:  # R7.1
    def nameless_judge(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | ({"model": "j"} if role == "judge" else {})

    with running(nameless_judge) as server:
        result = run(tmp_path, server, 3, judge="openai/j", max_connections=1)
    assert result.derived.decision is None
    assert json.loads(result.record.decision.read_bytes()) == {
        "decision": None,
        "release_ready": False,
        "reasons": ["refused: required metadata is missing: evaluator_model_version"],
        "gates": [],
    }
    assert verify(result.record).holds
