"""Runs as far as a ranking needs them, so that thousands can be held at once; and the items that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.comparison.items import ComparedRun
from benchbook.comparison.measures import SCORE, in_nano, metrics_of
from benchbook.errors import UsageError
from benchbook.evaluators.contract import ComparedMetric, MetricKind
from benchbook.evaluators.exact import NANO, as_float, mean
from benchbook.text import did_you_mean, shorten

if TYPE_CHECKING:
    import polars

ASKED = ("item_id", "prompt", "expected", "context")


class RankMetric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that runs can be ranked by. What has no upper end, such as latency, is none: all pairs of runs could not
    be tested at once. `title` is its name for people, as views have it.
    """

    name: str
    kind: MetricKind
    lowest: float
    highest: float
    higher_is_better: bool
    title: str = ""


def rank_metrics(run: ComparedRun) -> tuple[RankMetric, ...]:
    """The metrics that a run can be ranked by; its score first."""
    return tuple(
        RankMetric(
            name=one.name, kind=one.kind, lowest=one.lowest, highest=one.highest, higher_is_better=one.higher_is_better
        )
        for one in metrics_of([run])
        if one.highest is not None
    )


def rank_metric(run: ComparedRun, name: str) -> ComparedMetric:
    """Raises: UsageError for a metric that the run can't be ranked by."""
    every = (*metrics_of([run]), *run.columns.metrics)
    known = {one.name: one for one in every if one.highest is not None}
    if name not in known:
        raise UsageError(
            f"{shorten(name, 60)}: no metric that these runs can be ranked by{did_you_mean(name, known)}; expected "
            f"{', '.join(known)}"
        )
    return known[name]


@dataclass(frozen=True, slots=True)
class Contender:
    """`asked` has a row for each item with a score, what was asked and its `group`; `share_nano` what it is ranked by,
    a share of the scale of `metric` in billionths. `score` is of the whole run, in the unit of the metric.

    `why_apart` says why the run has no place among the others; `note` what must be known of it where it has one.
    """

    name: str
    measured: tuple[str, str, str]
    metric: ComparedMetric
    metrics: tuple[RankMetric, ...]  # that it could be ranked by
    model: str | None
    evalset: str | None
    score: float | None
    why_apart: str | None
    note: str | None
    n_unanswered: int
    asked: polars.DataFrame
    share_nano: Any

    @property
    def n_bytes(self) -> int:
        """Its size without what was asked, which runs share."""
        return int(self.share_nano.nbytes) + 1_000


class AskedTables:
    """Tables of what was asked, each kept once: of runs over one eval set they are all alike."""

    def __init__(self) -> None:
        self._known: dict[int, polars.DataFrame] = {}

    def shared(self, table: polars.DataFrame) -> polars.DataFrame:
        """The table that was given first of those like this one."""
        known = self._known.setdefault(hash(table.hash_rows().to_numpy().tobytes()), table)
        return known if known is table or known.equals(table) else table


def measured_by(run: ComparedRun) -> tuple[str, str, str]:
    """The identity of a leaderboard: the scorer's version, the hash of its files, and that of the eval set."""
    return run.spec, str(run.manifest.get("spec_sha256")), str(run.manifest.get("dataset_version_or_hash"))


def contenders(runs: Iterable[ComparedRun], metric: str = SCORE.name) -> Iterator[Contender]:
    """Each run as a contender: of one that is opened only when its turn comes, nothing else stays."""
    tables = AskedTables()
    return (contender(run, tables, metric) for run in runs)


def contender(run: ComparedRun, tables: AskedTables, metric: str = SCORE.name) -> Contender:
    """The run as a contender, with what it was asked out of `tables` where another was asked the same.

    Raises: UsageError for a metric that it can't be ranked by.
    """
    by = rank_metric(run, metric)
    shares = _shares(run, by)
    lacking = run.unanswered
    score_nano = run.score_nano if by == SCORE else mean(int(shares["share_nano"].sum()), len(shares))
    return Contender(
        name=run.name,
        measured=measured_by(run),
        metric=by,
        metrics=rank_metrics(run),
        model=run.manifest.get("model_id"),
        evalset=run.manifest.get("dataset_id"),
        score=on_scale(as_float(score_nano), by),
        why_apart=_why_apart(run, lacking.why if lacking.n_items else (), is_scored=score_nano is not None),
        note="; ".join(_notes(run, lacking.n_items, lacking.why, is_floor=score_nano == 0)) or None,
        n_unanswered=lacking.n_items,
        asked=tables.shared(shares.select(*ASKED, "group")),
        share_nano=shares["share_nano"].to_numpy(),
    )


def _shares(run: ComparedRun, metric: ComparedMetric) -> polars.DataFrame:
    """The items that have what runs are ranked by, with `share_nano`."""
    import polars as pl

    if metric == SCORE:
        share = pl.col(metric.column)
    elif in_nano(metric):
        share = pl.col(metric.column).cast(pl.Int64) * NANO
    elif metric.name not in run.items.columns:
        share = pl.lit(None, pl.Int64)
    else:
        of_scale = (pl.col(metric.name) - metric.lowest) / _width(metric)
        share = (of_scale * NANO).round().cast(pl.Int64)
    scored = run.items.filter(pl.col("n_scored") > 0)
    return scored.select(*ASKED, "group", share_nano=share).drop_nulls("share_nano")


def on_scale(share: float | None, metric: ComparedMetric) -> float | None:
    """A share of a metric's scale in its own unit."""
    return None if share is None else round(metric.lowest + share * _width(metric), 9)


def _width(metric: ComparedMetric) -> float:
    return (1.0 if metric.highest is None else metric.highest) - metric.lowest


def _why_apart(run: ComparedRun, unanswered_why: Sequence[str], *, is_scored: bool) -> str | None:
    """Why a run has no place among the others; None where it has one."""
    if run.why_failed is not None:
        return f"the run itself failed: {run.why_failed}"
    if run.manifest.get("dry_run"):
        return "a dry run: its answers are made up"
    if run.not_complete is not None:
        return f"not complete: {run.not_complete}"
    if is_scored:
        return None
    return f"nothing was answered ({', '.join(unanswered_why)})" if unanswered_why else "no item has a score"


def _notes(run: ComparedRun, n_unanswered: int, why: Sequence[str], *, is_floor: bool) -> Iterator[str]:
    if n_unanswered:
        yield f"{n_unanswered:,} of {len(run.items):,} items not answered ({', '.join(why)})"
    if is_floor:
        yield "no item scores above 0"


def rows_in_common(tables: Sequence[polars.DataFrame]) -> tuple[list[polars.Series], int]:
    """The rows, in each table, of the items that all have, asked alike, in the first one's order; and the number of
    items that not all have. Tables that are one object are looked at once.
    """
    import polars as pl

    distinct = {id(table): table.select(ASKED).with_row_index("row") for table in tables}
    first, *others = distinct.values()
    common = first.drop("row")
    for other in others:
        common = common.join(other.drop("row"), on=ASKED, how="inner", nulls_equal=True, maintain_order="left")
    rows = {
        key: common.join(table, on=ASKED, how="inner", nulls_equal=True, maintain_order="left")["row"]
        for key, table in distinct.items()
    }
    every = pl.concat([table.select(ASKED) for table in distinct.values()]).n_unique() if others else len(first)
    return [rows[id(table)] for table in tables], every - len(common)
