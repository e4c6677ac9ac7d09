"""Outputs that were generated elsewhere, checked and then imported as facts (SPEC R1.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from benchbook.ask.work import Resume
from benchbook.canonical import canonical_json
from benchbook.errors import InputError
from benchbook.evalsets import EvalSet
from benchbook.evalsets.items import KnownIds, other_expected
from benchbook.evalsets.table_columns import (
    EXPECTED,
    ITEM_ID,
    ColumnFinder,
    KnownColumn,
    count_at,
    id_at,
    optional_text_at,
    output_column,
    value_at,
)
from benchbook.evalsets.tables import TableForm, read_table, table_form
from benchbook.record.facts import Reply, without_place
from benchbook.record.journal import JournalWriter
from benchbook.text import quoted

# Our name of a column, and the names under which other tools write it.
COLUMNS: Mapping[str, KnownColumn] = {
    "item_id": ITEM_ID,
    "output": output_column("output"),
    "repeat": KnownColumn(("repeat",)),
    "latency_e2e_ms": KnownColumn(("latency_e2e_ms", "latency_ms")),
    "latency_model_ms": KnownColumn(("latency_model_ms",)),
    "input_tokens": KnownColumn(("input_tokens", "prompt_tokens")),
    "output_tokens": KnownColumn(("output_tokens", "completion_tokens")),
    "finish_reason": KnownColumn(("finish_reason",)),
    "expected": EXPECTED,
}
_COUNTS = ("latency_e2e_ms", "latency_model_ms", "input_tokens", "output_tokens")


class RecordedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One output as it was recorded. `sample` is its place in the plan; `output` is None where there was no text."""

    sample: int
    output: str | None
    latency_e2e_ms: int | None = None
    latency_model_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None


def find_columns(path: Path, given: Mapping[str, str], evalset: EvalSet, repeats: int) -> dict[str, str]:
    """Which column of the file is which of ours: as `given`, else by the names that are known.

    Reads the whole file, so that every fault in it is reported now.
    Raises: ConfigError for a name that is not ours, or not in the file; InputError, as `read_outputs` does.
    """
    finder = ColumnFinder(path, COLUMNS, given, "--output-columns")
    for _ in _outputs(path, table_form(path), finder, evalset, repeats):
        pass
    return finder.finish()


def read_outputs(
    path: Path, form: TableForm, columns: Mapping[str, str], evalset: EvalSet, repeats: int
) -> Iterator[RecordedOutput]:
    """The outputs in the order of the file.

    Raises: InputError with the line for an id that is not in the eval set, an output that is there twice, a value of
    another type.
    """
    known = {ours: COLUMNS[ours] for ours in columns}  # and no other: they were found when the record was begun
    return _outputs(path, form, ColumnFinder(path, known, columns, "--output-columns"), evalset, repeats)


def _outputs(
    path: Path, form: TableForm, finder: ColumnFinder, evalset: EvalSet, repeats: int
) -> Iterator[RecordedOutput]:
    items = {item.id: index for index, item in enumerate(evalset)}
    others = evalset.left_out()
    seen = bytearray(len(items) * repeats)
    for line, row in read_table(path, form):
        finder.note(line, row)
        found = {ours: value_at(row, theirs) for ours, theirs in finder.columns.items()}
        item_id = id_at(path, line, "item_id", found["item_id"])
        if item_id in others:
            continue
        index = items.get(item_id)
        if index is None:
            raise KnownIds(items).unknown(path, line, item_id)
        repeat = count_at(path, line, "repeat", found.get("repeat")) or 0
        if repeat >= repeats:
            raise InputError(path, line=line, field="repeat", found=str(repeat), expected=f"0 to {repeats - 1}")
        sample = repeat * len(items) + index
        if seen[sample]:
            found_again = f"{quoted(item_id)} again"
            raise InputError(path, line=line, field="item_id", found=found_again, expected="one output each")
        seen[sample] = 1
        _check_expected(path, line, optional_text_at(path, line, "expected", found.get("expected")), evalset, index)
        yield RecordedOutput(
            sample=sample,
            output=optional_text_at(path, line, "output", found.get("output")),
            finish_reason=optional_text_at(path, line, "finish_reason", found.get("finish_reason")),
            **{name: count_at(path, line, name, found.get(name)) for name in _COUNTS},
        )


def _check_expected(path: Path, line: int, theirs: str | None, evalset: EvalSet, index: int) -> None:
    """Outputs that say what was expected are about the items that say the same. Raises: InputError."""
    if theirs is None:
        return
    item = evalset[index]
    if item.expected_answer is not None and item.expected_answer != theirs:
        raise other_expected(path, line, item.id, theirs, item.expected_answer)


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


_DIGEST = 16  # bytes


class KnownOutputs:
    """Recorded outputs as facts, of each a hash by its sample: to hold a journal against the file they came from."""

    def __init__(self, outputs: Iterable[RecordedOutput], n_samples: int) -> None:
        self._digests = bytearray(_DIGEST * n_samples)
        self.n = 0
        for output in outputs:
            self._digests[output.sample * _DIGEST : (output.sample + 1) * _DIGEST] = _digest(_reply(output))
            self.n += 1

    def __contains__(self, sample: int) -> bool:
        return any(self._digests[sample * _DIGEST : (sample + 1) * _DIGEST])

    def have(self, reply: Reply) -> bool:
        """True if a fact says of its sample what the file does."""
        return self._digests[reply.sample * _DIGEST : (reply.sample + 1) * _DIGEST] == _digest(reply)


def _digest(reply: Reply) -> bytes:
    return hashlib.sha256(canonical_json(without_place(reply))).digest()[:_DIGEST]


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
