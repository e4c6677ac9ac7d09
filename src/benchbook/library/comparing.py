"""`bb.compare`: runs compared, as an object that holds Polars frames and prints well."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.comparison.compared import Comparison, ComparisonSet, compare_runs
from benchbook.comparison.difference import Difference
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.records import compared_run, training_loss
from benchbook.library.objects import Run
from benchbook.record.folder import Record, open_record
from benchbook.text import storable

if TYPE_CHECKING:
    import polars

    from benchbook.views.comparison_data import ComparisonReport

__all__ = ["RunComparison", "compare", "compare_records"]


_NUMBERS = ("n", "mean_a", "mean_b", "difference", "low", "high", "n_lost", "n_won", "p")


def compare(
    a: str | Path | Run,
    b: str | Path | Run,
    *more: str | Path | Run,
    confidence: float = 0.95,
    margin: float | None = None,
) -> RunComparison:
    """Compare runs item by item, each against the first (SPEC A11).

    `margin` asks whether the later run is not worse by more than that, such as 0.02.

    Raises: UsageError for a path that is no record, and for runs under different scorers; RecordError.
    """
    records = [run.record if isinstance(run, Run) else open_record(run) for run in (a, b, *more)]
    return compare_records(records, confidence=confidence, margin=margin)


def compare_records(records: list[Record], *, confidence: float = 0.95, margin: float | None = None) -> RunComparison:
    """As `compare`, for records that are open already."""
    runs = [replace(compared_run(record), name=name) for record, name in zip(records, _names(records), strict=True)]
    return RunComparison(compare_runs(runs, confidence=confidence, margin=margin), records)


def _names(records: list[Record]) -> list[str]:
    """Run ids; whole paths where records of several folders have the same."""
    names = [storable(record.run_id) for record in records]
    return names if len(set(names)) == len(names) else [storable(str(record.path)) for record in records]


class RunComparison:
    """Two runs compared, or several, each against the first. `pairs` has them in order."""

    def __init__(self, found: ComparisonSet, records: list[Record]) -> None:
        self.found = found
        self._records = records

    @property
    def runs(self) -> tuple[ComparedRun, ...]:
        return self.found.runs

    @property
    def pairs(self) -> tuple[Comparison, ...]:
        return self.found.pairs

    @property
    def score(self) -> Difference:
        """The difference of the second run to the first, with its interval and p-value."""
        return self.pairs[0].score

    @cached_property
    def items(self) -> polars.DataFrame:
        """A row for each item of each pair, `a` and `b` naming the runs: class, expected answer, both texts, scores."""
        import polars as pl

        return pl.concat([pair.items.with_columns(a=pl.lit(pair.a.name), b=pl.lit(pair.b.name)) for pair in self.pairs])

    @cached_property
    def slices(self) -> polars.DataFrame:
        """A row for each section, category and difficulty of each pair, with Holm's p beside its own."""
        import polars as pl

        texts = dict.fromkeys(("a", "b", "field", "value"), pl.String)
        numbers = {name: pl.Int64 if name.startswith("n") else pl.Float64 for name in _NUMBERS}
        rows = [
            (
                pair.a.name,
                pair.b.name,
                one.field,
                one.value,
                *(getattr(one.difference, name) for name in _NUMBERS),
                one.p_holm,
            )
            for pair in self.pairs
            for one in pair.slices
        ]
        return pl.DataFrame(rows, texts | numbers | {"p_holm": pl.Float64}, orient="row")

    @property
    def history(self) -> polars.DataFrame | None:
        """Each item's way through three runs or more, by correctness; None for two."""
        return self.found.histories[0].items if self.found.histories else None

    @cached_property
    def report(self) -> ComparisonReport:
        """What the views are made of, the training curves with it."""
        from benchbook.views.comparison_data import ComparisonReport

        return ComparisonReport(
            self.found, {run.name: training_loss(record) for run, record in zip(self.runs, self._records, strict=True)}
        )

    def to_html(self) -> str:
        """One page that needs nothing but itself."""
        from benchbook.views.comparison import comparison_html

        return "".join(comparison_html(self.report))

    def to_markdown(self) -> str:
        from benchbook.views.comparison import comparison_markdown

        return "".join(comparison_markdown(self.report))

    def __str__(self) -> str:
        from benchbook.views.comparison import comparison_summary
        from benchbook.views.terminal import document_lines

        return "\n".join(document_lines(comparison_summary(self.report), width=120))

    def __repr__(self) -> str:
        return f"<RunComparison {' -> '.join(run.name for run in self.runs)}>"
