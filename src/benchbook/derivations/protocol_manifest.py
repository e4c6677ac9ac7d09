"""manifest.json of a `judge_protocol@v1` record: who judged what, when, by which rules (SPEC P7, R7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from benchbook.derivations.derivation import derivation_of
from benchbook.derivations.protocol_judges import JudgeCounts
from benchbook.derivations.protocol_plan import ProtocolPlan
from benchbook.derivations.protocol_rows import ProtocolManifest, Task
from benchbook.derivations.state import JournalState
from benchbook.records.tables import writer_version
from benchbook.specs import load_spec

__all__ = ["manifest_of", "task_of"]


def manifest_of(
    state: JournalState,
    plan: ProtocolPlan,
    judges: Sequence[JudgeCounts],
    dates: Sequence[str],
    derived: dict[str, str],
) -> ProtocolManifest:
    """`dates` are those that judgements made elsewhere bear, `derived` the hashes of the other derived files."""
    started = state.started
    last_at = state.ended or state.interrupted
    return ProtocolManifest(
        run_id=started.run_id,
        timestamp_utc=started.at,
        ended_utc=last_at.at if last_at else None,
        state=state.state,
        state_detail=state.interrupted.reason if state.interrupted and not state.ended else None,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        prompt_sha256=load_spec(plan.spec).file_sha256("prompt.txt"),
        dataset_id=started.identity["dataset_id"],
        dataset_version_or_hash=f"sha256:{plan.set_sha256}",
        n_outputs=plan.n_outputs,
        repeats=plan.repeats,
        evidence=plan.evidence,
        same_model=plan.same_model,
        judges={judge.plan.name: _judge(judge, plan) for judge in judges},
        judged_elsewhere=plan.judgements_sha256 is not None,
        code_version=started.code_version,
        environment=started.environment,
        config=started.config,
        plan_sha256=started.plan_sha256,
        inputs=started.inputs,
        journal_segments=state.n_segments,
        journal_facts=state.n_facts,
        journal_sha256=state.last_sha256,
        derived=derived,
        derived_by={"tables": writer_version()},
        manifest_sha256="",
        project_version=started.identity.get("project_version", msgspec.UNSET),
        **_since_derivation_3(plan, dates, derivation_of(started)),
    )


def _judge(judge: JudgeCounts, plan: ProtocolPlan) -> dict[str, Any]:
    """Since derivation 3 nothing is claimed that is not known: a null is what nobody said."""
    role, said = judge.plan.role, judge.plan.said
    known = {"model_id": role.model_id, "model_version": judge.version(), "params": role.params}
    if judge.derivation < 3:
        return known
    params = said.params if plan.judgements_sha256 is not None else role.params
    return known | {"params": params, "tools": said.tools, "web_access": said.web_access}


def task_of(plan: ProtocolPlan) -> Task:
    """Whether what the targets were asked is in the record (P4.3)."""
    return "unknown" if plan.task == "unknown" or plan.prompts_sha256 is None else "known"


def _since_derivation_3(plan: ProtocolPlan, dates: Sequence[str], derivation: int) -> dict[str, Any]:
    if derivation < 3:
        return {}
    if plan.judgements_sha256 is None:
        return {"task": task_of(plan)}
    return {
        "task": task_of(plan),
        "evaluated_from": min(dates, default=None),
        "evaluated_to": max(dates, default=None),
    }
