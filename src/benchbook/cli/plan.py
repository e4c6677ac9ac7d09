"""`benchbook plan`."""

from __future__ import annotations

import click

from benchbook.cli.output import json_option, print_json

__all__ = ["plan"]


_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_CONFIDENCE = click.FloatRange(0.5, 1, min_open=True, max_open=True)


@click.command()
@click.option("--baseline", type=float, help="The rate that you have now, such as a pass rate of 0.7.")
@click.option("--detect", type=float, help="The change that must not be missed; below 0 for a loss.")
@click.option("--power", type=_SHARE, default=0.8, show_default=True, help="The chance of seeing it if it is there.")
@click.option(
    "--alpha", type=_SHARE, default=0.05, show_default=True, help="The chance of seeing one that is not there."
)
@click.option("--paired/--unpaired", default=True, help="Whether both runs answer the same items (they should).")
@click.option("--discordance", type=float, help="The share of items that only one of the runs passes.")
@click.option("--clusters", type=float, metavar="M", help="Items come in clusters of M, such as M to a document.")
@click.option("--icc", type=float, metavar="R", help="How alike the items of a cluster are: 0 not at all, 1 wholly.")
@click.option("--repeats", type=int, default=1, show_default=True, help="How often each run asks every item.")
@click.option("--within", type=float, metavar="S", help="The part of the variance that is within an item, 0 to 1.")
@click.option("--ready", is_flag=True, help="Say how many items it takes to be READY at all; no comparison.")
@click.option("--confidence", type=_CONFIDENCE, help="With --ready: what is to be shown at; by default 0.95.")
@json_option
def plan(
    baseline: float | None,
    detect: float | None,
    power: float,
    alpha: float,
    paired: bool,
    discordance: float | None,
    clusters: float | None,
    icc: float | None,
    repeats: int,
    within: float | None,
    ready: bool,
    confidence: float | None,
    as_json: bool,
) -> None:
    """Say how many items a comparison needs, or with --ready a release decision, before it is run."""
    from benchbook.evaluators.rubric.items_needed import items_needed
    from benchbook.views.leaderboard import plan_words

    if ready:
        _plan_ready(confidence, as_json)
        return
    if confidence is not None:
        raise click.UsageError("--confidence goes with --ready; of a comparison, --alpha is its counterpart")
    if baseline is None or detect is None:
        missing = "--baseline" if baseline is None else "--detect"
        raise click.UsageError(f"{missing} is missing: a comparison takes both; or ask for --ready")
    found = items_needed(
        baseline,
        detect,
        power=power,
        alpha=alpha,
        paired=paired,
        discordance=discordance,
        cluster_size=clusters,
        intraclass_correlation=icc,
        repeats=repeats,
        within_item=within,
    )
    if as_json:
        print_json(found)
        return
    for line in plan_words(found):
        click.echo(line)


def _plan_ready(confidence: float | None, as_json: bool) -> None:
    from benchbook.evaluators.rubric.needed import least_by_gate
    from benchbook.evaluators.rubric.proving import DEFAULT_CONFIDENCE
    from benchbook.evaluators.rubric.spec import rubric_v1
    from benchbook.views.leaderboard import ready_words

    level = DEFAULT_CONFIDENCE if confidence is None else confidence
    by_gate = least_by_gate(rubric_v1(), level)
    if as_json:
        print_json({"n_items": max(by_gate.values()), "confidence": level, "by_gate": by_gate})
        return
    for line in ready_words(by_gate, level):
        click.echo(line)
