"""The rows of a samples file: one pass that checks all of them, and then each sample from the rows that are of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from benchbook.errors import InputError
from benchbook.exchange.every_eval_ever.claims import LogSizes, OneResult, is_in_percent
from benchbook.exchange.every_eval_ever.form import EvalAggregate, EvalRow, checked_version, hashes_of
from benchbook.exchange.every_eval_ever.index import RowIndex, RowPlace
from benchbook.exchange.every_eval_ever.scoring import contradicts, has_spare_error, plain_value
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogNote
from benchbook.text import quoted

_LONGEST = 64 << 20  # bytes of a line
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class RowsRead:
    """A samples file that was read once."""

    path: Path
    index: RowIndex
    aggregate: EvalAggregate | None
    results: list[OneResult] = field(default_factory=list)
    logs: list[list[int]] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    n: int = 0
    noticed: Counter[str] = field(default_factory=Counter)

    def sizes_of(self, log: list[int]) -> LogSizes:
        return LogSizes(*self.index.sizes_of(log))

    def notes(self) -> list[LogNote]:
        """All that was noticed, and how often."""
        found = [LogNote(code=code, words=_WORDS[code], n=n) for code, n in sorted(self.noticed.items())]
        if old := sorted(one for one in self.versions if not one.startswith("0.3")):
            found.append(
                LogNote(
                    code="old_schema", words=f"schema {', '.join(old)}: read as 0.3.0 would be, where they are alike"
                )
            )
        named = None if self.aggregate is None else self.aggregate.detailed_evaluation_results
        total = None if named is None else named.total_rows
        if total is not None and total != self.n:
            words = f"the aggregate names {total:,} rows, and the file has {self.n:,}"
            found.append(
                LogNote(code="rows_missing" if total > self.n else "rows_added", words=words, n=abs(total - self.n))
            )
        return found


_WORDS = {
    "hash_mismatch": "a sample's hash is not that of its input and references: one of them was changed, or it was made "
    "in another way",
    "other_evaluation": "a row is of another evaluation or model than the aggregate, and is left out",
    "only_result": "a row names no result; it is taken as the one of the aggregate's that there is",
    "which_result": "a row names an evaluation of which the aggregate has several results, and not which: none of them "
    "is computed from it",
    "no_result": "a row names a result that the aggregate does not have",
    "error_beside_score": "a row has an error beside a score that cannot be a stand-in: it counts as scored",
    "contradiction": "a row's score says that it is right and `is_correct` that it is not, or the other way round",
}


def read_rows(path: Path, aggregate: EvalAggregate | None, index: RowIndex) -> RowsRead:
    """Reads and checks all rows. Raises: InputError where a line makes no sense, or none is of this evaluation."""
    rows = RowsRead(path, index, aggregate)
    linking = ResultLinks(aggregate)
    others: set[str] = set()
    with path.open("rb") as file:
        for line, start, data in _lines(file, path):
            row = decoded(data, EvalRow, path, line=line)
            rows.versions.add(checked_version(row.schema_version, path, line))
            _check_form(row, path, line)
            rows.n += 1
            if not linking.is_of_it(row):
                rows.noticed["other_evaluation"] += 1
                if len(others) < 3:
                    others.add(f"{quoted(row.evaluation_id)} of {quoted(row.model_id)}")
                continue
            one, noticed = _result_of(row, linking, rows)
            rows.noticed.update(noticed)
            number = index.number_of("\0".join((*one.scope, one.name)))
            content = "\0".join((*one.scope, row.input.raw, *row.references)).encode("utf-8", "surrogatepass")
            index.add(str(row.sample_id), content, row.ours.repeat, RowPlace(number, start, len(data)))
    if rows.n == 0:
        raise InputError(path, found="no rows", expected="a JSON object in each line")
    if not rows.results:
        raise InputError(path, found=f"rows of {', '.join(sorted(others))}", expected=f"rows of {linking.wanted}")
    if aggregate is not None and aggregate.n_claimed_by_us is not None:
        index.join()
    index.finish()
    rows.logs = index.logs()
    for one in rows.results:
        one.is_percent = one.result is not None and is_in_percent(one.result, one.held)
    return rows


def row_at(file: BinaryIO, place: RowPlace, path: Path) -> EvalRow:
    """The row at a place. Raises: InputError where the file has changed since."""
    file.seek(place.start)
    return decoded(file.read(place.size), EvalRow, path, within=f"byte {place.start:,}")


class ResultLinks:
    """Which of an aggregate's results a row is of."""

    def __init__(self, aggregate: EvalAggregate | None) -> None:
        self.results = [] if aggregate is None else aggregate.evaluation_results
        model = None if aggregate is None else aggregate.model_info.get("id")
        self._scope = (
            None if aggregate is None else (aggregate.evaluation_id, model if isinstance(model, str) else None)
        )
        self.names = names_of(aggregate)
        self._by_id = {one.evaluation_result_id: n for n, one in enumerate(self.results) if one.evaluation_result_id}
        self._by_name: dict[str, list[int]] = {}
        for number, one in enumerate(self.results):
            self._by_name.setdefault(one.evaluation_name, []).append(number)

    @property
    def wanted(self) -> str:
        """The evaluation and model that rows must be of, in words."""
        evaluation, model = self._scope or ("", None)
        return quoted(evaluation) + (f" of {quoted(model)}" if model else "")

    def is_of_it(self, row: EvalRow) -> bool:
        if self._scope is None:
            return True
        evaluation, model = self._scope
        return row.evaluation_id == evaluation and model in (None, row.model_id)

    def find(self, row: EvalRow) -> tuple[int | None, str, str]:
        """`(place in the aggregate, name, what is to be noted)`; the place is None where the aggregate has no such."""
        if row.evaluation_result_id:
            number = self._by_id.get(row.evaluation_result_id)
            if number is not None:
                return number, self.names[number], ""
            name = without_run(row.evaluation_result_id, row.evaluation_id) or row.evaluation_name
            return None, name, "no_result" if self.results else ""
        numbers = self._by_name.get(row.evaluation_name, [])
        if len(numbers) == 1:
            return numbers[0], self.names[numbers[0]], ""
        if len(self.results) == 1:
            return 0, self.names[0], "only_result"
        return None, row.evaluation_name, "which_result" if numbers else "no_result" if self.results else ""


def names_of(aggregate: EvalAggregate | None) -> list[str]:
    """A name for each result, which is the same for another model's, and no other's here."""
    found: list[str] = []
    results = [] if aggregate is None else aggregate.evaluation_results
    counts = Counter(one.evaluation_name for one in results)
    for number, one in enumerate(results):
        name = without_run(one.evaluation_result_id or "", aggregate.evaluation_id if aggregate else "")
        if not name:
            metric = one.metric_config.metric_name or one.metric_config.metric_id
            is_plain = counts[one.evaluation_name] == 1 or not metric
            name = one.evaluation_name if is_plain else f"{one.evaluation_name}: {metric}"
        found.append(name if name not in found else f"{name} #{number + 1}")
    return found


def without_run(result_id: str, evaluation_id: str) -> str:
    """A result's id without that of its run, which would make it another for each model."""
    return result_id.removeprefix(evaluation_id).lstrip("#:/. ") if evaluation_id else result_id


def _result_of(row: EvalRow, linking: ResultLinks, rows: RowsRead) -> tuple[OneResult, list[str]]:
    """The result that a row is of, with its value counted, and what is to be noted."""
    number, name, noticed = linking.find(row)
    scope = (row.evaluation_id, row.model_id)
    place = rows.index.number_of("\0".join((*scope, name)))
    if place == len(rows.results):
        result = None if number is None else linking.results[number]
        rows.results.append(OneResult(name, scope, number, result))
    one = rows.results[place]
    config = None if one.result is None else one.result.metric_config
    one.held.add(plain_value(row, config))
    found = [noticed] if noticed else []
    if row.sample_hash and row.sample_hash.lower() not in hashes_of(row):
        found.append("hash_mismatch")
    if has_spare_error(row, config):
        found.append("error_beside_score")
    if contradicts(row, config):
        found.append("contradiction")
    return one, found


def _check_form(row: EvalRow, path: Path, line: int) -> None:
    """Raises: InputError where a row has neither an output nor messages, as each kind of interaction must."""
    if row.interaction_type == "single_turn":
        if row.output is None:
            raise InputError(path, line=line, field="output", found="none of a single turn", expected="an output")
    elif row.messages is None and row.interactions is None:
        kind = quoted(row.interaction_type, 20)
        raise InputError(
            path, line=line, field="messages", found=f"none of an interaction that is {kind}", expected="messages"
        )


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, int, bytes]]:
    """`(number, place, bytes)` of each line that is not blank. Raises: InputError for one that is too long."""
    start, number = 0, 0
    while data := file.readline(_LONGEST + 1):
        number += 1
        if len(data) > _LONGEST:
            raise InputError(
                path, line=number, found=f"a line of more than {_LONGEST >> 20} MB", expected="a shorter one"
            )
        skipped = len(_BOM) if number == 1 and data.startswith(_BOM) else 0
        if data[skipped:].strip():
            yield number, start + skipped, data[skipped:]
        start += len(data)
