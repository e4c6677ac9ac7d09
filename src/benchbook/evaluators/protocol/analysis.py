"""The analysis of an experiment's evaluations: a pure function of its rows (SPEC P4.2, P6).

    analysis_results    what is said              analysis_judges    validity, severity, agreement, self
    analysis_measures   means with intervals, targets under variants, drift

Primary statistics use `cross_judge` alone; invalid evaluations enter no statistic of scores, they are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.protocol.analysis_judges import judge_cards, judge_pairs, method_counts, self_minus_cross
from benchbook.evaluators.protocol.analysis_measures import Measuring, drifts, target_variants
from benchbook.evaluators.protocol.analysis_results import (
    Analysis,
    JudgeResults,
    LeagueEntry,
    LeagueRules,
    Minimums,
    RuleOutcome,
)
from benchbook.evaluators.protocol.evaluation_rows import CoverageGap, EvaluationRow, sorted_rows
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.spec import Protocol

__all__ = ["STANDINGS", "analyse", "league", "league_rules"]


STANDINGS = ("usable", "not_usable", "too_few")


def league_rules(protocol: Protocol) -> LeagueRules:
    """When a judge can be used, by default. An eighth of all points is one point of `judge_protocol@v1`."""
    return LeagueRules(severity_at_most=protocol.span / 8)


def league(cards: Sequence[JudgeResults], rules: LeagueRules, minimums: Minimums) -> list[LeagueEntry]:
    """The judges, usable ones first, then by how many of their evaluations count.

    A rule that is broken bars a judge. One whose value is not known (a judge without others to agree with, without
    probes) does not, and is listed as not known. With fewer than `minimums.evaluations` nothing is said.
    """
    entries = [_entry(card, rules, minimums) for card in cards]
    shares = {card.judge_model: card.cross_judge.valid_share.value or 0.0 for card in cards}
    return sorted(
        entries,
        key=lambda entry: (STANDINGS.index(entry.standing), -shares[entry.judge_model], entry.judge_model),
    )


def _entry(card: JudgeResults, rules: LeagueRules, minimums: Minimums) -> LeagueEntry:
    outcomes = _outcomes(card, rules)
    barred = any(outcome.holds is False for outcome in outcomes)
    n = card.cross_judge.n
    standing = "too_few" if n < minimums.evaluations else "not_usable" if barred else "usable"
    return LeagueEntry(judge_model=card.judge_model, standing=standing, n=n, outcomes=outcomes)


def _outcomes(card: JudgeResults, rules: LeagueRules) -> list[RuleOutcome]:
    severity = None if card.severity.too_few else card.severity.value
    return [
        outcome
        for outcome in (
            _at_least("valid_share_at_least", card.cross_judge.valid_share.value, rules.valid_share_at_least),
            _at_least("found_share_at_least", card.cross_judge.found_share.value, rules.found_share_at_least),
            _at_most("severity_at_most", severity, rules.severity_at_most),
            _at_least("agreement_at_least", card.agreement, rules.agreement_at_least),
            _at_most("failed_probe_share_at_most", _failed_probe_share(card), rules.failed_probe_share_at_most),
        )
        if outcome is not None
    ]


def _failed_probe_share(card: JudgeResults) -> float | None:
    told = card.n_probes_passed + card.n_probes_failed
    return round(card.n_probes_failed / told, 9) if told else None


def _at_least(rule: str, found: float | None, limit: float | None) -> RuleOutcome | None:
    if limit is None:
        return None
    return RuleOutcome(rule=rule, holds=None if found is None else found >= limit, found=found, limit=limit)


def _at_most(rule: str, found: float | None, limit: float | None) -> RuleOutcome | None:
    """`found` may be below zero: it is its size that counts."""
    if limit is None:
        return None
    return RuleOutcome(rule=rule, holds=None if found is None else abs(found) <= limit, found=found, limit=limit)


N_RESAMPLES = 2_000


def analyse(
    rows: Iterable[EvaluationRow],
    protocol: Protocol,
    *,
    gaps: Iterable[CoverageGap] = (),
    probes: Iterable[ProbeResult] = (),
    minimums: Minimums | None = None,
    rules: LeagueRules | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    derivation: int = DERIVATION,
) -> Analysis:
    """All that the rows say about targets and judges; `seed` is of the bootstrap intervals of agreement.

    Raises: UsageError where two rows answer the same question to the same judge.
    """
    minimums, rules = minimums or Minimums(), rules or league_rules(protocol)
    measuring = Measuring(confidence, seed, N_RESAMPLES, derivation)
    ordered = sorted_rows(rows)
    valid = [row for row in ordered if row.valid]
    cross = [row for row in ordered if row.method == "cross_judge"]
    valid_cross = [row for row in cross if row.valid]
    shown_probes = sorted(
        probes, key=lambda one: (one.judge_model, one.probe, one.question_id, one.prompt_variant, one.output_id)
    )
    pairs = judge_pairs(valid_cross, protocol, measuring, minimums)
    cards = judge_cards(ordered, pairs, shown_probes, measuring, minimums)
    return Analysis(
        confidence=confidence,
        minimums=minimums,
        rules=rules,
        methods=method_counts(ordered),
        n_gaps=sum(gap.flag is not None for gap in gaps),
        targets=target_variants(cross, protocol, measuring, minimums),
        drifts=drifts(valid_cross, measuring, minimums),
        judges=cards,
        pairs=pairs,
        self_minus_cross=self_minus_cross(valid, protocol, measuring, minimums),
        league=league(cards, rules, minimums),
        probes=shown_probes,
    )
