"""Reads a reply's evidence: every quote is looked up in the judged text (SPEC P4, P4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.evaluators.evidence_text import NormalisedText, normalised
from benchbook.evaluators.protocol.findings import Findings, said
from benchbook.evaluators.protocol.reply import json_type, typed_field
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.quotes import Located, excess_of, locate

__all__ = ["Evidence", "check_evidence"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One item of a reply's evidence, in the reply's order. What is None could not be read as a string."""

    dimension: str | None
    quote: str | None
    reason: str | None
    located: Located | None  # None: there is no quote to look up


def check_evidence(
    reply: Mapping[str, Any], text: NormalisedText, protocol: Protocol, *, must_be_found: bool, findings: Findings
) -> tuple[Evidence, ...]:
    """Reads `evidence` and looks every quote up in `text`; all that is wrong is added to `findings`.

    With `must_be_found` off (`evidence = "report"`, P4.1) a quote that is not found is no fault. One that is empty, too
    short or too long still is: the option is about what was looked for and not found.
    """
    items = typed_field(reply, "evidence", list, "evidence", findings)
    if items is None:
        # Missing or of another type says it all; that no dimension has evidence follows and is not said as well.
        return ()
    limit = protocol.max_evidence_items
    if len(items) > limit:
        # A bound on work, not on judging: each quote costs a search through the judged text.
        findings.add("too_much_evidence", "evidence", f"{len(items)} items; {limit} at most are looked up")
    known: dict[str, Located] = {}
    evidence = tuple(_read_item(item, at, text, protocol, known, findings) for at, item in enumerate(items[:limit]))
    for at, item in enumerate(evidence):
        _check_quote(item, f"evidence[{at}].quote", protocol, must_be_found, findings)
    _check_dimensions(evidence, protocol, findings)
    return evidence


def _read_item(
    item: Any, at: int, text: NormalisedText, protocol: Protocol, known: dict[str, Located], findings: Findings
) -> Evidence:
    path = f"evidence[{at}]"
    if not isinstance(item, dict):
        findings.add("wrong_type", path, f"{path} is {json_type(item)}, not object")
        return Evidence(None, None, None, None)
    dimension = typed_field(item, "dimension", str, f"{path}.dimension", findings)
    quote = typed_field(item, "quote", str, f"{path}.quote", findings)
    reason = typed_field(item, "reason", str, f"{path}.reason", findings)
    if dimension is not None and dimension not in protocol.scores:
        findings.add("dimension_unknown", f"{path}.dimension", f"{said(dimension)} is no dimension")
    if findings.edition >= 2 and reason is not None and not reason.strip():
        findings.add("reason_empty", f"{path}.reason", "the reason is empty")
    if quote is None:
        return Evidence(dimension, None, reason, None)
    if quote not in known:  # snippets may serve several dimensions (source 002, section 4)
        known[quote] = locate(quote, text, protocol.length)
    return Evidence(dimension, quote, reason, known[quote])


def _check_quote(item: Evidence, path: str, protocol: Protocol, must_be_found: bool, findings: Findings) -> None:
    if item.quote is None or item.located is None:
        return
    if item.located.kind == "empty":
        findings.add("quote_empty", path, "the quote is empty")
    elif findings.edition >= 2 and not protocol.length.holds(normalised(item.quote)):
        findings.add("quote_too_short", path, f"{said(item.quote)} is too short to be a quote")
    if item.located.kind == "not_found" and must_be_found:
        findings.add("quote_not_found", path, f"{said(item.quote)} does not stand in the judged text")
    excess = excess_of(item.quote, protocol.max_quote_words, counts_characters=findings.edition >= 2)
    if excess is not None:
        findings.add("quote_too_long", path, excess)


def _check_dimensions(evidence: tuple[Evidence, ...], protocol: Protocol, findings: Findings) -> None:
    """At least one item a dimension that asks for it (source 002, section 4), whatever its quote is worth."""
    covered = {item.dimension for item in evidence}
    for one in protocol.dimensions:
        if one.must_quote and one.name not in covered:
            findings.add("dimension_without_evidence", "evidence", f"{one.name} has no evidence")
