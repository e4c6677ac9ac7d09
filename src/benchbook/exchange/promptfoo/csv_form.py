"""promptfoo's CSV: a row a test case, and some columns for each prompt with a provider.

Which columns there are has changed: the first holds the answer, and, where no column `Status` follows, `[PASS] ` or its
like before it; then the score, named scores and the grader's reason, if at all. Scores are rounded to two decimals.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.log import LogNote
from benchbook.exchange.promptfoo.forms import CUT, PromptColumn, ResultFile
from benchbook.exchange.promptfoo.results import ERROR, FAILED, Grading, Prompt, ProviderResponse, Result
from benchbook.text import plural

_MOST_CELL = 1 << 26  # characters
_METRIC = "Metric: "
_AFTER_ANSWER = ("Reasoning", "Status", "Score", "Named Scores", "Latency (ms)", "Grader Reason", "Comment")
_PROVIDER = re.compile(r"\[([^\]]*)\] (.*)\Z", re.DOTALL)
_VERDICT = re.compile(r"\[(PASS|FAIL|ERROR)\](?: \(([-\d.]+)((?:, [^()]*?: [-\d.]+)*)\)\n\n| ?)", re.DOTALL)
_REASON = re.compile(r"\n\n(?:Pass|Fail) Reason: (.*)\Z", re.DOTALL)
# What spreadsheets carry out: promptfoo puts an apostrophe before it.
_MARKED = re.compile(r"'(?=[\s\u200b\u200c\u200d]*([=@+-]))")


class _Group(NamedTuple):
    """The columns of one prompt with a provider."""

    label: str
    first: int
    names: dict[str, int]  # of the columns after the answer's, and their places


class CsvResults(ResultFile):
    """The file of `promptfoo eval -o x.csv`, of the page's export, and of a Google sheet that promptfoo filled."""

    form = "CSV"

    def results(self, column: int | None = None) -> Iterator[tuple[str, Result]]:
        csv.field_size_limit(_MOST_CELL)
        n_marked = 0
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as text:
                rows = csv.reader(text, strict=True)
                names = next(rows, [])
                groups = groups_of(names)
                self.columns = [_column(one) for one in groups]
                for n, cells in enumerate(rows):
                    where = f"line {rows.line_num}"
                    if len(cells) != len(names):
                        found = f"another number of cells than in the header ({len(cells)})"
                        raise InputError(self.path, line=rows.line_num, found=found, expected=str(len(names)))
                    plain = [_without_mark(one) for one in cells]
                    n_marked += sum(one != cell for one, cell in zip(plain, cells, strict=True))
                    for result in self._of_row(names, groups, n, plain):
                        if column in (None, result.prompt_idx):
                            yield where, result
        except csv.Error as error:
            raise InputError(self.path, line=rows.line_num, found=f"no CSV ({error})", expected="RFC 4180") from None
        except UnicodeDecodeError as error:
            raise InputError(self.path, found=f"no UTF-8 ({error.reason})") from None
        except OSError as error:
            raise InputError(self.path, found=f"a file that can't be read ({error.strerror})") from None
        self.notes = list(_notes(n_marked))

    def _of_row(self, names: list[str], groups: list[_Group], n: int, cells: list[str]) -> Iterator[Result]:
        n_before = groups[0].first if groups else 0
        asked = dict(zip(names[:n_before], cells[:n_before], strict=True))
        described = names[:1] == ["Description"]
        description = asked.pop("Description", None) if described else None
        case = msgspec.json.encode({"description": description or None, "vars": asked})
        for column, group in enumerate(groups):
            result = _result(group, cells)
            if result is not None:
                result.prompt_idx, result.test_idx = column, n
                result.vars, result.test_case = asked, msgspec.Raw(case)
                result.prompt = Prompt(raw=_asked(_column(group).raw, asked), label=_column(group).label)
                yield result


def is_header(head: bytes) -> bool:
    """True if a file begins with promptfoo's header, and a row that fits it."""
    text = head.decode("utf-8-sig", errors="ignore")
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=False)
        names = next(rows, [])
        cells = next(rows, [])
    except csv.Error:
        return False
    groups = groups_of(names)
    if any("Grader Reason" in one.names for one in groups):
        return True
    return bool(groups) and len(cells) > groups[0].first and bool(_VERDICT.match(cells[groups[0].first]))


def groups_of(names: Sequence[str]) -> list[_Group]:
    """The columns of a header by prompt and provider."""
    found: list[_Group] = []
    for place, name in enumerate(names):
        known = name in _AFTER_ANSWER or name.startswith(_METRIC)
        following = names[place + 1] if place + 1 < len(names) else ""
        if not known and (following in _AFTER_ANSWER or (_PROVIDER.match(name) and not following.startswith(_METRIC))):
            found.append(_Group(name, place, {}))
        elif known and found:
            found[-1].names.setdefault(name, place)
    return [one for one in found if "Grader Reason" in one.names or _PROVIDER.match(one.label)]


def _result(group: _Group, cells: list[str]) -> Result | None:
    """A cell's result, without its place; None where this column was not asked."""
    text = cells[group.first]
    own = {name: cells[place] for name, place in group.names.items()}
    status, score, reason = own.get("Status"), own.get("Score"), own.get("Grader Reason")
    named = own.get("Named Scores", "")
    scores: dict[str, Any] = _named(named) | {
        name.removeprefix(_METRIC): _number(value) for name, value in own.items() if name.startswith(_METRIC) and value
    }
    if status is None:
        verdict = _VERDICT.match(text)
        if verdict is None:
            return None
        status, score = verdict[1], verdict[2] or ""
        pairs = (pair.rpartition(": ") for pair in (verdict[3] or "").split(", ") if pair)
        scores = scores or {name: _number(value) for name, _, value in pairs}
        text = text[verdict.end() :]
        if found := _REASON.search(text):
            text, reason = text[: found.start()], found[1]
        elif verdict[2] and status == "FAIL":  # without a reason nothing was graded
            status = "ERROR"
        if status != "PASS" and CUT in text:
            before, _, text = text.partition(CUT)
            reason = reason or before
    elif not status and not score and not text:
        return None
    failed = status == "ERROR"
    value = _number(score) if score else float(status == "PASS")  # older pages gave no score beside PASS and FAIL
    return Result(
        prompt_idx=0,
        test_idx=0,
        success=status == "PASS",
        score=value,
        failure_reason=ERROR if failed else FAILED if status == "FAIL" else 0,
        error=(reason or text or None) if failed else None,
        latency_ms=_number(own.get("Latency (ms)")),
        response=None if failed else ProviderResponse(output=text),
        grading_result=Grading(passed=status == "PASS", score=value, reason=reason or None),
        named_scores=scores,
    )


def _column(group: _Group) -> PromptColumn:
    named = _PROVIDER.match(group.label)
    label = named[2] if named else group.label
    return PromptColumn(raw=label, label=label, provider=named[1] if named else None)


def _asked(template: str, values: dict[str, str]) -> str:
    """As much as the file has of a prompt: the template, or its label, and the values of its variables."""
    return "\n\n".join(
        filter(None, (template, "\n".join(f"{name}: {value}" for name, value in values.items() if value)))
    )


def _named(text: str | None) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any]) if text else {}
    except (msgspec.DecodeError, RecursionError):
        return {}


def _number(text: str | None) -> float | None:
    try:
        found = float(text) if text else None
    except ValueError:
        return None
    return found if found is not None and isfinite(found) else None


def _without_mark(cell: str) -> str:
    """A cell as it was: promptfoo marks what begins like a formula, but for numbers with a sign."""
    mark = _MARKED.match(cell)
    if mark is None or (mark[1] in "+-" and _number(cell[1:].strip()) is not None):
        return cell
    return cell[1:]


def _notes(n_marked: int) -> Iterator[LogNote]:
    words = "a CSV has no rendered prompts: each is its template, or its label, with the values of its variables"
    yield LogNote(code="no_prompts", words=words)
    if n_marked:
        words = f"the apostrophe before what a spreadsheet would carry out was taken from {plural(n_marked, 'cell')}"
        yield LogNote(code="marked_cells", words=words, n=n_marked)
