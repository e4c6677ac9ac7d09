"""The analysis of an experiment's evaluations: a pure function of its rows (SPEC P4.2, P6).

    judge_analysis_results   what is said              judge_analysis_targets   targets under variants, drift
    judge_analysis_measures  means with intervals      judge_analysis_judges    validity, severity, agreement, self
                                                       judge_analysis_league    who can be used

Primary statistics use `cross_judge` alone; invalid evaluations enter no statistic of scores, they are counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchbook.derivations.derivation import DERIVATION
from benchbook.derivations.evaluation_rows import CoverageGap, EvaluationRow, sorted_rows
from benchbook.derivations.judge_analysis_judges import judge_cards, judge_pairs, method_counts, self_minus_cross
from benchbook.derivations.judge_analysis_league import league
from benchbook.derivations.judge_analysis_measures import Measuring
from benchbook.derivations.judge_analysis_results import Analysis, LeagueRules, Minimums
from benchbook.derivations.judge_analysis_targets import drifts, target_variants
from benchbook.scorers.judge_probes import ProbeResult

__all__ = ["Analysis", "LeagueRules", "Minimums", "analyse"]

N_RESAMPLES = 2_000


def analyse(
    rows: Iterable[EvaluationRow],
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
    minimums, rules = minimums or Minimums(), rules or LeagueRules()
    measuring = Measuring(confidence, seed, N_RESAMPLES, derivation)
    ordered = sorted_rows(rows)
    valid = [row for row in ordered if row.valid]
    cross = [row for row in ordered if row.method == "cross_judge"]
    valid_cross = [row for row in cross if row.valid]
    shown_probes = sorted(
        probes, key=lambda one: (one.judge_model, one.probe, one.question_id, one.prompt_variant, one.output_id)
    )
    pairs = judge_pairs(valid_cross, measuring, minimums)
    cards = judge_cards(ordered, pairs, shown_probes, measuring, minimums)
    return Analysis(
        confidence=confidence,
        minimums=minimums,
        rules=rules,
        methods=method_counts(ordered),
        n_gaps=sum(gap.flag is not None for gap in gaps),
        targets=target_variants(cross, measuring, minimums),
        drifts=drifts(valid_cross, measuring, minimums),
        judges=cards,
        pairs=pairs,
        self_minus_cross=self_minus_cross(valid, measuring, minimums),
        league=league(cards, rules, minimums),
        probes=shown_probes,
    )
