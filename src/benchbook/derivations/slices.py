"""Aggregates of the samples that share a section, a category or a difficulty."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.derivations.rows import RubricRow, Slice
from benchbook.scorers.exact import as_float, mean, ratio

__all__ = ["Slices"]

FIELDS = ("section", "category", "difficulty")
MAX_VALUES = 200  # of one field; a field with more is free text, and is not sliced


@dataclass(slots=True)
class _Sums:
    n_samples: int = 0
    n_passed: int = 0
    n_scored: int = 0
    score_nano: int = 0
    n_accuracy: int = 0
    accuracy: int = 0
    n_faithfulness: int = 0
    faithfulness: int = 0


class Slices:
    def __init__(self) -> None:
        self._sums: dict[str, dict[str, _Sums]] = {field: {} for field in FIELDS}

    def add(self, row: RubricRow, score_nano: int | None) -> None:
        for field, sums in self._sums.items():
            value = getattr(row, field)
            if value is None or (len(sums) > MAX_VALUES and value not in sums):
                continue
            one = sums.setdefault(value, _Sums())
            one.n_samples += 1
            one.n_passed += row.passed
            if score_nano is not None:
                one.n_scored += 1
                one.score_nano += score_nano
            if row.accuracy_score is not None:
                one.n_accuracy += 1
                one.accuracy += row.accuracy_score
            if row.faithfulness_score is not None:
                one.n_faithfulness += 1
                one.faithfulness += row.faithfulness_score

    def rows(self) -> list[Slice]:
        return [
            _slice(field, value, sums)
            for field, by_value in self._sums.items()
            if len(by_value) <= MAX_VALUES
            for value, sums in sorted(by_value.items())
        ]


def _slice(field: str, value: str, sums: _Sums) -> Slice:
    return Slice(
        field=field,
        value=value,
        n_samples=sums.n_samples,
        n_scored=sums.n_scored,
        pass_rate=as_float(ratio(sums.n_passed, sums.n_samples)),
        accuracy_mean=as_float(ratio(sums.accuracy, sums.n_accuracy)),
        faithfulness_mean=as_float(ratio(sums.faithfulness, sums.n_faithfulness)),
        aggregate_score=as_float(mean(sums.score_nano, sums.n_scored)),
    )
