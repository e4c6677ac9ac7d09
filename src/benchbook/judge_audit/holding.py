"""The card of a run's judge, among audits: it holds for the model, rubric, prompt and eval set that were tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.evaluators.measured import measured_differences
from benchbook.evaluators.registry import evaluator_of
from benchbook.judge_audit.card import AuditCard, AuditedJudge, Use, audited_judge
from benchbook.judge_audit.folder import AuditFolder, audits_in
from benchbook.record.folder import Record

_PARTS: Mapping[str, str] = {
    "judge": "the judge",
    "spec": "the rubric",
    "evalset": "the eval set",
}


class JudgeCardFound(msgspec.Struct, frozen=True, kw_only=True):
    """The card of a run's judge. `changed` are the parts that are not as they were tried, in words: it `holds` where
    there are none."""

    audit_id: str
    path: str
    ended_utc: str | None
    holds: bool
    changed: tuple[str, ...]
    uses: tuple[Use, ...]


def has_judge(record: Record) -> bool:
    """True if a judge scored the run by an evaluator that can be audited."""
    return hasattr(evaluator_of(record).read(record).manifest, "evaluator_model_id")


def card_found(record: Record, audits: str | Path) -> JudgeCardFound | None:
    """The card for the judge of a run, among the audits in a folder: the latest that holds, or else the latest of the
    same model that no longer does. None where it was not tried.
    """
    here = audited_judge(evaluator_of(record).read(record).manifest, record.started())
    found = list(_cards_of(here, audits))
    return max(found, key=lambda one: (one.holds, one.ended_utc or ""), default=None)


def stored_card(audit: AuditFolder) -> AuditCard | None:
    """The card that an audit keeps; None where there is none yet, or one of another version."""
    try:
        card: AuditCard = decode_json(audit.card.read_bytes(), msgspec.json.Decoder(ready(AuditCard)))
    except (OSError, msgspec.DecodeError):
        return None
    return card


def _cards_of(here: AuditedJudge, audits: str | Path) -> Iterator[JudgeCardFound]:
    for audit in audits_in(audits):
        card = stored_card(audit)
        if card is not None and card.judge.judge == here.judge:
            changed = tuple(_changed(card.judge, here))
            yield JudgeCardFound(
                audit_id=card.audit_id,
                path=str(audit.path),
                ended_utc=card.ended_utc,
                holds=not changed,
                changed=changed,
                uses=card.uses,
            )


def _changed(tried: AuditedJudge, here: AuditedJudge) -> Iterator[str]:
    for one in measured_differences(_known(tried), _known(here)):
        if one.name in _PARTS:
            yield f"{_PARTS[one.name]} ({', '.join(leaf.path for leaf in one.leaves)})"


def _known(one: AuditedJudge) -> dict[str, Any]:
    return {**one.measured, "dataset_version_or_hash": one.evalset_sha256}
