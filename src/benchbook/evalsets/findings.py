"""The validator's findings about an eval set's file, and their stable codes (SPEC A10)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec

from benchbook.text import one_line

Severity = Literal["error", "warning"]
Code = Literal[
    "line_ends",
    "byte_order_mark",
    "blank_line",
    "bad_utf8",
    "line_too_long",
    "malformed_json",
    "not_an_object",
    "duplicate_key",
    "missing_field",
    "wrong_type",
    "empty_field",
    "unknown_value",
    "two_names",
    "unknown_field",
    "duplicate_id",
    "duplicate_prompt",
    "near_duplicate_prompt",
    "answer_in_prompt",
    "composition",
    "no_items",
    "number_range",
    "bad_criteria",
    "unreadable_row",
    "unread_column",
    "unseen_by_judge",
]


class Rule(NamedTuple):
    """The severity and meaning of a finding. An error makes the file unfit; a warning is reported and allowed."""

    severity: Severity
    meaning: str


CODES: Mapping[Code, Rule] = {
    "line_ends": Rule("warning", "Lines end in CR LF; LF alone is the form"),
    "byte_order_mark": Rule("warning", "The file starts with a byte-order mark"),
    "blank_line": Rule("warning", "A line holds nothing"),
    "bad_utf8": Rule("error", "A line is not UTF-8"),
    "line_too_long": Rule("error", "A line is longer than the limit"),
    "malformed_json": Rule("error", "A line is not one JSON text (RFC 8259)"),
    "not_an_object": Rule("error", "A line is JSON, but no object"),
    "duplicate_key": Rule("error", "An object has a field twice"),
    "missing_field": Rule("error", "A field that every item needs is not there"),
    "wrong_type": Rule("error", "A field is not text"),
    "empty_field": Rule("error", "A field holds nothing but white space"),
    "unknown_value": Rule("error", "A field's value is none of those that it can have"),
    "two_names": Rule("error", "A field stands under two of its names"),
    "unknown_field": Rule("warning", "A field's name is almost that of a field that is read"),
    "duplicate_id": Rule("error", "An id stands on an earlier line too"),
    "duplicate_prompt": Rule("error", "A prompt stands on an earlier line too"),
    "near_duplicate_prompt": Rule("warning", "A prompt differs from an earlier one in form alone"),
    "answer_in_prompt": Rule("warning", "The expected answer stands in the prompt"),
    "composition": Rule("error", "The set is not made up as its profile asks"),
    "no_items": Rule("error", "The file holds no items"),
    "number_range": Rule("error", "A number is beyond a double, and can't be put into a prompt"),
    "bad_criteria": Rule("error", "An item's criteria are not what a rubric with [item_criteria] reads"),
    "unreadable_row": Rule("error", "A row of a table can't be read; those after it were not"),
    "unread_column": Rule("warning", "A column that nobody reads is likely to hold a field that no item has"),
    "unseen_by_judge": Rule("warning", "No item has a reference, or none a context"),
}


class Finding(msgspec.Struct, frozen=True):
    """One remark about a file.

    `line` counts from 1, blank lines included; it is None if the finding concerns the whole file. `field` is None if it
    concerns the whole line.
    """

    path: str
    line: int | None
    field: str | None
    code: Code
    severity: Severity
    reason: str


class Fault(msgspec.Struct, frozen=True):
    """A finding without its file and line."""

    field: str | None
    code: Code
    reason: str


_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_line(finding: Finding) -> str:
    """A finding on one line, safe for a terminal: `golden.jsonl:17: error: section: found 'Core'… [unknown_value]`."""
    where = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
    field = f"{finding.field}: " if finding.field else ""
    return one_line(f"{where}: {finding.severity}: {field}{finding.reason} [{finding.code}]")


def as_json(findings: Iterable[Finding]) -> str:
    """A JSON object with the counts and the findings, in ASCII alone, so that no terminal or encoding can break it."""
    rows = [msgspec.structs.asdict(finding) for finding in findings]
    counts = {
        "n_errors": sum(row["severity"] == "error" for row in rows),
        "n_warnings": sum(row["severity"] == "warning" for row in rows),
    }
    return json.dumps(counts | {"findings": rows}, indent=2)


def as_sarif(findings: Iterable[Finding], *, version: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log with one run. `version` is Benchbook's."""
    codes = list(CODES)
    rules = [
        {
            "id": code,
            "shortDescription": {"text": rule.meaning},
            "defaultConfiguration": {"level": rule.severity},
        }
        for code, rule in CODES.items()
    ]
    driver = {"name": "benchbook evalset validate", "version": version, "rules": rules}
    results = [_result(finding, codes.index(finding.code)) for finding in findings]
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.path.replace("\\", "/"))}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line}
    field = f"{finding.field}: " if finding.field else ""
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": one_line(f"{field}{finding.reason}")},
        "locations": [{"physicalLocation": location}],
    }
