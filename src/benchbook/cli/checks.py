"""`benchbook checks`: evaluators of one's own, without a judge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.errors import ConfigError, RecordError, UsageError

if TYPE_CHECKING:
    from benchbook.evaluators.checks.metric import ChecksMetric

__all__ = ["checks"]


_NAME = re.compile("[a-z][a-z0-9_]{0,47}")
_START = """\
# An evaluator of your own, without a judge. `benchbook checks check` names every fault; docs/reference/checks.md has
# all keys.
name = "{name}"
version = 1                  # a change is a new version, in a folder of its own: {name}@v2
about = "The expected answer stands in the line that opens with Answer:."

[[checks]]
name = "right"               # of the column that it makes
kind = "contains"            # or equals, contains_all, regex, number, choice, json, max_words, token_f1
expected = "{{{{item.expected_answer}}}}"
compare = {{ after = "Answer:" }}  # or "whole", "last_line", "boxed", {{ tag = "answer" }}

[[checks]]
name = "short"
kind = "max_words"
limit = 200
weight = 0.25                # its share in an item's score, beside the others' weights, which are 1
must_pass = false            # an item may pass without it

# Limits on a run: primary_score, pass_rate, no_prediction_rate, or <check>_mean. Without any, a run has no decision.
# [[gates]]
# aggregate = "pass_rate"
# at_least = 0.80
"""


@click.group()
def checks() -> None:
    """Make evaluators of your own, without a judge: a folder with a spec.toml, which `benchbook score` takes."""


@checks.command("init")
@click.argument("name")
@json_option
def init_checks(name: str, as_json: bool) -> None:
    """Write NAME@v1/spec.toml, commented, to start from."""
    from benchbook.specs import FROZEN

    if not _NAME.fullmatch(name):
        raise ConfigError("NAME", repr(name[:60]), "small letters, digits and _, a letter first, at most 48")
    spec = f"{name}@v1"
    if spec in FROZEN:
        raise ConfigError("NAME", repr(name), f"another name: {spec} is shipped")
    path = Path(spec) / "spec.toml"
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_START.format(name=name))
    except FileExistsError:
        raise UsageError(f"{path}: is there already; nothing was written") from None
    except OSError as error:
        raise RecordError(f"{path}: can't be written ({error.strerror})") from None
    if as_json:
        print_json({"file": str(path), "spec": spec})
    else:
        click.echo(f"{path}\nLook at it: benchbook checks check {spec} --evalset FILE")


@checks.command("check")
@click.argument("folder")
@click.option("--evalset", help="What it would score: every item is looked at, and the first is shown.")
@json_option
def check_checks(folder: str, evalset: str | None, as_json: bool) -> None:
    """Name every fault of FOLDER's spec.toml by its line, or show what its checks ask. FOLDER may be a shipped SPEC."""
    from benchbook.evaluators.checks.evaluator import ChecksEvaluator
    from benchbook.evaluators.registry import evaluator_asked_for

    evaluator = evaluator_asked_for(folder)
    if not isinstance(evaluator, ChecksEvaluator):
        raise ConfigError("FOLDER", repr(folder), "a folder with a spec.toml of checks, or checks that are shipped")
    metric = evaluator.metric
    shown = _shown(metric) | ({} if evalset is None else {"first_item": _first_item(metric, evalset)})
    if as_json:
        print_json(shown)
        return
    click.echo(f"{metric.id}: {metric.spec.about}")
    for check in shown["checks"]:
        must = "must pass" if check["must_pass"] else "may miss"
        click.echo(f"  {check['name']}: {check['kind']} of {check['compare']}; weight {check['weight']}, {must}")
    for item in shown.get("first_item", {}).get("checks", ()):
        click.echo(f"  {item['name']}: {item['compares']}")
    click.echo(f"sha256 {metric.sha256}")


def _shown(metric: ChecksMetric) -> dict[str, Any]:
    """What the spec asks, for programs."""
    from benchbook.evaluators.checks.kinds import KINDS

    kinds = {kind: name for name, kind in KINDS.items()}
    return {
        "spec": metric.id,
        "sha256": metric.sha256,
        "about": metric.spec.about,
        "checks": [
            {
                "name": check.name,
                "kind": kinds[type(check.kind)],
                "compare": f"{check.part.name} {check.part.mark}".strip(),
                "weight": f"{float(check.weight):g}",
                "must_pass": check.must_pass,
            }
            for check in metric.spec.checks
        ],
        "gates": [gate.aggregate for gate in metric.spec.gates],
    }


def _first_item(metric: ChecksMetric, evalset: str) -> dict[str, Any]:
    """What each check holds an answer to the first item against. Raises: InputError for an item with a fault."""
    from benchbook.evalsets.opening import evalset_path
    from benchbook.evaluators.answers.asking import opened_for
    from benchbook.text import one_line

    with opened_for(metric, evalset_path(evalset)) as opened:
        metric.check_items(opened)
        item = opened[0]
        compared = metric.compares(item, opened.fields(0) if metric.keeps_fields else {})
    return {
        "item_id": item.id,
        "checks": [{"name": name, "compares": one_line(words)} for name, words in compared.items()],
    }
