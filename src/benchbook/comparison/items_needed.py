"""How many items a comparison needs, in the words of a release: a rate now, and the change that must not be missed."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import msgspec

from benchbook.errors import ConfigError
from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
from benchbook.evaluators.registry import evaluator_named
from benchbook.evaluators.settings import RUN_SPEC
from benchbook.statistics import design_effect, sample_size_mid_p, sample_size_two_proportions

FORMULAS: Mapping[str, str] = {
    "mid_p": "the mid-p McNemar test on pairs, as in a comparison; its power is added up over all tables",
    "two_proportions": "two independent proportions (Fleiss 1981; R's power.prop.test)",
}
"""Where each method's formula comes from."""

_ROUNDING = 1e-12


class Discordance(msgspec.Struct, frozen=True, kw_only=True):
    """The share of items that only one of the two runs passes, and the shares that make it up."""

    share: float
    only_before: float
    only_after: float
    assumed: bool  # not measured: the share that two independent runs would have


class ItemsNeeded(msgspec.Struct, frozen=True, kw_only=True):
    """Items to see a rate go from `baseline` to `baseline + detect`, with chance `power`, by a test at level `alpha`.

    `n_items` is what one run needs; `n_answers` what both do together. Pairs answer the same items, so the items are
    then `n_items` in all; without pairing each run has `n_items` of its own. `clusters` counts them where items come
    in clusters; then `design_effect` says how many times more items they cost (Kish 1965). With `repeats` an item's
    answers are taken together: of the variance, `within_item` is the part that repeats of one item differ by, and falls
    with their number; the rest is what items differ by, and only more items lessen it.
    """

    n_items: int
    n_answers: int
    n_for_ready: int  # items without which no run can be READY (R6.4), all of them as good as can be
    baseline: float
    detect: float
    power: float
    alpha: float
    paired: bool
    method: str
    formula: str
    discordance: Discordance | None = None
    cluster_size: float | None = None
    intraclass_correlation: float | None = None
    design_effect: float = 1.0
    clusters: int | None = None
    repeats: int = 1
    within_item: float | None = None


def items_needed(
    baseline: float,
    detect: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    paired: bool = True,
    discordance: float | None = None,
    cluster_size: float | None = None,
    intraclass_correlation: float | None = None,
    repeats: int = 1,
    within_item: float | None = None,
) -> ItemsNeeded:
    """How many items it takes. `detect` is a difference of rates, below 0 for a loss.

    `within_item` is needed with more than one of `repeats`: a run with repeats tells it (`variance`, aggregates.json).

    Raises: ConfigError for a rate that can't be, a difference of nothing, or a discordance that can't go with them.
    """
    after = baseline + detect
    _check(baseline, detect, after, discordance, paired, cluster_size, intraclass_correlation)
    _check_repeats(repeats, within_item)
    effect = 1.0
    if cluster_size is not None and intraclass_correlation is not None:
        effect = design_effect(cluster_size, intraclass_correlation)
    effect *= 1 if within_item is None else 1 - within_item + within_item / repeats
    shares = _discordance(baseline, after, discordance) if paired else None
    if shares is not None:
        found = sample_size_mid_p(shares.only_before, shares.only_after, power=power, alpha=alpha, design_effect=effect)
    else:
        found = sample_size_two_proportions(baseline, after, power=power, alpha=alpha, design_effect=effect)
    if found.n is None:
        raise ConfigError("detect", f"{detect:g}", "a difference large enough for a number of items to show")
    return ItemsNeeded(
        n_items=found.n,
        n_answers=2 * found.n * repeats,
        n_for_ready=max(evaluator_named(RUN_SPEC).least_for_ready(DEFAULT_CONFIDENCE).values()),
        baseline=baseline,
        detect=detect,
        power=power,
        alpha=alpha,
        paired=paired,
        method=found.method,
        formula=FORMULAS[found.method],
        discordance=shares,
        cluster_size=cluster_size,
        intraclass_correlation=intraclass_correlation,
        design_effect=effect,
        clusters=None if cluster_size is None else ceil(found.n / cluster_size),
        repeats=repeats,
        within_item=within_item,
    )


def _check_repeats(repeats: int, within_item: float | None) -> None:
    if repeats < 1:
        raise ConfigError("repeats", str(repeats), "1 or more")
    if within_item is not None and not 0 <= within_item <= 1:
        raise ConfigError("within", f"{within_item:g}", "a share from 0 to 1")
    if repeats > 1 and within_item is None:
        expected = "the share of the variance that is within the item: a run with repeats tells it"
        raise ConfigError("within", "nothing", expected)


def _check(
    baseline: float,
    detect: float,
    after: float,
    discordance: float | None,
    paired: bool,
    cluster_size: float | None,
    correlation: float | None,
) -> None:
    if not 0 <= baseline <= 1:
        raise ConfigError("baseline", f"{baseline:g}", "a rate from 0 to 1")
    if not -_ROUNDING <= after <= 1 + _ROUNDING:
        raise ConfigError(
            "detect", f"{detect:g}", f"at most {1 - baseline:g} up or {baseline:g} down from the baseline"
        )
    if detect == 0:
        raise ConfigError("detect", "0", "a difference: no number of items can show that there is none")
    if discordance is not None and not paired:
        raise ConfigError("discordance", f"{discordance:g}", "nothing with --unpaired: it is a share of pairs")
    if (cluster_size is None) != (correlation is None):
        raise ConfigError("clusters and icc", "one of them", "both, or neither")
    if cluster_size is not None and not 1 <= cluster_size < float("inf"):
        raise ConfigError("clusters", f"{cluster_size:g}", "the number of items in a cluster, 1 at least")
    if correlation is not None and not 0 <= correlation <= 1:
        raise ConfigError("icc", f"{correlation:g}", "a correlation from 0 to 1")


def _discordance(before: float, after: float, share: float | None) -> Discordance:
    """The two discordant shares, from their sum and their difference."""
    after = min(1.0, max(0.0, after))
    independent = before * (1 - after) + after * (1 - before)
    total, difference = independent if share is None else share, after - before
    only_after, only_before = (total + difference) / 2, (total - difference) / 2
    least, most = abs(difference), min(before + after, 2 - before - after)
    if not least - _ROUNDING <= total <= most + _ROUNDING:
        raise ConfigError(
            "discordance", f"{total:g}", f"from {least:g} to {most:g}, as rates {before:g} and {after:g} ask"
        )
    return Discordance(
        share=total, only_before=max(0.0, only_before), only_after=max(0.0, only_after), assumed=share is None
    )
