"""Runs taken together: how many fit a filter, and what they took; and which values there are to filter by."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from sqlalchemy import Column, Select, func, select

from benchbook.catalog.database import Catalog, mark_tags, runs
from benchbook.catalog.run_filters import RunFilter, conditions

_MOST_VALUES = 200


class RunTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over runs. One of numbers that no run has is None, and `n_with_*` says how many runs have them."""

    n_runs: int
    n_samples: int
    n_tokens: int | None
    n_with_tokens: int
    cost_nano: int | None  # dollars
    n_with_cost: int
    by_state: dict[str, int]
    by_decision: dict[str, int]


class FilterValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value that runs have, and how many."""

    value: str
    n_runs: int


class FilterValues(msgspec.Struct, frozen=True, kw_only=True):
    """The values that runs have, by code point; of very many the most used."""

    models: tuple[FilterValue, ...]
    judges: tuple[FilterValue, ...]
    eval_sets: tuple[FilterValue, ...]
    decisions: tuple[FilterValue, ...]
    tags: tuple[FilterValue, ...]
    n_archived: int


def totals(catalog: Catalog, wanted: RunFilter) -> RunTotals:
    """The totals of the runs that fit. Raises: ConfigError for a filter that is none."""
    summed = (runs.c.n_attempted, runs.c.n_tokens, runs.c.cost_nano)
    query = (
        select(
            runs.c.state,
            runs.c.decision,
            func.count().label("n"),
            *(func.sum(column).label(column.name) for column in summed),
            *(func.count(column).label(f"with_{column.name}") for column in summed),
        )
        .where(*conditions(wanted))
        .group_by(runs.c.state, runs.c.decision)
    )
    with catalog.read() as connection:
        rows = [dict(row._mapping) for row in connection.execute(query)]

    def total(name: str) -> int:
        return sum(int(row[name] or 0) for row in rows)

    by_state: Counter[str] = Counter()
    by_decision: Counter[str] = Counter()
    for row in rows:
        by_state[row["state"]] += row["n"]
        if row["decision"] is not None:
            by_decision[row["decision"]] += row["n"]
    return RunTotals(
        n_runs=total("n"),
        n_samples=total("n_attempted"),
        n_tokens=total("n_tokens") if total("with_n_tokens") else None,
        n_with_tokens=total("with_n_tokens"),
        cost_nano=total("cost_nano") if total("with_cost_nano") else None,
        n_with_cost=total("with_cost_nano"),
        by_state=dict(sorted(by_state.items())),
        by_decision=dict(sorted(by_decision.items())),
    )


def filter_values(catalog: Catalog) -> FilterValues:
    """The values of runs that are not archived."""
    shown = tuple(conditions(RunFilter(archived=False)))

    def of(column: Column[Any]) -> Select[Any]:
        return select(column.label("value"), func.count().label("n")).where(column.is_not(None), *shown)

    queries = {
        "models": of(runs.c.model_id),
        "judges": of(runs.c.evaluator_model_id),
        "eval_sets": of(runs.c.dataset_id),
        "decisions": of(runs.c.decision),
        "tags": of(mark_tags.c.tag).where(mark_tags.c.run_id == runs.c.run_id),
    }
    found: dict[str, tuple[FilterValue, ...]] = {}
    with catalog.read() as connection:
        for name, query in queries.items():
            most = query.group_by("value").order_by(func.count().desc(), "value").limit(_MOST_VALUES)
            values = (FilterValue(value=row.value, n_runs=row.n) for row in connection.execute(most))
            found[name] = tuple(sorted(values, key=lambda one: one.value))
        archived = select(func.count()).select_from(runs).where(*conditions(RunFilter(archived=True)))
        n_archived = connection.scalar(archived) or 0
    return FilterValues(**found, n_archived=n_archived)
