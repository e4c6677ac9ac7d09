"""The description of a spec of checks, for `benchbook checks check`: its checks and gates, and a first item's."""

from __future__ import annotations

from typing import Any

from benchbook.errors import ConfigError
from benchbook.evalsets.opening import evalset_path
from benchbook.evaluators.answers.asking import opened_checked
from benchbook.evaluators.checks.evaluator import ChecksEvaluator, ChecksMetric
from benchbook.evaluators.checks.kinds import KINDS
from benchbook.evaluators.contract import Evaluator
from benchbook.text import one_line


def described_checks(evaluator: Evaluator, evalset: str | None) -> dict[str, Any]:
    """The checks of an evaluator that is made of them; with an eval set, those of its first item too.

    Raises: ConfigError for another evaluator; InputError for an item.
    """
    if not isinstance(evaluator, ChecksEvaluator):
        raise ConfigError(
            "FOLDER", repr(evaluator.id), "a folder with a spec.toml of checks, or checks that are shipped"
        )
    metric = evaluator.metric
    return _fields(metric) | ({} if evalset is None else {"first_item": _first_item(metric, evalset)})


def _fields(metric: ChecksMetric) -> dict[str, Any]:
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
    """The expectations of each check from an answer to the first item. Raises: InputError for an item with a fault."""
    with opened_checked(metric, evalset_path(evalset)) as opened:
        item = opened[0]
        compared = metric.compares(item, opened.fields(0) if metric.keeps_fields else {})
    return {
        "item_id": item.id,
        "checks": [{"name": name, "compares": one_line(words)} for name, words in compared.items()],
    }
