"""Hugging Face's `trainer_state.json`: the entries of its `log_history`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.line_json import type_name
from benchbook.evalsets.lines import encoding_fault
from benchbook.training.log_rows import LogRow, decode_log_json

__all__ = ["MAX_STATE_BYTES", "trainer_state_rows"]

# One JSON value is read whole. Room for some 400,000 entries; they take about five times as much as Python objects.
MAX_STATE_BYTES = 64 * 1024**2
_BOM = b"\xef\xbb\xbf"


def trainer_state_rows(path: Path) -> Iterator[LogRow]:
    """The entries in their order; `line` is the entry's number from 1.

    Raises: InputError for what is no such file, or a larger one; UsageError where it can't be read.
    """
    state = decode_log_json(_bytes(path), path)
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list):
        found = type_name(history) if isinstance(state, dict) and "log_history" in state else "nothing"
        raise InputError(path, field="log_history", found=found, expected="an array, as in trainer_state.json")
    for number, entry in enumerate(history, start=1):
        if not isinstance(entry, dict):
            raise InputError(path, field=f"log_history[{number}]", found=type_name(entry), expected="an object")
        yield LogRow(number, entry)


def _bytes(path: Path) -> bytes:
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_STATE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    if len(data) > MAX_STATE_BYTES:
        raise InputError(
            path,
            found="a larger file",
            expected=f"at most {MAX_STATE_BYTES // 1024**2} MiB; log_history as JSONL has no limit",
        )
    return data.removeprefix(_BOM)
