"""Audits of judges: `bb.audit_judge` begins one, `bb.load_audit` reads one; both give the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.exchange.auditing_judges import AuditAsked, go_on, prepared_audit
from benchbook.exchange.verifying_audits import verify_audit
from benchbook.judge_audit.card import AuditCard, audit_card
from benchbook.judge_audit.folder import AuditFolder, audit_named
from benchbook.judge_audit.variants import ORIGINAL
from benchbook.library.asking import as_settings
from benchbook.library.keywords import AuditKeywords, AuditSittingKeywords, check_names, listed
from benchbook.library.objects import AnyRun, record_of
from benchbook.library.verified import Verified
from benchbook.views.progress import progress_asked

if TYPE_CHECKING:
    import polars

    from benchbook.evaluators.document import Document
    from benchbook.labels.judge_card import JudgeCard
    from benchbook.library.labelling import Labels

_ASKED = frozenset(one.name for one in fields(AuditAsked))


def audit_judge(
    run: AnyRun,
    *,
    runs: str | Path = "runs",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AuditKeywords],
) -> JudgeAudit:
    """Try a judge on a run's answers, as `benchbook judge audit` does: asked again, and changed by rule.

    The run's own judge is tried, unless `settings` name another; `judge` may be a function. Each variant is a record of
    its own in audits/AUDIT_ID.

    Raises: UsageError and its kin before anything is asked; RecordError. An audit that stops early returns: see
    `JudgeAudit.stopped`.
    """
    return run_in_loop(audit_judge_async(run, runs=runs, on_progress=on_progress, progress=progress, **settings))


async def audit_judge_async(
    run: AnyRun,
    *,
    runs: str | Path = "runs",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AuditKeywords],
) -> JudgeAudit:
    """As `audit_judge`, inside an event loop."""
    check_names(settings, AuditKeywords, audit_judge_async)
    own: dict[str, Any] = {name: value for name, value in settings.items() if name in _ASKED}
    own |= {"variants": listed(own.get("variants")), "audits": str(own.get("audits", "audits"))}
    with as_settings({name: value for name, value in settings.items() if name not in _ASKED}) as given:
        prepared = prepared_audit(record_of(run, runs), given, AuditAsked(**own))
        return await _asked(prepared.begin(), {}, on_progress, progress)


def resume_audit(
    audit: str | Path,
    *,
    audits: str | Path = "audits",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AuditSittingKeywords],
) -> JudgeAudit:
    """Go on with an audit where it ended: a folder, or an id in `audits`. `settings` may hold limits and addresses.

    Raises: as `audit_judge`.
    """
    return run_in_loop(resume_audit_async(audit, audits=audits, on_progress=on_progress, progress=progress, **settings))


async def resume_audit_async(
    audit: str | Path,
    *,
    audits: str | Path = "audits",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AuditSittingKeywords],
) -> JudgeAudit:
    """As `resume_audit`, inside an event loop."""
    check_names(settings, AuditSittingKeywords, resume_audit_async)
    with as_settings(settings) as given:
        return await _asked(audit_named(str(audit), audits), given, on_progress, progress)


async def _asked(
    audit: AuditFolder, changes: Mapping[str, Any], on_progress: ProgressHandler | None, progress: bool | None
) -> JudgeAudit:
    with progress_asked(progress, on_progress) as told:
        result = await go_on(audit, changes, told)
    return JudgeAudit(audit, result.card, stopped=result.stop.reason)


def load_audit(
    audit: str | Path, *, labels: str | Path | Labels | None = None, audits: str | Path = "audits"
) -> JudgeAudit:
    """An audit that is complete: a folder, or an id in `audits`. With people's `labels` of its answers, or of answers
    that are the same, its card says how far the judge agrees with them.

    Raises: UsageError, RecordError.
    """
    return JudgeAudit.opened(audit_named(str(audit), audits), labels)


class JudgeAudit:
    """An audit of a judge: `card` has all that it says, with the fields that `--json` prints. `people` is the judge's
    card by their labels, where these were given; `stopped` is why it ended early, if it did (`bb.resume_audit`).
    """

    def __init__(
        self, audit: AuditFolder, card: AuditCard | None, people: JudgeCard | None = None, *, stopped: str | None = None
    ) -> None:
        self.audit, self._card, self.people, self.stopped = audit, card, people, stopped

    @classmethod
    def opened(cls, audit: AuditFolder, labels: str | Path | Labels | None = None) -> JudgeAudit:
        """The audit as its records stand. Raises: as `load_audit`."""
        if labels is None:
            return cls(audit, audit_card(audit))
        from benchbook.labels.judge_card import judge_card
        from benchbook.library.labelling import Labels, load_labels

        book = (labels if isinstance(labels, Labels) else load_labels(labels)).book
        return cls(audit, audit_card(audit), judge_card(audit.part(ORIGINAL, 0), book))

    @property
    def card(self) -> AuditCard:
        """The card. Raises: UsageError for an audit that was stopped, which says what resumes it."""
        return audit_card(self.audit) if self._card is None else self._card

    @property
    def path(self) -> Path:
        return self.audit.path

    @property
    def uses(self) -> dict[str, str]:
        """Each use of the judge, and whether what was tried allows it: yes, no, or not_told."""
        return {one.words: one.allowed for one in self.card.uses}

    @cached_property
    def effects(self) -> polars.DataFrame:
        """A row for each variant: n, the judge's mean score before and after, the change, its interval, p, verdict."""
        import polars as pl

        rows = [
            {
                "variant": one.variant, "aspect": one.aspect, "n": one.score.n, "before": one.score.mean_a,
                "after": one.score.mean_b, "change": one.score.difference, "low": one.score.low,
                "high": one.score.high, "p": one.score.p_adjusted, "verdict": one.verdict,
                "noticed": None if one.noticed is None else one.noticed.estimate,
            }
            for one in self.card.effects
        ]  # fmt: skip
        texts, numbers = ("variant", "aspect", "verdict"), ("before", "after", "change", "low", "high", "p", "noticed")
        types = {**dict.fromkeys(texts, pl.String), "n": pl.Int64, **dict.fromkeys(numbers, pl.Float64)}
        return pl.DataFrame(rows, {name: types[name] for name in rows[0]} if rows else types)

    def verify(self, *, expect: str | None = None) -> Verified:
        """All of it computed again, offline: the records, the changed answers, the card."""
        return Verified.of(verify_audit(self.audit, expect=expect))

    def to_json(self) -> dict[str, Any]:
        """The card as `--json` prints it, and what people say of the judge under `people`."""
        found: dict[str, Any] = msgspec.to_builtins(self.card)
        return found if self.people is None else found | {"people": msgspec.to_builtins(self.people)}

    def to_html(self) -> str:
        """The card as one page that needs nothing but itself."""
        from benchbook.views.html import html_page

        return "".join(html_page(self.document))

    def to_markdown(self) -> str:
        from benchbook.views.markdown import markdown_page

        return "".join(markdown_page(self.document))

    def __str__(self) -> str:
        from benchbook.views.terminal import document_lines

        return "\n".join(document_lines(self.document))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment

        return fragment(self.document)

    @property
    def document(self) -> Document:
        """The card as blocks, which each form writes in its way."""
        from benchbook.views.audit_card import audit_document

        return audit_document(self.card, self.people)

    def __repr__(self) -> str:
        if self.stopped is not None:
            return f"<JudgeAudit {self.path}: stopped>"
        return f"<JudgeAudit {self.path}: {self.card.judge.judge} on {self.card.n_answers:,} answers>"
