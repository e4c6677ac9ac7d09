"""Runs: lists of them, their derived files, training curves, and whether a record holds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from benchbook.catalog.queries import IndexedRun, IndexedRunsPage, list_runs
from benchbook.catalog.run_filters import RunFilter
from benchbook.comparison.comparable import compared_as, why_never
from benchbook.comparison.run_slices import RunSlices, run_slices
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.document import Opening
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.gates import RunVerdict
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.derived_files import reading_frame
from benchbook.record.folder import Record
from benchbook.record.journal import utc_now
from benchbook.record.standing import last_sign, quiet_s
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import RunsAsked, RunsFilter, RunsOrder
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import (
    DecisionOfRun,
    DecisionWords,
    HeadlineWords,
    Indexing,
    MetricCurve,
    Reasons,
    RefusedDecision,
    RunRow,
    RunsPage,
    TrainingMetrics,
    VerdictOfRun,
)
from benchbook.text import shorten
from benchbook.training.curves import TRAINING_TABLE, MetricPoint, curves, telling_places
from benchbook.views.gates import gates_table
from benchbook.views.names import set_name
from benchbook.views.views import gate_words, table_json, view_of
from benchbook.views.words import criterion_word, in_prose, reason, standing_words

if TYPE_CHECKING:
    import polars

_SPARK_POINTS = 32


def get_curves(call: Request) -> TrainingMetrics:
    found = _with_metrics(call, "curves")
    names = _names(call.services, found)
    wanted = [name for name in dict.fromkeys(call.query.name) if name in names]
    made = tuple(_curve(call.services, found, name, call.query.max_points) for name in wanted)
    return TrainingMetrics(run_id=found.row.run_id, names=names, curves=made)


def get_curve(call: Request) -> MetricCurve:
    found = _with_metrics(call, "curve")
    name = call.path["metric"]
    if name not in _names(call.services, found):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"this run logged no metric {shorten(name, 60)!r}")
    return _curve(call.services, found, name, call.query.max_points)


def _spark_line(services: Services, row: IndexedRun) -> tuple[float | None, ...] | None:
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


def _with_metrics(call: Request, what: str) -> FoundRun:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, what)
    if not (found.record.path / TRAINING_TABLE).is_file():
        raise ProblemError(HTTPStatus.NOT_FOUND, "this run has no training metrics")
    return found


def _names(services: Services, found: FoundRun) -> tuple[str, ...]:
    """The names of the metrics that were logged, in the order of the log."""
    import polars as pl

    def make() -> tuple[str, ...]:
        with reading_frame(path := found.record.path / TRAINING_TABLE):
            names = pl.scan_parquet(path, glob=False).select("name")
            return tuple(names.unique(maintain_order=True).collect()["name"])

    return services.kept.get(("metrics", found.name), make, lambda made: 1_000 + 100 * len(made))


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


def _curve(services: Services, found: FoundRun, name: str, most: int) -> MetricCurve:
    key = ("curve", found.name, name)

    def whole() -> _Points:
        return services.kept.get(
            key, lambda: _points(found.record.path / TRAINING_TABLE, name), lambda made: made.n_bytes
        )

    return services.kept.get((*key, most), lambda: _thinned(name, whole(), most), lambda made: 150 * len(made.steps))


def _thinned(name: str, whole: _Points, most: int) -> MetricCurve:
    kept = whole.points[telling_places(whole.points["value"].to_numpy(), most)]
    return MetricCurve(
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

    with reading_frame(table):
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


def list_of_runs(call: Request) -> RunsPage:
    question: RunsAsked = call.query
    if question.cursor is not None and question.offset:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "query: cursor and offset: expected one of them")
    page = listed(call.services, question, after=question.cursor, offset=question.offset, limit=question.limit)
    rows = tuple(run_answer(call.services, row) for row in page.runs)
    return RunsPage(runs=rows, n=page.n, next_cursor=page.next_cursor, indexing=indexing_of(call.services))


def indexing_of(services: Services) -> Indexing | None:
    """How far the first look through the folder is; None once it is over."""
    how_far = services.watcher.first_look
    return None if how_far is None else Indexing(done=how_far.done, total=how_far.total, words=str(how_far))


def get_run(call: Request) -> RunRow:
    return run_answer(call.services, call.services.run(call.path["run_id"]).row)


def run_answer(services: Services, row: IndexedRun, *, with_loss: bool = True) -> RunRow:
    """A row of the catalog as an answer: numbers in place of billionths, marks, a few points of the loss."""
    values = {name: getattr(row, name) for name in RunRow.__struct_fields__ if hasattr(row, name)}
    marks = services.marks.of(row.run_id)
    marked = structs.asdict(marks) | {"tags": tuple(sorted({*row.tags, *marks.tags}))}
    numbers = {name: as_float(getattr(row, f"{name}_nano")) for name in ("primary", "primary_low", "primary_high")}
    never = why_never(
        state=row.state, spec=row.spec, samples_are=row.samples_are, has_numbers=row.manifest_sha256 is not None
    )
    said = {
        "compared_as": None if never is not None else compared_as(row.spec or ""),
        "not_compared": never,
        "dataset_name": None if row.dataset_id is None else set_name(row.dataset_id, row.dataset_sha256),
    }
    numbers["cost_usd"] = as_float(row.cost_nano)
    last = last_sign(Record(services.settings.runs / row.record_path)) if row.state == "running" else None
    said["state_words"] = standing_words(row.state, quiet_s(last, time.time()))
    said["last_sign_utc"] = None if last is None else utc_now(last)
    return RunRow(**values | numbers | said | marked | {"loss": _spark_line(services, row) if with_loss else None})


def listed(services: Services, question: RunsOrder, *, limit: int, **paging: Any) -> IndexedRunsPage:
    """A page of the runs that fit, in the order that is asked for."""
    wanted = filter_of(services, question)
    descending = question.order == "desc"
    return list_runs(services.catalog, wanted, sort=question.sort, descending=descending, limit=limit, **paging)


_ARCHIVED = {"no": False, "only": True, "any": None}


def filter_of(services: Services, question: RunsFilter) -> RunFilter:
    """The filter that is asked for; the catalog has the marks that it may go by."""
    services.marks.index()
    names = (name for name in RunsFilter.__struct_fields__ if name != "archived")
    return RunFilter(**{name: getattr(question, name) for name in names}, archived=_ARCHIVED[question.archived])


# ── derived files ────────────────────────────────────────────────────────────────────────────────────────────


def get_aggregates(call: Request) -> Any:
    return _derived(call, "aggregates").aggregates


class CriterionOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion that a run's answers are scored by. `grades` are the names of its `scores`, where they have names;
    `title` is its own name as people read it."""

    name: str
    title: str
    scores: tuple[int, ...]
    grades: tuple[str, ...]
    may_not_apply: bool


class CriteriaOfRun(msgspec.Struct, frozen=True, kw_only=True):
    criteria: tuple[CriterionOfRun, ...]


def get_slices(call: Request) -> RunSlices:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "slices")
    key = ("slices", found.name)
    return call.services.kept.get(key, lambda: run_slices(found.record), lambda made: 1_000 * (1 + len(made.slices)))


def get_criteria(call: Request) -> CriteriaOfRun:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "criteria")
    return CriteriaOfRun(
        criteria=tuple(
            CriterionOfRun(
                name=one.name.removesuffix("_score"),
                title=criterion_word(one.name),
                scores=one.scores,
                grades=one.grades,
                may_not_apply=one.may_not_apply,
            )
            for one in evaluator_of(found.record).label_criteria(found.record.started())
        )
    )


def get_decision(call: Request) -> DecisionOfRun | RefusedDecision | VerdictOfRun:
    """decision.json, and its words as reports have them; for a decision that is refused, the reasons."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "decision")
    evaluator = evaluator_of(found.record)
    opening = view_of(evaluator).opening
    if opening is None or not found.record.decision.is_file():
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{found.row.spec} decides nothing")
    derived = evaluator.read(found.record)
    words, decision = _words(opening(derived)), derived.decision
    if decision is None:
        kept = msgspec.json.decode(found.record.decision.read_bytes(), type=dict[str, Any])
        reasons = tuple(kept["reasons"])
        return RefusedDecision(decision=None, release_ready=False, reasons=reasons, words=HeadlineWords(**words))
    if isinstance(decision, RunVerdict):
        return VerdictOfRun(**structs.asdict(decision), words=HeadlineWords(**words))
    gates = tuple(gate_words(gate) for gate in decision.gates)
    told = DecisionWords(**words, gates=gates, gates_table=table_json(gates_table(decision)))
    return DecisionOfRun(**structs.asdict(decision), said=tuple(map(reason, decision.reasons)), words=told)


def _words(opening: Opening) -> dict[str, Any]:
    """The fields of `HeadlineWords`, as the report has them."""
    reasons = tuple(
        Reasons(title=one.title, entries=tuple(in_prose(entry) for entry in one.entries))
        for one in opening.reasons
        if one.entries
    )
    return {"headline": opening.headline, "tone": opening.tone, "meaning": opening.meaning, "reasons": reasons}


def get_manifest(call: Request) -> Any:
    return _derived(call, "manifest").manifest


def _derived(call: Request, what: str) -> DerivedFiles:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, what)
    return _read(found)


def _read(found: FoundRun) -> DerivedFiles:
    return evaluator_of(found.record).read(found.record)
