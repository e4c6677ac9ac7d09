"""Which column of a file of predictions holds what: recognised by its name, or as the user says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchbook.errors import ConfigError, InputError
from benchbook.text import shorten

__all__ = ["COLUMN_NAMES", "column_names", "resolve_prediction_columns", "value_at"]

# Names under which files hold it; the first is ours. A point goes into an object: `meta.eval_id` is Tunix's trace form.
COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "item_id": ("item_id", "id", "eval_id", "meta.eval_id"),
    "predicted": (
        "predicted",
        "predicted_answer",
        "prediction",
        "output",
        "model_output",
        "candidate_answer",
        "final_answer",
        "response",
        "completion",
    ),
    "expected": ("expected", "expected_answer", "reference_answer"),
    "eval_time_ms": ("eval_time_ms",),
}
_REQUIRED = ("item_id", "predicted")


def column_names(row: Mapping[str, Any]) -> list[str]:
    """The names that a row has: its keys, and those of the objects in it, as `meta.eval_id`."""
    below = [f"{name}.{inner}" for name, value in row.items() if isinstance(value, dict) for inner in value]
    return [*row, *below]


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """The value under a name as `column_names` gives it; None where the row does not have it."""
    if name in row:
        return row[name]
    outer, point, inner = name.partition(".")
    value = row.get(outer) if point else None
    return value.get(inner) if isinstance(value, dict) else None


def resolve_prediction_columns(
    path: Path, line: int | None, names: Iterable[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Our names to the file's, out of the `names` that are there; `given` is what the user says and goes first.

    Raises: ConfigError where `given` names a column of ours or theirs that is not there; InputError where a column is
    missing, or could be two.
    """
    names = list(names)
    _check_given(names, given)
    columns: dict[str, str] = {}
    for ours, theirs in COLUMN_NAMES.items():
        present = [given[ours]] if ours in given else [name for name in theirs if name in names]
        if len(present) > 1:
            found = " and ".join(present)
            raise InputError(path, line=line, field=ours, found=found, expected=f"one; say which: {ours}={present[0]}")
        if present:
            columns[ours] = present[0]
        elif ours in _REQUIRED:
            there = shorten(", ".join(names), 200)
            expected = f"{', '.join(theirs)}; or say which: {ours}=NAME"
            raise InputError(path, line=line, field=ours, found=f"no such column among {there}", expected=expected)
    return columns


def _check_given(names: list[str], given: Mapping[str, str]) -> None:
    for ours, theirs in given.items():
        if ours not in COLUMN_NAMES:
            raise ConfigError("columns", shorten(ours, 60), ", ".join(COLUMN_NAMES))
        if theirs not in names:
            raise ConfigError(f"columns.{ours}", shorten(theirs, 60), f"one of {shorten(', '.join(names), 200)}")
