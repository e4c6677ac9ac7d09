"""An audit held against itself: each record, the answers that were made of the source's by rule, and the card."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.evaluators.verify import Verification
from benchbook.evaluators.verify_progress import VerifyHandler
from benchbook.exchange.audited_answers import AuditedAnswers, audited_answers
from benchbook.exchange.verifying_folders import CopiedRun, check_judged, verify_folder
from benchbook.judge_audit.card import audit_card, card_bytes
from benchbook.judge_audit.folder import CARD, SOURCE, AuditFolder
from benchbook.judge_audit.variants import ORIGINAL
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import is_record

_DIFFERS = "its {name} are not what the rule makes of the source"


def verify_audit(
    audit: AuditFolder, *, expect: str | None = None, on_progress: VerifyHandler | None = None
) -> Verification:
    """Check an audit: all of its records, that each judged what the rules make of the source's answers, and the card.

    Its hash is that of the plan and of all records' hashes; with `expect`, it must be that one.
    Raises: LaterRecordError.
    """
    return verify_folder(
        audit.plan,
        {SOURCE: CopiedRun(audit.source, audit.plan.run_id, audit.plan.run_sha256)},
        audit.asked(),
        lambda is_complete: _follow(audit, is_complete),
        is_complete=lambda: audit.lacking() is None,
        expect=expect,
        on_progress=on_progress,
    )


def _follow(audit: AuditFolder, is_complete: bool) -> Iterator[Discrepancy]:
    """All that does not follow from the plan and the records, which are whole."""
    with audited_answers(audit.source, n=audit.plan.n_answers, seed=audit.plan.seed) as answers:
        found = [*_check_draw(audit, answers), *_check_parts(audit, answers)]
    if not found and is_complete:
        found += _check_card(audit)
    yield from found


def _check_draw(audit: AuditFolder, answers: AuditedAnswers) -> Iterator[Discrepancy]:
    plan = audit.plan
    for name, found, drawn in (
        ("n_answers", plan.n_answers, len(answers.drawn)),
        ("n_eligible", plan.n_eligible, answers.n_eligible),
        ("ends", plan.ends[-1], len(answers.drawn)),
    ):
        if found != drawn:
            yield Discrepancy("audit.json", None, f"{name} is {found}; the source has {drawn}")


def _check_parts(audit: AuditFolder, answers: AuditedAnswers) -> Iterator[Discrepancy]:
    """Hold the inputs of each record against the answers, made again."""
    plan = audit.plan
    first = () if plan.run_judged else ((ORIGINAL, 0, range(plan.n_answers)),)
    starts = (0, *plan.ends)
    staged = ((name, stage, range(starts[stage], end)) for stage, end in enumerate(plan.ends) for name in plan.variants)
    for name, stage, places in (*first, *staged):
        record = audit.part(name, stage)
        if is_record(record.path):
            made = answers.settings(name, plan.names, places, plan.settings)
            if made is None:
                yield Discrepancy(record.path.name, None, "judged answers that its rule leaves out")
            else:
                yield from check_judged(record, made, _DIFFERS)


def _check_card(audit: AuditFolder) -> Iterator[Discrepancy]:
    if not audit.card.is_file():
        yield Discrepancy(CARD, None, "is missing; `benchbook judge audit --resume` writes it again")
    elif audit.card.read_bytes() != card_bytes(audit_card(audit)):
        yield Discrepancy(CARD, None, "is not what follows from the records")
