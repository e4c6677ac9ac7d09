"""A planned comparison in sentences."""

from __future__ import annotations

from benchbook.decisions.items_needed import ItemsNeeded

__all__ = ["plan_words"]


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
    return [*lines, f"formula: {plan.formula}"]
