"""Everything that is wrong with one line by itself (SPEC A8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.evalsets.fields import check_fields, field_order, filled_text
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.line_json import JSON_WHITE_SPACE, LineJson, read_line_json, type_name
from benchbook.evalsets.lines import MAX_LINE_BYTES, Line
from benchbook.evalsets.profiles import Profile
from benchbook.evalsets.prompts import question

__all__ = ["CheckedLine", "check_line"]


class CheckedLine(msgspec.Struct, frozen=True):
    """A line's faults, and what later lines are compared with: None where the line has no such text.

    `item` is empty where the line is none. `question` is the prompt together with its context.
    """

    faults: list[Fault]
    item: Mapping[str, Any] = {}
    is_blank: bool = False

    @property
    def id(self) -> str | None:
        return filled_text(self.item.get("id"))

    @property
    def prompt(self) -> str | None:
        return filled_text(self.item.get("prompt"))

    def question(self, prompt: str) -> str:
        """`prompt` (as it is, or its near form) with the context."""
        return question(prompt, self.item.get("context"))


def check_line(line: Line, profile: Profile) -> CheckedLine:
    """Everything that is wrong with a line by itself, in the order of its fields."""
    data = line.data
    faults = [Fault(None, "byte_order_mark", "a byte-order mark; save the file without one")] if line.bom else []
    if data is None:
        limit = f"more than {MAX_LINE_BYTES // 1024**2} MiB (1024 x 1024 bytes); the line was not read"
        return CheckedLine([*faults, Fault(None, "line_too_long", limit)])
    if not data.strip(JSON_WHITE_SPACE):
        if not line.bom:
            faults.append(Fault(None, "blank_line", "nothing on this line"))
        return CheckedLine(faults, is_blank=True)
    read = read_line_json(data)
    if isinstance(read, Fault):
        return CheckedLine([*faults, read])
    return _check_value(read, faults, profile)


def _check_value(read: LineJson, faults: list[Fault], profile: Profile) -> CheckedLine:
    if not isinstance(read.value, dict):
        found = f"found {type_name(read.value)}; expected an object"
        return CheckedLine([*faults, Fault(None, "not_an_object", found)])
    item, found_faults = check_fields(read.value, read.repeated, profile)
    faults.extend(found_faults)
    if len(faults) > 1:
        faults.sort(key=lambda fault: field_order(fault.field))
    return CheckedLine(faults, item)
