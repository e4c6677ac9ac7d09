"""An entry of a bundle, put into the protocol's form by a declared mapping (SPEC P2, P6).

Values go over as they stand, whatever their type, and what is not there stays missing: it is for the validation to
find fault with both. Nothing is computed but the score of a dimension that several of the bundle's make up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.evalsets.judgement_mapping import EvidenceRule, JudgementMapping
from benchbook.specs import load_spec

__all__ = ["MISSING", "protocol_reply", "value_at_path"]

MISSING = object()  # no such key, as apart from a null


def value_at_path(value: Any, path: str | None) -> Any:
    """What stands in nested objects under names joined by dots, or MISSING."""
    if path is None:
        return MISSING
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value


def protocol_reply(
    entry: Mapping[str, Any], bundle: Any, meta: Mapping[str, Any], mapping: JudgementMapping
) -> dict[str, Any]:
    """The entry as a reply of judge_protocol@v1, about the output and by the judge that `meta` names."""
    timestamp = _first(value_at_path(entry, mapping.entry.timestamp), value_at_path(bundle, mapping.bundle.timestamp))
    fields = {
        "meta": {**meta, **_present(timestamp=timestamp)},
        "scores": _scores(entry, mapping),
        "verdict": value_at_path(entry, mapping.entry.verdict),
        "flags": _first(value_at_path(entry, mapping.entry.flags), value_at_path(bundle, mapping.bundle.flags)),
        "evidence": _evidence(entry, mapping),
        "notes": value_at_path(entry, mapping.entry.notes),
    }
    return _present(**fields)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not MISSING), MISSING)


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not MISSING}


def _scores(entry: Mapping[str, Any], mapping: JudgementMapping) -> Any:
    own = value_at_path(entry, mapping.scores.at)
    overall = _present(overall_score=value_at_path(entry, mapping.entry.overall_score))
    if not isinstance(own, dict):
        return own if own is not MISSING or not overall else overall
    parts: dict[str, list[Any]] = defaultdict(list)
    for name, score in own.items():
        dimension = mapping.dimension(name)
        if dimension and name not in mapping.scores.ignore:
            parts[dimension].append(score)
    # A dimension of which a part was not scored is not scored: the parts that are there would speak for it.
    lacking = {dimension for name, dimension in mapping.dimensions.items() if name not in own}
    scores = {name: _combined(found, mapping) for name, found in parts.items() if name not in lacking}
    return scores | overall


def _combined(scores: list[Any], mapping: JudgementMapping) -> Any:
    """One score of several. One that is no 0, 1 or 2 goes over as it stands: a minimum would hide it."""
    allowed = load_spec("judge_protocol@v1").settings["reply"]["scores"]
    for score in scores:
        if type(score) is not int or score not in allowed:
            return score
    return min(scores) if mapping.scores.combine == "min" else max(scores)


def _evidence(entry: Mapping[str, Any], mapping: JudgementMapping) -> Any:
    own = value_at_path(entry, mapping.evidence.at)
    if isinstance(own, dict):
        pairs = ((name, quote) for name, found in own.items() for quote in _each(found))
        items = [_item(found, mapping.evidence, name) for name, found in pairs]
    elif isinstance(own, list):
        items = [_item(found, mapping.evidence, MISSING) for found in own]
    else:
        return own
    return list(_under_protocol_names(items, mapping))


def _each(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def _item(found: Any, rule: EvidenceRule, dimension: Any) -> dict[str, Any]:
    """An item of evidence from a string, or from an object with the declared keys."""
    if not isinstance(found, dict):
        return _present(dimension=dimension, quote=found)
    return _present(
        dimension=_first(found.get(rule.dimension, MISSING), dimension),
        quote=found.get(rule.quote, MISSING),
        reason=found.get(rule.reason, MISSING),
    )


def _under_protocol_names(items: list[dict[str, Any]], mapping: JudgementMapping) -> Iterator[dict[str, Any]]:
    for item in items:
        name = item.get("dimension")
        if not isinstance(name, str):
            yield item
        elif mapping.dimension(name):
            yield {**item, "dimension": mapping.dimension(name)}
