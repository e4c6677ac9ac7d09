"""Sending a finished record's results to a tracker: what a tracker is, and what they show of a run.

A record is sent after its run has come to its end: nothing is slowed, a verdict is there, and whatever is sent names
the record's hash, so that sending it again changes nothing where a tracker can tell (docs/decisions/0039).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from benchbook.errors import BenchbookError
from benchbook.evaluators.registry import samples_type
from benchbook.integrations.trackers.evaluation_run import EvaluationRun
from benchbook.integrations.trackers.kinds import refused, tracker_named
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows
from benchbook.views.markdown import markdown_page
from benchbook.views.views import view_of, write_pieces


class Tracker(Protocol):
    """Somewhere that results go. One is made for each record that is sent."""

    def send(self, results: RecordResults, samples: Iterator[SampleResult]) -> str:
        """Send a run and all its samples, and say where they can be looked at.

        Raises: TrackerError; UsageError where something is missing that the caller has to give.
        """
        ...


class Sent(NamedTuple):
    """One sending: `n_unscored` of the samples have no score, and a class of error instead."""

    to: str
    where: str
    run_id: str
    record_sha256: str
    n_samples: int
    n_unscored: int


def send(record: Record, to: str | Tracker, *, endpoint: str | None = None, texts: bool = False) -> Sent:
    """Send a record's run and samples to a tracker, by its name or one of your own.

    `texts`: prompts, answers and what the judge said go along. Keys are read from the environment by the tracker's own
    client. Sending the same record again replaces what was sent, or names it by the same ids.

    Raises: UsageError for a tracker that is not known or not installed, and for a run that has not come to its end;
    TrackerError; RecordError.
    """
    results = RecordResults(record, texts=texts)
    n_samples = n_unscored = 0

    def counted() -> Iterator[SampleResult]:
        nonlocal n_samples, n_unscored
        for sample in results.samples():
            n_samples += 1
            n_unscored += not sample.scores
            yield sample

    if isinstance(to, str):
        name, where = to, _sent_to(to, endpoint, results, counted(), texts=texts)
    else:
        name, where = type(to).__name__, to.send(results, counted())
    return Sent(name, where, results.run.run_id, results.run.record_sha256, n_samples, n_unscored)


def _sent_to(
    name: str, endpoint: str | None, results: RecordResults, samples: Iterator[SampleResult], *, texts: bool
) -> str:
    """Raises: as `send`. A client raises whatever the libraries below it do: all of it is a TrackerError."""
    kind = tracker_named(name)
    try:
        tracker: Tracker = kind.opened(endpoint, texts=texts)
        return tracker.send(results, samples)
    except BenchbookError:
        raise
    except Exception as error:
        raise refused(name, error) from error


def run_facts(run: EvaluationRun) -> dict[str, Any]:
    """The facts of a run, by the names that every tracker gets them by; those that are not known are left out."""
    facts: dict[str, Any] = {
        "run_id": run.run_id,
        "evaluator": run.evaluator,
        "evaluator_sha256": run.evaluator_sha256,
        "record_sha256": run.record_sha256,
        "eval_set": run.eval_set,
        "eval_set_sha256": run.eval_set_sha256,
        "model": run.model,
        "model_version": run.model_version,
        "judges": ", ".join(run.judges) or None,
        "repeats": run.repeats,
        "decision": run.decision,
    }
    return {name: value for name, value in facts.items() if value is not None}


# ── a run's report and its items, for trackers that keep files and tables ────────────────────────────────────────

TABLE_COLUMNS = (
    "sample", "item_id", "repeat", "section", "category", "difficulty", "group", "label", "error", "reasons", "model",
    "judges", "input_tokens", "output_tokens", "latency_ms", "cost_usd",
)  # fmt: skip
TEXT_COLUMNS = ("prompt", "expected", "answer", "explanation")
MOST_ROWS = 10_000  # of a table, which a page shows whole and a client holds in memory


class ItemsTable(NamedTuple):
    """The first `MOST_ROWS` samples as a table, of `n_samples`."""

    columns: list[str]
    rows: list[list[Any]]
    n_samples: int

    @property
    def words(self) -> str:
        """How many of the samples are in it, where that is not all."""
        return "" if len(self.rows) == self.n_samples else f", the first {MOST_ROWS:,} of {self.n_samples:,} samples"


def items_table(samples: Iterable[SampleResult], *, texts: bool) -> ItemsTable:
    """A row a sample: what is known of it, its texts where they go along, and a column a score."""
    rows: list[dict[str, Any]] = []
    n_samples = 0
    for sample in samples:
        n_samples += 1
        if len(rows) < MOST_ROWS:
            rows.append(_item_row(sample, texts=texts))
    names = (name for row in rows for name in row)
    columns = list(dict.fromkeys([*TABLE_COLUMNS, *(TEXT_COLUMNS if texts else ()), *names]))
    return ItemsTable(columns, [[row.get(name) for name in columns] for row in rows], n_samples)


def _item_row(sample: SampleResult, *, texts: bool) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(sample, name, None) for name in TABLE_COLUMNS}
    row |= sample.groups
    row |= {"reasons": ", ".join(sample.reasons) or None, "judges": ", ".join(sample.judges) or None}
    if texts and sample.texts is not None:
        row |= sample.texts._asdict()
    row |= {sample.name: None} | {one.name: one.value for one in sample.scores}
    return row


def run_metrics(run: EvaluationRun) -> dict[str, float]:
    """All numbers of a run, and the bounds of those that have an interval: `pass_rate`, `pass_rate.low`, ….high."""
    found: dict[str, float] = {}
    for one in run.aggregates:
        found[one.name] = one.value
        bounds = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
        found |= {
            f"{one.name}.{end}": bound for end, bound in zip(("low", "high"), bounds, strict=True) if bound is not None
        }
    return found


def written_report(results: RecordResults, folder: Path, *, texts: bool) -> list[Path]:
    """The report in a folder: whole where texts may go along, else as it is shown on a terminal, without any item."""
    view = view_of(results.evaluator)
    row_type = samples_type(results.record)
    report = view.report(results.record, results.derived, lambda: read_rows(results.record.samples, row_type))
    if texts:
        return view.write(report, folder)
    return [write_pieces(folder / "summary.md", markdown_page(view.summary(report)))]
