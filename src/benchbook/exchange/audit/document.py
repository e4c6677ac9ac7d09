"""An audit as a document: what it comes to, then the numbers, the ledger, the intervals, and what else was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchbook.evaluators.document import (
    TERMINAL,
    WRITTEN,
    Block,
    Columns,
    Document,
    Fact,
    Lines,
    Opening,
    Paragraph,
    Section,
    Table,
    Tone,
    table,
)
from benchbook.evaluators.intervals import Interval
from benchbook.exchange.audit.equality import shown
from benchbook.exchange.audit.result import AuditedNumber, AuditFinding, LogAudit, LogVerdict, ScorerLedger, Verdict
from benchbook.statistics.ground import REASONS
from benchbook.text import plural, sentences, shorten

_WORDS: Mapping[Verdict, str] = {
    "follows": "follows",
    "does_not_follow": "does not follow",
    "can_not_be_told": "can't be told",
}
_MARKS: Mapping[Verdict, str] = {"follows": "✓", "does_not_follow": "✕", "can_not_be_told": "?"}
_TONES: Mapping[LogVerdict, Tone] = {
    "follows": "good",
    "does_not_follow": "bad",
    "can_not_be_told": "doubt",
    "nothing_claimed": "none",
}
_WORST_FIRST: tuple[Verdict, ...] = ("does_not_follow", "can_not_be_told", "follows")
_NAME, _REASON = 80, 300  # characters
_MOST_LINES = 40  # on a terminal, of numbers
_ALIKE = 3  # numbers on a terminal, with one reason: more share a line


def audit_document(audits: Sequence[LogAudit]) -> Document:
    """The audits of one log or of several."""
    if len(audits) == 1:
        return Document(f"Audit of {_named(audits[0])}", "audit", _of_one(audits[0]), _FOOT)
    return Document(f"Audit of {plural(len(audits), 'log')}", "audit", _of_several(audits), _FOOT)


_FOOT = (
    "Each number is computed again from the samples that the log holds, by the formula that its tool names. "
    "A sample without a score is no 0."
)


def verdict_sentence(audit: LogAudit) -> str:
    """All numbers of a log in a sentence."""
    if audit.verdict == "nothing_claimed":
        return "The log claims no number of its samples"
    return _sentence(audit.n_follow, audit.n_do_not_follow, audit.n_can_not_be_told)


def _sentence(n_follow: int, n_not: int, n_open: int) -> str:
    n = n_follow + n_not + n_open
    if not n:
        return "The log claims no number of its samples"
    if n_not:
        return f"{n_not:,} of {plural(n, 'number')} {'does' if n_not == 1 else 'do'} not follow from the samples"
    if n_open == n:
        return (
            f"Whether {'its number follows' if n == 1 else f'its {n:,} numbers follow'} from the samples can't be told"
        )
    if n_open:
        return f"{n_follow:,} of {plural(n, 'number')} {_follow(n_follow)} from the samples; {n_open:,} can't be told"
    return f"{'The number follows' if n == 1 else f'All {n:,} numbers follow'} from the samples"


def _follow(n: int) -> str:
    return "follows" if n == 1 else "follow"


def _of_one(audit: LogAudit) -> Iterator[Block]:
    yield Opening(verdict_sentence(audit), _TONES[audit.verdict], meaning=(_meaning(audit),), facts=_facts(audit))
    yield Lines((_identity(audit),), only=TERMINAL, apart=False)
    yield from _sections(audit, "")


def _of_several(audits: Sequence[LogAudit]) -> Iterator[Block]:
    counts = [
        sum(one) for one in zip(*((a.n_follow, a.n_do_not_follow, a.n_can_not_be_told) for a in audits), strict=True)
    ]
    found = {one.verdict for one in audits}
    worst: LogVerdict = next((one for one in _WORST_FIRST if one in found), "nothing_claimed")
    words = _sentence(*counts) if sum(counts) else "The logs claim no number of their samples"
    tools = ", ".join(sorted({one.tool for one in audits}))
    facts = (Fact("Logs", f"{len(audits):,}", plain=True), Fact("Written by", tools))
    yield Opening(words, _TONES[worst], meaning=(f"In {plural(len(audits), 'log')}.",), facts=facts)
    columns: Columns = {
        "Log": "text",
        "Task": "text",
        "Model": "text",
        "follow": "count",
        "do not follow": "count",
        "can't be told": "count",
    }
    rows = [
        (
            _named(one),
            shorten(one.task, _NAME),
            shorten(one.model or "", _NAME),
            one.n_follow,
            one.n_do_not_follow,
            one.n_can_not_be_told,
        )
        for one in audits
    ]
    yield Section("logs", "Logs", (table("Numbers of each log", columns, rows, titled=True),), only=WRITTEN)
    for number, audit in enumerate(audits, 1):
        head = (
            f"{_named(audit)}, {shorten(audit.task, _NAME)}{f', {shorten(audit.model, _NAME)}' if audit.model else ''}"
        )
        yield Lines((f"{head}: {_lower(verdict_sentence(audit))}.",), only=TERMINAL, bold=True)
        yield Section(
            f"log-{number}", head, (Paragraph(f"{verdict_sentence(audit)}. {_meaning(audit)}"),), only=WRITTEN
        )
        yield from _sections(audit, f"-{number}")


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def _named(audit: LogAudit) -> str:
    return shorten(audit.files[0] if audit.files else audit.task, _NAME)


def _meaning(audit: LogAudit) -> str:
    """How many samples there are, in a sentence."""
    ledger = audit.ledger
    held = plural(ledger.n_held, "sample")
    repeats = f" of {plural(ledger.n_items, 'item')}, {ledger.repeats:,} repeats at most" if ledger.repeats > 1 else ""
    if ledger.n_absent:
        return f"The file holds {ledger.n_held:,} of {ledger.n_claimed:,} samples{repeats}."
    return f"The file holds {held}{repeats}."


def _identity(audit: LogAudit) -> str:
    """The log in a line."""
    facts = [f"{one.label} {one.name or ''}{f' ({one.remark})' if one.remark else ''}" for one in _facts(audit)]
    return "; ".join(facts)


def _facts(audit: LogAudit) -> tuple[Fact, ...]:
    tool = audit.tool if audit.tool_version is None else f"{audit.tool} {audit.tool_version}"
    facts = [
        Fact("Log", shorten(", ".join(audit.files), 200) or None),
        Fact("Written by", tool, audit.form),
        Fact("Task", shorten(audit.task, 200)),
    ]
    return (*facts, *(() if audit.model is None else (Fact("Model", audit.model),)))


def _sections(audit: LogAudit, suffix: str) -> Iterator[Section]:
    """The parts of an audit; one that has nothing to say is left out."""
    numbers = sorted(audit.claims, key=_weight)
    parts = (
        ("numbers", "Numbers", _numbers_table(numbers), _number_lines(numbers), ""),
        ("ledger", "Samples", _ledger_table(audit), _ledger_lines(audit), ""),
        ("scorers", "Means and intervals", _scorers_table(audit.scorers), map(_scorer_line, audit.scorers), ""),
        ("findings", "Beside the numbers", _findings_table(audit.findings), map(_finding_line, audit.findings), "! "),
    )
    for name, title, as_table, lines, indent in parts:
        if as_table:
            yield Section(f"{name}{suffix}", title, (as_table, Lines(tuple(lines), only=TERMINAL, indent=indent)))


def _weight(one: AuditedNumber) -> int:
    """Where a number stands: what does not follow first, and what nobody can compute last."""
    if one.verdict == "can_not_be_told":
        return 3 if one.reason_code == "no_formula" else 1
    return 0 if one.verdict == "does_not_follow" else 2


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────


def _numbers_table(numbers: Sequence[AuditedNumber]) -> Table:
    columns: Columns = {
        "Number": "text",
        "Claimed": "number",
        "Computed": "number",
        "Verdict": "text",
        "Reason": "text",
    }
    rows = [
        (_number_name(one), _told(one.claimed), _told(one.computed), _WORDS[one.verdict], one.reason) for one in numbers
    ]
    return table("Claimed numbers", columns, rows, titled=True, only=WRITTEN)


def _told(value: float | None) -> str | None:
    return None if value is None else shown(value)


def _number_name(one: AuditedNumber) -> str:
    """Scorer and metric, and the reducer where there is one."""
    name = " ".join(part for part in (shorten(one.scorer, _NAME), shorten(one.metric, _NAME)) if part)
    return name if one.reducer is None else f"{name} (repeats by {shorten(one.reducer, 40)})"


def _number_lines(numbers: Sequence[AuditedNumber]) -> Iterator[str]:
    """A line for each number; many with the same verdict and reason, and nothing to say of each, share one."""
    alike: dict[tuple[str, str], list[AuditedNumber]] = {}
    for one in numbers:
        alike.setdefault((one.verdict, one.reason), []).append(one)
    lines: list[str] = []
    for (verdict, reason), those in alike.items():
        if (
            verdict == "does_not_follow"
            or len(those) <= _ALIKE
            or (verdict == "follows" and len(numbers) <= _MOST_LINES)
        ):
            lines += [f"{_MARKS[one.verdict]} {_number_name(one)}: {_number_words(one)}" for one in those]
        else:
            words = "they follow" if verdict == "follows" else "can't be told"
            names = ", ".join(map(_number_name, those[:_ALIKE]))
            more = f" and {len(those) - _ALIKE:,} more"
            said = f": {shorten(reason, _REASON)}" if reason else ""
            lines.append(f"{_MARKS[those[0].verdict]} {names}{more}: {words}{said}")
    yield from lines[:_MOST_LINES]
    if (more_lines := len(lines) - _MOST_LINES) > 0:
        yield f"… and {more_lines:,} more: --json, --html and --markdown have all"


def _number_words(one: AuditedNumber) -> str:
    reason = shorten(one.reason, _REASON)
    match one.verdict:
        case "follows":
            return f"{shown(one.claimed)} follows{f' ({reason})' if reason else ''}"
        case "does_not_follow":
            return f"{shown(one.claimed)} does not follow: computed {shown(one.computed)}; {reason}"
        case _:
            return f"{shown(one.claimed)} can't be told: {reason}"


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────


def _ledger_rows(audit: LogAudit) -> Iterator[tuple[str, int | None]]:
    """The counts of the samples; what does not occur is left out."""
    ledger = audit.ledger
    yield "claimed by the log", ledger.n_claimed
    yield "held by the file", ledger.n_held
    rows = [("absent", ledger.n_absent or 0), ("items", ledger.n_items if ledger.repeats > 1 else 0)]
    rows.append(("there twice, the last counts", ledger.n_doubled))
    rows += [(f"failed: {shorten(kind, 40)}", n) for kind, n in ledger.failures.items()]
    rows += [(f"ended by a limit: {shorten(kind, 40)}", n) for kind, n in ledger.limits.items()]
    rows.append(("without an answer", ledger.n_without_answer))
    for one in audit.scorers:
        name = shorten(one.scorer, 40) or "the samples"
        rows += [(f"unscored by {name}: {shorten(why, 60)}", n) for why, n in one.unscored.items()]
        if one.n_scored and one.n_without > sum(ledger.failures.values()):
            rows.append((f"without a score by {name}", one.n_without))
    yield from (row for row in rows if row[1])


def _ledger_table(audit: LogAudit) -> Table:
    columns: Columns = {"Samples": "text", "n": "count"}
    return table("Samples of the log", columns, _ledger_rows(audit), titled=True, only=WRITTEN)


def _ledger_lines(audit: LogAudit) -> Iterator[str]:
    said = [f"{name} {n:,}" for name, n in _ledger_rows(audit) if n is not None]
    yield f"Samples: {'; '.join(said)}"


# ── means and findings ───────────────────────────────────────────────────────────────────────────────────────


def _scorers_table(scorers: Sequence[ScorerLedger]) -> Table:
    columns: Columns = {
        "Scorer": "text",
        "scored": "count",
        "Mean": "number",
        "95 % interval": "number",
        "Clusters": "text",
    }
    rows = [
        (shorten(one.scorer, _NAME) or "–", one.n_scored, _told(one.mean), _interval(one.interval), _by(one))
        for one in scorers
    ]
    return table("Means of all scored samples", columns, rows, titled=True, only=WRITTEN)


def _by(one: ScorerLedger) -> str:
    return "" if one.clusters is None else f"by {'group' if one.clusters == 'groups' else 'item'}"


def _interval(found: Interval | None) -> str | None:
    if found is None:
        return None
    if found.low is None or found.high is None:
        return f"none: {REASONS.get(found.reason or '', found.reason or '')}"
    return f"{found.low:.4g} to {found.high:.4g}"


def _scorer_line(one: ScorerLedger) -> str:
    name = shorten(one.scorer, _NAME) or "the samples"
    if one.mean is None:
        return f"{name}: {one.n_scored:,} scored"
    clustered = f", clustered {_by(one)}" if one.clusters else ""
    return (
        f"{name}: mean {shown(one.mean)} of {one.n_scored:,} scored; 95 % interval {_interval(one.interval)}{clustered}"
    )


def _findings_table(findings: Sequence[AuditFinding]) -> Table:
    columns: Columns = {"Finding": "text", "n": "count", "For example": "text"}
    rows = [(one.words, one.n, "; ".join(one.examples)) for one in findings]
    return table("Beside the numbers", columns, rows, titled=True, only=WRITTEN)


def _finding_line(one: AuditFinding) -> str:
    examples = f"For example {'; '.join(one.examples)}" if one.examples else ""
    return sentences(one.words, examples)
