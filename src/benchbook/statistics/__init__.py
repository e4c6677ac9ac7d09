"""statistics: intervals, paired tests, agreement, corrections, planning. Pure functions; nothing about runs.

estimate    a number that stands for a larger whole, with its interval. Where nothing can be said it is None, with a
            reason (REASONS); never NaN, never 0.
interval    `low` to `high`, two-sided, at `confidence` (95 % unless asked otherwise). Not: error bar.
cluster     values that rise and fall together: one document, one template, one item's repeats. Not: group, block.
pair        two runs' values of the same item. Differences are b - a. A pair that differs is discordant.
unit        what is resampled whole: an item, a pair, or a cluster of them.
seed        where random numbers are drawn, a parameter that the result returns: the same seed, the same result.
warning     the result stands, but (WARNINGS).

Names load their module when they are first used; `wilson`, which every run needs, loads no NumPy. Distributions are our
own (`distributions`): SciPy, which judges them in tests, need not be installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchbook.statistics.agreement import AgreementMethod, Weights, cohens_kappa, gwet_ac
    from benchbook.statistics.binomial import clopper_pearson, percentile_interval, percentile_ranks, wilson
    from benchbook.statistics.bootstrap import Units, bootstrap_interval, bootstrap_mean
    from benchbook.statistics.bounded import Widening, bounded_difference, bounded_mean, cluster_widening
    from benchbook.statistics.bradley_terry import BradleyTerry, CovariateEffect, PairStrength, pair_strengths
    from benchbook.statistics.corrected import CorrectedRate, Stratum, post_stratified_rate, rogan_gladen
    from benchbook.statistics.ground import REASONS, WARNINGS, Agreement, Estimate, RankInterval
    from benchbook.statistics.many_raters import fleiss_kappa, krippendorff_alpha
    from benchbook.statistics.means import (
        Repeats,
        VarianceComponents,
        clustered_mean,
        mean_interval,
        repeat_summary,
        t_interval,
        variance_components,
    )
    from benchbook.statistics.paired import (
        Margin,
        McNemar,
        PairedBinary,
        bonett_price,
        equivalence,
        mcnemar,
        non_inferiority,
        paired_binary,
        paired_difference,
        paired_rates,
    )
    from benchbook.statistics.planning import (
        SampleSize,
        design_effect,
        n_to_settle_bounded_mean,
        n_to_settle_mean,
        n_to_settle_percentile,
        n_to_settle_rate,
        sample_size_mid_p,
        sample_size_paired_binary,
        sample_size_paired_mean,
        sample_size_two_proportions,
    )
    from benchbook.statistics.prediction_powered import PredictionPoweredMean, prediction_powered_mean
    from benchbook.statistics.ranking import RankCorrelation, RankedRun, Ranking, rank_correlation, rank_runs
    from benchbook.statistics.score_bound import paired_score
    from benchbook.statistics.sequences import ConfidenceSequence, FiniteBet, confidence_sequence
    from benchbook.statistics.significance import (
        AdjustedPValues,
        PermutationTest,
        SignedRanks,
        adjust_p_values,
        paired_permutation_test,
        tarone_holm,
        wilcoxon_signed_rank,
    )
    from benchbook.statistics.stratified import SampledStratum, stratified_mean

__all__ = [
    "REASONS",
    "WARNINGS",
    "AdjustedPValues",
    "Agreement",
    "AgreementMethod",
    "BradleyTerry",
    "ConfidenceSequence",
    "CorrectedRate",
    "CovariateEffect",
    "Estimate",
    "FiniteBet",
    "Margin",
    "McNemar",
    "PairStrength",
    "PairedBinary",
    "PermutationTest",
    "PredictionPoweredMean",
    "RankCorrelation",
    "RankInterval",
    "RankedRun",
    "Ranking",
    "Repeats",
    "SampleSize",
    "SampledStratum",
    "SignedRanks",
    "Stratum",
    "Units",
    "VarianceComponents",
    "Weights",
    "Widening",
    "adjust_p_values",
    "bonett_price",
    "bootstrap_interval",
    "bootstrap_mean",
    "bounded_difference",
    "bounded_mean",
    "clopper_pearson",
    "cluster_widening",
    "clustered_mean",
    "cohens_kappa",
    "confidence_sequence",
    "design_effect",
    "equivalence",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "mcnemar",
    "mean_interval",
    "n_to_settle_bounded_mean",
    "n_to_settle_mean",
    "n_to_settle_percentile",
    "n_to_settle_rate",
    "non_inferiority",
    "pair_strengths",
    "paired_binary",
    "paired_difference",
    "paired_permutation_test",
    "paired_rates",
    "paired_score",
    "percentile_interval",
    "percentile_ranks",
    "post_stratified_rate",
    "prediction_powered_mean",
    "rank_correlation",
    "rank_runs",
    "repeat_summary",
    "rogan_gladen",
    "sample_size_mid_p",
    "sample_size_paired_binary",
    "sample_size_paired_mean",
    "sample_size_two_proportions",
    "stratified_mean",
    "t_interval",
    "tarone_holm",
    "variance_components",
    "wilcoxon_signed_rank",
    "wilson",
]

_NAMES_BY_MODULE = {
    "agreement": "AgreementMethod Weights cohens_kappa gwet_ac",
    "bootstrap": "Units bootstrap_interval bootstrap_mean",
    "bounded": "bounded_mean Widening bounded_difference cluster_widening",
    "bradley_terry": "BradleyTerry CovariateEffect PairStrength pair_strengths",
    "corrected": "CorrectedRate rogan_gladen Stratum post_stratified_rate",
    "ranking": "RankCorrelation rank_correlation RankedRun Ranking rank_runs",
    "score_bound": "paired_score",
    "sequences": "FiniteBet ConfidenceSequence confidence_sequence",
    "many_raters": "fleiss_kappa krippendorff_alpha",
    "means": "clustered_mean mean_interval t_interval Repeats VarianceComponents repeat_summary variance_components",
    "paired": (
        "paired_rates McNemar PairedBinary bonett_price mcnemar paired_binary paired_difference "
        "Margin equivalence non_inferiority"
    ),
    "planning": (
        "SampleSize design_effect sample_size_mid_p sample_size_paired_binary sample_size_paired_mean "
        "sample_size_two_proportions n_to_settle_bounded_mean n_to_settle_mean n_to_settle_percentile n_to_settle_rate"
    ),
    "prediction_powered": "PredictionPoweredMean prediction_powered_mean",
    "stratified": "SampledStratum stratified_mean",
    "binomial": "clopper_pearson wilson percentile_interval percentile_ranks",
    "ground": "Agreement REASONS WARNINGS Estimate RankInterval",
    "significance": (
        "PermutationTest paired_permutation_test SignedRanks wilcoxon_signed_rank "
        "AdjustedPValues adjust_p_values tarone_holm"
    ),
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
