"""The files of batches: which are results, which are requests, and which belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import JSON_WHITE_SPACE, read_lines
from benchbook.exchange.batches.batch_log import BatchLog, BatchSurvey, lines_of, too_long
from benchbook.exchange.batches.form import BatchForm, keys_of
from benchbook.exchange.batches.ids import BatchIds
from benchbook.exchange.log import ForeignLog, LogNote
from benchbook.exchange.tools import Seen
from benchbook.text import plural, quoted

_MOST_BESIDE = 100  # files that are looked at in a folder
_OTHERS = (".json", ".eval", ".zip")  # a folder with one of these may be another tool's


def is_batch(form: BatchForm, seen: Seen) -> bool:
    """True for a file of results of this form, or a folder of such files and those of their requests alone."""
    if not seen.is_folder:
        return seen.head.lstrip(JSON_WHITE_SPACE + b"\xef\xbb\xbf").startswith(b"{") and _is_results(form, seen.path)
    if len(seen.names) > _MOST_BESIDE or any(name.lower().endswith(_OTHERS) for name in seen.names):
        return False
    results, requests = _parts(form, seen.path)
    n_lines = sum(1 for name in seen.names if name.endswith(".jsonl") and not name.startswith("."))
    return bool(results) and len(results) + len(requests) == n_lines


def opened_batches(form: BatchForm, path: Path, requests: Path | None = None) -> Sequence[ForeignLog]:
    """The batch whose results a file has. In a folder, files of results without an id in common are one batch: those of
    answers and of errors, or the parts of one that was too large for a file; else each is a batch of its own.

    Raises: InputError.
    """
    if not path.is_dir():
        if not _is_results(form, path):
            raise InputError(path, found="no line of results", expected=form.title)
        return [_opened(form, path, [path], requests)]
    results, _ = _parts(form, path)
    if not results:
        raise InputError(path, found="no file of results", expected=form.title)
    if len(results) == 1 or _apart(form, results):
        return [_opened(form, path, results, requests)]
    return [_opened(form, one, [one], requests) for one in results]


def _apart(form: BatchForm, results: list[Path]) -> bool:
    """True if no two files have an id in common, nor answers of different models."""
    ids, models = BatchIds(), set[str]()
    try:
        for file, path in enumerate(results):
            survey = BatchSurvey()
            for number, line in lines_of(path):
                found = form.read_result(line, path, number)
                survey.see_result(found)
                if ids.file_of(found.id) not in (None, file):
                    return False
                ids.hold(found.id, file, number, answered=found.answer is not None)
            models |= survey.reported
    finally:
        ids.close()
    return len(models) <= 1


def _opened(form: BatchForm, path: Path, results: list[Path], requests: Path | None) -> BatchLog:
    ids, survey = BatchIds(), BatchSurvey()
    try:
        for file, one in enumerate(results):
            for number, line in lines_of(one):
                found = form.read_result(line, one, number)
                survey.see_result(found)
                ids.hold(found.id, file, number, answered=found.answer is not None)
        notes: list[LogNote] = []
        asked = [requests] if requests is not None else []
        says_itself = survey.params is not None
        if not asked and not says_itself:
            asked = _requests_beside(form, results, ids, notes)
        for one in asked:
            _ask(form, one, ids, survey)
        if requests is not None and not says_itself:
            _check_are_of(form, requests, results, ids)
        return BatchLog(form, path, results, asked, ids, survey, notes)
    except BaseException:
        ids.close()
        raise


def _check_are_of(form: BatchForm, requests: Path, results: list[Path], ids: BatchIds) -> None:
    """Check that some result has its request there. Raises: InputError."""
    if ids.n_without_request() == ids.n_held():
        found = f"no request with the {form.id_name} of any result"
        raise InputError(requests, found=found, expected=f"the requests of {results[0].name}")


def _ask(form: BatchForm, requests: Path, ids: BatchIds, survey: BatchSurvey) -> None:
    """Note where each request stands. Raises: InputError."""
    at = 0
    for line in read_lines(requests):
        if line.data is None:
            raise too_long(requests, line.number)
        if line.data.strip(JSON_WHITE_SPACE):
            asked = form.read_request(line.data, requests, line.number)
            survey.see_request(asked)
            ids.ask(asked.id, at, line.number)
        at += len(line.data) + 1 + line.crlf + 3 * line.bom


def _requests_beside(form: BatchForm, results: list[Path], ids: BatchIds, notes: list[LogNote]) -> list[Path]:
    """The one file of requests in the folder of the results that has all of their ids, if there is one."""
    fitting = [one for one in _parts(form, results[0].parent)[1] if _has_all_ids(form, one, ids)]
    ids.forget_requests()
    if len(fitting) > 1:
        names = ", ".join(quoted(one.name) for one in fitting[:3])
        words = f"{plural(len(fitting), 'file')} beside it have all of its requests, {names}: none was taken"
        notes.append(LogNote(code="several_requests", words=words, n=len(fitting)))
        return []
    if fitting:
        words = f"the requests are those of {quoted(fitting[0].name)} beside it, which has all of its ids"
        notes.append(LogNote(code="requests_beside", words=words))
    return fitting


def _has_all_ids(form: BatchForm, requests: Path, ids: BatchIds) -> bool:
    """True if each result has its request there."""
    ids.forget_requests()
    try:
        _ask(form, requests, ids, BatchSurvey())
    except InputError:
        return False
    return not ids.n_without_request()


def _parts(form: BatchForm, folder: Path) -> tuple[list[Path], list[Path]]:
    """`(results, requests)` of a folder, by their names."""
    results: list[Path] = []
    requests: list[Path] = []
    for path in _candidates(folder):
        keys = keys_of(_first_line(path))
        if form.is_result(keys):
            results.append(path)
        elif form.is_request(keys):
            requests.append(path)
    return results, requests


def _candidates(folder: Path) -> Iterator[Path]:
    try:
        found = sorted(one for one in folder.iterdir() if one.suffix == ".jsonl" and not one.name.startswith("."))
    except OSError:
        return
    yield from (one for one in found[:_MOST_BESIDE] if one.is_file() and not one.is_symlink())


def _is_results(form: BatchForm, path: Path) -> bool:
    return form.is_result(keys_of(_first_line(path)))


def _first_line(path: Path) -> bytes:
    """The first line that is not blank; nothing where it is too long, or can't be read."""
    try:
        for line in read_lines(path):
            if line.data is None:
                return b""
            if line.data.strip(JSON_WHITE_SPACE):
                return line.data
    except UsageError:
        pass
    return b""
