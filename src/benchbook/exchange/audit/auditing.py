"""Audits a log: reads its samples once, judges each claimed number, and adds up what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbook.exchange.audit.intervals import Clustered, clustering, mean_of
from benchbook.exchange.audit.kept import DOUBLED, ENTRY, SCORED, SILENT, KeptSamples
from benchbook.exchange.audit.prompts import Prompts
from benchbook.exchange.audit.result import (
    FORMAT,
    AuditedLogs,
    AuditedNumber,
    AuditFinding,
    LogAudit,
    LogLedger,
    LogVerdict,
    ScorerLedger,
)
from benchbook.exchange.audit.verdicts import audited_number
from benchbook.exchange.audit.watching import Watch
from benchbook.exchange.log import ForeignLog, LogHeader, LogScorer, LogStatus
from benchbook.exchange.tools import Tool, opened_logs
from benchbook.text import all_storable, shorten, storable

_STATUS: dict[LogStatus, str] = {
    "being_written": "the log is still being written, or was cut off: its numbers are of a part",
    "failed": "the eval failed before its end",
    "cancelled": "the eval was cancelled before its end",
}


def audits_of(path: str | Path, tool: Tool | None = None) -> Iterator[LogAudit]:
    """The audits of the logs in a file or folder, one after another.

    Raises: InputError where there is none, and for one that makes no sense.
    """
    for log in opened_logs(path, tool):
        with log:
            yield audited(log)


def audited(log: ForeignLog) -> LogAudit:
    """The audit of a log. Memory hardly grows with its samples: a few dozen bytes for each.

    Raises: InputError that says where the log stops making sense.
    """
    header = log.header
    kept, watch, prompts = KeptSamples(header), Watch(header), Prompts()
    for sample in log.samples(whole=False):
        kept.add(sample)
        watch.see(sample)
        prompts.see(sample)
    kept.finish()
    numbers = tuple(audited_number(claim, header, kept) for claim in header.claims)
    findings = [*_of_the_log(header), *watch.findings(), *prompts.findings(), *_of_the_reader(log)]
    n_follow, n_not, n_open = (_count(numbers, one) for one in ("follows", "does_not_follow", "can_not_be_told"))
    return LogAudit(
        format=FORMAT,
        files=tuple(storable(name) for name in log.files),
        tool=header.tool,
        tool_version=header.tool_version,
        form=header.form,
        task=storable(header.task),
        model=None if header.model is None else storable(header.model),
        status=header.status,
        verdict=_verdict(n_follow, n_not, n_open),
        n_claimed=header.n_claimed,
        n_held=kept.n_held,
        n_follow=n_follow,
        n_do_not_follow=n_not,
        n_can_not_be_told=n_open,
        numbers=numbers,
        ledger=_ledger(header, kept),
        scorers=tuple(_scorers(header, kept)),
        findings=tuple(findings),
    )


def together(audits: Sequence[LogAudit]) -> AuditedLogs:
    """Several audits as one result."""
    return AuditedLogs(
        format=FORMAT,
        n_logs=len(audits),
        n_follow=sum(one.n_follow for one in audits),
        n_do_not_follow=sum(one.n_do_not_follow for one in audits),
        n_can_not_be_told=sum(one.n_can_not_be_told for one in audits),
        logs=tuple(audits),
    )


def _verdict(n_follow: int, n_not: int, n_open: int) -> LogVerdict:
    if n_not:
        return "does_not_follow"
    return "can_not_be_told" if n_open else "follows" if n_follow else "nothing_claimed"


def _count(numbers: Sequence[AuditedNumber], verdict: str) -> int:
    return sum(one.verdict == verdict for one in numbers)


def _ledger(header: LogHeader, kept: KeptSamples) -> LogLedger:
    n_held = kept.n_held
    return LogLedger(
        n_claimed=header.n_claimed,
        n_held=n_held,
        n_absent=None if header.n_claimed is None else max(0, header.n_claimed - n_held),
        n_items=kept.n_items,
        repeats=kept.most_repeats,
        n_doubled=kept.count(DOUBLED),
        failures=kept.failures.counts(kept.flags),
        limits=kept.limits.counts(kept.flags),
        n_without_answer=kept.count(SILENT),
    )


def _scorers(header: LogHeader, kept: KeptSamples) -> Iterator[ScorerLedger]:
    """Those of the header, then others that samples have."""
    known = {one.name: one for one in header.scorers}
    by = clustering(kept)
    for name in dict.fromkeys((*known, *kept.scores)):
        yield _scorer(name, known.get(name), kept, by)


def _scorer(name: str, scorer: LogScorer | None, kept: KeptSamples, by: Clustered | None) -> ScorerLedger:
    column = kept.scores.get(name)
    n_scored = n_unscored = 0
    if column is not None:
        for state, flag in zip(column.states, kept.flags, strict=True):
            if state & ENTRY and not flag & DOUBLED:
                n_scored += state & SCORED != 0
                n_unscored += not state & SCORED
    mean, interval = (None, None) if column is None else mean_of(kept, column, scorer, by)
    return ScorerLedger(
        scorer=storable(name),
        n_scored=n_scored,
        n_unscored=n_unscored,
        n_without=kept.n_held - n_scored - n_unscored,
        unscored={} if column is None else all_storable(column.why.counts(kept.flags)),
        mean=mean,
        interval=interval,
        clusters=by if interval is not None else None,
        judge=None if scorer is None or scorer.judge is None else storable(scorer.judge),
    )


def _of_the_log(header: LogHeader) -> Iterator[AuditFinding]:
    words = _STATUS.get(header.status)
    if words is not None:
        if header.error:
            words += f" ({shorten(header.error, 200)})"
        yield AuditFinding(code=f"status_{header.status}", words=words, n=1)


def _of_the_reader(log: ForeignLog) -> Iterator[AuditFinding]:
    for one in log.notes():
        yield AuditFinding(code=one.code, words=storable(one.words), n=one.n)
