"""The run that another is held against while it goes on: whole, and asked and judged as the other will be."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.decisions.early_stop_pairs import PAIRED_METHOD, OtherRun, pass_mark
from benchbook.decisions.metadata_difference import MEASURED_WORDS, measured_differences
from benchbook.derivations.derivation import DERIVATION, derivation_of
from benchbook.derivations.early_stop import early_decision
from benchbook.derivations.plan import Panel, Plan, UntilDecided
from benchbook.derivations.rubric_steps import outcome_of, read_history
from benchbook.derivations.rubric_tables import plan_of
from benchbook.derivations.state import JournalState, read_state
from benchbook.errors import ConfigError
from benchbook.records.folder import record_named
from benchbook.records.whole import check_whole
from benchbook.scorers.rubric import rubric_scale
from benchbook.text import storable

__all__ = ["held_against"]


def held_against(plan: Plan, run: str, runs: str, *, grouped: bool) -> Plan:
    """The plan, with what it needs of the run that it is held against. `run` is a path, or an id in the folder `runs`.
    `grouped`: the set's items come in groups, which rise and fall together.

    What is asked of the model (its parameters, the prompt template) may be what is tried out; what the score of an item
    means may not differ.

    Raises: ConfigError for a run that is not whole or measured something else; UsageError where there is no such
    record; RecordError.
    """
    assert isinstance(plan.until_decided, UntilDecided)  # noqa: S101 - refused before
    if grouped:
        expected = "items that stand alone: bets on one after the other take those of a group for so many proofs"
        raise ConfigError("against", "an eval set whose items have a group", expected)
    record = record_named(run, runs)
    check_whole(record)
    started = record.started()
    if started.spec != plan.spec:
        raise ConfigError("against", f"{run}, a run under {started.spec}", f"a run under {plan.spec}")
    state, other = read_state(record.journal), plan_of(started)
    for one in measured_differences(_measured(other), _measured(plan)):
        leaves = ", ".join(leaf.path for leaf in one.leaves)
        found = f"{run}, of which not the same was measured: {MEASURED_WORDS[one.name]} differs ({one.name}: {leaves})"
        raise ConfigError("against", found, "a run on the same eval set, by the same judge and scorer")
    against = _passes(state, other, run)
    rule = msgspec.structs.replace(plan.until_decided, method=PAIRED_METHOD, against=against)
    return msgspec.structs.replace(plan, until_decided=rule)


def _measured(plan: Plan) -> dict[str, Any]:
    """What a plan says of the eval set, the scorer and the judge, by the manifest's names for it."""
    return {
        "dataset_version_or_hash": [plan.set_sha256, plan.n_items],
        "spec": plan.spec,
        "spec_sha256": plan.spec_sha256,
        "unmeasured": list(plan.unmeasured),
        "evaluator_model_id": [judge.model_id for judge in plan.judges],
        "evaluator_generation_params_effective": {
            "judges": [
                {"params": judge.params, "json_schema": judge.json_schema, "reasoning_tags": judge.reasoning_tags}
                for judge in plan.judges
            ],
            "panel_rule": plan.panel.rule if isinstance(plan.panel, Panel) else None,
        },
    }


def _passes(state: JournalState, plan: Plan, run: str) -> OtherRun:
    """Which of its samples passed, read from its journal by the rules of today, as the other run's will be."""
    if state.state != "complete":
        raise ConfigError("against", f"{run}, which is not complete: it is {state.state}", "a run that was ended")
    if (early := early_decision(plan, state.index.by_sample(), derivation_of(state.started))) is not None:
        raise ConfigError("against", f"{run}, which ended early ({early.words})", "a run that asked all items")
    scale = rubric_scale(frozenset(plan.unmeasured))
    marks = ["?"] * plan.n_samples
    for sample, facts in state.index.by_sample():
        marks[sample] = pass_mark(outcome_of(read_history(facts, plan, DERIVATION)), scale)
    return OtherRun(
        run_id=storable(state.started.run_id),
        journal_sha256=state.last_sha256,
        repeats=plan.repeats,
        passes="".join(marks),
    )
