"""Runs and other tools: their logs in and out, and runs sent to where a team looks at its results."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.evalsets.opening import as_file
from benchbook.exchange import importing
from benchbook.exchange.exporting import SAMPLES, Exported, export_record
from benchbook.exchange.tools import tool_named
from benchbook.library.objects import AnyRun, Run, record_of, run_of

if TYPE_CHECKING:
    from benchbook.integrations.trackers.sending import Sent, Tracker


def export(run: AnyRun, *, to: str, out: str | Path, table: str = SAMPLES, runs: str | Path = "runs") -> Exported:
    """Write a run in the form of another tool (`to="inspect"`), or a table of it (`to="csv"`), as `benchbook export`
    does: into a new file, or a new folder where the form has several files. `lost` says what the form can't hold.

    Raises: UsageError for a form that is not known, for `out` that is there, and where the form can't hold the run at
    all; RecordError.
    """
    return export_record(record_of(run, runs), to, out, table=table)


def import_logs(
    path: str | Path,
    *,
    tool: str | None = None,
    scorer: str | None = None,
    scale: tuple[float, float] | None = None,
    model: str | None = None,
    evalset: Any = None,
    requests: str | Path | None = None,
    runs: str | Path = "runs",
    run_id: str | None = None,
) -> list[Run]:
    """Make a record of each log of another tool in a file or folder, as `benchbook import` does.

    `scorer` is the one whose values are the record's score, and `scale` the ends of its scale, where the log does not
    say them. `requests` is the file with the requests of a batch, by default the one beside its results. `evalset`
    is the set that was asked, a path, `@NAME` or rows: samples are joined with its items by id. Logs without samples
    are left out.

    Raises: UsageError naming the file and where it stops making sense, for a scorer that is not there, and where no log
    holds a sample; RecordError where a record can't be written.
    """
    with nullcontext() if evalset is None else as_file(evalset) as name:
        asked = None if requests is None else str(requests)
        wanted = importing.Wanted(str(runs), run_id, scorer, scale, model, asked, name)
        results = importing.import_logs(path, wanted, None if tool is None else tool_named(tool))
        return [run_of(one.record) for one in results]


def send(
    run: AnyRun,
    to: str | Tracker,
    *,
    endpoint: str | None = None,
    texts: bool = False,
    runs: str | Path = "runs",
) -> Sent:
    """Send a run's scores and decision to `otel`, `langfuse`, `mlflow` or `wandb`, or to a tracker of your own, as
    `benchbook send` does. Prompts and answers stay here unless `texts` is true.

    Raises: UsageError for a tracker that is not known or not installed, and for a run that has not come to its end;
    TrackerError where it can't be reached, or refuses.
    """
    from benchbook.integrations.trackers.sending import send as send_record

    return send_record(record_of(run, runs), to, endpoint=endpoint, texts=texts)
