"""The judges' league: who can be used, and why not, by rules that are stated (issue 5, item 7)."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.derivations.judge_analysis_results import JudgeCard, LeagueEntry, LeagueRules, Minimums, RuleOutcome

__all__ = ["STANDINGS", "league"]

STANDINGS = ("usable", "not_usable", "too_few")


def league(cards: Sequence[JudgeCard], rules: LeagueRules, minimums: Minimums) -> list[LeagueEntry]:
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


def _entry(card: JudgeCard, rules: LeagueRules, minimums: Minimums) -> LeagueEntry:
    outcomes = _outcomes(card, rules)
    barred = any(outcome.holds is False for outcome in outcomes)
    n = card.cross_judge.n
    standing = "too_few" if n < minimums.evaluations else "not_usable" if barred else "usable"
    return LeagueEntry(judge_model=card.judge_model, standing=standing, n=n, outcomes=outcomes)


def _outcomes(card: JudgeCard, rules: LeagueRules) -> list[RuleOutcome]:
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


def _failed_probe_share(card: JudgeCard) -> float | None:
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
