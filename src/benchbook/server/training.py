"""Training metrics of a run: curves, thinned for a plot."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from benchbook.catalog.queries import RunRow
from benchbook.records.folder import Record
from benchbook.server.operations import Call
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import Curve, TrainingMetrics
from benchbook.text import shorten
from benchbook.training.curves import curves
from benchbook.training.points import MetricPoint
from benchbook.training.table import TRAINING_TABLE
from benchbook.training.thinning import thin

__all__ = ["get_curve", "get_curves", "spark_line"]

_SPARK_POINTS = 32
_POINT_BYTES = 200


def get_curves(call: Call) -> TrainingMetrics:
    found = _with_metrics(call, "curves")
    names = _names(found.record.path / TRAINING_TABLE)
    wanted = [name for name in dict.fromkeys(call.query.name) if name in names]
    made = tuple(_curve(call.services, found, name, call.query.max_points) for name in wanted)
    return TrainingMetrics(run_id=found.row.run_id, names=tuple(names), curves=made)


def get_curve(call: Call) -> Curve:
    found = _with_metrics(call, "curve")
    name = call.path["metric"]
    if name not in _names(found.record.path / TRAINING_TABLE):
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
    _, _, points = _points(table, "loss")
    places = [(float(point.step), point.value) for point in points]
    return tuple(value for _, value in thin(places, _SPARK_POINTS)) if places else None


def _with_metrics(call: Call, what: str) -> FoundRun:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, what)
    if not (found.record.path / TRAINING_TABLE).is_file():
        raise ProblemError(HTTPStatus.NOT_FOUND, "this run has no training metrics")
    return found


def _names(table: Path) -> list[str]:
    import polars as pl

    return pl.scan_parquet(table).select(pl.col("name").unique(maintain_order=True)).collect()["name"].to_list()


def _curve(services: Services, found: FoundRun, name: str, most: int) -> Curve:
    table = found.record.path / TRAINING_TABLE
    key = ("curve", found.row.run_id, found.state_id, name)
    source, n_replaced, points = services.kept.get(
        key, lambda: _points(table, name), lambda made: 1_000 + _POINT_BYTES * len(made[2])
    )
    kept = _thinned(points, most)
    return Curve(
        name=name,
        source=source,
        steps=tuple(point.step for point in kept),
        values=tuple(point.value for point in kept),
        tokens=tuple(point.tokens for point in kept),
        times=tuple(point.time_s for point in kept),
        n_points=len(points),
        n_replaced=n_replaced,
    )


def _thinned(points: Sequence[MetricPoint], most: int) -> list[MetricPoint]:
    by_step = {float(point.step): point for point in points}
    return [by_step[step] for step, _ in thin([(float(point.step), point.value) for point in points], most)]


def _points(table: Path, name: str) -> tuple[str, int, tuple[MetricPoint, ...]]:
    """The first log that has the metric, how many of its points were replaced, and its curve."""
    import polars as pl

    rows = pl.scan_parquet(table).filter(pl.col("name") == name).collect()
    if rows.is_empty():
        return "", 0, ()
    source = str(rows["source"][0])
    rows = rows.filter(pl.col("source") == source)
    if rows["segment"].max() == 0:  # trained once through: nothing was replaced
        return source, 0, _made(rows)
    curve = curves(_made(rows))[name]
    return source, sum(len(part) for part in curve.replaced), curve.points


def _made(rows: Any) -> tuple[MetricPoint, ...]:
    columns = (rows[name].to_list() for name in MetricPoint.__struct_fields__)
    names = MetricPoint.__struct_fields__
    return tuple(MetricPoint(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True))
