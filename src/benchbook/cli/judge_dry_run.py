"""`benchbook judge run --dry-run`: the grid, the judges and the calls, and nothing asked."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from benchbook.cli.output import print_json
from benchbook.derivations.plan import plan_sha256
from benchbook.derivations.protocol_warnings import task_warning
from benchbook.evalsets.output_set_sources import identifiers
from benchbook.runner.judging import PreparedJudging
from benchbook.text import one_line

__all__ = ["print_judging_dry_run"]


def print_judging_dry_run(prepared: PreparedJudging, *, as_json: bool) -> None:
    """What `judge run` would begin with."""
    from benchbook.reports.words import plural

    plan, outputs = prepared.plan, prepared.output_set.outputs
    grid = {name: len({getattr(output, name) for output in outputs}) for name in identifiers()[:3]}
    if as_json:
        print_json(_as_json(prepared, grid))
        return
    axes = " x ".join(f"{count} {name}" for name, count in grid.items())
    n_without = len(outputs) - plan.n_outputs
    click.echo(f"{plural(len(outputs), 'output')}: {axes}, {n_without} without a text")
    for judge in plan.judges:
        click.echo(f"judge  {one_line(judge.name)}  {one_line(judge.role.model_id)}  {judge.role.params}")
    click.echo(
        f"{plural(plan.n_samples, 'call')}: {plan.n_outputs} x {plural(len(plan.judges), 'judge')} x "
        f"{plural(plan.repeats, 'repeat')}, and {plan.n_probes * len(plan.judges)} about probes"
    )
    if plan.task == "unknown":
        click.echo(f"! {task_warning(judged_elsewhere=False)}")
    click.echo(f"plan   {plan_sha256(plan)}")
    click.echo("Nothing was asked.")


def _as_json(prepared: PreparedJudging, grid: dict[str, int]) -> dict[str, Any]:
    plan = prepared.plan
    return {
        "grid": grid,
        "outputs": len(prepared.output_set.outputs),
        "outputs_without_text": len(prepared.output_set.outputs) - plan.n_outputs,
        "calls": plan.n_samples,
        "calls_about_probes": plan.n_probes * len(plan.judges),
        "task": "unknown" if plan.task == "unknown" else "known",
        "plan_sha256": plan_sha256(plan),
        "plan": msgspec.to_builtins(plan),
    }
