"""Reads one `[[checks]]` table: its kind, the kind's settings, the part that is compared, weight and must_pass."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from benchbook.evaluators.checks.compared import OTHERWISE, AnswerPart, Otherwise, PartName
from benchbook.evaluators.checks.expected import NO_ITEM, ItemError
from benchbook.evaluators.checks.kinds import KINDS, Kind
from benchbook.evaluators.checks.spec import ONE, WHOLE, CheckSpec
from benchbook.specs.faults import SpecTable, near
from benchbook.specs.fields import WrongValueError, of_these, read_text, read_truth, read_weight, said
from benchbook.text import quoted

__all__ = ["NAME_WORDS", "read_check", "read_name"]

NAME_WORDS = "a name of at most 48 small letters, digits and _, a letter first"
_NAME = re.compile("[a-z][a-z0-9_]{0,47}")
_TAG = re.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}")
_PART_WORDS = '"whole", "last_line", "boxed", { after = "Answer:" } or { tag = "answer" }'
_ALONE: tuple[PartName, ...] = ("whole", "last_line", "boxed")


def read_name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise WrongValueError(said(value), NAME_WORDS)
    return value


def read_kind(value: Any) -> type[Kind]:
    if not isinstance(value, str) or value not in KINDS:
        raise WrongValueError(said(value), near(value if isinstance(value, str) else "", tuple(KINDS)))
    return KINDS[value]


def read_check(table: SpecTable, files: Mapping[str, bytes]) -> CheckSpec | None:
    """The check of one table; None where it has a fault, which the table was told."""
    name = table.read("name", read_name, needed=NAME_WORDS)
    kind = table.read("kind", read_kind, needed=near("", tuple(KINDS)))
    weight = table.read("weight", read_weight)
    must_pass = table.read("must_pass", read_truth)
    part = table.read("compare", _read_part)
    if kind is None:
        return None  # which keys it may have nobody knows
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
