"""The header of an Inspect log as that of any log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbook.exchange.inspect.reading_claims import claims_of, scores_of_results
from benchbook.exchange.inspect.reading_forms import InspectHeader
from benchbook.exchange.inspect.reading_judges import InspectJudges
from benchbook.exchange.inspect.reading_ours import is_ours, scorer_of_ours
from benchbook.exchange.inspect.reading_values import ScoreNames
from benchbook.exchange.log import LogHeader, LogScorer, LogStatus, created_at_of

_STATUS: dict[str, LogStatus] = {
    "started": "being_written",
    "success": "complete",
    "error": "failed",
    "cancelled": "cancelled",
}
_TEMPLATE_STEP = "prompt_template"
_IDENTITY = ("run_id", "eval_id", "task_id", "task_version", "task_args", "solver", "tags", "revision", "metadata")


def log_header(
    header: InspectHeader, form: str, names: ScoreNames, judged: InspectJudges, of_parts: frozenset[str]
) -> LogHeader:
    """`form` is that of the file, `eval` or `json`."""
    spec = header.eval
    dataset, config = spec.dataset, spec.config
    return LogHeader(
        tool="inspect",
        tool_version=_version(header),
        form=f"{form}, version {header.version}",
        task=spec.task,
        model=spec.model,
        scorers=_scorers(header, names, judged, of_parts),
        status=_STATUS.get(header.status, "not_known"),
        created_at=created_at_of(spec.created),
        dataset_version=_dataset_version(header),
        dataset=(dataset.name or dataset.location) if dataset else None,
        n_claimed=header.results.total_samples if header.results else None,
        repeats=max((config.epochs if config else None) or 1, 1),
        claims=claims_of(header, names, of_parts),
        generation_params=_generation(header),
        prompt_template=_template(header),
        error=header.error.message if header.error else None,
        metadata={name: value for name in _IDENTITY if (value := getattr(spec, name))},
    )


def _scorers(
    header: InspectHeader, names: ScoreNames, judged: InspectJudges, of_parts: frozenset[str]
) -> tuple[LogScorer, ...]:
    """Those that the results name; where there are none, those that the eval lists."""
    found: dict[str, LogScorer] = {}
    for one in scores_of_results(header.results):
        scorer = one.scorer or one.name
        name = names.of(scorer, one.name)
        own = scorer_of_ours(name, one.metadata) if is_ours(header) else None
        found.setdefault(name, own or LogScorer(name=name, judge=judged.judge(scorer)))
    if not found and isinstance(header.eval.scorers, list):
        for told in header.eval.scorers:
            if isinstance(told, Mapping) and isinstance(told.get("name"), str) and told["name"] not in of_parts:
                name = told["name"].rpartition("/")[2]
                found.setdefault(name, LogScorer(name=name, judge=judged.judge(name)))
    return tuple(found.values())


def _dataset_version(header: InspectHeader) -> str | None:
    """The version of the data, which Inspect has no field for."""
    found = header.eval.metadata.get("dataset_version") if is_ours(header) else None
    return found if isinstance(found, str) else None


def _version(header: InspectHeader) -> str | None:
    told = (header.eval.packages or {}).get("inspect_ai")
    return told if isinstance(told, str) else None


def _generation(header: InspectHeader) -> dict[str, Any]:
    """The settings that a model was asked with: the model's own, then the plan's, which win."""
    given = (header.eval.model_generate_config, header.plan.config if header.plan else None)
    return {
        name: value
        for one in given
        if isinstance(one, Mapping)
        for name, value in one.items()
        if isinstance(name, str) and value is not None
    }


def _template(header: InspectHeader) -> str | None:
    for step in (header.plan.steps if header.plan else None) or []:
        if isinstance(step, Mapping) and str(step.get("solver")).rpartition("/")[2] == _TEMPLATE_STEP:
            params = step.get("params")
            template = params.get("template") if isinstance(params, Mapping) else None
            return template if isinstance(template, str) else None
    return None
