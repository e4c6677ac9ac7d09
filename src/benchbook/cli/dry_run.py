"""`benchbook run --dry-run`: what would be asked, and what it would cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import click
import msgspec

from benchbook.cli.output import print_json
from benchbook.derivations.plan import plan_sha256
from benchbook.derivations.requests import Requests
from benchbook.runner.config import RunConfig
from benchbook.runner.preparing import Prepared, prepare

__all__ = ["estimate", "print_dry_run"]

_BYTES_PER_TOKEN = 4  # a rule of thumb for English; only for this estimate, never for a score
_MILLION = Decimal(1_000_000)


def estimate(config: RunConfig) -> dict[str, Any]:
    """The plan, the first requests, and the most that a run can cost at the configured prices.

    Raises: what `run` would raise before it asks anything.
    """
    prepared = prepare(config)
    requests = Requests(prepared.plan, prepared.template)
    with prepared.evalset as evalset:
        bodies = sum(len(requests.candidate(item)) for item in evalset)
        first = evalset[0]
        example = requests.candidate(first).decode("utf-8", "replace")
        judge_prompt = requests.judge_prompt(first, "(the model's answer)")
    plan = prepared.plan
    return {
        "samples": plan.n_samples,
        "calls": 2 * plan.n_samples,
        "plan_sha256": plan_sha256(plan),
        "plan": msgspec.to_builtins(plan),
        "first_request": example,
        "first_judge_prompt": judge_prompt,
        "most_cost_usd": _most_cost(config, prepared, bodies * plan.repeats // _BYTES_PER_TOKEN),
    }


def _most_cost(config: RunConfig, prepared: Prepared, input_tokens: int) -> str | None:
    """Every answer as long as it may be, and every judge asked once; None without prices."""
    plan, n = prepared.plan, prepared.plan.n_samples
    prices = (
        config.model_input_price, config.model_output_price, config.judge_input_price, config.judge_output_price
    )  # fmt: skip
    if not any(price is not None for price in prices):
        return None
    model_in, model_out, judge_in, judge_out = (price or Decimal(0) for price in prices)
    answer = int(plan.candidate.params.get("max_tokens", 1024))
    verdict = int(plan.judge.params.get("max_tokens", 1024))
    cost = model_in * input_tokens + model_out * answer * n
    cost += judge_in * (input_tokens + (answer + 300) * n) + judge_out * verdict * n
    return f"{cost / _MILLION:.2f}"


def print_dry_run(config: RunConfig, *, as_json: bool) -> None:
    found = estimate(config)
    if as_json:
        print_json(found)
        return
    from benchbook.reports.numbers import short_model
    from benchbook.reports.words import plural

    cost = found["most_cost_usd"]
    click.echo(f"{plural(found['samples'], 'sample')}: {plural(found['calls'], 'call')}, parse retries aside")
    for name, role in (("model", found["plan"]["candidate"]), ("judge", found["plan"]["judge"])):
        click.echo(f"{name}  {short_model(role['model_id'])}  {role['params']}")
    click.echo("cost   no prices are set" if cost is None else f"cost   at most about ${cost}, by four bytes a token")
    click.echo(f"plan   {found['plan_sha256']}")
    click.echo("Nothing was asked.")
