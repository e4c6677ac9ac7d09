"""JUnit XML: of a run a test case a sample, a gate, and the decision; of a regression gate one an item.

Written while the samples go by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.comparison.compared import Comparison
from benchbook.comparison.regressions import RegressionCheck
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.gates import Gate
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.text import one_line, visible
from benchbook.views import numbers
from benchbook.views.digest import Digest, RunReport, digest_of
from benchbook.views.rubric.samples import scores_words
from benchbook.views.words import (
    decided_lines,
    fail_reason,
    gate_rule,
    gate_state,
    gate_value,
    reason,
    unscored_because,
)

__all__ = ["junit_report", "regressions_junit"]


_MAX_CHARS = 4_000  # of one text
_NOT_XML = re.compile("[\ufffe\uffff]")  # what XML 1.0 forbids beside what `visible` has taken


def junit_report(report: RunReport, found: Digest | None = None) -> Iterator[str]:
    """The document, in pieces. `found` is the digest of `report`, where the caller has it already."""
    found = digest_of(report) if found is None else found
    gates = [] if report.decision is None else list(report.decision.gates)
    failed, errors = found.n_failed - found.n_unscored, found.n_unscored
    n_causes = len(_unanswered_of(report.aggregates))
    n_open, n_skipped = sum(not _firm(gate) for gate in gates), sum(gate.unmeasured for gate in gates)
    refused = report.decision is None
    not_ready = report.decision is not None and report.decision.decision != "READY"
    total = found.n_rows + len(gates) + n_causes + 1
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuites name={_attribute(report.manifest.run_id)} tests="{total}" '
        f'failures="{failed + n_open + not_ready}" errors="{errors + refused + n_causes}" skipped="{n_skipped}">\n'
    )
    if n_causes:
        yield _suite("unanswered", n_causes, 0, n_causes, 0, report.manifest.timestamp_utc)
        yield from _unanswered(report)
        yield "</testsuite>\n"
    yield _suite("decision", 1, int(not_ready), int(refused), 0, report.manifest.timestamp_utc)
    yield from _decision(report)
    yield "</testsuite>\n"
    yield _suite("gates", len(gates), n_open, 0, n_skipped, report.manifest.timestamp_utc)
    for gate in gates:
        yield from _gate(gate)
    yield "</testsuite>\n"
    yield _suite(report.manifest.dataset_id, found.n_rows, failed, errors, 0, report.manifest.timestamp_utc)
    for row in report.rows():
        yield from _sample(row, report)
    yield "</testsuite>\n</testsuites>\n"


def _suite(name: str, tests: int, failures: int, errors: int, skipped: int, at: str) -> str:
    # JUnit's schema wants a time without an offset; ours is UTC (SPEC C7).
    return (
        f'<testsuite name={_attribute(name)} tests="{tests}" failures="{failures}" errors="{errors}" '
        f'skipped="{skipped}" timestamp={_attribute(at.removesuffix("Z"))}>\n'
    )


def _unanswered(report: RunReport) -> Iterator[str]:
    """What kept samples without an answer: an error that stands before all others (R1.3a)."""
    for one in _unanswered_of(report.aggregates):
        yield f'<testcase classname="unanswered" name={_attribute(f"{one.role}: {one.cause}")}>\n'
        yield _outcome("error", one.cause, one.words, one.detail)
        yield "</testcase>\n"


def _decision(report: RunReport) -> Iterator[str]:
    yield f'<testcase classname={_attribute(report.manifest.spec)} name="decision">\n'
    if report.decision is None:
        missing = ", ".join(report.manifest.missing_metadata)
        yield _outcome("error", "refused", f"a decision is refused; missing metadata: {missing}", "")
    elif report.decision.decision != "READY":
        reasons = [reason(one) for one in report.decision.reasons]
        details = "\n".join([*reasons, *decided_lines(report.decision)])
        yield _outcome("failure", report.decision.decision, reasons[0], details)
    elif said := decided_lines(report.decision):
        yield f"<system-out>{_text(' '.join(said))}</system-out>\n"
    yield "</testcase>\n"


def _gate(gate: Gate) -> Iterator[str]:
    state = ", ".join(part for part in gate_state(gate)[1:] if part)
    words = f"{gate_value(gate, gate.value)}; the gate asks for {gate_rule(gate)}: {state}"
    yield f'<testcase classname="gates" name={_attribute(gate.aggregate)}>\n'
    if gate.unmeasured:
        yield f"<skipped message={_attribute('declared unmeasured')}/>\n"
    elif not _firm(gate):
        yield _outcome("failure", "gate", words, "")
    else:
        yield f"<system-out>{_text(words)}</system-out>\n"
    yield "</testcase>\n"


def _firm(gate: Gate) -> bool:
    """Nothing about this gate stands in the way of READY but, maybe, that it is not measured."""
    return gate.unmeasured or (gate.holds and gate.holds_in_worst_case and gate.bound_holds is not False)


def _sample(row: RubricRow, report: RunReport) -> Iterator[str]:
    repeat = f" [repeat {row.repeat + 1}]" if report.manifest.repeats > 1 else ""
    yield (
        f"<testcase classname={_attribute(report.manifest.dataset_id)} name={_attribute(row.item_id + repeat)} "
        f'time="{numbers.seconds(row.latency_e2e_ms)}">\n'
    )
    reasons = ", ".join(fail_reason(name) for name in row.fail_reasons)
    if (why := unscored_because(row)) is not None:
        yield _outcome("error", why[0], why[1], _details(row, report))
    elif not row.passed:
        yield _outcome("failure", row.fail_reasons[0] if row.fail_reasons else "failed", reasons, _details(row, report))
    yield "</testcase>\n"


def _details(row: RubricRow, report: RunReport) -> str:
    scores = f"{scores_words(row, report.spec)}, score {numbers.score(row.sample_score)}"
    parts = [f"sample {row.sample}; {scores}", f"answer:\n{_cut(row.candidate_answer)}"]
    if row.error_detail:
        parts.append(f"error:\n{_cut(row.error_detail)}")
    if row.rationale:
        parts.append(f"rationale:\n{_cut(row.rationale)}")
    parts += [
        f"judge's reply, attempt {reply.attempt} ({reply.parse_error_reason or 'read'}):\n{_cut(reply.text)}"
        for reply in row.judge_replies
    ]
    return "\n\n".join(parts)


# ── a regression gate ────────────────────────────────────────────────────────────────────────────────────────

_COLUMNS = (
    "class",
    "item_id",
    "prompt",
    "expected",
    "score_nano_a",
    "score_nano_b",
    "text_a",
    "text_b",
    "unanswered_why_b",
)


def regressions_junit(pair: Comparison, check: RegressionCheck) -> Iterator[str]:
    """The document, in pieces. The gate is a failure where it does not hold, an error where nothing can be said.

    An item that has no score in the run is an error. One that regressed is a failure where the number of such items was
    limited, or the run is worse; within the margin it is told, and fails nothing: chance alone loses some. Items that
    can't be compared (only the run has them, or another answer is expected now) are skipped.
    """
    counts = pair.counts
    n_errors, n_skipped = len(check.missing), counts["expected_changed"] + counts["only_in_b"]
    n_skipped += counts["only_in_a"] - n_errors
    failed, open_ = check.outcome == "does_not_hold", check.outcome in ("undecided", "not_complete")
    are_failures = check.max_regressions is not None or pair.score.verdict == "worse"
    n, n_failed = len(pair.items), counts["regressed"] if are_failures else 0
    at = str(pair.b.manifest.get("timestamp_utc", ""))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuites name={_attribute(pair.b.name)} tests="{n + 1}" failures="{n_failed + failed}" '
        f'errors="{n_errors + open_}" skipped="{n_skipped}">\n'
    )
    yield _suite("regression gate", 1, int(failed), int(open_), 0, at)
    yield f'<testcase classname="regressions" name={_attribute(f"against {pair.a.name}")}>\n'
    if not check.holds:
        kind, name = ("failure", "regressions") if failed else ("error", check.outcome)
        yield _outcome(kind, name, check.reasons[0], "\n".join(check.reasons))
    yield "</testcase>\n</testsuite>\n"
    yield _suite("items", n, n_failed, n_errors, n_skipped, at)
    missing = frozenset(check.missing)
    for row in pair.items.select(_COLUMNS).iter_rows(named=True):
        yield from _gate_item(row, row["class"] == "only_in_a" and row["item_id"] in missing, are_failures)
    yield "</testsuite>\n</testsuites>\n"


def _gate_item(row: dict[str, Any], is_missing: bool, are_failures: bool) -> Iterator[str]:
    yield f'<testcase classname="regressions.items" name={_attribute(row["item_id"])}>\n'
    if row["class"] == "regressed":
        before, after = (numbers.score(as_float(row[f"score_nano_{run}"])) for run in "ab")
        words = f"score {before} before, {after} now"
        if are_failures:
            yield _outcome("failure", "regressed", words, _item_details(row))
        else:
            yield f"<system-out>{_text(f'regressed, within the margin: {words}')}</system-out>\n"
    elif is_missing and row["unanswered_why_b"] is not None:
        words = f"not answered ({row['unanswered_why_b']}): missing, not regressed"
        yield _outcome("error", "not_answered", words, "")
    elif is_missing:
        yield _outcome("error", "no_score", "the run has no score for this item of the baseline", "")
    elif row["class"] in ("only_in_a", "only_in_b", "expected_changed"):
        yield f"<skipped message={_attribute(row['class'])}/>\n"
    yield "</testcase>\n"


def _item_details(row: dict[str, Any]) -> str:
    names = {"prompt": "prompt", "expected": "expected", "text_a": "before", "text_b": "now"}
    return "\n\n".join(f"{name}:\n{_cut(row[column])}" for column, name in names.items())


# ── XML ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _cut(words: str | None) -> str:
    if words is None:
        return numbers.DASH
    return words if len(words) <= _MAX_CHARS else f"{words[:_MAX_CHARS]}… (cut after {_MAX_CHARS:,} characters)"


def _outcome(kind: str, name: str, message: str, details: str) -> str:
    return f"<{kind} type={_attribute(name)} message={_attribute(message)}>{_text(details)}</{kind}>\n"


def _text(words: str) -> str:
    return escape(_legal(words))


def _attribute(words: str) -> str:
    return quoteattr(_legal(one_line(words)))


def _legal(words: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", visible(words))


def _unanswered_of(aggregates: Any) -> list[Unanswered]:
    """Why samples are unanswered, as it stands in aggregates.json; nothing where all were answered."""
    found = getattr(aggregates, "unanswered", msgspec.UNSET)
    return [] if found is msgspec.UNSET else found
