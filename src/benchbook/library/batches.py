"""Runs by vendors' batches: `bb.batch_submit`, `bb.batch_collect`, `bb.batch_status`, `bb.batch_cancel`, and twins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from benchbook.ask.batches import running, standing
from benchbook.ask.batches.standing import BatchStanding
from benchbook.evaluators.registry import evaluator_of, settings_for_batch
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.evaluators.settings import values_of
from benchbook.library.asking import as_settings
from benchbook.library.keywords import RunKeywords, check_names
from benchbook.library.objects import AnyRun, Run, record_of, run_of
from benchbook.library.twins import in_thread


@dataclass(frozen=True, slots=True)
class BatchedRun:
    """A run that is asked by batch, after one look. `run` is None while requests are out; `batches` has all of it."""

    path: Path
    n_samples: int
    n_done: int
    n_out: int
    batches: tuple[BatchStanding, ...]
    run: Run | None
    refused: str | None = None  # what a vendor did not take: the next look tries again

    @property
    def is_over(self) -> bool:
        """True if nothing is out: the run is complete, or ended early (`Run.stopped`)."""
        return self.run is not None

    def __repr__(self) -> str:
        return f"BatchedRun({str(self.path)!r}, {self.n_done} of {self.n_samples} samples done, {self.n_out} out)"


def batch_submit(
    config: str | Path | None = None,
    *,
    scorer: Scorer | None = None,
    to_files: str | Path | None = None,
    wait: bool = False,
    **settings: Unpack[RunKeywords],
) -> BatchedRun:
    """Begin a run, and send what can be asked of it in a vendor's batches.

    `config` and `settings` are those of `run`; `batch` is a mapping of what the table [batch] has: `vendor`,
    `judge_vendor`, `price_factor`, `max_requests`, `max_bytes`. A `scorer` scores answers without a judge. With
    `to_files`, a folder, files are written, and nothing is sent. `wait` stays until nothing is out.

    Raises: UsageError and its kin before anything is written; RecordError; VendorError where a vendor refuses for good.
    """
    check_names(settings, RunKeywords, batch_submit)
    own = {} if to_files is None else {"by_hand": True}
    with as_settings(values_of(config, settings)) as given:
        evaluator, checked = settings_for_batch(given, own, str(config or "batch_submit"), scorer)
        found = running.submit(
            evaluator, checked, config, to_files=_folder(to_files), waiting=running.Waiting(until_over=wait)
        )
    return _batched(found)


def batch_collect(
    run: AnyRun,
    *files: str | Path,
    scorer: Scorer | None = None,
    runs: str | Path = "runs",
    to_files: str | Path | None = None,
    resume: bool = False,
    wait: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> BatchedRun:
    """Fetch what is there of a run, record it, and send what follows. `files` are results that you have.

    With `resume`, another sitting begins: samples that ended unanswered are asked again; `changes` are limits and
    addresses of it. `scorer` is the function that scores it, where one does. `to_files` is where further files of
    requests go, by default beside the first of `files`.

    Raises: UsageError for a run that was not begun by batch; RecordError; VendorError.
    """
    record = record_of(run, runs)
    paths = [Path(one) for one in files]
    folder = _folder(to_files) or (paths[0].parent if paths else None)
    found = running.go_on(
        evaluator_of(record, scorer), record, changes=changes, files=paths, to_files=folder, resumes=resume,
        waiting=running.Waiting(until_over=wait),
    )  # fmt: skip
    return _batched(found)


def batch_status(run: AnyRun, *, runs: str | Path = "runs", offline: bool = False) -> list[BatchStanding]:
    """How each batch of a run stands, by its record and, unless `offline`, by its vendor. Raises: RecordError."""
    record = record_of(run, runs)
    return standing.status(evaluator_of(record), record, ask=not offline)


def batch_cancel(run: AnyRun, batches: Sequence[str] = (), *, runs: str | Path = "runs") -> list[BatchStanding]:
    """Ask that batches end now, all that are out or those named. Raises: UsageError, RecordError, VendorError."""
    record = record_of(run, runs)
    return standing.cancel(evaluator_of(record), record, batches)


batch_submit_async = in_thread(batch_submit)
batch_collect_async = in_thread(batch_collect)
batch_status_async = in_thread(batch_status)
batch_cancel_async = in_thread(batch_cancel)


def _folder(folder: str | Path | None) -> Path | None:
    return None if folder is None else Path(folder)


def _batched(found: running.BatchRun[Any]) -> BatchedRun:
    run = run_of(found.record, found.derived, found.stop.reason) if found.is_over else None
    return BatchedRun(
        found.record.path, found.n_samples, found.n_done, found.n_out, tuple(standing.standing_of(found.batches)), run,
        found.refused,
    )  # fmt: skip
