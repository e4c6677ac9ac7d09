"""A grid: one experiment over several models, prompts or other settings, a record for every combination."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from benchbook.ask.limits import Stop
from benchbook.ask.settings import SittingSettings
from benchbook.ask.starting import RunResult, storable_config
from benchbook.ask.work import ProgressHandler
from benchbook.errors import ConfigError, RecordError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_asked_for, resume_run, start_run
from benchbook.evaluators.settings import RUN_SPEC
from benchbook.record.derived_files import sha256_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import RUN_ID, Record, is_record

__all__ = ["GRID", "NOT_VARIED", "Cell", "begin_cell", "cells_of"]

GRID = "grid"  # the table of a config with a list for each setting that varies
_MOST = 1_000
# A cell's name is the grid's to give, and the folder and the experiment are what its cells have in common.
NOT_VARIED = frozenset({"run_id", "runs", "reports", "experiment"})


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
    evaluator = evaluator_asked_for(str(shared.get("spec", RUN_SPEC)))
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
        if name in NOT_VARIED or name in ("spec", GRID):
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


async def begin_cell(
    cell: Cell, on_progress: ProgressHandler | None = None, source: str | Path | None = None
) -> RunResult[Any]:
    """Make a cell's record, or go on with it where it ended. One that is whole stays as it is, and nobody is asked.

    Raises: UsageError where the record of that name was begun with another plan; else as `start_run`, `resume_run`.
    """
    record = Record(Path(cell.config.runs) / cell.run_id)
    if not is_record(record.path):
        return await start_run(cell.config, on_progress, source)
    if (changed := _changed(cell, record.started())) is not None:
        raise UsageError(
            f"{record.path}: was begun with another {changed} than cell {cell.run_id} has now; "
            "give the experiment another name, or move that record away"
        )
    with suppress(RecordError):  # one that was never derived, or not to its end
        if (derived := cell.evaluator.read(record)).manifest.state == "complete":
            return RunResult(record, derived, Stop())
    changes = {name: value for name, value in storable_config(cell.config).items() if name in cell.evaluator.may_change}
    return await resume_run(record, changes, on_progress)


def _changed(cell: Cell, then: RunStarted) -> str | None:
    """What a record's plan has otherwise than its cell would have now: a setting, or the content of a file."""
    prepared = cell.evaluator.prepare(cell.config)
    now = prepared.first_fact(cell.run_id, {name: sha256_of(path) for name, path in prepared.inputs.items()}, None)
    if now.plan_sha256 == then.plan_sha256:
        return None
    pairs = ((then.config, now.config), (then.inputs, now.inputs))
    fixed = cell.evaluator.may_change | NOT_VARIED
    different = (
        name
        for old, new in pairs
        for name in sorted(old.keys() | new.keys())
        if name not in fixed and old.get(name) != new.get(name)
    )
    return next(different, "version of Benchbook")
