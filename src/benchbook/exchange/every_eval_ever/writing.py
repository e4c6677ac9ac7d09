"""Writes a log as Every Eval Ever 0.3.0: an aggregate, and a row for each sample and scorer beside it.

The tree is that of the tool's own store, `data/<dataset>/<developer>/<model>/<uuid>.json`. All of it follows from the
log, its names too: the same record is the same bytes. A sample that was not scored has its reason in `error`, and is in
no mean.
"""

from __future__ import annotations

import re
import time
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import msgspec

from benchbook.canonical import storable_json
from benchbook.exchange.every_eval_ever.form import N_CLAIMED, SCHEMA, STATUS, value_of_text
from benchbook.exchange.every_eval_ever.results_written import result_of
from benchbook.exchange.every_eval_ever.rows_written import RowMaker
from benchbook.exchange.log import ForeignLog, LogHeader, LogScorer, Lost
from benchbook.exchange.totals import ScorerTotals
from benchbook.text import all_storable, shorten, storable
from benchbook.writing import folder_made_whole, make_folder, write_file, written_whole

_UNKNOWN = "unknown"
_NOT_IN_NAMES = re.compile(r'[<>:"\\|?*/\x00-\x1f\x7f-\x9f\u2028\u2029]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?|data|\.*", re.IGNORECASE)
_LONGEST_NAME = 120  # characters
# Their validator takes these for ends of lines, wherever they stand.
_LINE_ENDS = {"\u0085": b"\\u0085", "\u2028": b"\\u2028", "\u2029": b"\\u2029"}
_ARGUMENTS = {"temperature": float, "top_p": float, "top_k": float, "max_tokens": int}


def written(log: ForeignLog, target: Path) -> list[Lost]:
    """Write a log into a new folder. Raises: RecordError where it can't be written."""
    header = log.header
    place = _Place(header)
    with folder_made_whole(target) as folder:
        inner = folder.joinpath(*place.parts)
        make_folder(inner)
        samples = inner / f"{place.name}_samples.jsonl"
        rows = RowMaker(header, place.evaluation, place.model)
        with written_whole(samples) as file:
            checksum, totals = _write_rows(log, rows, file)
        named = {
            "format": "jsonl",
            "file_path": "/".join((*place.parts, samples.name)),
            "hash_algorithm": "sha256",
            "checksum": checksum,
            "total_rows": rows.n,
        }
        if not rows.n:
            samples.unlink()
        aggregate, lost = _aggregate(header, place, totals, named if rows.n else None)
        text = msgspec.json.format(_in_order(aggregate), indent=2)
        write_file(inner / f"{place.name}.json", text + b"\n")
    return [*rows.lost(), *lost]


class _Place:
    """Where an evaluation stands in the store, and what it is called: the same for the same log."""

    def __init__(self, header: LogHeader) -> None:
        self.model = storable(header.model or _UNKNOWN)
        self.dataset = storable(header.dataset or header.task)
        developer, slash, model = self.model.partition("/")
        self.parts = (
            "data",
            _component(self.dataset),
            *map(_component, (developer, model) if slash else (_UNKNOWN, developer)),
        )
        self.ran = _seconds(header.created_at)
        self.made = self.ran or str(int(time.time()))
        self.evaluation = "/".join((storable(header.task), self.model.replace("/", "_"), self.made))
        record = header.metadata.get("record_sha256")
        self.record = record if isinstance(record, str) else None
        named = storable_json([self.evaluation, self.record, header.tool, header.form])
        self.name = str(UUID(bytes=sha256(named).digest()[:16], version=4))


def _write_rows(log: ForeignLog, rows: RowMaker, file: BinaryIO) -> tuple[str, dict[str, ScorerTotals]]:
    """Write a row for each sample and scorer; returns the file's hash, and what each scorer's values come to."""
    hashed = sha256()
    totals = {one.name: ScorerTotals(log.header.repeats > 1) for one in log.header.scorers}
    for sample in log.samples():
        for name, row, value in rows.of(sample):
            line = _in_order(row) + b"\n"
            for character, escape in _LINE_ENDS.items():
                line = line.replace(character.encode(), escape)
            hashed.update(line)
            file.write(line)
            if name is not None:
                totals.setdefault(name, ScorerTotals(log.header.repeats > 1)).add(sample.id, value)
    return hashed.hexdigest(), totals


# ── the aggregate ────────────────────────────────────────────────────────────────────────────────────────


def _aggregate(
    header: LogHeader, place: _Place, totals: dict[str, ScorerTotals], named: dict[str, Any] | None
) -> tuple[dict[str, Any], list[Lost]]:
    source: dict[str, Any] = {"dataset_name": place.dataset, "source_type": "other"}
    if header.dataset_version:
        source["additional_details"] = {"version": header.dataset_version}
    known = {one.name: one for one in header.scorers}
    results, empty, outside = [], [], []
    for name, total in totals.items():
        if not total.scored:
            empty.append(name)
            continue
        result, is_outside = result_of(known.get(name) or LogScorer(name=name), total, source, header.task)
        outside += [name] if is_outside else []
        results.append(result | ({"generation_config": config} if (config := _generation(header)) else {}))
    is_ours = header.tool == "benchbook"
    details = {
        "record_sha256": place.record,
        "form": header.form,
        "tool": None if is_ours else header.tool,
        STATUS: header.status,
        N_CLAIMED: None if header.n_claimed is None else str(header.n_claimed),
    }
    aggregate: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": place.evaluation,
        "retrieved_timestamp": place.made,
        "source_metadata": {
            "source_name": "Benchbook",
            "source_type": "evaluation_run",
            "source_organization_name": _UNKNOWN,
            "evaluator_relationship": "other",
            "additional_details": {name: one for name, one in details.items() if one is not None},
        },
        "eval_library": {"name": header.tool, "version": header.tool_version or _UNKNOWN},
        "model_info": {
            "name": place.model,
            "id": place.model,
            "additional_details": {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN},
        },
        "evaluation_results": results,
    }
    if place.ran is not None:
        aggregate["evaluation_timestamp"] = place.ran
    if named is not None:
        aggregate["detailed_evaluation_results"] = named
    return aggregate, list(_lost(header, empty, outside, named))


def _lost(header: LogHeader, empty: list[str], outside: list[str], named: dict[str, Any] | None) -> list[Lost]:
    """All that the aggregate can't hold."""
    judges = [one.name for one in header.scorers if one.judge]
    found = [
        (empty, "a result must have a score: {names} scored no sample, and has none"),
        (outside, "values of {names} are outside of its scale, which is not stated"),
        (judges, "`llm_scoring` must have the judge's prompt: the judge of {names} is in `additional_details`"),
    ]
    lost = [Lost(what=words.format(names=", ".join(names)), n=len(names)) for names, words in found if names]
    if "/" not in (header.model or ""):
        words = (
            f"a store has models by who made them, and {shorten(header.model or 'no model', 60)} says nothing of that"
        )
        lost.append(Lost(what=f"{words}: `{_UNKNOWN}` stands there"))
    if header.status not in ("complete", "not_known"):
        lost.append(Lost(what=f"that the run is {header.status.replace('_', ' ')}: it is in `additional_details`"))
    if named is None:
        lost.append(Lost(what="there is no sample, and so no file of samples"))
    return lost


def _generation(header: LogHeader) -> dict[str, Any]:
    """How answers were made: what the form has a place for by its name, and all else as texts."""
    arguments: dict[str, Any] = {}
    others: dict[str, str] = {}
    for name, value in header.generation_params.items():
        kind = _ARGUMENTS.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if kind is not None and is_number and (kind is float or (isinstance(value, int) and value >= 1)):
            arguments[name] = value
        elif value is not None:
            is_text = isinstance(value, str) and value == value_of_text(value)
            others[name] = value if is_text else storable_json(value).decode()
    if header.prompt_template is not None:
        arguments["prompt_template"] = header.prompt_template
    parts = {"generation_args": arguments, "additional_details": others}
    return {name: one for name, one in parts.items() if one}


def _in_order(value: dict[str, Any]) -> bytes:
    """JSON whose names stand as they were put: what a reader knows the form by comes first."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(all_storable(value))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────


def _component(name: str) -> str:
    """A name as one part of a path, on any system."""
    found = _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME].strip().rstrip(". ")
    return f"_{found}" if _RESERVED.fullmatch(found) else found


def _seconds(moment: str | None) -> str | None:
    """A time in seconds since 1970; None where none is known, or its time zone is not."""
    if moment is None:
        return None
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return None if found.tzinfo is None else f"{found.timestamp():.6f}".rstrip("0").rstrip(".")
