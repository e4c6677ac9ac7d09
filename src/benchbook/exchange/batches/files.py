"""The files of batches: which are results, which are requests, and which belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import JSON_WHITE_SPACE, read_lines
from benchbook.exchange.batches.batch_file import BatchFile, array_in, names_array
from benchbook.exchange.batches.batch_log import BatchLog, BatchSurvey
from benchbook.exchange.batches.form import BatchForm, keys_of
from benchbook.exchange.batches.ids import BatchIds
from benchbook.exchange.log import ForeignLog, LogNote
from benchbook.exchange.tools import Seen, seen_at
from benchbook.text import plural, quoted

_MOST_BESIDE = 100  # files that are looked at in a folder
_OTHERS = (".json", ".eval", ".zip")  # a folder with one of these may be another tool's


class BatchReader:
    """The reader of a vendor's batches, by their form (`tools.Reading`, `tools.ReadingOfRequests`)."""

    def __init__(self, form: BatchForm) -> None:
        self.form = form

    def recognises(self, seen: Seen) -> bool:
        """True for a file of results of this form, or a folder of such files and those of their requests alone."""
        if not seen.is_folder:
            if names_array(seen.head, self.form.result_arrays):
                return True
            is_object = seen.head.lstrip(JSON_WHITE_SPACE + b"\xef\xbb\xbf").startswith(b"{")
            return is_object and _is_results(self.form, seen.path)
        if len(seen.names) > _MOST_BESIDE or any(name.lower().endswith(_OTHERS) for name in seen.names):
            return False
        results, requests = _parts(self.form, seen.path)
        n_lines = sum(1 for name in seen.names if name.endswith(".jsonl") and not name.startswith("."))
        return bool(results) and len(results) + len(requests) == n_lines

    def opened(self, path: Path, *, requests: Path | None = None) -> Sequence[ForeignLog]:
        """The batch whose results a file has. In a folder, files of results without an id in common are one batch:
        those of answers and of errors, or the parts of one that was too large for a file; else each is a batch of its
        own. `requests` is the file that was asked; without it, the one beside the results that has all of their ids.

        Raises: InputError.
        """
        form, asked = self.form, None if requests is None else _file_of_requests(self.form, requests)
        if not path.is_dir():
            return [_opened(form, path, [_file_of_results(form, path)], asked)]
        results, _ = _parts(form, path)
        if not results:
            raise InputError(path, found="no file of results", expected=form.title)
        if len(results) == 1 or _apart(results):
            return [_opened(form, path, results, asked)]
        return [_opened(form, one.path, [one], asked) for one in results]


def _file_of_results(form: BatchForm, path: Path) -> BatchFile:
    """Raises: InputError where it has no results."""
    if names_array(seen_at(path).head, form.result_arrays):
        array = array_in(path, form.result_arrays)
        if array is None:
            raise InputError(path, found="a job without results", expected="one that has come to its end")
        return BatchFile(form, path, array)
    if not _is_results(form, path):
        raise InputError(path, found="no line of results", expected=form.title)
    return BatchFile(form, path)


def _file_of_requests(form: BatchForm, path: Path) -> BatchFile:
    """Raises: InputError where a document with them makes no sense."""
    is_of_lines = not path.is_file() or form.is_request(keys_of(_first_line(path)))
    if is_of_lines or not names_array(seen_at(path).head, form.request_arrays):
        return BatchFile(form, path)
    return BatchFile(form, path, array_in(path, form.request_arrays))


def _apart(results: list[BatchFile]) -> bool:
    """True if no two files have an id in common, nor answers of different models."""
    ids, models = BatchIds(), set[str]()
    try:
        for file, one in enumerate(results):
            survey = BatchSurvey()
            for number, line in one.entries():
                found = one.read_result(line, number)
                survey.see_result(found)
                if ids.file_of(found.id) not in (None, file):
                    return False
                ids.hold(found.id, file, number, answered=found.answer is not None)
            models |= survey.reported
    finally:
        ids.close()
    return len(models) <= 1


def _opened(form: BatchForm, path: Path, results: list[BatchFile], requests: BatchFile | None) -> BatchLog:
    ids, survey = BatchIds(), BatchSurvey()
    try:
        for file, one in enumerate(results):
            for number, line in one.entries():
                found = one.read_result(line, number)
                survey.see_result(found)
                ids.hold(found.id, file, number, answered=found.answer is not None)
        notes: list[LogNote] = []
        asked = [requests] if requests is not None else []
        says_itself = survey.params is not None
        if not asked and not says_itself:
            asked = _requests_beside(form, results, ids, notes)
        for one in asked:
            _ask(one, ids, survey)
        if requests is not None and not says_itself:
            _check_are_of(form, requests, results, ids)
        return BatchLog(form, path, results, asked, ids, survey, notes)
    except BaseException:
        ids.close()
        raise


def _check_are_of(form: BatchForm, requests: BatchFile, results: list[BatchFile], ids: BatchIds) -> None:
    """Check that some result has its request there. Raises: InputError."""
    if ids.n_without_request() == ids.n_held():
        found = f"no request with the {form.id_name} of any result"
        raise InputError(requests.path, found=found, expected=f"the requests of {results[0].name}")


def _ask(requests: BatchFile, ids: BatchIds, survey: BatchSurvey) -> None:
    """Note where each request stands. Raises: InputError."""
    for at, number, data in requests.placed():
        asked = requests.read_request(data, number)
        survey.see_request(asked)
        ids.ask(asked.id, at, number)


def _requests_beside(form: BatchForm, results: list[BatchFile], ids: BatchIds, notes: list[LogNote]) -> list[BatchFile]:
    """The one file of requests in the folder of the results that has all of their ids, if there is one."""
    fitting = [one for one in _parts(form, results[0].path.parent)[1] if _has_all_ids(one, ids)]
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


def _has_all_ids(requests: BatchFile, ids: BatchIds) -> bool:
    """True if each result has its request there."""
    ids.forget_requests()
    try:
        _ask(requests, ids, BatchSurvey())
    except InputError:
        return False
    return not ids.n_without_request()


def _parts(form: BatchForm, folder: Path) -> tuple[list[BatchFile], list[BatchFile]]:
    """`(results, requests)` of a folder, by their names."""
    results: list[BatchFile] = []
    requests: list[BatchFile] = []
    for path in _candidates(folder):
        keys = keys_of(_first_line(path))
        if form.is_result(keys):
            results.append(BatchFile(form, path))
        elif form.is_request(keys):
            requests.append(BatchFile(form, path))
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
