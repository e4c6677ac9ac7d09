"""The header of a log: from its aggregate, or for want of one from its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from benchbook.exchange.every_eval_ever.claims import HeldRows, LogSizes, claims_of, scorer_of
from benchbook.exchange.every_eval_ever.form import (
    SCHEMA,
    STATUS,
    EvalAggregate,
    EvalResult,
    SourceData,
    checked_version,
    text_or,
    value_of_text,
)
from benchbook.exchange.every_eval_ever.rows import RowsRead, names_of
from benchbook.exchange.log import Claim, LogHeader, LogScorer, LogStatus, created_at_of

TOOL = "every_eval_ever"
_STATUSES: tuple[LogStatus, ...] = get_args(LogStatus)


def header_of(path: Path, aggregate: EvalAggregate, rows: RowsRead | None, log: list[int]) -> LogHeader:
    """The header of the log of these results of `rows`; where there are no rows, of all that the aggregate claims."""
    results = _results_of(aggregate, rows, log)
    sizes = LogSizes(0, 0, 1) if rows is None else rows.sizes_of(log)
    names = names_of(aggregate)
    held = {} if rows is None else {one.number: one.held for one in rows.results if one.number is not None}
    claims: list[Claim] = []
    for number in results:
        result = aggregate.evaluation_results[number]
        claims += claims_of(number, result, names[number], held.get(number, HeldRows()), sizes)
    chosen = [aggregate.evaluation_results[number] for number in results]
    first = chosen[0] if chosen else None
    data = first.source_data if first is not None and isinstance(first.source_data, SourceData) else SourceData()
    config = (first.generation_config or {}) if first is not None else {}
    arguments, others = config.get("generation_args"), config.get("additional_details")
    parameters = dict(arguments) if isinstance(arguments, dict) else {}
    if isinstance(others, dict) and aggregate.n_claimed_by_us is not None:
        parameters |= {name: value_of_text(one) for name, one in others.items() if isinstance(one, str)}
    return LogHeader(
        tool=TOOL,
        tool_version=None,
        form=_form(checked_version(aggregate.schema_version, path)),
        task=_task(chosen, data) or aggregate.evaluation_id,
        model=_model(aggregate),
        scorers=_scorers(aggregate, rows, log, results, names),
        status=_status(aggregate, rows),
        created_at=_time(first.evaluation_timestamp if first else None) or _time(aggregate.evaluation_timestamp),
        dataset=data.hf_repo or data.dataset_name,
        dataset_version=text_or(data.additional_details, "revision") or text_or(data.additional_details, "version"),
        n_claimed=_n_claimed(aggregate, rows, chosen, sizes),
        repeats=sizes.repeats,
        claims=tuple(claims),
        prompt_template=text_or(parameters, "prompt_template"),
        generation_params={name: one for name, one in parameters.items() if name != "prompt_template"},
        metadata=_identity(aggregate, data),
    )


def header_of_rows(rows: RowsRead, log: list[int]) -> LogHeader:
    """The header of the log of these results, of which no aggregate says anything."""
    sizes = rows.sizes_of(log)
    results = [rows.results[number] for number in log]
    evaluation, model = results[0].scope
    return LogHeader(
        tool=TOOL,
        tool_version=None,
        form=f"{_form(max(rows.versions))}, samples without their aggregate",
        task=results[0].name if len(results) == 1 else evaluation,
        model=model,
        scorers=tuple(LogScorer(name=one.name) for one in results),
        repeats=sizes.repeats,
        metadata={"evaluation_id": evaluation},
    )


def _results_of(aggregate: EvalAggregate, rows: RowsRead | None, log: list[int]) -> list[int]:
    """The places of the aggregate's results in this log. Those that no row is of are in the first."""
    everything = range(len(aggregate.evaluation_results))
    if rows is None:
        return list(everything)
    mine = {rows.results[number].number for number in log}
    theirs = {one.number for one in rows.results}
    is_first = bool(rows.logs) and log == rows.logs[0]
    return [number for number in everything if number in mine or (is_first and number not in theirs)]


def _scorers(
    aggregate: EvalAggregate, rows: RowsRead | None, log: list[int], results: list[int], names: list[str]
) -> tuple[LogScorer, ...]:
    """Those of the results that have rows; where there are no rows, of all."""
    if rows is None:
        return tuple(scorer_of(names[number], aggregate.evaluation_results[number]) for number in results)
    places: dict[int | None, int] = {number: place for place, number in enumerate(results)}
    held = sorted((rows.results[number] for number in log), key=lambda one: places.get(one.number, len(places)))
    return tuple(LogScorer(name=one.name) if one.result is None else scorer_of(one.name, one.result) for one in held)


def _form(version: str) -> str:
    return f"Every Eval Ever, schema {version}" + ("" if version.startswith("0.3") else f" (read as {SCHEMA})")


def _task(results: list[EvalResult], data: SourceData) -> str | None:
    names = list(dict.fromkeys(one.evaluation_name for one in results))
    return names[0] if len(names) == 1 else data.dataset_name or (names[0] if names else None)


def _model(aggregate: EvalAggregate) -> str | None:
    return text_or(aggregate.model_info, "id") or text_or(aggregate.model_info, "name")


def _status(aggregate: EvalAggregate, rows: RowsRead | None) -> LogStatus:
    details = aggregate.source_metadata.get("additional_details")
    said = text_or(details, STATUS) if isinstance(details, dict) and aggregate.n_claimed_by_us is not None else None
    stated = next((one for one in _STATUSES if one == said), None)
    if stated is not None:
        return stated
    named = aggregate.detailed_evaluation_results
    is_whole = rows is not None and named is not None and named.total_rows == rows.n
    return "complete" if is_whole else "not_known"


def _n_claimed(
    aggregate: EvalAggregate, rows: RowsRead | None, results: list[EvalResult], sizes: LogSizes
) -> int | None:
    """How many samples there should be: as many rows as the aggregate names, or more where its scores are of more.

    Of items that were asked several times, a score's number may be that of items.
    """
    if (ours := aggregate.n_claimed_by_us) is not None:
        return ours
    named = aggregate.detailed_evaluation_results
    counts = [(one.score_details.uncertainty or {}).get("num_samples") for one in results]
    found = [one for one in counts if isinstance(one, int) and not (sizes.repeats > 1 and one <= sizes.items)]
    if rows is not None and named is not None and named.total_rows is not None and len(rows.logs) == 1:
        per_sample = max(1, round(rows.n / sizes.samples)) if sizes.samples else 1
        found.append(max(0, sizes.samples + -(-(named.total_rows - rows.n) // per_sample)))
    return max(found, default=sizes.samples if any(isinstance(one, int) for one in counts) else None)


def _time(stamp: str | None) -> str | None:
    """A time in RFC 3339, UTC; the form has seconds since 1970, and others write dates."""
    if not stamp:
        return None
    with suppress(ValueError, OverflowError, OSError):
        stamp = datetime.fromtimestamp(float(stamp), UTC).isoformat()
    return created_at_of(stamp)


def _identity(aggregate: EvalAggregate, data: SourceData) -> dict[str, Any]:
    """All else that names the evaluation."""
    found: dict[str, Any] = {
        "evaluation_id": aggregate.evaluation_id,
        "source": aggregate.source_metadata,
        "eval_library": aggregate.eval_library,
        "model_info": aggregate.model_info,
        "split": data.hf_split,
        "retrieved_timestamp": aggregate.retrieved_timestamp,
    }
    return {name: one for name, one in found.items() if not _is_nothing(one)}


def _is_nothing(value: Iterable[Any] | Mapping[str, Any] | None) -> bool:
    return value is None or value == {} or value == ""
