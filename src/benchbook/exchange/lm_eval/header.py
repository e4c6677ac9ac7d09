"""A task's or group's header, of what the results file says of it and of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.exchange.lm_eval.results import HarnessResults, without_secrets
from benchbook.exchange.log import Claim, LogHeader, LogScorer

_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_OF_RUN = ("limit", "model_revision", "model_sha", "model_dtype", "model_num_parameters", "batch_size", *_SEEDS)
_OF_TASK = (
    "output_type", "dataset_path", "dataset_name", "test_split", "validation_split", "repeats", "description",
    "target_delimiter", "doc_to_target",
)  # fmt: skip


def header_of(
    results: HarnessResults,
    name: str,
    form: str,
    scorers: tuple[LogScorer, ...],
    claims: tuple[Claim, ...],
    tasks: Sequence[LogHeader] = (),
) -> LogHeader:
    """The header of a task; of a group, where its tasks' are given."""
    config = results.configured(name)
    return LogHeader(
        tool="lm_eval",
        tool_version=results.lm_eval_version,
        form=form,
        task=name,
        model=results.model(),
        scorers=scorers,
        status="complete" if results.results else "not_known",
        created_at=results.started_at(),
        dataset=_dataset(config),
        dataset_version=_revision(config),
        n_claimed=_n_in(tasks) if tasks else _n_claimed(results, name),
        claims=claims,
        generation_params=_params(config),
        prompt_template=_text(config.get("doc_to_text")),
        samples_of=tuple(one.task for one in tasks),
        metadata=_metadata(results, name, config),
    )


def _n_claimed(results: HarnessResults, task: str) -> int | None:
    """The documents that were asked; None where nothing was scored, for then the harness counts none."""
    counts = (results.n_samples or {}).get(task)
    scored = any(results.metrics(task))
    return counts.effective if counts is not None and (scored or counts.effective) else None


def _n_in(tasks: Sequence[LogHeader]) -> int | None:
    found = [one.n_claimed for one in tasks if one.n_claimed is not None]
    return sum(found) if len(found) == len(tasks) else None


def _dataset(config: Mapping[str, Any]) -> str | None:
    path, name = _text(config.get("dataset_path")), _text(config.get("dataset_name"))
    return f"{path}:{name}" if path and name else path


def _revision(config: Mapping[str, Any]) -> str | None:
    settings = config.get("dataset_kwargs")
    return _text(settings.get("revision")) if isinstance(settings, dict) else None


def _params(config: Mapping[str, Any]) -> dict[str, Any]:
    stated = config.get("generation_kwargs")
    return without_secrets(stated) if isinstance(stated, dict) else {}


def _metadata(results: HarnessResults, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    run, counts = results.config or {}, (results.n_samples or {}).get(name)
    found: dict[str, Any] = {
        "git_hash": results.git_hash,
        "model_source": results.model_source or run.get("model"),
        "model_args": results.model_arguments() or None,
        "n_original": counts.original if counts is not None else None,
        "num_fewshot": (results.n_shot or {}).get(name),
        "task_version": (results.versions or {}).get(name),
        "task_hash": (results.task_hashes or {}).get(name),
        "chat_template_sha": results.chat_template_sha,
        "system_instruction_sha": results.system_instruction_sha,
        "fewshot_as_multiturn": results.fewshot_as_multiturn,
        **{key: run.get(key) for key in _OF_RUN},
        **{key: config.get(key) for key in _OF_TASK},
    }
    return {key: value for key, value in found.items() if value is not None}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
