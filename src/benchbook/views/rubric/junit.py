"""A run under a rubric as JUnit XML: a test case a sample, a gate, and the decision."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from benchbook.evaluators.gates import Gate
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.views import numbers
from benchbook.views.gates import gate_rule, gate_state, gate_value
from benchbook.views.junit import Suite, case, cut, outcome, skipped, suites, system_out
from benchbook.views.rubric.digest import RunReport
from benchbook.views.rubric.words import decided_lines, fail_reason, scores_words, unscored_because
from benchbook.views.words import reason


def junit_report(report: RunReport) -> Iterator[str]:
    """The document, in pieces."""
    manifest, decision, found = report.manifest, report.decision, report.digest
    gates = () if decision is None else decision.gates
    # Before derivation 3 there are none of them.
    causes = [] if isinstance(report.aggregates.unanswered, msgspec.UnsetType) else report.aggregates.unanswered
    # What kept samples without an answer stands before all others (R1.3a).
    unanswered = [
        case("unanswered", f"{one.role}: {one.cause}", outcome("error", one.cause, one.words, one.detail))
        for one in causes
    ]
    refused, not_ready = decision is None, decision is not None and decision.decision != "READY"
    n_open, n_skipped = sum(not _firm(gate) for gate in gates), sum(gate.unmeasured for gate in gates)
    samples = (_sample(row, report) for row in report.rows())
    parts = [
        Suite("decision", [case(manifest.spec, "decision", _decision(report))], 1, int(not_ready), int(refused)),
        Suite(
            "gates", [case("gates", gate.aggregate, _gate(gate)) for gate in gates], len(gates), n_open, 0, n_skipped
        ),
        Suite(manifest.dataset_id, samples, found.n_rows, found.n_failed - found.n_unscored, found.n_unscored),
    ]
    if unanswered:
        parts.insert(0, Suite("unanswered", unanswered, len(unanswered), errors=len(unanswered)))
    return suites(manifest.run_id, manifest.timestamp_utc, parts)


def _decision(report: RunReport) -> str:
    if report.decision is None:
        missing = ", ".join(report.manifest.missing_metadata)
        return outcome("error", "refused", f"a decision is refused; missing metadata: {missing}")
    said = decided_lines(report.decision)
    if report.decision.decision == "READY":
        return system_out(" ".join(said)) if said else ""
    reasons = [reason(one) for one in report.decision.reasons]
    return outcome("failure", report.decision.decision, reasons[0], "\n".join([*reasons, *said]))


def _gate(gate: Gate) -> str:
    if gate.unmeasured:
        return skipped("declared unmeasured")
    words = f"{gate_value(gate, gate.value)}; the gate asks for {gate_rule(gate)}: {gate_state(gate).words}"
    return system_out(words) if _firm(gate) else outcome("failure", "gate", words)


def _firm(gate: Gate) -> bool:
    """True if nothing about this gate stands in the way of READY, except perhaps that it is not measured."""
    return gate.unmeasured or (gate.holds and gate.holds_in_worst_case and gate.bound_holds is not False)


def _sample(row: RubricRow, report: RunReport) -> str:
    repeat = f" [repeat {row.repeat + 1}]" if report.manifest.repeats > 1 else ""
    said = ""
    if (why := unscored_because(row)) is not None:
        said = outcome("error", *why, _details(row, report))
    elif not row.passed:
        reasons = ", ".join(fail_reason(name) for name in row.fail_reasons)
        said = outcome("failure", row.fail_reasons[0] if row.fail_reasons else "failed", reasons, _details(row, report))
    return case(report.manifest.dataset_id, row.item_id + repeat, said, numbers.seconds(row.latency_e2e_ms))


def _details(row: RubricRow, report: RunReport) -> str:
    scores = f"{scores_words(row, report.spec)}, score {numbers.score(row.sample_score)}"
    parts = [f"sample {row.sample}; {scores}", f"answer:\n{cut(row.candidate_answer)}"]
    parts += [
        f"{name}:\n{cut(words)}" for name, words in (("error", row.error_detail), ("rationale", row.rationale)) if words
    ]
    parts += [
        f"judge's reply, attempt {reply.attempt} ({reply.parse_error_reason or 'read'}):\n{cut(reply.text)}"
        for reply in row.judge_replies
    ]
    return "\n\n".join(parts)
