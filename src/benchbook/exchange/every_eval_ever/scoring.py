"""A row's score, and what its `error` means for it; a sample from its rows.

The form requires a score and a word on correctness of every row, so what was never scored has both all the same, and
only `error` to say so. A row with an error and the least score that there is, and that is not correct, was not scored:
nobody measured that 0 (SPEC C5). A refusal is the model's own doing, and keeps its score.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any

from benchbook.exchange.every_eval_ever.form import (
    NOT_ANSWERED,
    SCORED_STILL,
    UNSCORED,
    EvalRow,
    MetricConfig,
    OfOurs,
    metadata_of,
    number_of,
)
from benchbook.exchange.log import LogFailure, LogSample, LogScore
from benchbook.exchange.ours import OURS

if TYPE_CHECKING:
    from benchbook.exchange.every_eval_ever.claims import OneResult
    from benchbook.exchange.every_eval_ever.index import FoundSample

_TIMEOUT = re.compile(r"time[d]?[ _-]?out", re.IGNORECASE)
_REFUSAL = re.compile(r"\brefus", re.IGNORECASE)
_UNKNOWN_LEVEL = -1
_LONGEST_MS = 1 << 53


def plain_value(row: EvalRow, config: MetricConfig | None) -> float | None:
    """The score, if it is one."""
    return None if _why_unscored(row, config) else number_of(row.evaluation.score)


def has_spare_error(row: EvalRow, config: MetricConfig | None) -> bool:
    """True where there is an error, and a score that stands all the same."""
    said = row.error or ""
    return bool(said.strip()) and not said.startswith(SCORED_STILL) and not _why_unscored(row, config)


def contradicts(row: EvalRow, config: MetricConfig | None) -> bool:
    """True where score and `is_correct` can't both be right."""
    value, correct = plain_value(row, config), row.evaluation.is_correct
    if value is None or correct is None or _is_ours(row) or config is None:
        return False
    low, high = _ends(config)
    if config.lower_is_better:
        low, high = high, low
    return (value == low and correct) or (config.score_type == "binary" and value == high and not correct)


def sample_of(rows: list[tuple[OneResult, EvalRow]], found: FoundSample, *, whole: bool) -> LogSample:
    """The sample whose rows these are, one of each result that scored it."""
    row = rows[0][1]
    ours = row.ours
    failures = [failure for one, each in rows if (failure := _failure_of(each, _config(one))) is not None]
    usage, times = row.token_usage, row.performance
    took = None if times is None else times.latency_ms if times.latency_ms is not None else times.generation_time_ms
    metadata = _metadata(row, _config(rows[0][0])) if whole else {}
    return LogSample(
        id=f"{row.sample_id}#{found.twin}" if found.twin else str(row.sample_id),
        repeat=found.repeat,
        prompt=row.input.raw,
        references=tuple(row.references),
        choices=tuple(row.input.choices or ()),
        context=ours.context,
        answer=_answer(row, ours, failed=bool(failures)),
        scores={one.name: _score(each, one) for one, each in rows if not each.ours.nobody},
        failure=failures[0] if failures else None,
        limit=ours.limit,
        finish_reason=ours.finish_reason or _text(row, "stop_reason"),
        group=ours.group,
        category=ours.category,
        input_tokens=ours.input_tokens if usage is None else usage.input_tokens,
        output_tokens=ours.output_tokens if usage is None else usage.output_tokens,
        latency_ms=round(took) if took is not None and abs(took) < _LONGEST_MS else None,
        model_reported=ours.model_reported,
        messages=_asked(row) if whole else None,
        metadata=metadata,
        where=f"byte {found.places[0].start:,}",
    )


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────


def _score(row: EvalRow, one: OneResult) -> LogScore:
    config, ours = _config(one), row.ours
    why = _why_unscored(row, config)
    value = None if why else number_of(row.evaluation.score)
    terminal = [each.extracted_value for each in row.answer_attribution or () if each.is_terminal]
    is_odd = bool(why) and not _is_ours(row) and row.evaluation.score is not None
    return LogScore(
        value=value if value is None or not one.is_percent else value * 100,
        unscored=None if ours.parts is not None else why or None,
        parts=ours.parts,
        said=ours.said or (str(row.evaluation.score) if is_odd or one.is_percent else None),
        passed=None if why else _passed(row, config, value),
        answer=terminal[-1] if terminal else None,
        explanation=ours.explanation,
        guessed=ours.guessed,
    )


def _why_unscored(row: EvalRow, config: MetricConfig | None) -> str:
    """Why a row has no score, in words; empty where it has one."""
    error = row.error or ""
    if error.startswith(UNSCORED):
        return error.removeprefix(UNSCORED) or "no reason given"
    if error.startswith(NOT_ANSWERED):
        return row.ours.unscored or "no answer"
    value = number_of(row.evaluation.score)
    if value is None or not isfinite(value):
        return "no score" if row.evaluation.score is None else f"the score is {str(row.evaluation.score)[:40]}"
    if config is not None and config.has_unknown_level and value == _UNKNOWN_LEVEL:
        return "its level is unknown"
    if error.strip() and not error.startswith(SCORED_STILL) and _may_stand_in(value, row, config):
        return "error"
    return ""


def _may_stand_in(value: float, row: EvalRow, config: MetricConfig | None) -> bool:
    """True where a score beside an error may be there only because the form requires one."""
    least = 0.0 if config is None else _ends(config)[0]
    return value in (0.0, least) and not row.evaluation.is_correct and not _REFUSAL.search(row.error or "")


def _failure_of(row: EvalRow, config: MetricConfig | None) -> LogFailure | None:
    error = row.error or ""
    for prefix in (NOT_ANSWERED, SCORED_STILL):
        if error.startswith(prefix):
            return LogFailure(message=error.removeprefix(prefix), kind=row.ours.failure or "error")
    if error.strip() and not error.startswith(UNSCORED) and _why_unscored(row, config):
        return LogFailure(message=error, kind="timeout" if _TIMEOUT.search(error) else "error")
    return None


def _passed(row: EvalRow, config: MetricConfig | None, value: float | None) -> bool | None:
    """`is_correct`, where it is about this score: of one in between, tools write false for want of a word."""
    correct = row.evaluation.is_correct
    if _is_ours(row):
        return row.ours.passed
    if config is not None and (config.score_type == "binary" or "passes_at" in (config.additional_details or {})):
        return correct
    low, high = (0.0, 1.0) if config is None else _ends(config)
    if config is not None and config.lower_is_better:
        low, high = high, low
    return correct if (value == high and correct) or (value == low and not correct) else None


def _ends(config: MetricConfig) -> tuple[float, float]:
    """The least and the greatest score of a row."""
    low, high = number_of(config.min_score), number_of(config.max_score)
    return 0.0 if low is None or not isfinite(low) else low, 1.0 if high is None or not isfinite(high) else high


def _config(one: OneResult) -> MetricConfig | None:
    return None if one.result is None else one.result.metric_config


def _is_ours(row: EvalRow) -> bool:
    return OURS in (row.metadata or {})


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────


def _answer(row: EvalRow, ours: OfOurs, *, failed: bool) -> str | None:
    """The model's text: the first of several, or what the assistant said last."""
    if ours.silent:
        return None
    if row.outputs:
        return row.outputs[0] or (None if failed and not _is_ours(row) else "")
    for message in reversed(row.messages or row.interactions or []):
        if message.get("role") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else None
    return None


def _asked(row: EvalRow) -> list[dict[str, Any]] | None:
    """The conversation up to the answer."""
    messages = row.messages if row.messages is not None else row.interactions
    if messages is None:
        return None
    has_answer = bool(messages) and messages[-1].get("role") == "assistant" and not row.ours.silent
    asked = messages[:-1] if has_answer else messages
    return [{name: value for name, value in one.items() if name != "turn_idx" and value is not None} for one in asked]


def _metadata(row: EvalRow, config: MetricConfig | None) -> dict[str, Any]:
    """All else that a row says."""
    found = metadata_of(row)
    if has_spare_error(row, config):
        found.setdefault("error", row.error)
    if row.input.formatted is not None:
        found.setdefault("formatted", row.input.formatted)
    if len(row.outputs) > 1:
        found.setdefault("outputs", row.outputs)
    reasoning = None if row.output is None else row.output.reasoning_trace
    if reasoning:
        found.setdefault("reasoning_trace", reasoning)
    return found


def _text(row: EvalRow, name: str) -> str | None:
    found = (row.metadata or {}).get(name)
    return found if isinstance(found, str) and found else None
