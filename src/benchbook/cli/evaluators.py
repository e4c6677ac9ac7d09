"""`benchbook rubric` and `checks`: evaluators of one's own, with a judge and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.cli.spec_start import start_spec
from benchbook.errors import ConfigError

if TYPE_CHECKING:
    from benchbook.evaluators.checks.evaluator import ChecksMetric
    from benchbook.evaluators.rubric.criteria import Measure
    from benchbook.evaluators.rubric.spec import RubricSpec

__all__ = ["checks", "rubric"]


_CHECKS = """\
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
    spec, (path,) = start_spec(name, {"spec.toml": _CHECKS.format(name=name)})
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
    shown = _checks_fields(metric) | ({} if evalset is None else {"first_item": _first_item(metric, evalset)})
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


def _checks_fields(metric: ChecksMetric) -> dict[str, Any]:
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


_RUBRIC = """\
# A rubric of your own. `benchbook rubric check {name}@v1` names every fault by its line; `benchbook run --spec
# {name}@v1` asks by it.
name = "{name}"
version = 1                  # a change is a new version, in a folder of its own: {name}@v2
about = "Is the answer right, and is it clear?"

[[criteria]]
name = "correct"             # of the columns that it makes: correct_score, correct_mean
question = "Is the answer correct and complete?"
scale = [0, 1, 2]            # what the judge may give, lowest first
weight = 2                   # its share in a sample's score, beside the others' weights
at_least = 1                 # the least that passes; without it any score does
no_answer = "lowest"         # what no answer is worth; "nothing": it is left out of the criterion's own mean

[[criteria]]
name = "clear"
question = "Would a reader understand it at the first reading?"
scale = [0, 1]
weight = 1
# quote = true               # the judge quotes words of the answer that show it; without them its reply is rejected.
#                            # "report": what is not found is counted. quote_from = "transcript": words of any turn

# Criteria that each item of the eval set brings itself, beside these or in their place: a field
# "criteria": [{{"text": "Names the limit of 30 days.", "weight": 5}}, {{"text": "Blames the customer.", "weight": -5}}]
# [item_criteria]
# weight = 1
# at_least = 0.5             # of 1, all of positive weight met and none of negative
# rationale = true           # the judge says why, of each

# What is measured of an answer: the most that passes, and with a target and a weight a share in the score.
# [measures.latency]         # milliseconds, end to end
# at_most = 8000
# [measures.tokens]          # input and output
# target = 500
# at_most = 2000
# weight = 0.5
# [measures.cost]            # US dollars, by the settings model_input_price and model_output_price
# at_most = 0.01

# When a sample passes: every at_least and at_most holds. Or one of these:
# [pass]
# min_score = 0.8            # its score, too, is at least so much
# at_least = 1               # so many criteria are at their at_least, instead of all of them

# Limits on a run, by which it is decided. `benchbook rubric check {name}@v1` lists what may be limited.
[[gates]]
aggregate = "pass_rate"
at_least = 0.80

[[gates]]
aggregate = "aggregate_score"
at_least = 0.70

# The judge is asked with prompt.txt; or with several messages, each in a file beside this one.
# [[judge.messages]]
# role = "system"
# file = "system.txt"
# [[judge.messages]]
# role = "user"
# file = "prompt.txt"
"""
_PROMPT = """\
You are a strict evaluation judge. Judge the answer below by these criteria, each for itself:

{{criteria}}

Question:
{{item.prompt}}

Reference answer, where there is one:
{{item.expected_answer}}

Answer to judge:
{{answer}}

Reply with one JSON object and nothing else:
{{reply}}
"""


@click.group()
def rubric() -> None:
    """Make rubrics of your own: a folder with a spec.toml and its prompt, which `benchbook run --spec` takes."""


@rubric.command("init")
@click.argument("name")
@json_option
def init_rubric(name: str, as_json: bool) -> None:
    """Write NAME@v1/spec.toml and prompt.txt, commented, to start from."""
    spec, files = start_spec(name, {"spec.toml": _RUBRIC.format(name=name), "prompt.txt": _PROMPT})
    if as_json:
        print_json({"files": [str(path) for path in files], "spec": spec})
    else:
        click.echo("\n".join(map(str, files)) + f"\nLook at it: benchbook rubric check {spec} --evalset FILE")


@rubric.command("check")
@click.argument("folder")
@click.option("--evalset", help="What it would judge: shows what a judge is asked about an answer to the first item.")
@json_option
def check_rubric(folder: str, evalset: str | None, as_json: bool) -> None:
    """Name every fault of FOLDER's spec.toml and prompt by its line, or show what it asks and what may be limited."""
    from benchbook.evaluators.rubric.reading import rubric_asked_for

    spec = rubric_asked_for(folder).spec
    shown = _rubric_fields(spec) | ({} if evalset is None else {"first_judge_messages": _first_messages(spec, evalset)})
    if as_json:
        print_json(shown)
        return
    for line in _rubric_lines(shown):
        click.echo(line)


def _rubric_fields(spec: RubricSpec) -> dict[str, Any]:
    """What the rubric asks, for programs."""
    from benchbook.evaluators.rubric.aggregates import table_of
    from benchbook.evaluators.rubric.needed import never_shown

    return {
        "spec": spec.id,
        "sha256": spec.sha256,
        "about": spec.about,
        "criteria": [
            {
                "name": one.name,
                "question": one.question,
                "scale": [0, 1] if one.by_item else [one.lowest, one.highest],
                "weight": one.weight,
                "at_least": one.at_least / 10**9 if one.by_item and one.at_least is not None else one.at_least,
                "quote": one.quote,
                "quote_from": one.quote and ("transcript" if one.from_transcript else "answer"),
            }
            for one in spec.criteria
        ],
        "measures": [
            {
                "name": one.name,
                "target": _amount(one, one.target),
                "at_most": _amount(one, one.at_most),
                "weight": one.weight,
            }
            for one in spec.measures
        ],
        "pass": _passing(spec),
        "gates": [{"aggregate": one.aggregate, one.direction: one.limit} for one in spec.gates],
        "never_shown": list(never_shown(spec)),
        "aggregates": list(table_of(spec)),
    }


def _amount(measure: Measure, value: int | None) -> float | int | None:
    """As spec.toml has it: milliseconds, tokens, dollars."""
    return value / 10**9 if measure.name == "cost" and value is not None else value


def _passing(spec: RubricSpec) -> dict[str, Any]:
    """When a sample passes, by the keys of [pass]."""
    rule = spec.pass_rule
    if rule is not None and rule.min_score_nano is not None:
        return {"min_score": rule.min_score_nano / 10**9}
    return {"rule": "all"} if rule is None or rule.at_least is None else {"at_least": rule.at_least}


def _first_messages(spec: RubricSpec, evalset: str) -> list[dict[str, str]]:
    """What a judge is asked about an answer to the first item."""
    from benchbook.evalsets import open_evalset
    from benchbook.evalsets.opening import evalset_path
    from benchbook.evaluators.rubric.plan import JudgePrompt
    from benchbook.evaluators.rubric.reply import check_item_criteria

    with open_evalset(evalset_path(evalset)) as opened:
        if spec.by_item:
            check_item_criteria(opened, spec)
        asked = JudgePrompt(spec).render(opened[0], "(the model's answer)")
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    return [{"role": one["role"], "content": one["content"]} for one in messages]


def _dollars(value: float) -> str:
    from benchbook.views.numbers import money

    return money(str(value))


_QUOTES = {"must_be_found": "", "report": ", which is counted"}
_PASSES = {
    "min_score": "a sample score of at least {:g}, and every limit",
    "at_least": "at least {} criteria at their at_least, and every limit of what is measured",
}


def _rubric_lines(shown: dict[str, Any]) -> list[str]:
    """The same, for people."""
    from benchbook.text import one_line, visible

    lines = [f"{shown['spec']}: {one_line(shown['about'])}"]
    for one in shown["criteria"]:
        least = "any passes" if one["at_least"] is None else f"{one['at_least']} passes"
        low, high = one["scale"]
        quoted = f"; quotes the {one['quote_from']}{_QUOTES[one['quote']]}" if one["quote"] else ""
        scale = f"{low} to {high}, {least}; weight {one['weight']}{quoted}"
        lines.append(f"  {one['name']}: {scale}: {one_line(one['question'] or 'criteria that each item brings')}")
    for one in shown["measures"]:
        amount = _dollars if one["name"] == "cost" else "{:,}".format
        limit = "no limit" if one["at_most"] is None else f"at most {amount(one['at_most'])}"
        lines.append(f"  {one['name']}: {limit}; target {amount(one['target'])}, weight {one['weight']}")
    ((rule, asked),) = shown["pass"].items()
    lines += [f"  passes: {_PASSES[rule].format(asked)}"] if rule in _PASSES else []
    for gate in shown["gates"]:
        side = "at_least" if "at_least" in gate else "at_most"
        lines.append(f"  gate: {gate['aggregate']} {side.replace('_', ' ')} {gate[side]:g}")
    lines += [
        f"  ! {name}: no number of samples shows the best value there is; `--confidence none` decides by the values"
        for name in shown["never_shown"]
    ]
    for message in shown.get("first_judge_messages", ()):
        lines += [f"--- {message['role']}", visible(message["content"]).rstrip("\n")]
    return [*lines, f"may be limited: {', '.join(shown['aggregates'])}", f"sha256 {shown['sha256']}"]
