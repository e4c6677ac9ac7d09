"""Logs of lm-evaluation-harness: one for each task, and one for each group, with the samples of its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchbook.errors import InputError
from benchbook.exchange.lm_eval.claims import IN_GROUP, claims_of_group, claims_of_task, scorer_named, scorers_of
from benchbook.exchange.lm_eval.files import Folder, Together, folders_under, harness_files, is_results, is_samples
from benchbook.exchange.lm_eval.hashes import HashesOfRows, note_of_task
from benchbook.exchange.lm_eval.header import header_of
from benchbook.exchange.lm_eval.ours import header_of_ours, sample_of_ours, scorers_of_ours, task_of_ours
from benchbook.exchange.lm_eval.results import HarnessResults, read_results
from benchbook.exchange.lm_eval.rows import FileOfRows, RowReader
from benchbook.exchange.lm_eval.samples import Inquiry, TaskSettings, requests_of, sample_of
from benchbook.exchange.lm_eval.stretches import Occurrences, Stretches, first_pass, rows_by_document
from benchbook.exchange.log import ForeignLog, LogNote, LogSample, LogScorer
from benchbook.exchange.tools import Seen
from benchbook.text import plural

_FORM = "results, and samples as lines of JSON"
_FORM_LIST = "results, and samples as a list in JSON"
_FORM_SAMPLES = "samples alone"
_FORM_RESULTS = "results alone"


def recognises(seen: Seen) -> bool:
    """True for a results or samples file, and for a folder with one directly in it."""
    if not seen.is_folder:
        return is_results(seen.head) or is_samples(seen.head)
    try:
        return next(harness_files(seen.path, seen.names), None) is not None
    except OSError:
        return False


def opened(path: Path) -> Sequence[ForeignLog]:
    """The logs of a folder and those in it; of a results file with the samples beside it; or of a samples file, with
    what the results beside it say of its task. Raises: InputError.
    """
    try:
        if path.is_dir():
            return [log for folder in folders_under(path) for log in _logs_in(folder)]
        found = _logs_in(path.parent, path)
    except OSError as error:
        raise InputError(path, found=f"files that can't be read ({error.strerror})") from None
    if not found:
        raise InputError(path, found="no file of the harness", expected="its results or samples")
    return found


def _logs_in(place: Path, only: Path | None = None) -> list[ForeignLog]:
    folder = Folder.at(place)
    if only is not None and only in folder.results:
        folder.results = [only]
    read = {one: read_results(one) for one in folder.results}
    logs: list[ForeignLog] = []
    for one in folder.together({path: frozenset(results.tasks()) for path, results in read.items()}):
        if only is None or only == one.results:
            logs += _logs_of(one, read[one.results] if one.results else None)
        elif only in one.samples.values():
            task = next(task for task, path in one.samples.items() if path == only)
            logs.append(TaskLog(task, one.results, read[one.results] if one.results else None, only))
    return logs


def _logs_of(files: Together, results: HarnessResults | None) -> Iterator[ForeignLog]:
    """The logs of one run."""
    if results is None:
        for task, path in files.samples.items():
            yield TaskLog(task, None, None, path)
        return
    of_tasks = {task: TaskLog(task, files.results, results, files.samples.get(task)) for task in results.tasks()}
    yield from of_tasks.values()
    for group in results.groups_with_numbers():
        yield GroupLog(
            group, files.results, results, [of_tasks[one] for one in results.tasks_of(group) if one in of_tasks]
        )


class TaskLog(ForeignLog):
    """One task of a run."""

    def __init__(self, task: str, at: Path | None, results: HarnessResults | None, samples: Path | None) -> None:
        self.files: Mapping[str, Path] = {one.name: one for one in (at, samples) if one is not None}
        self._task = task
        self._file = FileOfRows(samples) if samples is not None else None
        self._results = results or HarnessResults(results={})
        self._stretches: Stretches | None = None
        self._noticed: list[LogNote] = []
        self._ours = task_of_ours(self._results.configured(task))
        form = _FORM_RESULTS if self._file is None else _FORM_SAMPLES if results is None else _form_of(self._file)
        self.header = header_of(self._results, task, form, self._scorers(), claims_of_task(self._results, task))
        if self._ours is not None:
            self.header = header_of_ours(self.header, self._ours)

    def _scorers(self) -> tuple[LogScorer, ...]:
        """Those that the results name; of samples alone, those that are found in them."""
        if self._results.results or self._file is None:
            stated = scorers_of(self._results, self._task)
            return stated if self._ours is None else scorers_of_ours(stated, self._ours)
        found = self._read_first(self._file)
        return tuple(
            scorer_named(metric if filtered is None else f"{metric},{filtered}", metric)
            for filtered in found.filters
            for metric in found.metrics
        )

    def _read_first(self, file: FileOfRows) -> Stretches:
        if self._stretches is None:
            metrics = dict.fromkeys(metric for _, metric, _ in self._results.metrics(self._task))
            self._stretches = first_pass(file, self._filters(), list(metrics))
        return self._stretches

    def _filters(self) -> list[str]:
        """Those that the results name."""
        return list(dict.fromkeys(named for _, _, named in self._results.metrics(self._task) if named))

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        """The documents, in the order of the first filter's rows."""
        self._noticed = []
        if self._file is None:
            return
        stretches = self._read_first(self._file)
        reader = RowReader(self._file, list(stretches.metrics), whole=whole or self._ours is not None)
        counted, hashes, seen = Occurrences(), HashesOfRows(), _Seen()
        settings = TaskSettings.of(self._results.configured(self._task))
        n_filters = len(stretches.filters)
        for rows in rows_by_document(reader, stretches, self._filters()):
            _, place, first = rows[0]
            where = f"row {place.number}" if self._file.is_list else f"line {place.number}"
            requests = requests_of(first, settings) or Inquiry(reader.document_at(place))
            hashes.check(first, requests.first, where)
            repeat = counted.before(first.doc_id)
            seen.n_again += repeat > 0
            seen.n_short += len(rows) < n_filters
            seen.n_several += requests.has_several(first)
            sample = sample_of(rows, reader.fields, requests, repeat=repeat, where=where, whole=whole)
            yield sample if self._ours is None else sample_of_ours(sample, first.doc, self._ours, whole=whole)
        self._noticed = [*hashes.notes(), *seen.notes(n_filters)]

    def notes(self) -> list[LogNote]:
        """The note on the hash, on what is in the rows, and on a limit."""
        found = list(self._noticed)
        if self._stretches is not None:
            stated = (self._results.task_hashes or {}).get(self._task)
            of_task = note_of_task(stated, self._stretches.task_hash)
            found = ([of_task] if of_task else []) + found
        counts = (self._results.n_samples or {}).get(self._task)
        if counts and counts.original and counts.effective and counts.effective < counts.original:
            words = f"only {counts.effective:,} of the {counts.original:,} samples of its split were asked"
            found.append(LogNote(code="limited", words=words, n=counts.original - counts.effective))
        return found


def _form_of(file: FileOfRows) -> str:
    return _FORM_LIST if file.is_list else _FORM


class _Seen:
    """Counts of documents that are not as they mostly are."""

    def __init__(self) -> None:
        self.n_again = 0
        self.n_short = 0
        self.n_several = 0

    def notes(self, n_filters: int) -> Iterator[LogNote]:
        if self.n_again:
            words = f"{plural(self.n_again, 'document')} came again: they count as repeats, or two runs are in one file"
            yield LogNote(code="doubled_documents", words=words, n=self.n_again)
        if self.n_short:
            words = f"{plural(self.n_short, 'document')} had fewer rows than the {n_filters} filters"
            yield LogNote(code="missing_rows", words=words, n=self.n_short)
        if self.n_several:
            words = (
                f"{plural(self.n_several, 'document')} had several answers, scored together: shown is the one that was"
                " scored, or the first"
            )
            yield LogNote(code="several_answers", words=words, n=self.n_several)


class GroupLog(ForeignLog):
    """A group of tasks: it has numbers of its own, and its tasks' samples."""

    def __init__(self, group: str, at: Path | None, results: HarnessResults, tasks: Sequence[TaskLog]) -> None:
        self._tasks = tasks
        self.files = {name: path for log in tasks for name, path in log.files.items()}
        if at is not None:
            self.files[at.name] = at
        scorers, claims = scorers_of(results, group), claims_of_group(results, group)
        self.header = header_of(results, group, _FORM, scorers, claims, [log.header for log in tasks])
        self._scorers = frozenset(one.name for one in scorers)

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        """Those of each task in turn."""
        for log in self._tasks:
            task = log.header.task
            for sample in log.samples(whole=whole):
                sample.id = f"{task}/{sample.id}"
                sample.metadata = {**sample.metadata, IN_GROUP: task}
                sample.scores = {name: score for name, score in sample.scores.items() if name in self._scorers}
                yield sample
