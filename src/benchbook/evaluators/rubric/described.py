"""A rubric in words, for `benchbook rubric check`: its criteria and gates, and a judge's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.evalsets import open_evalset
from benchbook.evalsets.conversations import as_messages
from benchbook.evalsets.opening import evalset_path
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.criteria import Measure
from benchbook.evaluators.rubric.needed import never_shown
from benchbook.evaluators.rubric.plan import JudgePrompt
from benchbook.evaluators.rubric.reading import rubric_asked_for
from benchbook.evaluators.rubric.reply import check_item_criteria
from benchbook.evaluators.rubric.spec import RubricSpec


def described_rubric(folder: str, evalset: str | None) -> dict[str, Any]:
    """The rubric of a folder, or the one that is shipped; with an eval set, what a judge is asked about its first item.

    Raises: SpecError with every fault of the folder; ConfigError for another evaluator; InputError for an item.
    """
    spec = rubric_asked_for(folder).spec
    return _fields(spec) | ({} if evalset is None else {"first_judge_messages": _first_messages(spec, evalset)})


def _fields(spec: RubricSpec) -> dict[str, Any]:
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
                "at_least": as_float(one.at_least) if one.by_item else one.at_least,
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
    return as_float(value) if measure.name == "cost" else value


def _passing(spec: RubricSpec) -> dict[str, Any]:
    """When a sample passes, by the keys of [pass]."""
    rule = spec.pass_rule
    if rule is not None and rule.min_score_nano is not None:
        return {"min_score": as_float(rule.min_score_nano)}
    return {"rule": "all"} if rule is None or rule.at_least is None else {"at_least": rule.at_least}


def _first_messages(spec: RubricSpec, evalset: str) -> Sequence[Mapping[str, Any]]:
    """The messages that ask a judge about an answer to the first item."""
    with open_evalset(evalset_path(evalset)) as opened:
        if spec.by_item:
            check_item_criteria(opened, spec)
        return as_messages(JudgePrompt(spec).render(opened[0], "(the model's answer)"))
