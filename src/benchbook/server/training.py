"""Training metrics of a run: curves, thinned for a plot."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.catalog.queries import RunRow
from benchbook.record.folder import Record
from benchbook.server.operations import Call
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import Curve, TrainingMetrics
from benchbook.text import shorten
from benchbook.training.curves import curves, telling_places
from benchbook.training.points import TRAINING_TABLE, MetricPoint

if TYPE_CHECKING:
    import polars

__all__ = ["get_curve", "get_curves", "spark_line"]


_SPARK_POINTS = 32


def get_curves(call: Call) -> TrainingMetrics:
    found = _with_metrics(call, "curves")
    names = _names(call.services, found)
    wanted = [name for name in dict.fromkeys(call.query.name) if name in names]
    made = tuple(_curve(call.services, found, name, call.query.max_points) for name in wanted)
    return TrainingMetrics(run_id=found.row.run_id, names=names, curves=made)


def get_curve(call: Call) -> Curve:
    found = _with_metrics(call, "curve")
    name = call.path["metric"]
    if name not in _names(call.services, found):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"this run logged no metric {shorten(name, 60)!r}")
    return _curve(call.services, found, name, call.query.max_points)


def spark_line(services: Services, row: RunRow) -> tuple[float | None, ...] | None:
    """A few points of the loss, for lists; None for a run without one."""
    if row.manifest_sha256 is None:
        return None
    record = Record(services.settings.runs / row.record_path)
    key = ("spark", row.run_id, row.manifest_sha256)
    return services.kept.get(key, lambda: _spark(record.path / TRAINING_TABLE), lambda _: 16 * _SPARK_POINTS)


def _spark(table: Path) -> tuple[float | None, ...] | None:
    if not table.is_file():
        return None
    values = _points(table, "loss").points["value"]
    if values.is_empty():
        return None
    return tuple(values[telling_places(values.to_numpy(), _SPARK_POINTS)].to_list())


def _with_metrics(call: Call, what: str) -> FoundRun:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, what)
    if not (found.record.path / TRAINING_TABLE).is_file():
        raise ProblemError(HTTPStatus.NOT_FOUND, "this run has no training metrics")
    return found


def _names(services: Services, found: FoundRun) -> tuple[str, ...]:
    """What was logged, in the order of the log."""
    import polars as pl

    def make() -> tuple[str, ...]:
        names = pl.scan_parquet(found.record.path / TRAINING_TABLE, glob=False).select("name")
        return tuple(names.unique(maintain_order=True).collect()["name"])

    return services.kept.get(("metrics", found.row.run_id, found.state_id), make, lambda made: 1_000 + 100 * len(made))


@dataclass(frozen=True, slots=True)
class _Points:
    """A metric's curve in the first log that has it: a column for each field of `MetricPoint`; steps rise.

    A null among the values was not finite; in an array it is NaN.
    """

    source: str
    n_replaced: int  # points that were trained again later
    points: polars.DataFrame

    @property
    def n_bytes(self) -> int:
        return 1_000 + int(self.points.estimated_size())


def _curve(services: Services, found: FoundRun, name: str, most: int) -> Curve:
    key = ("curve", found.row.run_id, found.state_id, name)

    def whole() -> _Points:
        return services.kept.get(
            key, lambda: _points(found.record.path / TRAINING_TABLE, name), lambda made: made.n_bytes
        )

    return services.kept.get((*key, most), lambda: _thinned(name, whole(), most), lambda made: 150 * len(made.steps))


def _thinned(name: str, whole: _Points, most: int) -> Curve:
    kept = whole.points[telling_places(whole.points["value"].to_numpy(), most)]
    return Curve(
        name=name,
        source=whole.source,
        steps=tuple(kept["step"]),
        values=tuple(kept["value"]),
        tokens=tuple(kept["tokens"]),
        times=tuple(kept["time_s"]),
        n_points=len(whole.points),
        n_replaced=whole.n_replaced,
    )


def _points(table: Path, name: str) -> _Points:
    import polars as pl

    rows = pl.scan_parquet(table, glob=False).filter(pl.col("name") == name).collect()
    points = rows.select(MetricPoint.__struct_fields__)
    if rows.is_empty():
        return _Points("", 0, points)
    source = str(rows["source"][0])
    points = points.filter(rows["source"] == source)
    if points["segment"].max() == 0:  # trained once through: nothing was replaced
        return _Points(source, 0, points)
    curve = curves(MetricPoint(**row) for row in points.iter_rows(named=True))[name]
    made = pl.DataFrame([msgspec.structs.asdict(point) for point in curve.points], schema=points.schema)
    return _Points(source, sum(len(part) for part in curve.replaced), made)
