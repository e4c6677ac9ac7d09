"""What a judge wrote, field by field, as far as it is of the type that the protocol asks for (SPEC P2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.scorers.judge_protocol_scores import OVERALL
from benchbook.scorers.judge_protocol_spec import protocol
from benchbook.scorers.strict_json import StrictJsonError, parse_strict

__all__ = ["Written", "written_in"]

_MOST = 2**63  # JSON's writers hold no larger integers


@dataclass(frozen=True, slots=True)
class Written:
    """The fields that a reply has. What is None, or not in a mapping, it does not have, or not as the protocol asks."""

    meta: Mapping[str, str] | None = None
    scores: Mapping[str, int] | None = None
    verdict: str | None = None
    notes: str | None = None


def written_in(reply: str) -> Written:
    """Nothing is computed and nothing repaired. Evidence is not in it: `validate` reads and looks it up."""
    try:
        value = parse_strict(reply)
    except StrictJsonError:
        return Written()
    if not isinstance(value, dict):
        return Written()
    return Written(
        meta=_members(value.get("meta"), protocol().meta, str),
        scores=_scores(value.get("scores")),
        verdict=_text(value.get("verdict")),
        notes=_text(value.get("notes")),
    )


def _members(value: Any, names: tuple[str, ...], kind: type) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    return {name: value[name] for name in names if type(value.get(name)) is kind}


def _scores(value: Any) -> dict[str, int] | None:
    found = _members(value, (*protocol().dimensions, OVERALL), int)
    return found and {name: score for name, score in found.items() if -_MOST <= score < _MOST}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
