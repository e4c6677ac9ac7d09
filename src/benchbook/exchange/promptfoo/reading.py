"""Reads promptfoo's files: a log for each column of its table, a prompt with a provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.conversations import as_text
from benchbook.exchange.json_text import number_of
from benchbook.exchange.log import Claim, ForeignLog, Formula, LogHeader, LogNote, LogSample, LogStatus
from benchbook.exchange.ours import said_of
from benchbook.exchange.promptfoo.claims import UnknownMetrics, claims_of_column, claims_of_file
from benchbook.exchange.promptfoo.csv_form import CsvResults, is_header
from benchbook.exchange.promptfoo.forms import JsonResults, LineResults, PromptColumn, ResultFile, TableResults
from benchbook.exchange.promptfoo.ours import OfConfig, scorers_of_ours
from benchbook.exchange.promptfoo.samples import IS_ERROR, NAMED, SCORE, model_name, sample_of
from benchbook.exchange.promptfoo.survey import ColumnSeen, Survey
from benchbook.exchange.promptfoo.yaml_form import YamlResults
from benchbook.exchange.tools import Seen, seen_at
from benchbook.text import plural

_BOM = b"\xef\xbb\xbf"
_STATUSES: tuple[LogStatus, ...] = get_args(LogStatus)
_FORMS = "JSON, JSONL, YAML or CSV"
_DOCUMENT = re.compile(rb'\s*\{\s*"evalId"\s*:')
_TABLE = re.compile(rb'\s*\{\s*"head"\s*:\s*\{\s*"prompts"\s*:')
_VERSION = re.compile(rb'"results"\s*:\s*\{\s*"version"\s*:\s*(\d+)')
_LINE = re.compile(rb'\{"[^\n]*"(?:promptIdx|gradingResult|testIdx)"\s*:')
_YAML = re.compile(rb"(?:---\s*\n)?(?:evalId: .*\n)?results:\n  version: (\d+)\n  timestamp: ")
_GENERATION = frozenset(("temperature", "top_p", "max_tokens", "seed", "presence_penalty", "frequency_penalty"))


def recognises(seen: Seen) -> bool:
    """True if promptfoo wrote this, also in a form that is not read. Never raises."""
    return not seen.is_folder and (_reader_of(seen.head) is not None or _for_others(seen.head) is not None)


def opened(path: Path) -> Sequence[ForeignLog]:
    """A log for each column. Raises: InputError for a form that holds too little, or where it makes no sense."""
    head = seen_at(path).head
    reader = _reader_of(head)
    if reader is None:
        form = _for_others(head)
        found = f"promptfoo's {form}, which lacks what is read here" if form else "no results of promptfoo"
        raise InputError(path, found=found, expected=f"{_FORMS}: promptfoo export eval ID -o x.json")
    file = reader(path)
    survey = Survey(file)
    return [PromptfooLog(file, survey, n) for n in _columns(file, survey)]


class PromptfooLog(ForeignLog):
    """The results of one column."""

    def __init__(self, file: ResultFile, survey: Survey, column: int) -> None:
        self.files = {file.path.name: file.path}
        self._file = file
        self._column = column
        self._repeats = survey.repeats
        self._seen = survey.columns.get(column) or ColumnSeen()
        self.header = _header(file, survey, column, self._seen)
        self._notes = [*self._seen.notes, *file.notes]

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        left = dict(self._seen.doubled)
        for where, result in self._file.results(self._column):
            if left.get(result.test_idx):
                left[result.test_idx] -= 1  # the last counts
                continue
            item = self._repeats.get(result.test_idx)
            yield sample_of(result, self._file.path, where=where, item=item, whole=whole)

    def notes(self) -> list[LogNote]:
        return self._notes


def _reader_of(head: bytes) -> Callable[[Path], ResultFile] | None:
    """The reader of a file that begins so."""
    text = head.removeprefix(_BOM)
    if _TABLE.match(text):
        return partial(TableResults, alone=True)
    if text.lstrip()[:1] == b"{":
        version = _VERSION.search(text)
        if _DOCUMENT.match(text) or version:
            return TableResults if version and int(version[1]) < 3 else JsonResults
        return LineResults if _LINE.match(text) else None
    if written := _YAML.match(text):
        return partial(YamlResults, version=int(written[1][:9]))
    return CsvResults if is_header(head) else None


def _for_others(head: bytes) -> str | None:
    """The name of a form that promptfoo writes for other readers."""
    text = head.removeprefix(_BOM).lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")) and b"promptfoo" in text:
        return "HTML"
    if text.startswith(b"<promptfoo>"):
        return "XML"
    return "JUnit XML" if b"<testsuites" in text[:1000] and b'name="promptfoo"' in text[:1000] else None


def _columns(file: ResultFile, survey: Survey) -> list[int]:
    """The columns that the file names; those of its results where it names none."""
    if file.columns is None:
        return sorted(survey.columns)
    beyond = [n for n in survey.columns if n >= len(file.columns)]
    if beyond:
        found = f"results of column {min(beyond)}"
        raise InputError(file.path, field="promptIdx", found=found, expected=plural(len(file.columns), "column"))
    return list(range(len(file.columns)))


def _header(file: ResultFile, survey: Survey, n: int, seen: ColumnSeen) -> LogHeader:
    rest = file.rest
    column = file.columns[n] if file.columns is not None else PromptColumn(label=seen.label, provider=seen.model)
    config = rest.config or {}
    own = said_of(config.get("metadata"), OfConfig)
    metrics = column.metrics or {}
    tests = [number_of(metrics.get(name)) for name in ("testPassCount", "testFailCount", "testErrorCount")]
    about = {
        "eval_id": as_text(rest.eval_id),
        "column": n,
        "prompt": as_text(column.label),
        "n_columns": len(file.columns or survey.columns),
    }
    return LogHeader(
        tool="promptfoo",
        tool_version=as_text(rest.metadata.promptfoo_version) if rest.metadata else None,
        form=file.form,
        task=as_text(config.get("description")) or as_text(rest.eval_id) or file.path.stem,
        model=model_name(column.provider),
        scorers=seen.scorers if own is None else tuple(scorers_of_ours(own, SCORE, NAMED)) or seen.scorers,
        status=file.status if own is None else _status(own),
        created_at=_time(rest.results.timestamp) or _time(rest.metadata and rest.metadata.evaluation_created_at),
        dataset=own.dataset if own else config["tests"] if isinstance(config.get("tests"), str) else None,
        dataset_version=own.dataset_version if own else None,
        n_claimed=own.n_claimed
        if own
        else int(sum(one or 0 for one in tests))
        if any(one is not None for one in tests)
        else None,
        repeats=max(survey.n_repeats, own.repeats if own else 1),
        claims=tuple(map(_of_ours if own else _as_it_is, _claims(file, n, seen))),
        generation_params=own.generation_params if own else _generation_params(config, column.provider),
        prompt_template=own.prompt_template if own else as_text(column.raw),
        metadata={name: value for name, value in about.items() if value is not None},
    )


def _of_ours(claim: Claim) -> Claim:
    """A claim of a log of ours, whose unscored samples are errors to promptfoo alone."""
    if "n_errors" not in (claim.formula, claim.of_file):
        return claim
    summed: Formula | None = None if claim.formula is None else "sum"
    return msgspec.structs.replace(claim, formula=summed, field=IS_ERROR)


def _as_it_is(claim: Claim) -> Claim:
    return claim


def _status(own: OfConfig) -> LogStatus:
    return next((one for one in _STATUSES if one == own.status), "not_known")


def _claims(file: ResultFile, n: int, seen: ColumnSeen) -> Iterator[Claim]:
    columns = file.columns or []
    derived = (file.rest.config or {}).get("derivedMetrics")
    names = {str(one.get("name")) for one in derived if isinstance(one, dict)} if isinstance(derived, list) else set()
    unknown = UnknownMetrics(derived=names, templated=seen.templated)
    if columns and columns[n].metrics:
        yield from claims_of_column(columns[n].metrics or {}, f"{file.place_of_columns}[{n}].metrics", unknown)
    stats = file.rest.results.stats
    if n == 0 and stats:
        yield from claims_of_file(stats, len(columns), has_errors="errors" in stats)


def _generation_params(config: Mapping[str, Any], provider: object) -> dict[str, Any]:
    """Those of the column's provider that the config names."""
    providers = config.get("providers")
    for one in providers if isinstance(providers, list) else ():
        if isinstance(one, dict) and provider in (one.get("label"), one.get("id")):
            own = one.get("config")
            known = own.items() if isinstance(own, dict) else ()
            return {name: value for name, value in known if name in _GENERATION and number_of(value) is not None}
    return {}


def _time(value: object) -> str | None:
    """A time as RFC 3339, in UTC; as it stands where it is none."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return value
    return value if value.endswith("Z") or not time.tzinfo else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
