"""`benchbook run --dry-run`: what would be asked, and what it would cost."""

from __future__ import annotations

from decimal import Decimal
from itertools import chain
from typing import Any

import click
import msgspec

from benchbook.ask.requests import RolePlan, plan_sha256
from benchbook.cli.output import print_json
from benchbook.evalsets import EvalSet
from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
from benchbook.evaluators.recorded_set import contents_words, part_words
from benchbook.evaluators.rubric.needed import least_for_ready
from benchbook.evaluators.rubric.plan import Requests
from benchbook.evaluators.rubric.preparing import DEFAULT_ERROR, PreparedRun, prepare
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.settings import RunConfig
from benchbook.text import visible

__all__ = ["estimate", "print_dry_run"]


_BYTES_PER_TOKEN = 4  # a rule of thumb for English; only for this estimate, never for a score
_MILLION = Decimal(1_000_000)


def estimate(config: RunConfig) -> dict[str, Any]:
    """The plan, the first requests, and the most that a run can cost at the configured prices.

    Raises: what `run` would raise before it asks anything.
    """
    prepared = prepare(config)
    spec = prepared.spec
    requests = Requests(prepared.plan, spec, prepared.template)
    with prepared.evalset as evalset:
        bodies = sum(len(requests.candidate(item)) for item in evalset)
        first = evalset[0]
        example = requests.candidate(first).decode("utf-8", "replace")
        judge_prompt = requests.judge_prompt(first, "(the model's answer)")
        ready = _ready(config, spec, evalset)
    plan = prepared.plan
    return {
        "samples": plan.n_samples,
        "calls": (1 + len(plan.judges)) * plan.n_samples,
        "plan_sha256": plan_sha256(plan),
        "plan": msgspec.to_builtins(plan),
        "first_request": example,
        "first_judge_prompt": judge_prompt,
        "ready": ready,
        "warnings": [
            *([] if plan.part is msgspec.UNSET else [part_words(plan.part)]),
            *chain(*contents_words(prepared.evalset.contents, judge_sees=prepared.spec.judge_sees)),
        ],
        "stops": _stops(config, plan.n_items),
        "most_cost_usd": _most_cost(config, prepared, bodies * plan.repeats // _BYTES_PER_TOKEN),
    }


def _ready(config: RunConfig, spec: RubricSpec, evalset: EvalSet) -> dict[str, Any] | None:
    """How many items, or groups of them, there are to show READY with, and how many it takes; None where it is not
    shown by their number: by points, or by a test that looks again and again."""
    if config.confidence == "none" or config.until_decided:
        return None
    lone = sum(item.group is None for item in evalset)
    groups = len({item.group for item in evalset if item.group is not None})
    return {
        "n": lone + groups,
        "of": "groups of items" if groups else "items",
        "least": least_for_ready(spec, config.confidence or DEFAULT_CONFIDENCE),
    }


def _stops(config: RunConfig, n_items: int) -> dict[str, Any] | None:
    """When a run that asks items in a drawn order ends; None for one that asks all."""
    if not config.until_decided:
        return None
    once = "READY or NOT_READY" if config.against is None else f"better or worse than {config.against}"
    error = DEFAULT_ERROR if config.error is None else config.error
    return {"once": once, "error": error, "at_most_items": n_items}


def _most_cost(config: RunConfig, prepared: PreparedRun, input_tokens: int) -> str | None:
    """Every answer as long as it may be, and every judge asked once; None without prices."""
    if not config.has_prices:
        return None
    plan, n = prepared.plan, prepared.plan.n_samples
    answer = _max_tokens(plan.candidate)
    cost = (config.model_input_price or 0) * input_tokens + (config.model_output_price or 0) * answer * n
    for (_, _, judge), role in zip(config.all_judges, plan.judges, strict=True):
        cost += (judge.input_price or 0) * (input_tokens + (answer + 300) * n)
        cost += (judge.output_price or 0) * _max_tokens(role) * n
    return f"{cost / _MILLION:.2f}"


def _max_tokens(role: RolePlan) -> int:
    return int(role.params.get("max_tokens", 1024))


def print_dry_run(config: RunConfig, *, as_json: bool) -> None:
    found = estimate(config)
    if as_json:
        print_json(found)
        return
    from benchbook.text import one_line
    from benchbook.views.numbers import short_model
    from benchbook.views.words import plural

    cost = found["most_cost_usd"]
    click.echo(f"{plural(found['samples'], 'sample')}: {plural(found['calls'], 'call')}, parse retries aside")
    plan = found["plan"]
    judges = [plan["judge"], *plan.get("panel", {}).get("others", ())]
    for name, role in (("model", plan["candidate"]), *(("judge", judge) for judge in judges)):
        click.echo(f"{name}  {short_model(role['model_id'])}  {role['params']}")
    click.echo("cost   no prices are set" if cost is None else f"cost   at most about ${cost}, by four bytes a token")
    if (ready := found["ready"]) is not None and ready["n"] < ready["least"]:
        has = f"{ready['n']:,} {ready['of'] if ready['n'] != 1 else ready['of'].replace('s', '', 1)}"
        click.echo(f"READY  with {has} this run can't be READY: at least {ready['least']:,} can")
    for warning in found["warnings"]:
        click.echo(visible(f"  ! {warning}"))
    if (stops := found["stops"]) is not None:
        at_most = plural(stops["at_most_items"], "item")
        click.echo(f"stops  once {one_line(stops['once'])} is shown, with an error of at most {stops['error']:g}")
        click.echo(f"       after {at_most} at most, in an order drawn by chance")
    click.echo(f"plan   {found['plan_sha256']}")
    click.echo("Nothing was asked.")
