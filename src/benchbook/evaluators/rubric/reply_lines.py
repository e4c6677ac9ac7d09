"""A judge's reply outside a record, as `benchbook parse` reads one a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.errors import UsageError
from benchbook.evalsets.item_criteria import criteria_faults
from benchbook.evalsets.items import item_from_json
from benchbook.evaluators.rubric.further_rows import further_columns
from benchbook.evaluators.rubric.quoting import Judged
from benchbook.evaluators.rubric.reply import Parsed, parse_reply
from benchbook.evaluators.rubric.spec import RubricSpec

__all__ = ["parse_line", "unparsed_line"]


def parse_line(case: Mapping[str, Any], spec: RubricSpec) -> dict[str, Any]:
    """The scores of a case's `reply`, or the reason for none (SPEC R3).

    A rubric that asks for quotes needs the `answer` that they are from, and where they may be from any turn the `item`.

    Raises: UsageError for a case that lacks one of these; InputError for an item with a fault.
    """
    tags = _reasoning_tags(case.get("options"))
    reply = case.get("reply", 0)
    if not isinstance(reply, str | None):
        raise UsageError("reply: expected a string")
    found = parse_reply(reply or "", spec, tags, judged=_judged(case, spec) if spec.asks_more else None)
    if not isinstance(found, Parsed):
        return {"id": case.get("id"), "ok": False, "parse_error_reason": found.reason, "detail": found.detail}
    shown = spec.shown_scores(found.scores)
    scores = {one.score_key: score for one, score in zip(spec.criteria, shown, strict=True)}
    result = {"id": case.get("id"), "ok": True, **scores, "rationale": found.rationale}
    result |= {name: msgspec.to_builtins(rows) for name, rows in further_columns(found, spec).items()}
    return result if found.reasoning is None else result | {"reasoning": found.reasoning}


def _judged(case: Mapping[str, Any], spec: RubricSpec) -> Judged:
    answer, item = case.get("answer"), case.get("item")
    if not isinstance(answer, str):
        raise UsageError(f"answer: expected the text that was judged, which quotes under {spec.id} are looked up in")
    if not spec.needs_item:
        return Judged(answer, None)
    if not isinstance(item, dict):
        raise UsageError(f"item: expected the item, as the eval set has it, which replies under {spec.id} are about")
    judged = item_from_json(item, "item", 1)
    if spec.by_item and (fault := next(criteria_faults(judged.criteria), None)) is not None:
        raise UsageError(f"item.{fault.field}: found {fault.found}; expected {fault.expected}")
    return Judged(answer, judged)


def unparsed_line(case_id: Any, detail: str) -> dict[str, Any]:
    """The same of a line that holds no case."""
    return {"id": case_id, "ok": False, "parse_error_reason": None, "detail": detail}


def _reasoning_tags(options: Any) -> list[str]:
    if options is not None and not isinstance(options, dict):
        raise UsageError("options: expected an object")
    tags = (options or {}).get("reasoning_tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise UsageError("options.reasoning_tags: expected a list of strings")
    return tags
