"""Reading a spec of checks, and finding every fault in it before anything is scored.

Its files stand in a folder of the user's, or as a record keeps them: `spec.toml`, and those that it names. Each
`[[checks]]` table has a kind, the kind's settings, the part that is compared, weight and must_pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.errors import ItemError
from benchbook.evaluators.checks.compared import OTHERWISE, AnswerPart, Otherwise, PartName
from benchbook.evaluators.checks.kind import NO_ITEM
from benchbook.evaluators.checks.kinds import KINDS, Kind
from benchbook.evaluators.checks.spec import ONE, WHOLE, CheckSpec, ChecksSpec, GateSpec, aggregate_names, column_names
from benchbook.specs.faults import Faults, SpecError, SpecTable, near, parsed
from benchbook.specs.fields import (
    NAME_WORDS,
    WrongValueError,
    of_these,
    read_about,
    read_count,
    read_name,
    read_share,
    read_text,
    read_truth,
    read_weight,
    said,
)
from benchbook.specs.folders import SPEC_FILE, read_own, spec_text
from benchbook.text import quoted

# Columns of a row that no check may take (A5, and the columns of every record).
_RESERVED = frozenset((
    "sample", "item_id", "id", "repeat", "section", "category", "difficulty", "group", "answer_format", "prompt",
    "expected", "predicted", "answer", "context", "score", "passed", "reason", "found", "error", "candidate_error",
    "eval_time_ms", "latency_e2e_ms", "latency_model_ms", "queue_ms", "retry_ms", "input_tokens", "output_tokens",
    "total_tokens", "model_reported", "own", "fact_seq", "primary_score", "pass_rate",
    "no_prediction_rate", "miss_reason",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class SpecFolder:
    """A spec as it stands in a folder, and the files that define it: spec.toml, and those that it names."""

    spec: ChecksSpec
    files: Mapping[str, bytes]
    sha256: str


def read_spec_folder(folder: str | Path) -> SpecFolder:
    """A user's own evaluator. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    spec, files = read_own(folder, "benchbook checks init NAME", read_spec_files)
    return SpecFolder(spec, dict(files.read), files.sha256)


def read_spec_files(files: Mapping[str, bytes], path: str | Path = SPEC_FILE) -> ChecksSpec:
    """The spec of these files. `path` names spec.toml in messages. Raises: SpecError with every fault."""
    return read_checks(spec_text(files[SPEC_FILE], path), path, files)


def read_checks(text: str, path: str | Path = "spec.toml", files: Mapping[str, bytes] | None = None) -> ChecksSpec:
    """The spec that a `spec.toml` is. `path` names it in messages; `files` are those beside it, by name.

    Raises: SpecError with every fault.
    """
    values, lines = parsed(text, path)
    faults = Faults(path, lines)
    table = SpecTable(values, (), faults)
    name = table.read("name", read_name, needed=NAME_WORDS)
    version = table.read("version", read_count, needed="a whole number from 1")
    about = table.read("about", read_about, needed="one sentence, shown in reports")
    check_tables = table.tables("checks")
    checks = [_read_check(one, files or {}) for one in check_tables]
    if values.get("checks", []) == []:
        table.fault("checks", "nothing", "at least one [[checks]] table")
    _compare_checks(check_tables, checks, faults)
    gates = _read_gates(table, [one.raw("name") for one in check_tables])
    table.say_unknown()
    found = faults.in_order()
    if found or name is None or version is None or about is None:
        raise SpecError(found)
    return ChecksSpec(name, version, about, tuple(one for one in checks if one), gates)


def _compare_checks(tables: list[SpecTable], checks: list[CheckSpec | None], faults: Faults) -> None:
    """Add the faults that no check shows alone: names that meet in a column, and a spec that everything passes."""
    taken: dict[str, str] = {}
    for table in tables:
        name = table.raw("name")
        if not isinstance(name, str):
            continue
        other = next((taken[column] for column in column_names(name) if column in taken), None)
        if name in _RESERVED:
            table.fault("name", f"{quoted(name)}, a column of every record", "another name")
        elif other == name:
            table.fault("name", f"{quoted(name)} a second time", "a name of its own for each check")
        elif other is not None:
            table.fault("name", f"{quoted(name)}, whose columns meet those of {quoted(other)}", "another name")
        else:
            taken.update(dict.fromkeys(column_names(name), name))
    if checks and all(check is not None and not check.must_pass for check in checks):
        faults.add(("checks", 0, "must_pass"), "false for every check", "true for at least one: else every item passes")


def _read_gates(table: SpecTable, checks: list[Any]) -> tuple[GateSpec, ...]:
    known = aggregate_names(one for one in checks if isinstance(one, str))
    gates: dict[str, GateSpec] = {}
    for one in table.tables("gates"):
        aggregate = one.raw("aggregate")
        at_least, at_most = one.read("at_least", read_share), one.read("at_most", read_share)
        one.say_unknown()
        if not isinstance(aggregate, str) or aggregate not in known:
            found = quoted(aggregate) if isinstance(aggregate, str) else "nothing" if aggregate is None else "no text"
            one.fault("aggregate", found, near(aggregate if isinstance(aggregate, str) else "", known))
        elif aggregate in gates:
            one.fault("aggregate", f"{quoted(aggregate)} a second time", "one gate with both at_least and at_most")
        elif "at_least" not in one and "at_most" not in one:
            one.fault("at_least", "nothing", "at_least or at_most, a number from 0 to 1")
        elif at_least is not None and at_most is not None and at_least > at_most:
            one.fault("at_most", "less than at_least", "a number that both can hold at")
        else:
            gates[aggregate] = GateSpec(aggregate, at_least, at_most)
    return tuple(gates.values())


# ── one check ────────────────────────────────────────────────────────────────────────────────────────────────


_TAG = re.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}")

_PART_WORDS = '"whole", "last_line", "boxed", { after = "Answer:" } or { tag = "answer" }'

_ALONE: tuple[PartName, ...] = ("whole", "last_line", "boxed")


def _read_kind(value: Any) -> type[Kind]:
    if not isinstance(value, str) or value not in KINDS:
        raise WrongValueError(said(value), near(value if isinstance(value, str) else "", tuple(KINDS)))
    return KINDS[value]


def _read_check(table: SpecTable, files: Mapping[str, bytes]) -> CheckSpec | None:
    """The check of one table; None where it has a fault, which the table then holds."""
    name = table.read("name", read_name, needed=NAME_WORDS)
    kind = table.read("kind", _read_kind, needed=near("", tuple(KINDS)))
    weight = table.read("weight", read_weight)
    must_pass = table.read("must_pass", read_truth)
    part = table.read("compare", _read_part)
    if kind is None:
        return None  # nobody knows which keys it may have
    settings = _read_kind_settings(table, kind, files, must_pass=must_pass is not False)
    if name is None or settings is None:
        return None
    return CheckSpec(name, settings, part or WHOLE, weight or ONE, must_pass is not False)


def _read_kind_settings(
    table: SpecTable, kind: type[Kind], files: Mapping[str, bytes], *, must_pass: bool
) -> Kind | None:
    """The kind with its settings; None where one is faulty."""
    settings: dict[str, Any] = {}
    is_whole = True
    for key, reader in kind.SETTINGS.items():
        if key in kind.FROM_FILE and isinstance(table.raw(key), str):
            value = table.read(key, lambda name, reader=reader: reader(_file_of(name, files)))  # type: ignore[misc]
        else:
            value = table.read(key, reader, needed="a value: it has no default" if key in kind.NEEDED else None)
        if value is not None:
            settings[key] = value
        elif key in table or key in kind.NEEDED:
            is_whole = False
    table.say_unknown()
    return _made(table, kind, settings, must_pass=must_pass) if is_whole else None


def _made(table: SpecTable, kind: type[Kind], settings: Mapping[str, Any], *, must_pass: bool) -> Kind | None:
    """The kind, if its settings go together."""
    try:
        made = kind(**settings)
    except WrongValueError as wrong:
        table.fault(None, wrong.found, wrong.expected)
        return None
    if made.passes_at is None and must_pass:
        table.fault("at_least", "nothing", "the score from which on it passes, such as 0.5; or must_pass = false")
        return None
    try:
        made.check_item(NO_ITEM)  # finds what is wrong with texts of the spec's own
    except ItemError as error:
        if error.field is None:
            table.fault("expected", error.found, error.expected)
            return None
    return made


def _file_of(name: str, files: Mapping[str, bytes]) -> Any:
    """The JSON value of a file beside the spec."""
    if name not in files:
        there = ", ".join(sorted(files)) or "none"
        raise WrongValueError(quoted(name), f"the name of a file beside the spec; there are {there}")
    try:
        return json.loads(files[name].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WrongValueError(
            f"{quoted(name)}, which is no JSON ({error})", "a file that holds a JSON Schema"
        ) from None


def _read_part(value: Any) -> AnswerPart:
    """`"last_line"`, `{ after = "Answer:" }`, `{ tag = "answer", otherwise = "whole" }`, `{ part = "boxed" }`."""
    if isinstance(value, str):
        name = of_these(value, _ALONE)
        return AnswerPart(name, otherwise=OTHERWISE.get(name, "whole"))
    if not isinstance(value, dict):
        raise WrongValueError(said(value), _PART_WORDS)
    for key in value:
        if key not in ("part", "after", "tag", "otherwise"):
            raise WrongValueError(f"the key {quoted(key)}", near(key, ("part", "after", "tag", "otherwise")))
    named = [key for key in ("part", "after", "tag") if key in value]
    if len(named) != 1:
        raise WrongValueError(" and ".join(named) or "neither part, after nor tag", "one of part, after and tag")
    return _named_part(named[0], value)


def _named_part(key: str, value: Mapping[str, Any]) -> AnswerPart:
    name: PartName = "after" if key == "after" else "tag" if key == "tag" else of_these(value[key], _ALONE)
    mark = "" if key == "part" else read_text(value[key])
    if key == "after" and (mark != mark.strip() or len(mark.splitlines()) > 1):
        raise WrongValueError(quoted(mark), "a mark on one line, without white space at its ends")
    if key == "tag" and not _TAG.fullmatch(mark):
        raise WrongValueError(quoted(mark), "the name of a tag alone, such as answer")
    if "otherwise" not in value:
        return AnswerPart(name, mark, OTHERWISE.get(name, "whole"))
    if name not in OTHERWISE:
        raise WrongValueError("otherwise", f"no such key: {name} is always there")
    choices: tuple[Otherwise, ...] = ("whole", "nothing")
    return AnswerPart(name, mark, of_these(value["otherwise"], choices))
