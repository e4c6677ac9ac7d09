"""Findings as lines of text, as JSON, and as SARIF 2.1.0 for editors and CI."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import msgspec

from benchbook.evalsets.findings import CODES, Finding
from benchbook.text import one_line

__all__ = ["as_json", "as_line", "as_sarif"]

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_line(finding: Finding) -> str:
    """`golden.jsonl:17: error: section: found 'Core'; expected core, … [unknown_value]`, fit for a terminal."""
    where = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
    field = f"{finding.field}: " if finding.field else ""
    return one_line(f"{where}: {finding.severity}: {field}{finding.reason} [{finding.code}]")


def as_json(findings: Iterable[Finding]) -> str:
    """An object with the counts and the findings, ASCII alone, so that no terminal or encoding can break it."""
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
