"""The items that a comparison shows, and a comparison for programs: as JSON, and every item as a Parquet file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.comparison.by_metric import by_metric
from benchbook.comparison.compared import Change, Comparison, ComparisonSet
from benchbook.comparison.leaderboard import History
from benchbook.comparison.text_difference import TextSpan, text_difference
from benchbook.evaluators.exact import as_float
from benchbook.training.curves import Curve
from benchbook.views.record_differences import template_differences

if TYPE_CHECKING:
    import polars

MAX_SHOWN = 200  # items of a pair that a page shows in full


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Runs compared, ready to be shown. `curves` has each run's training loss, None for a run without one."""

    found: ComparisonSet
    curves: Mapping[str, Curve | None] = field(default_factory=dict)

    @property
    def has_curves(self) -> bool:
        return any(curve is not None for curve in self.curves.values())


class ShownItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item in which something changed. Null texts were not there; `expected_b` is null where it is A's.

    `difference` leads from A's text to B's (op, text); scores are means over repeats.
    """

    change: Change
    item_id: str
    item_id_b: str | None
    section: str | None
    category: str | None
    difficulty: str | None
    prompt: str | None
    expected: str | None
    expected_b: str | None
    score_a: float | None
    score_b: float | None
    miss_reason_a: str | None
    miss_reason_b: str | None
    text_a: str | None
    text_b: str | None
    difference: tuple[TextSpan, ...]


def shown_items(pair: Comparison, most: int) -> Iterator[ShownItem]:
    """The first `most` items in which something changed, what matters most first."""
    for row in pair.changed(most).iter_rows(named=True):
        yield _shown(row)


def _shown(row: dict[str, Any]) -> ShownItem:
    names = (
        "change", "item_id", "section", "category", "difficulty", "prompt", "expected", "miss_reason_a",
        "miss_reason_b", "text_a", "text_b",
    )  # fmt: skip
    return ShownItem(
        **{name: row[name] for name in names},
        item_id_b=row["item_id_b"] if row["item_id_b"] != row["item_id"] else None,
        expected_b=row["expected_b"] if row["expected_b"] != row["expected"] else None,
        score_a=as_float(row["score_nano_a"]),
        score_b=as_float(row["score_nano_b"]),
        difference=tuple(text_difference(row["text_a"] or "", row["text_b"] or "")),
    )


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────

_MOST_DIFFERENCES = 10_000  # items of a pair whose texts are held against one another


def comparison_json(report: ComparisonReport) -> dict[str, Any]:
    """All of a comparison but its items that did not change; of those that did, the first 10,000 of a pair."""
    found = report.found
    return {
        "runs": [
            {
                "run": run.name,
                "spec": run.spec,
                "n_items": len(run.items),
                "score": run.score,
                "low": run.whole.score.low,
                "high": run.whole.score.high,
                "decision": run.whole.decision,
                "aggregates": {name: one._asdict() for name, one in run.whole.aggregates.items()},
                "unanswered": run.unanswered,
            }
            for run in found.runs
        ],
        "by_metric": by_metric(found),
        "comparisons": [_pair(pair, p_holm) for pair, p_holm in zip(found.pairs, found.p_holm, strict=True)],
        "histories": [_history(one) for one in found.histories],
        "leaderboard": found.leaderboard,
        "training_metrics": {name: curve is not None for name, curve in report.curves.items()},
        "training_loss": {name: _curve(curve) for name, curve in report.curves.items() if curve is not None},
    }


def _curve(found: Curve) -> dict[str, Any]:
    """The points that count; what a restart replaced stands in the record's training_metrics.parquet."""
    fields = ("step", "tokens", "time_s", "value")
    points = [{name: getattr(point, name) for name in fields} for point in found.points[:_MOST_DIFFERENCES]]
    n_replaced = sum(map(len, found.replaced))
    return {"n_points": len(found.points), "n_replaced": n_replaced, "points": points}


def _pair(pair: Comparison, p_holm: float | None) -> dict[str, Any]:
    n_changed = pair.n_changed
    return {
        "a": pair.a.name,
        "b": pair.b.name,
        "n_compared": pair.n_compared,
        "n_left_out": pair.n_left_out,
        "n_unscored": pair.n_unscored,
        "n_unanswered_a": pair.n_unanswered_a,
        "n_unanswered_b": pair.n_unanswered_b,
        "classes": pair.counts,
        "measured_differences": pair.measured,
        "unknown_in_both": pair.unknown,
        "score": msgspec.to_builtins(pair.score) | {"p_holm": p_holm},
        "passing": pair.passing,
        "metrics": pair.metrics,
        "containment": None if pair.containment is None else msgspec.to_builtins(pair.containment),
        "slices": pair.slices,
        "metadata": pair.metadata,
        "templates": {name: _spans(found) for name, found in template_differences(pair).items()},
        "n_changed": n_changed,
        "n_changed_left_out": max(n_changed - _MOST_DIFFERENCES, 0),
        "items": [
            msgspec.to_builtins(item) | {"difference": _spans(item.difference)}
            for item in shown_items(pair, _MOST_DIFFERENCES)
        ],
        **({"as_people_would_judge": pair.corrected} if pair.corrected else {}),
    }


def _spans(found: Iterable[TextSpan]) -> list[dict[str, str]]:
    return [{"op": op, "text": text} for op, text in found]


def _history(found: History) -> dict[str, Any]:
    rows = found.items.select("item_id", "history", "marks")
    moved = rows.filter(rows["history"].is_in(["learned", "forgotten", "flipping"]))
    return {
        "by": found.by,
        "runs": found.runs,
        "counts": found.counts,
        "n_right": found.n_right,
        "n_left_out": found.n_left_out,
        "items": moved.head(_MOST_DIFFERENCES).to_dicts(),
    }


def comparison_frame(pair: Comparison) -> polars.DataFrame:
    """Every item of a pair: the columns of `paired_items`, the runs' names, and `text_difference`.

    That is a list of (op, text), null where the texts are the same or not both there, and beyond the first 10,000
    items with a change.
    """
    import polars as pl

    changed = pair.changed(_MOST_DIFFERENCES).drop_nulls(["text_a", "text_b"])
    segments = [
        [{"op": op, "text": text} for op, text in text_difference(a, b)]
        for a, b in changed.select("text_a", "text_b").iter_rows()
    ]
    schema = pl.List(pl.Struct({"op": pl.String, "text": pl.String}))
    differences = changed.select("row").with_columns(text_difference=pl.Series(segments, dtype=schema))
    rows = pl.select(row=pl.int_range(len(pair.items)))
    column = rows.join(differences, on="row", how="left", maintain_order="left")["text_difference"]
    names = {"a": pl.lit(pair.a.name), "b": pl.lit(pair.b.name)}
    return pair.items.with_columns(pl.col("class").cast(pl.String), column, **names)


def write_comparison_parquet(report: ComparisonReport, path: Path) -> Path:
    """Write the items of every pair to `path`, whole or not at all. Raises: RecordError."""
    import polars as pl

    from benchbook.record.tables import write_frame

    frame = pl.concat([comparison_frame(pair) for pair in report.found.pairs])
    write_frame(path, frame, synced=False, compression_level=1, statistics=False)
    return path
