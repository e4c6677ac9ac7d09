"""Who judged a run, by its manifest or, while it goes on, by its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def judge_models(plan: Mapping[str, Any]) -> str | None:
    """The judge's model; of a panel all of them, as the manifest will have it."""
    roles = [plan.get("judge"), *_list(_dict(plan.get("panel")).get("others"))]
    return " + ".join(_texts(_dict(role).get("model_id") for role in roles)) or None


def judges_of_plan(plan: Mapping[str, Any]) -> list[str]:
    """The judges' names, as the manifest will have them."""
    of_experiment = _texts(_dict(one).get("name") for one in _list(plan.get("judges")))
    of_panel = _texts(_list(_dict(plan.get("panel")).get("names")))
    return of_experiment or of_panel or _texts([_dict(plan.get("judge")).get("model_id")])


def judges_of_manifest(judges: Mapping[str, Any], panel: object, model_id: str | None) -> list[str]:
    """An experiment's judges and a panel's by name, a judge alone by its model."""
    of_panel = _texts(_dict(one).get("name") for one in _list(_dict(panel).get("judges")))
    return [*judges] or of_panel or _texts([model_id])


def _texts(values: Any) -> list[str]:
    return [one for one in values if isinstance(one, str) and one]


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
