"""Structured logs: one JSON object a line on standard error. No header, query or body is ever in one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from benchbook.canonical import canonical_json
from benchbook.records.journal import utc_now

__all__ = ["Log", "log_to_stderr", "no_log"]

Log: TypeAlias = Callable[[str, dict[str, Any]], None]


def log_to_stderr(event: str, fields: dict[str, Any]) -> None:
    """`event` names what happened; the line is plain ASCII where the stream can't take more."""
    line = canonical_json({"at": utc_now(), "event": event, **fields}).decode("utf-8", "replace")
    sys.stderr.write(line + "\n")


def no_log(event: str, fields: dict[str, Any]) -> None:
    del event, fields
