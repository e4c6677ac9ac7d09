"""A grid: one experiment over several models, prompts or other settings, a record for every combination."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.ask.identity import storable_config
from benchbook.ask.limits import Stop
from benchbook.ask.settings import SittingSettings
from benchbook.ask.starting import RunResult, resume, start
from benchbook.ask.work import ProgressHandler
from benchbook.errors import ConfigError, RecordError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_asked_for
from benchbook.evaluators.settings import RUN_SPEC
from benchbook.record.derived_files import sha256_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import RUN_ID, Record, SeenFile, is_record, misnamed

if TYPE_CHECKING:
    from benchbook.evaluators.scorers.scorer import Scorer

GRID = "grid"  # the table of a config with a list for each setting that varies
REPEATS = "repeats"
_MOST = 1_000
# A cell's name is the grid's to give, and the folder and the experiment are what its cells have in common.
NOT_VARIED = frozenset({"run_id", "runs", "reports", "experiment"})


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination. `varied` has the settings that other cells have otherwise, and as `repeat` which one of several
    records of the same plan it is, from 1; `config` has all settings, checked."""

    run_id: str
    varied: Mapping[str, Any]
    config: SittingSettings
    evaluator: Evaluator


def cells_of(values: Mapping[str, Any], source: str) -> list[Cell]:
    """The cells of a config with a table `grid`, in its order: what is named first varies slowest.

    Their records are called after the experiment: `NAME-1`, `NAME-2`, … `spec` may be a function of the user's own.
    Where the evaluator asks every item once, `repeats` makes as many records of each combination (SPEC R7.3): all
    combinations, and then all of them again, so that more repeats are more cells. Nothing is read yet but the settings.

    Raises: ConfigError naming `source` and the setting.
    """
    shared = {name: value for name, value in values.items() if name != GRID}
    evaluator = _evaluator(shared.get("spec", RUN_SPEC), source)
    repeats = 1 if evaluator.repeats_in_record else _repeats(shared.pop(REPEATS, 1), values.get(GRID), source)
    grid = _checked(values.get(GRID), shared, source, repeats)
    name = shared.get("experiment")
    if not isinstance(name, str) or not RUN_ID.fullmatch(f"{name}-1"):
        expected = "a name for what the cells are together: letters, digits, '.', '_' and '-'"
        raise ConfigError(f"{source}: experiment", repr(name), expected)
    if "spec" in shared and not isinstance(shared["spec"], str):
        shared["spec"] = evaluator.id
    found = []
    for number, (repeat, *combination) in enumerate(product(range(repeats), *grid.values()), start=1):
        varied = dict(zip(grid, combination, strict=True))
        run_id = f"{name}-{number}"
        given = shared | varied | {"run_id": run_id}
        if repeat:
            given.pop("cache", None)  # repeats never share one
        config = evaluator.settings(given, f"{source}, cell {number}")
        found.append(Cell(run_id, varied | ({"repeat": repeat + 1} if repeats > 1 else {}), config, evaluator))
    return found


def _evaluator(spec: str | Path | Scorer, source: str) -> Evaluator:
    """The evaluator of the cells. Raises: ConfigError for an unknown one; UsageError for a spec.toml with faults."""
    from benchbook.evaluators.scorers.evaluator import evaluator_over
    from benchbook.evaluators.scorers.scorer import Scorer, is_scorer_in_file

    if isinstance(spec, Scorer):
        return evaluator_over(spec)
    if is_scorer_in_file(str(spec)):  # a config is data: who reads one does not expect that it runs a file
        expected = "a name or a folder; a function is named on the command line, --spec FILE.py:function"
        raise ConfigError(f"{source}: spec", repr(str(spec)), expected)
    return evaluator_asked_for(str(spec))


def _repeats(repeats: Any, grid: Any, source: str) -> int:
    """How many records each combination has. Raises: ConfigError."""
    if isinstance(grid, dict) and REPEATS in grid:
        expected = f"{REPEATS} beside [{GRID}]: this evaluator asks every item once, so each repeat is a record"
        raise ConfigError(f"{source}: {GRID}.{REPEATS}", repr(grid[REPEATS]), expected)
    if type(repeats) is not int or not 1 <= repeats <= _MOST:
        raise ConfigError(f"{source}: {REPEATS}", repr(repeats), f"a whole number from 1 to {_MOST:,}")
    return repeats


def _checked(grid: Any, shared: Mapping[str, Any], source: str, repeats: int) -> dict[str, list[Any]]:
    """The lists of a grid, checked. Raises: ConfigError."""
    if not isinstance(grid, dict) or not grid:
        expected = 'a table [grid] with a list for each setting that varies: model = ["…", "…"]'
        raise ConfigError(f"{source}: {GRID}", "nothing" if grid is None else repr(grid), expected)
    n_cells = repeats
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

    Raises: UsageError where the record of that name was begun with another plan, or is another cell's; else as `start`,
    `resume`.
    """
    record = Record(Path(cell.config.runs) / cell.run_id)
    if not is_record(record.path):
        return await start(cell.evaluator, cell.config, on_progress, source)
    if (wrong := misnamed(record, record.started().run_id)) is not None:
        raise UsageError(f"{record.path}: {wrong}")
    if (changed := _changed(cell, record.started())) is not None:
        raise UsageError(
            f"{record.path}: was begun with another {changed} than cell {cell.run_id} has now; "
            "give the experiment another name, or move that record away"
        )
    with suppress(RecordError):  # one that was never derived, or not to its end
        if (derived := cell.evaluator.read(record)).manifest.state == "complete":
            return RunResult(record, derived, Stop())
    changes = {name: value for name, value in storable_config(cell.config).items() if name in cell.evaluator.may_change}
    return await resume(cell.evaluator, record, changes, on_progress)


def _changed(cell: Cell, then: RunStarted) -> str | None:
    """The first difference between a record's plan and what its cell would have now: a setting, or a file's content."""
    prepared = cell.evaluator.prepare(cell.config)
    files = {name: one.path if isinstance(one, SeenFile) else one for name, one in prepared.inputs.items()}
    now = prepared.first_fact(cell.run_id, {name: sha256_of(file) for name, file in files.items()}, None)
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
    same_spec = (now.spec, now.spec_sha256) == (then.spec, then.spec_sha256)
    return next(different, "version of Benchbook" if same_spec else "evaluator")
