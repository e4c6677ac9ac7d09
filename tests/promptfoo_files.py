"""Files as promptfoo writes them, small and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchbook.exchange.log import ForeignLog, LogSample
from benchbook.exchange.tools import opened_logs


def check(kind: str, *, passed: bool, score: float, reason: str = "Assertion passed", **more: Any) -> dict[str, Any]:
    """A component of a grading result; `more` is of the assertion, but for `metadata`."""
    metadata = {"metadata": more.pop("metadata")} if "metadata" in more else {}
    return {"pass": passed, "score": score, "reason": reason, "assertion": {"type": kind, **more}, **metadata}


def result(
    test: int = 0, column: int = 0, *, checks: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    """A result of version 3; `more` replaces what stands there."""
    checks = [check("contains", passed=True, score=1, value="Par")] if checks is None else checks
    score = sum(one["score"] for one in checks) / max(len(checks), 1)
    passed = all(one["pass"] for one in checks)
    reason = "All assertions passed" if passed else next(one["reason"] for one in checks if not one["pass"])
    return {
        "cost": 0.25,
        **({} if passed else {"error": reason}),
        "gradingResult": {"pass": passed, "score": score, "reason": reason, "componentResults": checks},
        "id": f"id-{test}-{column}",
        "latencyMs": 40,
        "namedScores": {},
        "prompt": {"raw": f"Capital of country {test}?", "label": "Capital of {{country}}?"},
        "promptIdx": column,
        "provider": {"id": "openai:gpt-x", "label": ""},
        "response": {
            "output": "Paris",
            "tokenUsage": {"total": 12, "prompt": 9, "completion": 3},
            "cached": False,
            "finishReason": "stop",
        },
        "score": score,
        "success": passed,
        "testCase": {
            "vars": {"country": f"country {test}"},
            "assert": [one["assertion"] for one in checks if "assertion" in one],
        },
        "testIdx": test,
        "vars": {"country": f"country {test}"},
        "failureReason": 0 if passed else 1,
        **more,
    }


def failed(test: int = 0, column: int = 0, message: str = "HTTP 500", **more: Any) -> dict[str, Any]:
    """A result that the provider gave an error for."""
    about = {"error": message, "gradingResult": None, "success": False, "score": 0, "failureReason": 2, "cost": 0}
    return {**result(test, column), **about, "response": {"error": message}, "latencyMs": 7, **more}


def document(
    results: list[Any], metrics: list[dict[str, Any]] | None = None, stats: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A file of version 3; `more` is of the whole document."""
    prompts = [
        {
            "raw": "Capital of {{country}}?",
            "label": "Capital of {{country}}?",
            "provider": "openai:gpt-x",
            "metrics": one,
        }
        for one in (metrics if metrics is not None else [{}])
    ]
    return {
        "evalId": "eval-abc-2026-01-02T03:04:05",
        "results": {
            "version": 3,
            "timestamp": "2026-01-02T03:04:05.678Z",
            "prompts": prompts,
            "results": results,
            "stats": stats or {},
        },
        "config": {"description": "Capitals"},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.121.20"},
        **more,
    }


def written(folder: Path, content: Any, name: str = "out.json") -> Path:
    """A file of a JSON value, or of a text or bytes."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def logs_of(path: Path) -> list[ForeignLog]:
    return list(opened_logs(path))


def samples_of(path: Path, column: int = 0) -> list[LogSample]:
    return list(logs_of(path)[column].samples())
