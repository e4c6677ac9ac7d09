"""Audits a log: reads its samples once, judges each claimed number, and adds up what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.audit.absent import OF_ALL
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
from benchbook.exchange.log import Claim, ForeignLog, LogHeader, LogScorer, LogStatus
from benchbook.exchange.tools import Tool, opened_logs
from benchbook.text import all_storable, shorten, storable

_STATUS: dict[LogStatus, str] = {
    "being_written": "the log is still being written, or was cut off: its numbers are of a part",
    "failed": "the eval failed before its end",
    "cancelled": "the eval was cancelled before its end",
}


def audits_of(
    path: str | Path, tool: Tool | None = None, on_broken: Callable[[InputError], None] | None = None
) -> Iterator[LogAudit]:
    """The audits of the logs in a file or folder, one after another.

    A number that a file claims of all its logs together is judged once the last of them was read. `on_broken` is called
    with the error of a log in a folder that makes no sense, and the others are audited.

    Raises: InputError where there is none, and for one that makes no sense.
    """
    whole: _Whole | None = None
    for log in opened_logs(path, tool, on_broken=on_broken):
        with log:
            if whole is None or whole.files != _files(log):
                yield from () if whole is None else whole.settled()
                whole = _Whole(log)
            try:
                whole.audit(log)
            except InputError as error:
                if on_broken is None:
                    raise
                on_broken(error)
    yield from () if whole is None else whole.settled()


def _files(log: ForeignLog) -> frozenset[str]:
    return frozenset(map(str, log.files.values()))


class _Whole:
    """The logs of one file, and, where it claims numbers of all of them, what is kept of all their samples."""

    def __init__(self, log: ForeignLog) -> None:
        self.files = _files(log)
        claims = [of_the_file(one) for one in log.header.claims if one.of_file is not None]
        self._kept = KeptSamples(claims, log.header.scorers) if claims else None
        self._audits: list[tuple[LogAudit, LogHeader, list[AuditedNumber]]] = []

    def audit(self, log: ForeignLog) -> None:
        audit, numbers = _audited(log, self._kept, len(self._audits))
        self._audits.append((audit, log.header, numbers))

    def settled(self) -> Iterator[LogAudit]:
        """The audits, with verdicts on what was claimed of the file."""
        if self._kept is None:
            yield from (audit for audit, _, _ in self._audits)
            return
        self._kept.finish()
        claimed = [header.n_claimed for _, header, _ in self._audits]
        n_claimed = None if None in claimed else sum(one or 0 for one in claimed)
        for audit, header, numbers in self._audits:
            every = msgspec.structs.replace(header, n_claimed=n_claimed)
            settled = [
                audited_number(of_the_file(claim), every, self._kept) if claim.of_file is not None else number
                for claim, number in zip(header.claims, numbers, strict=True)
            ]
            yield msgspec.structs.replace(audit, **_verdicts(settled))


def of_the_file(claim: Claim) -> Claim:
    """A claim as one of all the file's logs."""
    return claim if claim.of_file is None else msgspec.structs.replace(claim, formula=claim.of_file)


def audited(log: ForeignLog) -> LogAudit:
    """The audit of a log. Memory hardly grows with its samples: a few dozen bytes for each.

    Raises: InputError that says where the log stops making sense.
    """
    return _audited(log, None, 0)[0]


def _audited(log: ForeignLog, whole: KeptSamples | None, part: int) -> tuple[LogAudit, list[AuditedNumber]]:
    """The audit, and the verdict on each claim in their order. `whole` keeps the samples of all logs of its file, of
    which this is number `part`."""
    header = log.header
    kept, watch, prompts = KeptSamples(header.claims, header.scorers), Watch(header), Prompts()
    for sample in log.samples(whole=False):
        kept.add(sample)
        watch.see(sample)
        prompts.see(sample)
        if whole is not None:
            whole.add(sample, part)
    kept.finish()
    findings = [*_of_the_log(header), *watch.findings(), *prompts.findings(), *_of_the_reader(log)]
    numbers = [audited_number(claim, header, kept) for claim in header.claims]
    audit = LogAudit(
        format=FORMAT,
        files=tuple(storable(name) for name in log.files),
        tool=header.tool,
        tool_version=header.tool_version,
        form=header.form,
        task=storable(header.task),
        model=None if header.model is None else storable(header.model),
        status=header.status,
        n_claimed=header.n_claimed,
        n_held=kept.n_held,
        ledger=_ledger(header, kept),
        scorers=tuple(_scorers(header, kept)),
        findings=tuple(findings),
        **_verdicts(numbers),
    )
    return audit, numbers


def _verdicts(claimed: Sequence[AuditedNumber]) -> dict[str, Any]:
    """The numbers, the counts of samples apart from them, and how many of each verdict."""
    numbers = tuple(one for one in claimed if one.scorer or one.formula not in OF_ALL)
    counts = tuple(one for one in claimed if not one.scorer and one.formula in OF_ALL)
    n_follow, n_not, n_open = (
        sum(one.verdict == verdict for one in claimed) for verdict in ("follows", "does_not_follow", "can_not_be_told")
    )
    return {
        "verdict": _worst(n_follow, n_not, n_open) if numbers or n_not else "nothing_claimed",
        "n_follow": n_follow,
        "n_do_not_follow": n_not,
        "n_can_not_be_told": n_open,
        "numbers": numbers,
        "counts": counts,
    }


def _worst(n_follow: int, n_not: int, n_open: int) -> LogVerdict:
    if n_not:
        return "does_not_follow"
    return "can_not_be_told" if n_open else "follows" if n_follow else "nothing_claimed"


def together(audits: Sequence[LogAudit], broken: Sequence[str] = ()) -> AuditedLogs:
    """Several audits as one result; `broken` are the errors of logs that make no sense."""
    return AuditedLogs(
        format=FORMAT,
        n_logs=len(audits),
        n_follow=sum(one.n_follow for one in audits),
        n_do_not_follow=sum(one.n_do_not_follow for one in audits),
        n_can_not_be_told=sum(one.n_can_not_be_told for one in audits),
        logs=tuple(audits),
        broken=tuple(map(storable, broken)),
    )


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
