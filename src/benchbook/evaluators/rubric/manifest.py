"""Who, what, when, with what: a `rubric@v1` record's manifest (SPEC R7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchbook.ask.identity import floating_of, model_version
from benchbook.evaluators.candidate import FOUR_PARAMS
from benchbook.evaluators.derivation import cited, derivation_of
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.rows import PanelJudge, PanelManifest, RubricManifest
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.warnings import roles_of
from benchbook.record.derived_files import told_by_journal
from benchbook.record.state import JournalState

# Of what the journal tells, R7.1 requires these.
_REQUIRED_OF_JOURNAL = ("run_id", "timestamp_utc", "dataset_id", "code_version", "environment")


def manifest_of(state: JournalState, plan: Plan, spec: RubricSpec) -> RubricManifest:
    """The manifest, but for the hashes of the derived files and its own."""
    started = state.started
    version, *versions = _versions(state, plan)
    told = told_by_journal(state, {})
    known: dict[str, Any] = {
        **{name: told[name] for name in _REQUIRED_OF_JOURNAL},
        "dataset_version_or_hash": f"sha256:{plan.set_sha256}",
        "model_id": plan.candidate.model_id,
        "model_version": version,
        "evaluator_model_id": " + ".join(judge.model_id for judge in plan.judges),
        "evaluator_model_version": None if None in versions else " + ".join(str(version) for version in versions),
        "prompt_template_id": plan.prompt_template_id or None,
        "prompt_template_version_or_hash": f"sha256:{plan.prompt_template_sha256}" if plan.prompt_template_id else None,
        "evaluator_prompt_template_version_or_hash": f"sha256:{spec.prompt_sha256}",
        "generation_params": started.identity["generation_params"]["model"],
    }
    not_known = undeclared(plan, started.config.get("model_params", {})) if derivation_of(started) >= 3 else []
    # Outputs that were made elsewhere may be decided about without those; a benchmark may not (R7.1).
    optional = () if plan.benchmark else not_known
    return RubricManifest(
        **told | known,
        n_items=plan.n_items,
        repeats=plan.repeats,
        benchmark=plan.benchmark,
        evaluator_prompt_template_id=plan.spec,
        generation_params_effective=plan.candidate.params,
        evaluator_generation_params=started.identity["generation_params"]["judge"],
        evaluator_generation_params_effective=plan.judge.params,
        unmeasured=list(plan.unmeasured),
        reasoning_tags=sorted({tag for role in (plan.candidate, *plan.judges) for tag in role.reasoning_tags}),
        panel=_panel(plan, versions),
        accepted_unanswered=True if state.ended is not None and state.ended.accepts_unanswered else msgspec.UNSET,
        missing_metadata=[
            *(name for name, value in known.items() if value in (None, "", {}) and name not in optional),
            *(name for name in not_known if name not in known and plan.benchmark),
        ],
        not_known=not_known or msgspec.UNSET,
        part=plan.part_said,
    )


def _versions(state: JournalState, plan: Plan) -> list[str | None]:
    """The model's, then each judge's. In a benchmark that of an id that floats is what its provider names (R7.2)."""
    floating = floating_of(state.started.identity) if plan.benchmark else {}
    derivation = derivation_of(state.started)
    return [
        model_version(model_id, reported, derivation, only_snapshot=name in floating)
        for name, model_id, reported in roles_of(state, plan)
    ]


def _panel(plan: Plan, versions: Sequence[str | None]) -> PanelManifest | msgspec.UnsetType:
    if not isinstance(plan.panel, Panel):
        return msgspec.UNSET
    return PanelManifest(
        rule=plan.panel.rule,
        judges=[
            PanelJudge(
                name=name, model_id=judge.model_id, model_version=version, generation_params_effective=judge.params
            )
            for name, judge, version in zip(plan.panel.names, plan.judges, versions, strict=True)
        ],
    )


def undeclared(plan: Plan, declared_params: Mapping[str, Any]) -> list[str]:
    """The names of R7.1 that nobody declared, of outputs made elsewhere. `"null"` declares that none was set."""
    if plan.candidate.provider != "recorded":
        return []
    template = () if plan.prompt_template_id else ("prompt_template_id", "prompt_template_version_or_hash")
    params = (f"generation_params.{name}" for name in FOUR_PARAMS if name not in declared_params)
    return [*template, *params]


def refusal(manifest: RubricManifest, derivation: int) -> dict[str, Any]:
    """decision.json where no decision is made."""
    lacking = f"required metadata is missing{cited('R7.1', derivation)}"
    return {
        "decision": None,
        "release_ready": False,
        "reasons": [f"refused: {lacking}: {', '.join(manifest.missing_metadata)}"],
        "gates": [],
    }
