"""Outputs that were generated elsewhere, checked and then imported as facts (SPEC R1.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import ConfigError, InputError
from benchbook.evalsets import EvalSet
from benchbook.evalsets.tabular import TableForm, read_table
from benchbook.records import JournalWriter, Reply
from benchbook.runner.progress import Resume

__all__ = ["COLUMNS", "RecordedOutput", "imported_samples", "read_outputs", "resolve_columns"]

# Our name of a column, and the names under which other tools write it.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item_id": ("item_id", "id"),
    "output": ("output", "answer", "predicted", "predicted_answer", "prediction", "completion", "response"),
    "repeat": ("repeat",),
    "latency_e2e_ms": ("latency_e2e_ms", "latency_ms"),
    "latency_model_ms": ("latency_model_ms",),
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "finish_reason": ("finish_reason",),
}
_COUNTS = ("repeat", "latency_e2e_ms", "latency_model_ms", "input_tokens", "output_tokens")


class RecordedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One output as it was recorded. `sample` is its place in the plan; `output` is None where there was no text."""

    sample: int
    output: str | None
    latency_e2e_ms: int | None = None
    latency_model_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None


def resolve_columns(path: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Which column of the file is which of ours: as `given`, else by the names that are known.

    Raises: ConfigError for a name that is not ours, or not in the file; InputError where item_id or output is missing.
    """
    row = next(read_table(path), (1, {}))[1]
    if unknown := given.keys() - COLUMNS.keys():
        raise ConfigError("output_columns", ", ".join(sorted(unknown)), ", ".join(COLUMNS))
    columns = dict(given)
    for ours, theirs in given.items():
        if theirs not in row:
            raise ConfigError("output_columns", f"{ours} = {theirs}, which {path} does not have", ", ".join(row))
    for ours, names in COLUMNS.items():
        present = [name for name in names if name in row]
        if ours not in columns and len(present) > 1:
            raise InputError(path, field=ours, found=" and ".join(present), expected="output_columns to say which")
        if ours not in columns and present:
            columns[ours] = present[0]
    for ours in ("item_id", "output"):
        if ours not in columns:
            expected = f"a column {' or '.join(COLUMNS[ours])}, or output_columns to name it"
            raise InputError(path, field=ours, found=f"only {', '.join(row) or 'no row'}", expected=expected)
    return columns


def read_outputs(
    path: Path, form: TableForm, columns: Mapping[str, str], evalset: EvalSet, repeats: int
) -> Iterator[RecordedOutput]:
    """The outputs in the order of the file.

    Raises: InputError with the line for an id that is not in the eval set, an output that is there twice, a value of
    another type.
    """
    items = {item.id: index for index, item in enumerate(evalset)}
    seen = bytearray(len(items) * repeats)
    for line, row in read_table(path, form):
        item_id = row.get(columns["item_id"])
        index = items.get(str(item_id)) if item_id is not None else None
        if index is None:
            raise InputError(path, line=line, field="item_id", found=repr(item_id), expected="an id of the eval set")
        counts = {name: _count(path, line, name, row.get(columns[name])) for name in _COUNTS if name in columns}
        repeat = counts.pop("repeat", 0) or 0
        if repeat >= repeats:
            raise InputError(path, line=line, field="repeat", found=str(repeat), expected=f"0 to {repeats - 1}")
        sample = repeat * len(items) + index
        if seen[sample]:
            raise InputError(path, line=line, field="item_id", found=f"{item_id!r} again", expected="one output each")
        seen[sample] = 1
        yield RecordedOutput(
            sample=sample,
            output=_text(path, line, "output", row.get(columns["output"])),
            finish_reason=_text(path, line, "finish_reason", row.get(columns.get("finish_reason", ""))),
            **counts,
        )


def _count(path: Path, line: int, name: str, value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise InputError(path, line=line, field=name, found=repr(value), expected="a whole number, 0 or more, or nothing")


def _text(path: Path, line: int, name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InputError(path, line=line, field=name, found=repr(value)[:80], expected="text, or nothing")


def imported_samples(
    path: Path,
    form: TableForm,
    columns: Mapping[str, str],
    evalset: EvalSet,
    repeats: int,
    resume: Resume,
    journal: JournalWriter,
) -> Iterator[int]:
    """Every sample, in the order of the file; those without an output come last.

    A sample's fact is appended when the sample is reached, unless the journal has it, and waits in `resume.begun` for
    whoever takes the sample: as many wait as are under way, whatever the file's size.
    """
    missing = bytearray(b"\1" * (len(evalset) * repeats))
    for output in read_outputs(path, form, columns, evalset, repeats):
        missing[output.sample] = 0
        if _is_new(output.sample, resume):
            fact = _reply(output)
            journal.append(fact)
            resume.begun[output.sample] = [fact]
        yield output.sample
    for sample, lacks in enumerate(missing):
        if lacks:
            yield sample  # whoever is asked has none: it is unanswered (R1.3a)


def _is_new(sample: int, resume: Resume) -> bool:
    return not resume.is_done(sample) and sample not in resume.begun


def _reply(output: RecordedOutput) -> Reply:
    return Reply(
        sample=output.sample,
        role="candidate",
        text=output.output,
        finish_reason=output.finish_reason,
        latency_e2e_ms=output.latency_e2e_ms,
        latency_model_ms=output.latency_model_ms,
        input_tokens=output.input_tokens,
        output_tokens=output.output_tokens,
    )
