"""A grid: one experiment over several prompts, models or other settings, every combination of them a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from benchbook.ask.setting_types import SittingSettings
from benchbook.ask.starting import storable_config
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_asked_for
from benchbook.record.folder import RUN_ID, Record, is_record

__all__ = ["GRID", "Cell", "cells_of", "record_of"]

GRID = "grid"  # the table of a config with a list for each setting that varies
_MOST = 1_000
# One name, one folder: they are what the cells have in common.
_SHARED = frozenset({"run_id", "runs", "reports", "experiment"})


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination. `varied` has the settings that other cells have otherwise, `config` all of them, checked."""

    run_id: str
    varied: Mapping[str, Any]
    config: SittingSettings
    evaluator: Evaluator


def cells_of(values: Mapping[str, Any], source: str) -> list[Cell]:
    """The cells of a config with a table `grid`, in its order: what is named first varies slowest.

    Their records are called after the experiment: `NAME-1`, `NAME-2`, … Nothing is read yet but the settings.
    Raises: ConfigError naming `source` and the setting.
    """
    shared = {name: value for name, value in values.items() if name != GRID}
    grid = _checked(values.get(GRID), shared, source)
    name = shared.get("experiment")
    if not isinstance(name, str) or not RUN_ID.fullmatch(f"{name}-1"):
        expected = "a name for what the cells are together: letters, digits, '.', '_' and '-'"
        raise ConfigError(f"{source}: experiment", repr(name), expected)
    evaluator = evaluator_asked_for(str(shared.get("spec", "rubric@v1")))
    found = []
    for number, combination in enumerate(product(*grid.values()), start=1):
        varied = dict(zip(grid, combination, strict=True))
        run_id = f"{name}-{number}"
        config = evaluator.settings(shared | varied | {"run_id": run_id}, f"{source}, cell {number}")
        found.append(Cell(run_id, varied, config, evaluator))
    return found


def _checked(grid: Any, shared: Mapping[str, Any], source: str) -> dict[str, list[Any]]:
    """Raises: ConfigError."""
    if not isinstance(grid, dict) or not grid:
        expected = 'a table [grid] with a list for each setting that varies: model = ["…", "…"]'
        raise ConfigError(f"{source}: {GRID}", "nothing" if grid is None else repr(grid), expected)
    n_cells = 1
    for name, options in grid.items():
        setting = f"{source}: {GRID}.{name}"
        if name in _SHARED or name in ("spec", GRID):
            raise ConfigError(setting, "a setting that all cells share", "a setting of what is asked, such as model")
        if name in shared:
            raise ConfigError(setting, f"a list, and {name} = {shared[name]!r} beside it", "one of them")
        if not isinstance(options, list) or not options:
            raise ConfigError(setting, repr(options), "a list of at least one")
        if any(one in options[:place] for place, one in enumerate(options)):
            raise ConfigError(setting, repr(options), "a list in which no two are alike")
        n_cells *= len(options)
    if n_cells > _MOST:
        raise ConfigError(f"{source}: {GRID}", f"{n_cells:,} cells", f"at most {_MOST:,}")
    return dict(grid)


def record_of(cell: Cell) -> Record | None:
    """The cell's record, where it was begun before.

    Raises: UsageError where a record of that name has other settings.
    """
    record = Record(f"{cell.config.runs}/{cell.run_id}")
    if not is_record(record.path):
        return None
    if (differs := next(_differing(cell, record), None)) is not None:
        raise UsageError(
            f"{record.path}: was begun with another {differs} than cell {cell.run_id} has now; "
            "give the experiment another name, or move that record away"
        )
    return record


def _differing(cell: Cell, record: Record) -> Iterator[str]:
    """The settings of its plan that a record was begun with otherwise."""
    then, now = record.started().config, storable_config(cell.config)
    for name in sorted(then.keys() | now.keys()):
        if name not in cell.evaluator.may_change | _SHARED and then.get(name) != now.get(name):
            yield name
