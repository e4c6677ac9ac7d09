"""The eval set validator (SPEC A8 to A10).

    python -m benchbook.evalsets.validate [--as PROFILE] [--json | --sarif] FILE…

Its exit code is 0 without errors, 1 if there is one, 2 if it was used wrongly.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.evalset import set_form, set_lines
from benchbook.evalsets.findings import CODES, Fault, Finding, as_json, as_line, as_sarif
from benchbook.evalsets.items import CRITERIA
from benchbook.evalsets.lines import (
    JSON_WHITE_SPACE,
    MAX_LINE_BYTES,
    Line,
    LineJson,
    encoding_fault,
    read_line_json,
    type_name,
)
from benchbook.evalsets.requirements import (
    PROFILES,
    Composition,
    Profile,
    check_fields,
    composition_faults,
    field_order,
    filled_text,
    holds_criteria,
    load_profile,
)
from benchbook.evalsets.set_contents import RepeatedTexts, SetTally, lacking, near_form, question, unread
from benchbook.evalsets.tables import TableForm
from benchbook.text import shorten


class CheckedLine(msgspec.Struct, frozen=True):
    """A line's faults, and the texts with which later lines are compared; None if the line has no such text.

    `item` is empty if the line is not an item. `question` is the prompt together with its context.
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
    """Check a line by itself; its faults are in the order of its fields."""
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


_SUSPECT_ID, _SUSPECT_PROMPT, _SUSPECT_NEAR, _FAULTY = 1, 2, 4, 8


def validate(path: str | Path, profile: str | None = None) -> Iterator[Finding]:
    """Every finding in one eval set, in the order of the lines; those on the whole file come last.

    `profile` is golden-v1, eval_v1 or eval_v2 (composition too, SPEC A9), rubric (items as `run` takes them) or score
    (as `score` does); None: items by SPEC A8. The file is read twice, and about 40 bytes per line are held in between:
    even at 1,000,000 lines, memory does not depend on their contents.

    Raises: UsageError for an unknown profile, and if the file can't be read.
    """
    rules = load_profile(profile)
    if not Path(path).is_file():
        raise UsageError(f"{path}: there is no such file (it is read twice, so a pipe won't do)")
    return (
        Finding(
            path=str(path),
            line=line,
            field=fault.field,
            code=fault.code,
            severity="warning" if fault.code in rules.warned else CODES[fault.code].severity,
            reason=fault.reason,
        )
        for line, fault in _faults(path, rules)
    )


def exit_code(findings: Iterable[Finding]) -> int:
    """1 if one of the findings is an error, else 0."""
    return int(any(finding.severity == "error" for finding in findings))


def _faults(path: str | Path, profile: Profile) -> Iterator[tuple[int | None, Fault]]:
    if (form := set_form(path)) != "parquet" and (wide := encoding_fault(path)) is not None:
        yield 1, Fault(None, "bad_utf8", wide)
        return
    survey = _Survey(path, form, profile)
    for line in survey.lines():
        if mark := survey.marks[line.number - 1]:
            for fault in survey.look_again(check_line(line, profile), line.number, mark):
                yield line.number, fault
    if survey.unreadable is not None:
        yield survey.unreadable
    for fault in survey.whole_file():
        yield None, fault


class _Survey:
    """The first pass: it marks the lines that need a second look, and counts the set's contents."""

    def __init__(self, path: str | Path, form: TableForm, profile: Profile) -> None:
        self.profile = profile
        self.unreadable: tuple[int | None, Fault] | None = None
        self.marks = bytearray()  # by line: the reasons for a second look, 0 for most
        self._path = path
        self._form: TableForm = form
        self._n_lines = 0
        self._has_criteria = False
        self._contents = SetTally(texts=False)
        self.composition = Composition()
        self.n_lines_with_text = 0
        self.n_crlf = 0
        self.ids, self.prompts, self.near = RepeatedTexts(), RepeatedTexts(), RepeatedTexts()
        for line in self.lines():
            checked = check_line(line, profile)
            self._n_lines += 1
            self.n_crlf += line.crlf
            self.n_lines_with_text += not checked.is_blank
            self.marks.extend(bytes(line.number - len(self.marks)))  # rows of a table may have several lines
            self.marks[-1] = _FAULTY if checked.faults else 0
            if checked.item:
                self._note(checked, line.number)
        for repeats, mark in self._repeats():
            for number in repeats.suspects():
                self.marks[number - 1] |= mark

    def lines(self) -> Iterator[Line]:
        """The set's lines, up to a row that can't be read, which is then in `unreadable`."""
        try:
            yield from set_lines(self._path, self._form)
        except InputError as error:
            wanted = f"; expected {error.expected}" if error.expected else ""
            self.unreadable = error.line, Fault(error.field, "unreadable_row", f"found {error.found}{wanted}")

    def _repeats(self) -> tuple[tuple[RepeatedTexts, int], ...]:
        return (self.ids, _SUSPECT_ID), (self.prompts, _SUSPECT_PROMPT), (self.near, _SUSPECT_NEAR)

    def _note(self, checked: CheckedLine, number: int) -> None:
        self.composition.add(checked.item)
        self._contents.add(checked.item)
        # An item's own criteria show a judge what an answer should do.
        self._has_criteria = self._has_criteria or holds_criteria(checked.item.get(CRITERIA))
        if checked.id is not None:
            self.ids.note(checked.id, number)
        if checked.prompt is not None:
            self.prompts.note(checked.question(checked.prompt), number)
            self.near.note(checked.question(near_form(checked.prompt)), number)

    def look_again(self, checked: CheckedLine, number: int, mark: int) -> list[Fault]:
        """A line's own faults and those by comparison with earlier lines, in the order of the fields."""
        faults = list(checked.faults)
        if mark & _SUSPECT_ID and checked.id is not None:
            first = self.ids.earlier(checked.id, number)
            if first is not None:
                faults.append(Fault("id", "duplicate_id", f"the id of line {first} again"))
        if checked.prompt is not None:
            faults += self._prompt_faults(checked, checked.prompt, number, mark)
        return sorted(faults, key=lambda fault: field_order(fault.field))

    def _prompt_faults(self, checked: CheckedLine, prompt: str, number: int, mark: int) -> list[Fault]:
        same = near = None
        if mark & _SUSPECT_PROMPT:
            same = self.prompts.earlier(checked.question(prompt), number)
        if mark & _SUSPECT_NEAR:
            near = self.near.earlier(checked.question(near_form(prompt)), number)
        if same is not None:
            return [Fault("prompt", "duplicate_prompt", f"the prompt of line {same} again")]
        if near is not None:
            reason = f"the prompt of line {near} but for case, white space or punctuation"
            return [Fault("prompt", "near_duplicate_prompt", reason)]
        return []

    def whole_file(self) -> Iterator[Fault]:
        if not self.n_lines_with_text and self.unreadable is None:
            wanted = "one JSON object a line" if self._form == "jsonl" else "a row each"
            yield Fault(None, "no_items", f"no items; expected {wanted}")
        if self.n_crlf:
            yield Fault(None, "line_ends", f"{self.n_crlf} of {self._n_lines} lines end in CR LF; expected LF")
        for field, reason in composition_faults(self.composition, self.profile):
            yield Fault(field, "composition", reason)
        if self.profile.free and self._n_lines:
            yield from self._unread()

    def _unread(self) -> Iterator[Fault]:
        """Columns that were likely meant to be read; and what a judge, where there is one, will not see."""
        contents = self._contents.contents()
        for name, reason in unread(contents):
            yield Fault(shorten(name, 40), "unread_column", reason)
        asks_a_judge = not self.profile.required
        if asks_a_judge and contents.n_items and not self._has_criteria and (unseen := lacking(contents)) is not None:
            yield Fault(None, "unseen_by_judge", unseen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchbook.evalsets.validate", description="Validate eval sets.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--as", dest="profile", choices=PROFILES, help="what the set has to be made of")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")
    given = parser.parse_args(arguments)
    found = (finding for path in given.files for finding in validate(path, given.profile))
    try:
        if given.json or given.sarif:
            findings = list(found)
            sarif = as_sarif(findings, version=version("benchbook")) if given.sarif else None
            sys.stdout.write((json.dumps(sarif, indent=2) if sarif else as_json(findings)) + "\n")
            return exit_code(findings)
        return _print_lines(found)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _print_lines(findings: Iterable[Finding]) -> int:
    code = 0
    encoding = sys.stdout.encoding or "utf-8"
    for finding in findings:
        text = as_line(finding).encode(encoding, "backslashreplace").decode(encoding)
        sys.stdout.write(f"{text}\n")
        code = max(code, exit_code([finding]))
    return code


if __name__ == "__main__":
    sys.exit(main())
