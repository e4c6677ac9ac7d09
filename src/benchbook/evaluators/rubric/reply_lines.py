"""A judge's reply outside a record, as `benchbook parse` reads one a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbook.errors import UsageError
from benchbook.evaluators.rubric.reply import Parsed, parse_reply
from benchbook.evaluators.rubric.spec import RubricSpec

__all__ = ["parse_line", "unparsed_line"]


def parse_line(case: Mapping[str, Any], spec: RubricSpec) -> dict[str, Any]:
    """The scores of a case's `reply`, or the reason for none (SPEC R3). Raises: UsageError for a case without one."""
    tags = _reasoning_tags(case.get("options"))
    reply = case.get("reply", 0)
    if not isinstance(reply, str | None):
        raise UsageError("reply: expected a string")
    found = parse_reply(reply or "", spec, tags)
    if not isinstance(found, Parsed):
        return {"id": case.get("id"), "ok": False, "parse_error_reason": found.reason, "detail": found.detail}
    scores = {one.score_key: score for one, score in zip(spec.criteria, found.scores, strict=True)}
    result = {"id": case.get("id"), "ok": True, **scores, "rationale": found.rationale}
    return result if found.reasoning is None else result | {"reasoning": found.reasoning}


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
