"""Reads a `spec.toml` of checks, and finds every fault in it before anything is scored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchbook.evaluators.checks.check_reading import NAME_WORDS, read_check, read_name
from benchbook.evaluators.checks.spec import CheckSpec, ChecksSpec, GateSpec, aggregate_names, column_names
from benchbook.specs.faults import Faults, SpecError, SpecTable, near, parsed
from benchbook.specs.fields import read_about, read_count, read_share
from benchbook.text import quoted

__all__ = ["RESERVED", "read_checks"]

# Columns of a row that no check may take (A5, and the columns of every record).
RESERVED = frozenset((
    "sample", "item_id", "id", "repeat", "section", "category", "difficulty", "group", "answer_format", "prompt",
    "expected", "predicted", "answer", "context", "score", "passed", "reason", "found", "error", "candidate_error",
    "eval_time_ms", "latency_e2e_ms", "latency_model_ms", "queue_ms", "retry_ms", "input_tokens", "output_tokens",
    "total_tokens", "model_reported", "own", "fact_seq", "primary_score", "pass_rate",
    "no_prediction_rate", "miss_reason",
))  # fmt: skip


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
    checks = [read_check(one, files or {}) for one in check_tables]
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
    """What no check shows alone: names that meet in a column, and a spec that everything passes."""
    taken: dict[str, str] = {}
    for table in tables:
        name = table.raw("name")
        if not isinstance(name, str):
            continue
        other = next((taken[column] for column in column_names(name) if column in taken), None)
        if name in RESERVED:
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
