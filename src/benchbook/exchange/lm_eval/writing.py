"""Writes a log as the harness's newest release would: results, and beside them a file of samples."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import UsageError
from benchbook.exchange.lm_eval.files import file_name_of
from benchbook.exchange.lm_eval.ours import OfTask
from benchbook.exchange.lm_eval.writing_rows import WEIGHED, MetricName, RowWriter, is_whole_number, metric_names
from benchbook.exchange.log import Claim, ForeignLog, Formula, LogHeader, LogSample, LogScorer, Lost
from benchbook.exchange.ours import OURS
from benchbook.text import all_storable, plural
from benchbook.writing import folder_made_whole, written_whole

_AGGREGATIONS: dict[Formula, str] = {
    "mean": "mean",
    "upper_median": "median",
    "perplexity": "perplexity",
    "weighted_perplexity": "weighted_perplexity",
    "bits_per_unit": "bits_per_byte",
    "f1": "f1",
    "matthews": "matthews_corrcoef",
}
_OF_TASK = (
    "dataset_path", "dataset_name", "test_split", "validation_split", "description", "doc_to_target",
)  # fmt: skip
_OF_RUN = ("limit", "model_revision", "model_sha", "model_dtype", "model_num_parameters", "batch_size",
           "random_seed", "numpy_seed", "torch_seed", "fewshot_seed")  # fmt: skip
_COUNTS = frozenset(("sample_len", "samples", "effective", "sample_count"))


class _Sums:
    """A scorer's values, added up."""

    def __init__(self) -> None:
        self.n = 0
        self._mean = 0.0
        self._squares = 0.0  # of the distances from the mean

    def add(self, value: float) -> None:
        self.n += 1
        distance = value - self._mean
        self._mean += distance / self.n
        self._squares += distance * (value - self._mean)

    @property
    def mean(self) -> float | None:
        return self._mean if self.n and math.isfinite(self._mean) else None

    @property
    def stderr(self) -> float | None:
        error = math.sqrt(self._squares / (self.n - 1) / self.n) if self.n > 1 else math.nan
        return error if math.isfinite(error) else None


class _Survey:
    """A first look at the samples: who scored them, and what rows can't hold."""

    def __init__(self, log: ForeignLog) -> None:
        self.n = 0
        self.ids_are_numbers = True
        self.sums: dict[str, _Sums] = {one.name: _Sums() for one in log.header.scorers}
        self._lost = dict.fromkeys(_LOST, 0)
        is_ours = log.header.tool == "lm_eval"
        for sample in log.samples():
            self.n += 1
            self.ids_are_numbers = self.ids_are_numbers and is_whole_number(sample.id)
            for name, score in sample.scores.items():
                sums = self.sums.setdefault(name, _Sums())
                if score.value is not None:
                    sums.add(score.value)
            for what, holds in _LOST.items():
                self._lost[what] += bool(holds(sample, is_ours))

    def lost(self) -> Iterator[Lost]:
        for what, n in self._lost.items():
            if n:
                yield Lost(what=what, n=n)
        if not self.ids_are_numbers:
            yield Lost(what="documents have numbers there, and these ids are texts", n=self.n)


def _is_unscored(sample: LogSample, _: bool) -> bool:
    return any(one.value is None and one.parts is None and one.said is None for one in sample.scores.values())


def _has_more(sample: LogSample, is_ours: bool) -> bool:
    return not is_ours and any((
        sample.context, sample.category, sample.group, sample.limit, sample.finish_reason, sample.metadata,
        sample.choices, sample.input_tokens, sample.output_tokens, sample.latency_ms, sample.model_reported,
        any(one.explanation or one.passed is not None for one in sample.scores.values()),
    ))  # fmt: skip


# What rows can't hold, and of which samples; the second word is True where the log came from the harness.
_LOST: dict[str, Callable[[LogSample, bool], object]] = {
    "an unscored sample has null there, without the reason": _is_unscored,
    "a failure stands in the row's document alone, and the row has no answer": lambda one, _: one.failure is not None,
    "facts that rows have no place for stand in their documents": _has_more,
    "several right answers are one text there": lambda one, ours: not ours and len(one.references) > 1,
    "a repeat is a row of the same document": lambda one, _: one.repeat > 0,
    "how far a choice was the likeliest word for word is not known": lambda one, ours: ours and bool(one.choices),
}


def written(log: ForeignLog, target: Path) -> list[Lost]:
    """Write a log into a new folder: `results_<time>.json` and `samples_<task>_<time>.jsonl`.

    Raises: UsageError where the log is a group of tasks, or `target` is there; RecordError where it can't be written.
    """
    header = log.header
    if header.samples_of:
        raise UsageError(f"{header.task}: found a group of tasks; expected a task: write each of them")
    if os.path.lexists(target):
        raise UsageError(f"{target}: is there already; expected a name that is free")
    survey = _Survey(log)
    names = metric_names(header, survey.sums)
    rows = RowWriter(header, names, ids_are_numbers=survey.ids_are_numbers)
    numbers, unplaced = _numbers(header, names, survey.sums)
    time = _time(header)
    with folder_made_whole(target) as folder:
        with written_whole(folder / f"samples_{file_name_of(header.task)}_{time}.jsonl") as file:
            digest = sha256()
            for filtered_by in dict.fromkeys(one.filter for one in names.values()) or ("none",):
                for sample in log.samples():
                    line, hashes = rows.row(sample, filtered_by)
                    digest.update(hashes.encode())
                    file.write(line)
        results = _results(header, names, numbers, rows, survey.n, digest.hexdigest() if survey.n else None)
        with written_whole(folder / f"results_{time}.json") as file:
            file.write(json.dumps(all_storable(results), indent=2, ensure_ascii=False, default=str).encode())
    return [*survey.lost(), *_lost_of(header, names, unplaced)]


def _time(header: LogHeader) -> str:
    """When the run began, as file names have it; where that is not known, now."""
    at = _moment(header) or datetime.now(UTC)
    return at.replace(tzinfo=None).isoformat(timespec="microseconds").replace(":", "-")


def _moment(header: LogHeader) -> datetime | None:
    try:
        at = datetime.fromisoformat(header.created_at or "")
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────


def _numbers(
    header: LogHeader, names: Mapping[str, MetricName], sums: Mapping[str, _Sums]
) -> tuple[dict[str, Any], list[Claim]]:
    """The task's numbers, and those that have no place among them.

    A scorer for whose mean the log has no number gets that of its values: without one, the harness knows no metric.
    """
    found: dict[str, Any] = {}
    unplaced = []
    is_ours = header.tool == "lm_eval"
    for claim in header.claims:
        key = _key_of(claim, names, is_ours=is_ours)
        if key is not None and key not in found:
            found[key] = "N/A" if claim.value is None else claim.value
        elif claim.metric not in _COUNTS or not is_ours:
            unplaced.append(claim)
    for scorer, name in names.items():
        mean, stderr = sums[scorer].mean, sums[scorer].stderr
        if name.key not in found and not is_ours and mean is not None:
            found[name.key] = mean
            found.setdefault(name.key_of_error, "N/A" if stderr is None else stderr)
    return found, unplaced


def _key_of(claim: Claim, names: Mapping[str, MetricName], *, is_ours: bool) -> str | None:
    name = names.get(claim.scorer)
    if name is None:
        return None
    if is_ours:
        return name.key_of_error if claim.where.partition(",")[0].endswith("_stderr") else name.key
    is_plain = claim.reducer is None and claim.clusters is None and claim.only is None and claim.value is not None
    return {"mean": name.key, "stderr": name.key_of_error}.get(claim.formula or "") if is_plain else None


# ── the results file ─────────────────────────────────────────────────────────────────────────────────────────


def _results(
    header: LogHeader, names: Mapping[str, MetricName], numbers: Mapping[str, Any], rows: RowWriter, n: int, hash_: Any
) -> dict[str, Any]:
    task, said = header.task, header.metadata
    at = _moment(header)
    is_ours = header.tool == "lm_eval"
    effective = header.n_claimed if header.n_claimed is not None else n
    better = {names[one.name].metric: one.higher_is_better for one in header.scorers}
    stated = any(claim.metric == "sample_len" for claim in header.claims) or not is_ours
    found = {
        "results": {
            task: {"name": task, "alias": task, **({"sample_len": effective} if stated else {}), **numbers},
        },
        "group_subtasks": {task: []},
        "configs": {task: _config(header, names, rows, better)},
        "versions": {task: said.get("task_version")},
        "n-shot": {task: said.get("num_fewshot")},
        "higher_is_better": {task: better},
        "n-samples": {task: {"original": said.get("n_original", effective), "effective": effective}},
        "config": {
            "model": said.get("model_source", header.tool),
            "model_args": said.get("model_args", {"pretrained": header.model}),
            **{key: said[key] for key in _OF_RUN if key in said},
        },
        "git_hash": said.get("git_hash"),
        "date": at.timestamp() if at else None,
        "lm_eval_version": header.tool_version if is_ours else None,
        "task_hashes": {} if hash_ is None else {task: hash_},
        "model_source": said.get("model_source", header.tool),
        "model_name": header.model,
        "system_instruction_sha": said.get("system_instruction_sha"),
        "fewshot_as_multiturn": said.get("fewshot_as_multiturn"),
        "chat_template_sha": said.get("chat_template_sha"),
    }
    found["versions"], found["n-shot"] = (
        {name: value for name, value in found[key].items() if value is not None} for key in ("versions", "n-shot")
    )
    return {name: value for name, value in found.items() if value is not None}


def _config(
    header: LogHeader, names: Mapping[str, MetricName], rows: RowWriter, better: Mapping[str, bool]
) -> dict[str, Any]:
    said = header.metadata
    added_up = {
        names[one.scorer].metric: one.formula for one in header.claims if one.scorer in names and _is_value(one)
    }
    metrics: list[dict[str, Any]] = []
    for metric in dict.fromkeys(one.metric for one in names.values()):
        formula = added_up.get(metric) if header.tool == "lm_eval" else "mean"
        way = {"aggregation": _AGGREGATIONS[formula]} if formula in _AGGREGATIONS else {}
        metrics.append({"metric": metric, **way, "higher_is_better": better.get(metric, True)})
    found: dict[str, Any] = {
        "task": header.task,
        "dataset_path": header.dataset,
        "doc_to_text": header.prompt_template,
        "output_type": rows.output_type,
        "generation_kwargs": dict(header.generation_params) or None,
        "target_delimiter": said.get("target_delimiter", rows.delimiter if rows.output_type in WEIGHED else None),
        "metric_list": metrics,
        "repeats": said.get("repeats", 1),
        "num_fewshot": said.get("num_fewshot"),
        "dataset_kwargs": {"revision": header.dataset_version} if header.dataset_version else None,
        **{key: said[key] for key in _OF_TASK if key in said},
        "metadata": {
            "version": said.get("task_version", "N/A"),
            **({} if header.tool == "lm_eval" else {**said, OURS: _ours(header, names)}),
        },
    }
    return {name: value for name, value in found.items() if value is not None}


def _ours(header: LogHeader, names: Mapping[str, MetricName]) -> dict[str, Any]:
    """The scorers by the names that they have here."""
    known = {one.name: one for one in header.scorers}
    found = {name.key: known.get(scorer, LogScorer(name=scorer)) for scorer, name in names.items()}
    told: dict[str, Any] = msgspec.to_builtins(OfTask(found, header.status, header.error))
    return told


def _is_value(claim: Claim) -> bool:
    return claim.formula != "stderr" and not claim.metric.endswith("_stderr")


def _lost_of(header: LogHeader, names: Mapping[str, MetricName], unplaced: list[Claim]) -> Iterator[Lost]:
    """Those parts of the header that the results file could not hold."""
    if unplaced:
        said = ", ".join(dict.fromkeys(one.metric for one in unplaced[:20]))
        yield Lost(what=f"{plural(len(unplaced), 'number')} of the log have no place there: {said}", n=len(unplaced))
    renamed = [one for one, name in names.items() if header.tool == "lm_eval" and one != name.key]
    if renamed:
        yield Lost(what="scorers have other names there", n=len(renamed))
    if header.error is not None:
        yield Lost(what="for which error the run ended")
    if header.status not in ("complete", "not_known"):
        yield Lost(what=f"that the run is {header.status.replace('_', ' ')}, and not complete")
    if any(one.judge is not None for one in header.scorers):
        yield Lost(what="which model judged")
    if header.tool != "lm_eval" and any(one.lowest is not None or one.highest is not None for one in header.scorers):
        yield Lost(what="the scorers' scales")
