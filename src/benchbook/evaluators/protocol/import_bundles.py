"""Judgements made elsewhere, many in one JSON file of another shape, read by a declared mapping.

    judgement_bundles   read_bundle             _replies   raw replies: one a file, or rows of a table
    judgement_mapping   the declared mapping    _form      an entry in the protocol's form
    judgement_lookup    which output is meant   _names     who judged, and how
    judgement_results   what comes of it       _import    all sources, and the file that is written

Nothing is repaired: a bundle's entry becomes a reply with what it has, and what it lacks stays missing; the entry
itself is kept as its bytes stand in the file. A bundle of a finer rubric without verdicts is thereby no valid judgement
under P4; its quotes can be looked up all the same.
"""

from __future__ import annotations

import codecs
import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.lines import read_line_json, type_name
from benchbook.evalsets.output_set_sources import Key, identifiers
from benchbook.evalsets.output_sets import Output
from benchbook.evaluators.protocol.import_mapping import (
    EvidenceRule,
    JudgementMapping,
    NoOutput,
    OutputIndex,
    check_declared,
    need,
)
from benchbook.evaluators.protocol.imported import ImportedJudgement, element_slices
from benchbook.evaluators.protocol.spec import Protocol

MISSING = object()  # no such key, as apart from a null


def value_at_path(value: Any, path: str | None) -> Any:
    """The value in nested objects under names joined by dots, or MISSING."""
    if path is None:
        return MISSING
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value


def protocol_reply(
    entry: Mapping[str, Any], bundle: Any, meta: Mapping[str, Any], mapping: JudgementMapping, protocol: Protocol
) -> dict[str, Any]:
    """The entry as a reply under a protocol, about the output and by the judge that `meta` names."""
    timestamp = _first(value_at_path(entry, mapping.entry.timestamp), value_at_path(bundle, mapping.bundle.timestamp))
    fields = {
        "meta": {**meta, **_present(timestamp=timestamp)},
        "scores": _scores(entry, mapping, protocol),
        "verdict": value_at_path(entry, mapping.entry.verdict),
        "flags": _first(value_at_path(entry, mapping.entry.flags), value_at_path(bundle, mapping.bundle.flags)),
        "evidence": _evidence(entry, mapping),
        "notes": value_at_path(entry, mapping.entry.notes),
    }
    return _present(**fields)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not MISSING), MISSING)


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not MISSING}


def _scores(entry: Mapping[str, Any], mapping: JudgementMapping, protocol: Protocol) -> Any:
    own = value_at_path(entry, mapping.scores.at)
    overall = _present(overall_score=value_at_path(entry, mapping.entry.overall_score))
    if not isinstance(own, dict):
        return own if own is not MISSING or not overall else overall
    parts: dict[str, list[Any]] = defaultdict(list)
    for name, score in own.items():
        dimension = mapping.dimension(name)
        if dimension and name not in mapping.scores.ignore:
            parts[dimension].append(score)
    # A dimension of which a part was not scored is not scored: the parts that are there would speak for it.
    lacking = {dimension for name, dimension in mapping.dimensions.items() if name not in own}
    scores = {
        name: _combined(found, protocol.scores.get(name, range(0)), mapping)
        for name, found in parts.items()
        if name not in lacking
    }
    return scores | overall


def _combined(scores: list[Any], scale: range, mapping: JudgementMapping) -> Any:
    """One score of several. One that is off the scale goes over as it stands: a minimum would hide it."""
    for score in scores:
        if type(score) is not int or score not in scale:
            return score
    return min(scores) if mapping.scores.combine == "min" else max(scores)


def _evidence(entry: Mapping[str, Any], mapping: JudgementMapping) -> Any:
    own = value_at_path(entry, mapping.evidence.at)
    if isinstance(own, dict):
        pairs = ((name, quote) for name, found in own.items() for quote in _each(found))
        items = [_item(found, mapping.evidence, name) for name, found in pairs]
    elif isinstance(own, list):
        items = [_item(found, mapping.evidence, MISSING) for found in own]
    else:
        return own
    return list(_under_protocol_names(items, mapping))


def _each(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def _item(found: Any, rule: EvidenceRule, dimension: Any) -> dict[str, Any]:
    """An item of evidence from a string, or from an object with the declared keys."""
    if not isinstance(found, dict):
        return _present(dimension=dimension, quote=found)
    return _present(
        dimension=_first(found.get(rule.dimension, MISSING), dimension),
        quote=found.get(rule.quote, MISSING),
        reason=found.get(rule.reason, MISSING),
    )


def _under_protocol_names(items: list[dict[str, Any]], mapping: JudgementMapping) -> Iterator[dict[str, Any]]:
    for item in items:
        name = item.get("dimension")
        if not isinstance(name, str):
            yield item
        elif mapping.dimension(name):
            yield {**item, "dimension": mapping.dimension(name)}


MAX_BUNDLE_BYTES = 256 << 20


def read_bundle(
    path: str | Path,
    mapping: JudgementMapping,
    protocol: Protocol,
    outputs: OutputIndex,
    declared: Mapping[str, str] | None = None,
) -> Iterator[ImportedJudgement]:
    """The judgements of one bundle, in its order, put into the form of a protocol's replies.

    `declared` says what neither the file's name nor the bundle does: `judge_model`, `method`, `target_model`; it wins
    over the file's name. A judge that contradicts it in the bundle is kept as the bundle has it, in the reply.

    Raises: ConfigError for `declared`; InputError for what is no bundle of this mapping, or has no known judge.
    """
    path = Path(path)
    check_declared(declared or {})
    data = _read(path)
    bundle = _Bundle(path, data, _parsed(path, data), mapping, protocol, dict(declared or {}))
    need(bundle.known, path)
    seen: dict[Key, str] = {}
    for place, entry, written in bundle.entries():
        name = bundle.output_name(entry)
        found = bundle.find(name, outputs)
        if isinstance(found, NoOutput):
            yield bundle.judgement(place, entry, written, name, None, (found.reason,))
            continue
        first = seen.setdefault(found.key, place)
        remarks = (f"the bundle judges this output at {first} too",) if first != place else ()
        yield bundle.judgement(place, entry, written, name, found, remarks)


@dataclass(frozen=True)
class _Bundle:
    """A bundle's content with what is said about all of it."""

    path: Path
    data: bytes
    value: Any
    mapping: JudgementMapping
    protocol: Protocol
    declared: Mapping[str, str]

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def stated(self) -> dict[str, Any]:
        """The values that the bundle itself has of judge, target and method, under the set's names of models."""
        places = self.mapping.bundle
        paths = {"judge_model": places.judge_model, "target_model": places.target_model, "method": places.method}
        found = {name: value_at_path(self.value, path) for name, path in paths.items()}
        return {
            name: self.mapping.model(value) if isinstance(value, str) and name != "method" else value
            for name, value in found.items()
            if value is not MISSING
        }

    @cached_property
    def known(self) -> dict[str, str]:
        """The same as it is declared: by the caller, else by the file's name, else by the bundle."""
        stated = {name: value for name, value in self.stated.items() if isinstance(value, str)}
        told = {
            name: self.mapping.model(value) if name.endswith("_model") else value
            for name, value in self.mapping.read_file_name(self.path.name).items()
        }
        known = {**stated, **told, **self.declared}
        if known.get("method") == "self_judge" and "judge_model" in known:
            known.setdefault("target_model", known["judge_model"])
        return known

    def entries(self) -> Iterator[tuple[str, dict[str, Any], bytes]]:
        """`(its place, the entry, its bytes)`."""
        entries = value_at_path(self.value, self.mapping.entries)
        if not isinstance(entries, list):
            found = "nothing" if entries is MISSING else type_name(entries)
            raise InputError(self.path, field=self.mapping.entries, found=found, expected="a list of judgements")
        for at, (entry, written) in enumerate(zip(entries, self._slices(), strict=True)):
            place = f"{self.mapping.entries}[{at}]"
            if not isinstance(entry, dict):
                raise InputError(self.path, field=place, found=type_name(entry), expected="an object")
            yield place, entry, written

    def _slices(self) -> Iterator[bytes]:
        return element_slices(self.data.removeprefix(codecs.BOM_UTF8), self.mapping.entries)

    def output_name(self, entry: Mapping[str, Any]) -> str | None:
        found = (value_at_path(entry, path) for path in self.mapping.output.at)
        return next((name for name in found if isinstance(name, str)), None)

    def find(self, name: str | None, outputs: OutputIndex) -> Output | NoOutput:
        if name is None:
            return NoOutput("it names no output")
        known = {field: value for field, value in self.known.items() if field in identifiers()}
        return outputs.find(known | self.mapping.output.known(name))

    def judgement(
        self,
        place: str,
        entry: Mapping[str, Any],
        written: bytes,
        name: str | None,
        output: Output | None,
        remarks: tuple[str, ...],
    ) -> ImportedJudgement:
        cell: dict[str, str] = {} if output is None else output.cell
        named = {} if name is None else {"output_id": name}  # the judge's own word for it, until it is known
        told = {**named, **self.known, **cell}
        reply = protocol_reply(entry, self.value, {**told, **self.stated}, self.mapping, self.protocol)
        return ImportedJudgement(
            source=str(self.path),
            source_sha256=self.sha256,
            place=place,
            **{field: cell.get(field) for field in identifiers()},
            judge_model=self.known["judge_model"],
            method=self.known["method"],
            reply=canonical_json(reply).decode("utf-8"),
            mapping_sha256=self.mapping.sha256,
            remarks=remarks,
            written=written.decode("utf-8"),
        )


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BUNDLE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    if len(data) > MAX_BUNDLE_BYTES:
        raise InputError(path, found=f"over {MAX_BUNDLE_BYTES} bytes", expected="a smaller bundle")
    return data


def _parsed(path: Path, data: bytes) -> Any:
    read = read_line_json(data.removeprefix(codecs.BOM_UTF8))
    if isinstance(read, Fault):
        raise InputError(path, found=read.reason)
    for field, reason in read.repeated.items():
        raise InputError(path, field=field, found=reason, expected="each name once")
    if not _is_finite(read.value):
        raise InputError(path, found="a number beyond what JSON's readers hold", expected="smaller ones")
    return read.value


def _is_finite(value: Any) -> bool:
    """No 1e999, which is read as infinity and would be written as null."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
