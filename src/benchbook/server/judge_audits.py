"""The API's answers about audits of judges: those that there are, their cards, and whether a run's judge has one."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

import msgspec

from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.document import Tone
from benchbook.judge_audit.card import Allowed, AuditCard, audit_card
from benchbook.judge_audit.folder import AUDITS, AuditFolder, audits_in, is_audit, open_audit
from benchbook.judge_audit.holding import JudgeCardFound, card_found, has_judge, stored_card
from benchbook.judge_audit.variants import Aspect
from benchbook.record.folder import RUN_ID
from benchbook.server.operations import Request, file_stamp
from benchbook.server.problems import ProblemError
from benchbook.server.services import Services
from benchbook.text import shorten
from benchbook.views.audit_card import audit_headline, found_words
from benchbook.views.audit_page import AuditWords, audit_words


class ListedAudit(msgspec.Struct, frozen=True, kw_only=True):
    """An audit that is complete: whom it tried on whose answers, and what it comes to."""

    audit: str
    judge: str
    spec: str
    run_id: str
    model: str
    evalset: str
    n_answers: int
    ended_utc: str | None
    headline: str
    tone: Tone
    uses: dict[Aspect, Allowed]


class AuditList(msgspec.Struct, frozen=True, kw_only=True):
    """The latest first. `not_complete` are those that have no card yet."""

    audits: tuple[ListedAudit, ...]
    not_complete: tuple[str, ...]


class AuditAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An audit's card, as its records stand, and the same in words."""

    audit: str
    card: AuditCard
    words: AuditWords


class JudgeCardAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The card of a run's judge: null where it was not tried, or nobody judged. `words` say it in a line."""

    found: JudgeCardFound | None
    words: str | None


_ABOUT_BYTES = 1 << 17  # of a card in memory


def list_audits(call: Request) -> AuditList:
    """All audits beside the folder of records."""
    listed, open_ = [], []
    for audit in audits_in(_folder(call.services)):
        card = stored_card(audit)
        if card is None:
            open_.append(audit.path.name)
        else:
            listed.append(_listed(audit.path.name, card))
    latest = sorted(listed, key=lambda one: one.ended_utc or "", reverse=True)
    return AuditList(audits=tuple(latest), not_complete=tuple(open_))


def _listed(name: str, card: AuditCard) -> ListedAudit:
    headline, tone = audit_headline(card)
    return ListedAudit(
        audit=name,
        judge=card.judge.judge,
        spec=card.judge.spec,
        run_id=card.run_id,
        model=card.model,
        evalset=card.judge.evalset,
        n_answers=card.n_answers,
        ended_utc=card.ended_utc,
        headline=headline,
        tone=tone,
        uses={use.aspect: use.allowed for use in card.uses},
    )


def get_audit(call: Request) -> AuditAnswer:
    """One audit's card, computed from its records. Raises: ProblemError (404, 409)."""
    name = call.path["audit"]
    path = _folder(call.services) / name
    if not RUN_ID.fullmatch(name) or not is_audit(path):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no audit {shorten(name, 100)!r}")
    audit = open_audit(path)
    call.is_of(*(file_stamp(one.manifest) for one in audit.asked()), file_stamp(audit.source.manifest))
    return call.services.kept.get(("audit", name, call.etag), lambda: _answer(audit), lambda _: _ABOUT_BYTES)


def _answer(audit: AuditFolder) -> AuditAnswer:
    path, name = audit.path, audit.path.name
    if (lacking := audit.lacking()) is not None:
        raise ProblemError(HTTPStatus.CONFLICT, f"audit {name!r} is not complete: {lacking} is not")
    try:
        card = audit_card(audit)
    except (UsageError, RecordError) as error:
        detail = str(error).replace(f"{path.parent}/", "")  # where the folders are is nobody's business
        raise ProblemError(HTTPStatus.CONFLICT, detail) from None
    return AuditAnswer(audit=name, card=card, words=audit_words(card))


def get_judge_card(call: Request) -> JudgeCardAnswer:
    """The card of a run's judge, if there is one."""
    run = call.services.finished(call.path["run_id"])
    if not has_judge(run.record):
        return JudgeCardAnswer(found=None, words=None)
    found = card_found(run.record, _folder(call.services))
    if found is not None:
        found = msgspec.structs.replace(found, path=f"{AUDITS}/{Path(found.path).name}")
    return JudgeCardAnswer(found=found, words=found_words(found, run.record.run_id))


def _folder(services: Services) -> Path:
    return services.settings.runs.parent / AUDITS
