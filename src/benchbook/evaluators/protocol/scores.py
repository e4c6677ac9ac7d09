"""The scores of a judge's reply, and the verdict that follows from them (SPEC P2, P3, P4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.canonical import StrictJsonError, parse_strict
from benchbook.evaluators.protocol.findings import Findings, said
from benchbook.evaluators.protocol.reply import ABSENT, absent, json_type, typed_field
from benchbook.evaluators.protocol.spec import OVERALL, VERDICTS, Protocol, all_dimensions, form, scores_words

__all__ = ["Written", "check_scores", "check_verdict", "readable_scores", "written_in"]


def readable_scores(found: Mapping[str, int] | None, protocol: Protocol) -> dict[str, int] | None:
    """The dimensions' scores, in their order, where each is there and of its scale; else None."""
    if found is None or not all(found.get(name) in scale for name, scale in protocol.scores.items()):
        return None
    return {name: found[name] for name in protocol.names}


def check_scores(reply: Mapping[str, Any], protocol: Protocol, findings: Findings) -> dict[str, int] | None:
    """The integers that `scores` gives the dimensions; None where not all of these have one.

    They may be off their scales: that is a finding, and their sum can still be held against `overall_score`.
    """
    if absent(reply.get("scores", ABSENT)):
        findings.add("no_scores", "scores", "the reply scores no dimension")
    scores = typed_field(reply, "scores", dict, "scores", findings)
    if scores is None:
        return None
    found = {
        name: score
        for name, scale in protocol.scores.items()
        if (score := _score(scores, name, scale, findings)) is not None
    }
    if scores.keys() <= {OVERALL}:
        findings.add("no_scores", "scores", "the reply scores no dimension")
    for name in scores:
        if name != OVERALL and name not in protocol.scores:
            findings.add("dimension_unknown", f"scores.{name[:80]}", f"{said(name)} is no dimension")
    overall = typed_field(scores, OVERALL, int, f"scores.{OVERALL}", findings)
    if len(found) < len(protocol.dimensions):
        return None
    if overall is not None and overall != sum(found.values()):
        total = said(sum(found.values()))
        what = f"{all_dimensions(len(found))} {'is' if len(found) == 1 else 'add up to'} {total}"
        findings.add("sum_wrong", f"scores.{OVERALL}", f"found {said(overall)}; {what}")
    return found


def _score(scores: Mapping[str, Any], name: str, scale: range, findings: Findings) -> int | None:
    """A dimension's score if it is an integer (R3.2: not true, not 1.0, not "2")."""
    path = f"scores.{name}"
    score = scores.get(name, ABSENT)
    if score is ABSENT:
        # P4 calls this a protocol violation; that it is a missing field too would add nothing.
        findings.add("dimension_left_out", path, f"{name} is not scored")
        if findings.edition >= 2:  # the source names missing scores under refusal too
            findings.add("score_missing", path, f"{name} has no score")
        return None
    if score is None:
        findings.add("null_score", path, f"{name} is null")
    if type(score) is not int:
        findings.add("wrong_type", path, f"{path} is {json_type(score)}, not integer")
        return None
    if score not in scale:
        findings.add("score_out_of_range", path, f"found {said(score)}; expected {scores_words(scale)}")
    return score


def check_verdict(
    reply: Mapping[str, Any], scores: Mapping[str, int] | None, protocol: Protocol, findings: Findings
) -> None:
    """The verdict that the reply states: known, and the one that follows from its scores where they can be summed."""
    stated = typed_field(reply, "verdict", str, "verdict", findings)
    if stated is None:
        return
    if stated not in VERDICTS:
        # An unknown word contradicts nothing: that it "does not follow" is not said as well.
        findings.add("verdict_unknown", "verdict", f"found {said(stated)}; expected {', '.join(VERDICTS)}")
    elif scores is not None and stated != protocol.verdict_for(sum(scores.values())):
        total = sum(scores.values())
        right = protocol.verdict_for(total)
        findings.add("verdict_wrong", "verdict", f"found {stated}; a sum of {said(total)} is {right}")


_MOST = 2**63  # JSON's writers hold no larger integers


@dataclass(frozen=True, slots=True)
class Written:
    """The fields that a reply has. What is None, or not in a mapping, it does not have, or not as the protocol asks."""

    meta: Mapping[str, str] | None = None
    scores: Mapping[str, int] | None = None
    verdict: str | None = None
    notes: str | None = None


def written_in(reply: str, protocol: Protocol) -> Written:
    """Nothing is computed and nothing repaired. Evidence is not in it: `validate` reads and looks it up."""
    try:
        value = parse_strict(reply)
    except StrictJsonError:
        return Written()
    if not isinstance(value, dict):
        return Written()
    return Written(
        meta=_members(value.get("meta"), form().meta, str),
        scores=_scores(value.get("scores"), protocol),
        verdict=_text(value.get("verdict")),
        notes=_text(value.get("notes")),
    )


def _members(value: Any, names: tuple[str, ...], kind: type) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    return {name: value[name] for name in names if type(value.get(name)) is kind}


def _scores(value: Any, protocol: Protocol) -> dict[str, int] | None:
    found = _members(value, (*protocol.names, OVERALL), int)
    return found and {name: score for name, score in found.items() if -_MOST <= score < _MOST}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
