"""The numbers of a record as claims, each with the formula by which it follows from the samples' values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.comparison.items import unanswered_why
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.contract import ComparedColumns, Evaluator
from benchbook.exchange.log import RECORD_DECIMALS, Claim, Formula, LogScorer
from benchbook.record.folder import Record
from benchbook.record.tables import read_frames
from benchbook.text import plural

_ON_ANOTHER_SCALE = "it is on a scale from 0 to 1, and values here are on the scorer's own"
_TOKENS: Mapping[str, Formula] = {
    "total_input_tokens": "sum_of_input_tokens",
    "total_output_tokens": "sum_of_output_tokens",
    "total_tokens": "sum_of_tokens",
}


@dataclass(frozen=True, slots=True)
class ColumnOfScores:
    """A scorer of the log, and the columns of samples.parquet that have its values and its words."""

    scorer: LogScorer
    column: str
    compared: str
    why: str


@dataclass(frozen=True, slots=True)
class RecordClaims:
    """Makes claims of a record's aggregates. `names` are the columns of its table."""

    record: Record
    evaluator: Evaluator
    columns: ComparedColumns
    scored: Sequence[ColumnOfScores]
    names: tuple[str, ...]
    manifest: Mapping[str, Any]

    def of(self, aggregates: Mapping[str, Any]) -> Iterator[Claim]:
        """The numbers of aggregates.json that follow from samples by a formula, and the one that stands for the run."""
        numbers = dict(_numbers(aggregates))
        why_not, counts_all = self._why_not(aggregates)

        def claim(scorer: str, formula: Formula | None, *names: str, otherwise: str = "") -> Iterator[Claim]:
            for where in (found for name in names for found in (name, f"aggregates.{name}") if found in numbers):
                yield Claim(
                    scorer=scorer,
                    metric=where.rpartition(".")[2],
                    value=numbers[where],
                    where=f"aggregates.json: {where}",
                    formula=None if why_not or otherwise else formula,
                    why_not=why_not or otherwise,
                    decimals=RECORD_DECIMALS,
                )

        headline = self.scored[0]
        if self.evaluator.primary is not None:
            other = "" if headline.column == self.columns.score else _ON_ANOTHER_SCALE
            yield from claim(headline.scorer.name, "mean", self.evaluator.primary, otherwise=other)
        yield from claim(headline.scorer.name, "share_passed", "pass_rate", otherwise=counts_all)
        yield from claim(headline.scorer.name, "n_passed", "n_passed", "n_correct")
        for one in self.scored:
            name = one.scorer.name.removesuffix("_score")
            means = (f"{name}_mean", f"checks.{name}.mean", f"scorers.{one.scorer.name}.mean")
            yield from claim(one.scorer.name, "mean", *means)
        for name, formula in _TOKENS.items():
            yield from claim("", formula, name)

    def _why_not(self, aggregates: Mapping[str, Any]) -> tuple[str, str]:
        """Why a record's numbers are not those of its samples' values as they are here, and why its share of those that
        passed is not one of the scored; empty where they are."""
        if (early := self.evaluator.ended_early(aggregates)) is not None:
            return f"it {early.words}: what was under way then is no part of it", ""
        import polars as pl

        why, score = unanswered_why(self.evaluator, self.names, self.manifest), pl.col(self.columns.score)
        is_beyond = why.is_null() & score.is_null() & pl.col(self.scored[0].column).is_not_null()
        n_unanswered, n_unscored, n_beyond = self._counted(
            why.is_not_null() & score.is_not_null(), score.is_null(), is_beyond
        )
        if n_unanswered:
            return f"it counts {n_unanswered:,} unanswered samples, which are unscored here", ""
        if n_beyond:
            return f"{plural(n_beyond, 'value')} beyond the scale count for nothing in it", ""
        counts_all = n_unscored and not isinstance(self.evaluator, AnswersEvaluator)
        return "", f"{plural(n_unscored, 'sample')} without a score did not pass, by it" if counts_all else ""

    def _counted(self, *tests: Any) -> list[int]:
        """How many rows each test is true of."""
        found = [0] * len(tests)
        for frame in read_frames(self.record.samples):
            row = frame.select(one.sum().alias(str(n)) for n, one in enumerate(tests)).row(0)
            found = [n + int(more or 0) for n, more in zip(found, row, strict=True)]
        return found


def _numbers(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Each single number of aggregates.json, by its path."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}{name}", float(value)
