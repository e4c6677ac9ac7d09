"""The audit card: what the variants did to a judge's scores, the uses that leaves, and for which judge that holds.

All of it follows from the audit's records; `card.json` is a copy for those who look for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from math import sqrt
from typing import Any, Literal

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.gates import DecisionName
from benchbook.evaluators.registry import evaluator_of
from benchbook.judge_audit.effects import EffectVerdict, JudgedAnswers, JudgeEffect, judge_effects
from benchbook.judge_audit.folder import BASELINE, SOURCE, AuditFolder
from benchbook.judge_audit.planning import answers_needed
from benchbook.judge_audit.variants import ORIGINAL, OTHER_ORDER, Aspect
from benchbook.record.facts import RunStarted
from benchbook.statistics import Estimate, wilson

Allowed = Literal["yes", "no", "not_told"]

USES: Mapping[Aspect, str] = {
    "probe": "to judge at all: it notices answers that are bad",
    "reference": "to judge by expected answers: it reads them",
    "retest": "to compare runs that were judged at different times",
    "order": "to compare answers in pairs that are judged in one order",
    "length": "to compare models whose answers differ in length",
    "style": "to compare models whose answers differ in form or in tone",
    "name": "to judge answers that say which model gave them, its own too",
}
"""The uses of a judge, by what shows that it may be put to them; the most basic first."""

_VERSION = "evaluator_model_version"
_MEASURED = (
    "spec", "spec_sha256", "evaluator_model_id", _VERSION,
    "evaluator_prompt_template_version_or_hash", "evaluator_generation_params_effective", "panel",
)  # fmt: skip


class AuditedJudge(msgspec.Struct, frozen=True, kw_only=True):
    """The judge, the rubric and the eval set for which a card holds: whoever changes one of them, changes what was
    tried. `measured` are the manifest's fields that tell them, under its names."""

    judge: str
    spec: str
    measured: dict[str, Any]
    evalset: str
    evalset_sha256: str


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """The changes when nothing but the time is another: the floor below which one answer's change means nothing."""

    n: int
    same_score: Estimate  # the share of answers that had the same score again
    sd: float | None  # of the differences; None of fewer than two answers


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One use of the judge, and whether what was tried allows it: `by` are the variants that decide it."""

    aspect: Aspect
    words: str
    allowed: Allowed
    by: dict[str, EffectVerdict]


class AuditCard(msgspec.Struct, frozen=True, kw_only=True):
    """All that an audit says of a judge. `not_tried` are variants that fit none of the answers.

    `decisions` are those of the records, by variant, of an audit in one stage.
    `n_for_margin` are the answers that would find an effect as large as the margin, with a chance of 90 %, at the
    spread that was seen, by variant; of those that are not told alone.
    """

    audit_id: str
    ended_utc: str | None
    judge: AuditedJudge
    run_id: str
    run_sha256: str
    run_judged: bool
    model: str
    n_answers: int
    n_eligible: int
    margin: float
    confidence: float
    noise: Noise
    effects: tuple[JudgeEffect, ...]
    decisions: dict[str, DecisionName | None]
    not_tried: tuple[str, ...]
    uses: tuple[Use, ...]
    n_for_margin: dict[str, int]
    n_verdicts: int  # that the audit itself asked for
    cost_usd: str | None  # decimal dollars; None where no price was given
    records: dict[str, str]  # the hash of each record that was asked for, by its folder's name


def audit_card(audit: AuditFolder) -> AuditCard:
    """The card, as the records stand.

    Raises: UsageError where it is not complete; RecordError for records whose tables were changed.
    """
    if (lacking := audit.lacking()) is not None:
        resumes = f"benchbook judge audit --resume {audit.path}"
        raise UsageError(f"{audit.path}: is not complete ({lacking} is not); go on with it: {resumes}")
    plan, judged = audit.plan, _judged(audit)
    effects = _effects(audit, judged)
    asked = {one.path.name: evaluator_of(one).read(one) for one in audit.asked()}
    manifests = {name: one.manifest for name, one in asked.items()}
    source = evaluator_of(audit.source).read(audit.source)
    derived = {SOURCE: source} | asked
    return AuditCard(
        audit_id=plan.audit_id,
        ended_utc=max((one.ended_utc for one in manifests.values() if one.ended_utc), default=None),
        judge=_judge_of(manifests, audit.source.started()),
        run_id=plan.run_id,
        run_sha256=plan.run_sha256,
        run_judged=plan.run_judged,
        model=source.manifest.model_id,
        n_answers=plan.n_answers,
        n_eligible=plan.n_eligible,
        margin=plan.margin,
        confidence=plan.confidence,
        noise=_noise(judged[ORIGINAL], judged[BASELINE]),
        effects=effects,
        decisions=_decisions(audit, derived),
        not_tried=plan.not_tried,
        uses=tuple(_uses(effects)),
        n_for_margin=dict(_needed(effects)),
        n_verdicts=sum(one.n_items for one in manifests.values()),
        cost_usd=cost_usd(asked.values()),
        records={name: one.journal_sha256 for name, one in manifests.items()},
    )


def card_bytes(card: AuditCard) -> bytes:
    """The contents of card.json."""
    return canonical_json(card) + b"\n"


def effects_of(audit: AuditFolder, stages: int | None = None) -> tuple[JudgeEffect, ...]:
    """The effects as they stand, or as they stood after so many `stages`."""
    return _effects(audit, _judged(audit, stages), stages)


def _judged(audit: AuditFolder, stages: int | None = None) -> dict[str, JudgedAnswers]:
    """The answers that were judged, by variant."""
    return {
        name: JudgedAnswers.joined([JudgedAnswers.of_record(one) for one in parts], turned=name == OTHER_ORDER)
        for name in (ORIGINAL, *audit.plan.variants)
        if (parts := audit.parts(name, stages))
    }


def _effects(
    audit: AuditFolder, judged: Mapping[str, JudgedAnswers], stages: int | None = None
) -> tuple[JudgeEffect, ...]:
    look_of = partial(audit.look_of, stages=stages)
    return judge_effects(judged, look_of, margin=audit.plan.margin, seed=audit.plan.seed)


def audited_judge(manifest: Any, started: RunStarted) -> AuditedJudge:
    """Who judged a record, by what, from its manifest; and the eval set of the run that `started` is the beginning of,
    which has the same answers.
    """
    known: dict[str, Any] = msgspec.to_builtins(manifest)
    return AuditedJudge(
        judge=str(known["evaluator_model_id"]),
        spec=str(known["spec"]),
        measured={name: known[name] for name in _MEASURED if name in known},
        evalset=str(started.identity.get("dataset_id", "")),
        evalset_sha256=started.inputs["evalset"],
    )


def _judge_of(manifests: Mapping[str, Any], started: RunStarted) -> AuditedJudge:
    """The judge of an audit's records; where it called itself by several versions, no one judge was tried, and the card
    holds for none."""
    found = audited_judge(manifests[BASELINE], started)
    versions = sorted({str(one.evaluator_model_version) for one in manifests.values()})
    if len(versions) < 2:
        return found
    return msgspec.structs.replace(found, measured=found.measured | {_VERSION: " and ".join(versions)})


def _noise(before: JudgedAnswers, after: JudgedAnswers) -> Noise:
    both = after.rows.join(before.rows, on="item_id", suffix="_a").drop_nulls(["judge_score", "judge_score_a"])
    differences = (both["judge_score"] - both["judge_score_a"]).to_numpy()
    n, same = len(differences), int((differences == 0).sum())
    return Noise(n=n, same_score=wilson(same, n), sd=round(float(differences.std(ddof=1)), 9) if n > 1 else None)


def _decisions(audit: AuditFolder, derived: Mapping[str, DerivedFiles]) -> dict[str, DecisionName | None]:
    if len(audit.plan.ends) > 1:
        return {}
    names = {variant: audit.part(variant, 0).path.name for variant in (ORIGINAL, *audit.plan.variants)}
    return {variant: getattr(derived[name].decision, "decision", None) for variant, name in names.items()}


def cost_usd(derived: Iterable[DerivedFiles]) -> str | None:
    """Dollars that the judge of these records cost; None where no price was given."""
    told = (getattr(one.aggregates, "evaluator_cost_usd", None) for one in derived)
    known = [Decimal(one) for one in told if one is not None]
    return str(sum(known)) if known else None


def _uses(effects: Sequence[JudgeEffect]) -> Iterator[Use]:
    for aspect, words in USES.items():
        by = {one.variant: one.verdict for one in effects if one.aspect == aspect}
        if by:
            yield Use(aspect=aspect, words=words, allowed=_allowed(by.values()), by=by)


def _allowed(verdicts: Collection[EffectVerdict]) -> Allowed:
    if {"biased", "missed"} & set(verdicts):
        return "no"
    return "not_told" if "not_told" in verdicts else "yes"


def _needed(effects: Sequence[JudgeEffect]) -> Iterator[tuple[str, int]]:
    n_effects = sum(one.expected == "same" for one in effects)
    for one in effects:
        error = one.within.standard_error
        if one.verdict == "not_told" and one.expected == "same" and error:
            sd = error * sqrt(one.score.n_clusters or one.score.n)
            yield one.variant, answers_needed(one.margin, sd=sd, n_effects=n_effects).n_answers
