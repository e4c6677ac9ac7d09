"""How many items a comparison needs, and READY, in sentences: what is said before a run."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.evaluators.rubric.items_needed import ItemsNeeded
from benchbook.views import numbers
from benchbook.views.words import aggregate_word

__all__ = ["plan_words", "ready_words"]


def plan_words(plan: ItemsNeeded) -> list[str]:
    """The plan in sentences, the answer first."""
    what = "items, the same for both runs" if plan.paired else "items for each run, different ones"
    change = f"{plan.baseline:g} become {plan.baseline + plan.detect:g} ({plan.detect:+g})"
    chance = f"{100 * plan.power:g} %, by a two-sided test at alpha {plan.alpha:g}"
    lines = [
        f"{plan.n_items:,} {what}: {plan.n_answers:,} answers in all",
        f"to see a rate of {change} with a chance of {chance}",
    ]
    if (shares := plan.discordance) is not None:
        measured = (
            "assumed, as of two runs that know nothing of one another; runs that agree more need fewer items, "
            "so measure it in a first run and give it by --discordance"
            if shares.assumed
            else "given"
        )
        lines.append(
            f"discordance: {100 * shares.share:.4g} % of items are passed by one run alone "
            f"({100 * shares.only_before:.4g} % lost, {100 * shares.only_after:.4g} % won); {measured}"
        )
    if plan.clusters is not None:
        lines.append(
            f"clusters: {plan.clusters:,} of {plan.cluster_size:g} items; at a correlation of "
            f"{plan.intraclass_correlation:g} within them each item counts {1 / plan.design_effect:.3g} "
            f"(design effect {plan.design_effect:.4g}, Kish 1965)"
        )
    if plan.repeats > 1 and plan.within_item is not None:
        lines.append(
            f"repeats: {plan.repeats} of each item in each run; {100 * plan.within_item:.4g} % of the variance is "
            "within the item, and falls with their number"
        )
    lines.append(f"READY: a run of fewer than {plan.n_for_ready:,} items can't be shown to be, however good it is")
    return [*lines, f"formula: {plan.formula}"]


def ready_words(by_gate: Mapping[str, int], confidence: float) -> list[str]:
    """How many items READY takes, the answer first."""
    return [
        f"{max(by_gate.values()):,} items at least, to be READY at {numbers.limit('rate', confidence)} confidence",
        "if every answer is as good as can be; each that is not takes more. Items of one group count once, and so do",
        "the repeats of an item.",
        *(f"{aggregate_word(name).label}: {n:,}" for name, n in by_gate.items()),
    ]
