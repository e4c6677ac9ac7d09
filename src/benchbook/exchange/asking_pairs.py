"""Runs compared in pairs by a judge, begun and gone on with: each order of each pair is a record of its own."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import new_run_id
from benchbook.ask.limits import Stop
from benchbook.ask.starting import prepared_to_ask
from benchbook.ask.work import ProgressHandler
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.registry import settings_asked_for
from benchbook.exchange.paired_answers import PairedAnswersOfRuns, paired_answers
from benchbook.exchange.records_sitting import OnPart, RecordsSitting, unheard
from benchbook.labels.pairs.asked import check_rubric
from benchbook.labels.pairs.folder import (
    MOST_RUNS,
    PLANNED,
    RUBRIC,
    RULES,
    SOURCES,
    PairsFolder,
    PairSource,
    PairsPlan,
)
from benchbook.record.folder import RUN_ID, Record
from benchbook.specs.folders import files_to_start_from
from benchbook.text import plural
from benchbook.writing import copy_folder, make_folder, write_file

COMMAND = "judge pairs"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsAsked:
    """Pairs as they are asked for. `n` None: all items; `baseline`: the place, from 0, of the run that the others are
    held against, None for each against each."""

    n: int | None = None
    seed: int = 0
    baseline: int | None = None
    pairs: str = "pairs"
    pairs_id: str | None = None


class PairsForecast(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs before they are judged: the judges' calls, and the most that they can cost in dollars.

    `n_items` are those that are compared, over all pairs of runs.
    """

    judges: tuple[str, ...]
    spec: str
    models: tuple[str, ...]
    n_pairs_of_runs: int
    n_items: int
    calls: int
    most_cost_usd: str | None


@dataclass(frozen=True, slots=True)
class PreparedPairs:
    """Pairs as they would be begun: answers are drawn and settings checked, but nothing was asked or written."""

    records: Sequence[Record]
    plan: PairsPlan
    forecast: PairsForecast
    path: Path

    def begin(self) -> PairsFolder:
        """Write the folder, with the plan, copies of the runs, and the rubric where it is ours.

        Raises: UsageError where the folder is there already; RecordError.
        """
        with PLANNED.begun(self.path, self.plan, COMMAND) as folder:
            if self.plan.settings.get("spec") is None:
                _write_rubric(folder)
            make_folder(folder / SOURCES)
            for number, record in enumerate(self.records, 1):
                copy_folder(record.path, folder / SOURCES / str(number))
        return PairsFolder(self.path, self.plan)


def prepared_pairs(records: Sequence[Record], given: Mapping[str, Any], asked: PairsAsked) -> PreparedPairs:
    """Draw the answers of the runs and look at all settings; `given` are those of the judge and its limits.

    Raises: ConfigError, UsageError, SeveralFaultsError before anything is written; RecordError.
    """
    pairs_id = asked.pairs_id or new_run_id()
    if RUN_ID.fullmatch(pairs_id) is None:
        raise ConfigError("pairs_id", repr(pairs_id), "letters, digits, and . _ - after the first")
    _check(records, asked)
    settings = {name: value for name, value in given.items() if name != "reports"}
    if settings.get("cache") is not None:
        raise ConfigError("cache", repr(settings["cache"]), "nothing: each order is asked anew")
    with paired_answers(records, n=asked.n, seed=asked.seed) as answers, _rubric(settings) as spec:
        plan = PairsPlan(
            pairs_id=pairs_id,
            rules=RULES,
            sources=tuple(_sources(records, answers)),
            baseline=asked.baseline,
            n=asked.n,
            seed=asked.seed,
            settings=settings,
        )
        answers.check(records, plan.pairs)
        forecast = _forecast(plan, answers, {**settings, "spec": spec})
    return PreparedPairs(records, plan, forecast, Path(asked.pairs) / pairs_id)


def _check(records: Sequence[Record], asked: PairsAsked) -> None:
    """Refuse what can't be. Raises: ConfigError, UsageError."""
    if not 2 <= len(records) <= MOST_RUNS:
        raise UsageError(f"{plural(len(records), 'run')}: expected 2 to {MOST_RUNS}, to compare in pairs")
    paths = Counter(record.path.resolve() for record in records)
    if twice := [path for path, n in paths.items() if n > 1]:
        raise UsageError(f"{twice[0]}: is there twice; a run is not compared with itself")
    if asked.n is not None and asked.n < 1:
        raise ConfigError("n", str(asked.n), "1 item, or more")
    if asked.baseline is not None and not 0 <= asked.baseline < len(records):
        raise ConfigError("baseline", str(asked.baseline), "the place of one of the runs, from 0")


@contextmanager
def _rubric(settings: Mapping[str, Any]) -> Iterator[str]:
    """The folder of the rubric: the user's own, or ours, which goes when the block ends."""
    if (own := settings.get("spec")) is not None:
        yield str(own)
        return
    with tempfile.TemporaryDirectory(prefix="benchbook-rubric-") as folder:
        yield str(_write_rubric(Path(folder)))


def _write_rubric(folder: Path) -> Path:
    """Write our rubric for pairs into a folder of its own, and return that."""
    rubric = folder / f"{RUBRIC}@v1"
    make_folder(rubric)
    for name, text in files_to_start_from("pairs", RUBRIC).items():
        write_file(rubric / name, text.encode("utf-8"))
    return rubric


def _sources(records: Sequence[Record], answers: PairedAnswersOfRuns) -> Iterator[PairSource]:
    """The runs, each under the plainest name that no other has: its model, its id, or both with its place."""
    models = [one.found.model for one in answers.answers]
    ids = [record.started().run_id for record in records]
    for place, (model, run_id, sha256) in enumerate(zip(models, ids, answers.hashes, strict=True), 1):
        names = ((model, models.count(model)), (run_id, ids.count(run_id)), (f"{place}: {run_id} of {model}", 1))
        name = next(name for name, n in names if n == 1)
        yield PairSource(model=name, run_id=run_id, run_sha256=sha256)


def _forecast(plan: PairsPlan, answers: PairedAnswersOfRuns, settings: Mapping[str, Any]) -> PairsForecast:
    """All calls, and what they cost at most: each pair is looked at in one order, for the other has the same texts.

    Raises: as `prepared_pairs`.
    """
    judges: tuple[str, ...] = ()
    spec, n_items, cost = "", 0, Decimal(0)
    priced = True
    for pair in plan.pairs:
        evaluator, checked = settings_asked_for(answers.settings(*pair, settings) | {"reports": None}, COMMAND, "run")
        check_rubric(evaluator, str(settings["spec"]))
        prepared = prepared_to_ask(evaluator, checked)
        forecast = prepared.forecast()
        judges = tuple(role.model_id for name, (_, role) in prepared.roles.items() if name != "candidate")
        spec, n_items = evaluator.id, n_items + forecast.samples
        priced = priced and forecast.most_cost_usd is not None
        cost += 2 * Decimal(forecast.most_cost_usd or 0)
    return PairsForecast(
        judges=judges,
        spec=spec,
        models=tuple(one.model for one in plan.sources),
        n_pairs_of_runs=len(plan.pairs),
        n_items=n_items,
        calls=2 * n_items * len(judges),
        most_cost_usd=f"{cost:.2f}" if priced else None,
    )


async def go_on(
    folder: PairsFolder,
    changes: Mapping[str, Any] | None = None,
    on_progress: ProgressHandler | None = None,
    on_part: OnPart = unheard,
) -> Stop:
    """Ask for every record that is not complete, one after the other; says why it ended early, if it did.

    `changes` are limits and addresses alone; limits on dollars and seconds are on all that is asked.
    Raises: UsageError for a change to what is compared; RecordError.
    """
    plan, changed = folder.plan, changes or {}
    settings = {**plan.settings, "spec": folder.spec, **changed}
    sitting = RecordsSitting(COMMAND, settings, changed, folder.asked, on_progress, on_part)
    with paired_answers(folder.sources, n=plan.n, seed=plan.seed) as answers:
        for order in plan.orders:
            await sitting.ask(folder.order(*order), partial(answers.settings, *order))
    return sitting.stop
