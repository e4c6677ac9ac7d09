"""A record as a run that can be compared: its samples and what was asked, its manifest; and the baseline."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.comparison.items import ComparedRun, compared_columns, compared_items, unanswered_why
from benchbook.comparison.whole_runs import WholeRun, whole_run
from benchbook.errors import InputError, RecordError, UsageError
from benchbook.evaluators.asked import asked_frame
from benchbook.evaluators.contract import COST, EndedEarly, Evaluator
from benchbook.evaluators.costs import with_costs
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.derived_files import check_whole, reading_frame
from benchbook.record.facts import RunEnded
from benchbook.record.folder import Record, is_record, misnamed
from benchbook.record.reading import read_journal, why_unreadable
from benchbook.text import storable
from benchbook.writing import write_file

if TYPE_CHECKING:
    import polars

    from benchbook.training.curves import Curve

# What a comparison reads of samples.parquet beside the evaluator's own columns; each table has some of them.
_COLUMNS = frozenset({
    "sample", "repeat", "item_id", "section", "category", "difficulty", "group", "prompt", "expected", "miss_reason",
    "error", "candidate_error", "score_origin", "answer_seq", "error_detail", "timed_out",
})  # fmt: skip


def compared_run(record: Record) -> ComparedRun:
    """The run by its derived files as they are on disk; `verify` tells whether these hold.

    Raises: RecordError where one is missing or can't be read, or its journal is gone; UsageError for a scorer without
    items to compare.
    """
    check_whole(record)
    return _read(record, record)


def ranked_run(record: Record) -> ComparedRun:
    """As `compared_run`, without what a ranking of runs does not need: the numbers of the run as a whole."""
    check_whole(record)
    return _read(record, record, has_whole=False)


def compared_run_derived(record: Record) -> ComparedRun:
    """The run with every derived file derived anew from the journal: a file that was edited changes nothing.

    Raises: as `compared_run`, and RecordDamagedError.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-compare-") as folder:
        evaluator_of(record).derive(record, Path(folder))
        return _read(record, Record(folder))


@dataclass(frozen=True, slots=True)
class RowsOfItems:
    """A table whose row n is item n of the eval set of that hash: two runs of equal ones are aligned row by row."""

    spec: str
    spec_sha256: str
    evalset_sha256: str
    n_items: int
    evaluator: Evaluator = field(compare=False)


def rows_of_items(record: Record) -> RowsOfItems | None:
    """Describe a run's table without reading its rows one by one; None where they are not those of the eval set.

    Some evaluators have a row for every item, asked or not (SPEC A5), and one repeat makes it the only.
    Where some were not answered (R1.3a), they may be missing from a comparison, and its rows are others.

    Raises: as `compared_run`.
    """
    import polars as pl

    check_whole(record)
    manifest, evaluator = manifest_of(record), evaluator_of(record)
    has_all = evaluator.compared is not None and evaluator.compared.has_every_item
    spec, inputs, n_items = manifest.get("spec"), manifest.get("inputs"), manifest.get("n_items")
    if not has_all or spec != evaluator.id or manifest.get("repeats") != 1 or not isinstance(inputs, dict):
        return None
    evalset = inputs.get("evalset") if manifest.get("part") is None else None  # a part's rows are other items

    def counted(rows: polars.LazyFrame) -> polars.LazyFrame:
        lacks = unanswered_why(evaluator, rows.collect_schema().names(), manifest).is_not_null()
        return rows.select(n=pl.len(), n_unanswered=lacks.sum())

    n, n_unanswered = _scanned(record, evaluator, counted).row(0)
    if not isinstance(evalset, str) or n != n_items or n_unanswered:
        return None
    return RowsOfItems(evaluator.id, str(manifest.get("spec_sha256")), evalset, n, evaluator)


def compared_part(record: Record, evaluator: Evaluator, first: int, end: int) -> polars.DataFrame:
    """The items of the rows from `first` up to `end`, where `rows_of_items` holds: no other row is read.

    Raises: as `compared_run`.
    """
    part = _scanned(record, evaluator, lambda rows: rows.slice(first, end - first))
    return compared_items(part, evaluator, manifest_of(record))


def samples_of(record: Record, evaluator: Evaluator) -> polars.DataFrame:
    """The samples of a run, with the columns that comparisons need.

    Raises: as `compared_run`.
    """
    check_whole(record)
    return _scanned(record, evaluator, lambda rows: rows)


def training_loss(record: Record) -> Curve | None:
    """The loss that the run's trainer logged; None where the record has no training metrics, or no loss among them.

    Raises: RecordError where its table can't be read.
    """
    from benchbook.training.curves import TRAINING_TABLE, curves, read_training_table

    path = record.path / TRAINING_TABLE
    if not path.exists():
        return None
    losses = [row for row in read_training_table(path) if row.name == "loss"]
    points = [row.point() for row in losses if row.source == losses[0].source]  # each log has a curve of its own
    return curves(points).get("loss")


def _read(record: Record, derived: Record, *, has_whole: bool = True) -> ComparedRun:
    manifest, evaluator = manifest_of(derived), evaluator_of(record)
    samples = _scanned(derived, evaluator, lambda rows: rows)
    if "prompt" not in samples.columns:
        samples = samples.join(_asked(record, manifest), on="item_id", how="left", maintain_order="left")
    items, columns = compared_items(samples, evaluator, manifest), compared_columns(evaluator)
    early = _ended_early(derived, evaluator) if "aggregates.json" in evaluator.files else None
    whole = whole_run(record, derived, evaluator) if has_whole else WholeRun()
    return ComparedRun(storable(_name(record, manifest)), evaluator.id, items, columns, manifest, early, whole)


def _name(record: Record, manifest: dict[str, Any]) -> str:
    """The folder's name; where the record in it has another, both."""
    own = manifest.get("run_id")
    if not isinstance(own, str) or misnamed(record, own) is None:
        return record.run_id
    return f"{own} (in the folder {record.run_id})"


def _ended_early(derived: Record, evaluator: Evaluator) -> EndedEarly | None:
    try:
        return evaluator.ended_early(decode_json(derived.aggregates.read_bytes(), _object))
    except FileNotFoundError:
        raise RecordError(f"{derived.aggregates}: not there; resume the run, or `benchbook rescore` it") from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        why = why_unreadable(derived.aggregates, f"can't be read ({error}); `benchbook rescore` it")
        raise RecordError(f"{derived.aggregates}: {why}") from None


_object = msgspec.json.Decoder(dict[str, Any])


def manifest_of(derived: Record) -> dict[str, Any]:
    """A record's manifest.json, whatever its spec, as it is on disk.

    Raises: RecordError where it is missing or can't be read.
    """
    try:
        manifest = msgspec.json.decode(derived.manifest.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        raise RecordError(f"{derived.manifest}: not there; resume the run, or `benchbook rescore` it") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{derived.manifest}: can't be read ({error}); `benchbook rescore` it") from None
    return manifest


def _scanned(
    derived: Record, evaluator: Evaluator, chosen: Callable[[polars.LazyFrame], polars.LazyFrame]
) -> polars.DataFrame:
    import polars as pl

    own, config = compared_columns(evaluator), manifest_of(derived).get("config")
    wanted = {*_COLUMNS, own.score, own.passed, own.answer, *(one.column for one in own.metrics)}
    with reading_frame(derived.samples):
        rows = pl.scan_parquet(derived.samples, glob=False, cache=False)
        if COST in own.metrics and isinstance(config, dict):
            rows = with_costs(rows, config)
        names = [name for name in rows.collect_schema() if name in wanted]
        return chosen(rows.select(names)).collect()


def _asked(record: Record, manifest: dict[str, Any]) -> polars.DataFrame:
    """Each item's prompt, expected answer and context, out of the eval set that the record keeps."""
    try:
        path = record.input(manifest["inputs"]["evalset"])
    except (KeyError, TypeError):
        raise RecordError(f"{record.manifest}: names no eval set among its inputs") from None
    if not path.is_file():
        raise RecordError(f"{path}: the record's eval set is missing")
    return asked_frame(record).rename({"expected_answer": "expected"})


BASELINE_FILE = "baseline.json"


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """baseline.json in the folder of records: a run's id, and the last hash of its journal."""

    run_id: str
    journal_sha256: str


def baseline_json(baseline: Baseline) -> bytes:
    """The file's bytes."""
    return msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n"


def baseline_from_json(data: bytes, path: str | Path) -> Baseline:
    """Raises: InputError naming `path` for anything but such a file."""
    try:
        return msgspec.json.decode(data, type=ready(Baseline))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, found=f"no baseline ({error})", expected="what `benchbook baseline set RUN` writes"
        ) from None


def set_baseline(runs: str | Path, record: Record) -> Baseline:
    """Make `record` the baseline of the folder `runs`, in which it must lie.

    Raises: UsageError for a record elsewhere, and for one whose run has not come to its end, failed itself (A3), or was
    a dry run (A6): nothing could regress from it; RecordError.
    """
    if record.path.resolve().parent != Path(runs).resolve():
        raise UsageError(f"{record.path}: not in {runs}; a baseline is one of the folder's own records")
    last_sha256, is_ended = _end_of(record)
    if not is_ended:
        raise UsageError(f"{record.path}: the run has not come to its end; resume it, or choose another baseline")
    check_whole(record)
    started = record.started()
    if (wrong := misnamed(record, started.run_id)) is not None:
        raise UsageError(f"{record.path}: {wrong}")
    identity = started.identity
    status = "dry_run" if identity.get("dry_run") else identity.get("run_status", "completed")
    if status != "completed":
        raise UsageError(f"{record.path}: {str(status).replace('_', ' ')}; a baseline is a run that was scored")
    baseline = Baseline(run_id=record.run_id, journal_sha256=last_sha256)
    write_file(Path(runs) / BASELINE_FILE, baseline_json(baseline))
    return baseline


def read_baseline(runs: str | Path) -> Baseline | None:
    """Read baseline.json; None where there is none.

    Raises: InputError where it is no such file; RecordError where it can't be read.
    """
    path = Path(runs) / BASELINE_FILE
    try:
        return baseline_from_json(path.read_bytes(), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror})") from None


def clear_baseline(runs: str | Path) -> Baseline | None:
    """Forget the baseline; the record stays. Returns what it was.

    Raises: as `read_baseline`.
    """
    path = Path(runs) / BASELINE_FILE
    baseline = read_baseline(runs)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RecordError(f"{path}: can't be removed ({error.strerror})") from None
    return baseline


def baseline_record(runs: str | Path) -> Record:
    """The record that the baseline names, held against its hash.

    Raises: UsageError where no baseline is set, or its record is gone; RecordError where the record is another one now.
    """
    baseline = read_baseline(runs)
    if baseline is None:
        raise UsageError(f"{runs}: no baseline is set; `benchbook baseline set RUN`, or name one with --baseline")
    record = Record(Path(runs) / baseline.run_id)
    if Path(baseline.run_id).name != baseline.run_id or not is_record(record.path):
        raise UsageError(f"{Path(runs) / BASELINE_FILE}: names the run {baseline.run_id!r}, which is not there")
    found, _ = _end_of(record)
    if found != baseline.journal_sha256:
        raise RecordError(
            f"{record.path}: its journal ends with the hash {found}, the baseline's with {baseline.journal_sha256}: "
            "it is another record now; set the baseline anew"
        )
    return record


def _end_of(record: Record) -> tuple[str, bool]:
    """The journal's last hash, its chain checked on the way, and whether the run came to its end."""
    last, is_ended = None, False
    for line in read_journal(record.journal):
        last = line.sha256
        is_ended = is_ended or isinstance(line.fact, RunEnded)
    if last is None:
        raise RecordError(f"{record.path}: the journal is empty")
    return last, is_ended
