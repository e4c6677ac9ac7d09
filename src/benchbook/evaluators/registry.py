"""The evaluators that there are. A module of one is imported when a record of it, or its name, is met.

An installed package adds its own by an entry point of the group `benchbook.evaluators`: `name@vN = module:object`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.ask.settings import SittingSettings
from benchbook.errors import ConfigError, Gathering, RecordError, UsageError
from benchbook.evaluators.contract import DerivedTypes, Evaluator
from benchbook.evaluators.settings import RUN_SPEC, is_spec_folder
from benchbook.record.folder import Record
from benchbook.specs.folders import SPEC_FILE, kind_of_spec
from benchbook.text import nearest, shorten

if TYPE_CHECKING:
    from benchbook.ask.starting import RunResult
    from benchbook.ask.work import ProgressHandler
    from benchbook.evaluators.answers.evaluator import AnswersEvaluator
    from benchbook.evaluators.answers.metric import Metric
    from benchbook.evaluators.scorers.scorer import Scorer
    from benchbook.evaluators.settings import ScoreConfig

_CHECKS = "benchbook.evaluators.checks.evaluator"
_CORRECTNESS = "benchbook.evaluators.correctness.evaluator"
_RUBRIC = "benchbook.evaluators.rubric.evaluator"
_PROTOCOL = "benchbook.evaluators.protocol.evaluator"
_SCORERS = "benchbook.evaluators.scorers.evaluator"
_IMPORTED = "benchbook.evaluators.imported.evaluator"
# By what a first fact says of a user's own.
_OWN: Mapping[Any, str] = {
    "checks": _CHECKS,
    "imported": _IMPORTED,
    "protocol": _PROTOCOL,
    "rubric": _RUBRIC,
    "scorer": _SCORERS,
}
_MODULES: Mapping[str, str] = {
    "answer_correctness@v1": _CORRECTNESS,
    "choice@v1": _CHECKS,
    "contains@v1": _CHECKS,
    "judge_protocol@v1": _PROTOCOL,
    "number@v1": _CHECKS,
    "rubric@v1": _RUBRIC,
}


_JUDGING_SPEC = "judge_protocol@v1"  # where settings name a set of outputs, and no evaluator
_GROUP = "benchbook.evaluators"


def _installed() -> dict[str, EntryPoint]:
    """The evaluators of other packages, by name. One that Benchbook ships is never another's."""
    return {one.name: one for one in entry_points(group=_GROUP) if one.name not in _MODULES}


@cache
def _loaded(entry: EntryPoint) -> Evaluator:
    """The evaluator of an entry point. Raises: RecordError where the package gives something else."""
    found = entry.load()
    if not isinstance(found, Evaluator) or found.id != entry.name:
        raise RecordError(f"{entry.value}: is no evaluator {entry.name!r}, as the package that has it says")
    return found


def evaluator_named(spec: str) -> Evaluator:
    """The evaluator of that name, of Benchbook or of another package that is installed.

    Raises: RecordError for one that is not known here.
    """
    module = _MODULES.get(spec)
    if module is None:
        if (entry := _installed().get(spec)) is not None:
            return _loaded(entry)
        raise RecordError(f"spec {spec[:80]!r}: not known here; expected {', '.join(_MODULES)}")
    found = import_module(module)
    evaluator: Evaluator = found.EVALUATORS[spec] if module == _CHECKS else found.EVALUATOR
    return evaluator


def evaluator_asked_for(spec: str) -> Evaluator:
    """The evaluator that settings name: one that is shipped or installed, or the folder of a user's own rubric,
    judge protocol or checks.

    Raises: ConfigError for one that there is not; UsageError for a folder's spec.toml with faults.
    """
    if spec in _MODULES:
        return evaluator_named(spec)
    if is_spec_folder(spec):
        if not (Path(spec) / SPEC_FILE).is_file():
            what = "no spec.toml in it" if Path(spec).is_dir() else "there is no such folder"
            starts = "`benchbook rubric init NAME` writes one for a judge, `benchbook checks init NAME` one without"
            raise UsageError(f"{spec}: {what}; {starts}")
        own: Evaluator = import_module(_OWN[kind_of_spec(spec)]).evaluator_in(spec)
        return own
    names = (*_MODULES, *_installed())
    if spec in names:
        return evaluator_named(spec)
    close = nearest(spec, names)
    near = f"{close}, which is near" if close else f"one of {', '.join(names)}"
    raise ConfigError("spec", repr(shorten(spec, 80)), f"{near}; or the folder of a rubric, or of checks, of your own")


def evaluator_of(record: Record, scorer: Scorer | None = None) -> Evaluator:
    """A record's evaluator, by its first fact. `scorer` is the function that scored it, to go on with the record.

    Raises: RecordError, RecordDamagedError; UsageError for another scorer than the record's, or a changed one.
    """
    if scorer is not None:
        from benchbook.evaluators.scorers.evaluator import evaluator_to_resume

        return evaluator_to_resume(record, scorer)
    started = record.started()
    module = _OWN.get(started.identity.get("evaluator"))
    if module is not None and started.spec not in _MODULES:
        own: Evaluator = import_module(module).evaluator_kept_in(record, started)
        return own
    return evaluator_named(started.spec)


def is_complete(record: Record) -> bool:
    """True for a record that came to its end and was derived. Raises: RecordError."""
    return record.manifest.is_file() and bool(evaluator_of(record).read(record).manifest.state == "complete")


# ── those that score answers without a judge ─────────────────────────────────────────────────────────────────


def score_predictions(config: ScoreConfig) -> RunResult[Any]:
    """A new record of predictions that were made elsewhere, under the evaluator that the settings name.

    Raises: as `AnswersEvaluator.score`; ConfigError for an evaluator that scores no predictions.
    """
    return answers_evaluator(config.spec).score(config)


def answers_evaluator(spec: str | Path | Scorer) -> AnswersEvaluator:
    """The evaluator of that name, of a folder, or of a function of one's own, which scores answers without a judge.

    Raises: as `evaluator_asked_for`; ConfigError for another.
    """
    from benchbook.evaluators.answers.evaluator import AnswersEvaluator

    if not isinstance(spec, str | Path):
        from benchbook.evaluators.scorers.evaluator import evaluator_over

        return evaluator_over(spec)
    evaluator = evaluator_asked_for(str(spec))
    if not isinstance(evaluator, AnswersEvaluator):
        what = f"an evaluator without a judge; {spec} is of `benchbook {evaluator.command}`"
        raise ConfigError("spec", repr(str(spec)), what)
    return evaluator


def answers_metric(spec: str | Path | Scorer) -> Metric:
    """The metric that scores one answer at once. Raises: as `answers_evaluator`; UsageError for an awaited function."""
    if not isinstance(spec, str | Path) and spec.is_async:
        raise UsageError(f"{spec.id}: is awaited; here an answer is scored at once: expected a plain function")
    return answers_evaluator(spec).metric


def scorer_or_name(words: str) -> str | Scorer:
    """An evaluator as a command line names it: the function of `FILE.py:function`, or the name as it is.

    The file is run, so nothing that comes from a config, a record or over a network may be given here.
    """
    from benchbook.evaluators.scorers.scorer import is_scorer_in_file, scorer_in_file

    return scorer_in_file(words) if is_scorer_in_file(words) else words


# ── records and runs ─────────────────────────────────────────────────────────────────────────────────────────


def derived_types() -> tuple[DerivedTypes, ...]:
    """The types of the derived files under each evaluator that Benchbook has, a kind at a time."""
    modules = (_RUBRIC, _CORRECTNESS, _CHECKS, _SCORERS, _IMPORTED, _PROTOCOL)
    return tuple(import_module(module).derived_types() for module in modules)


def samples_type(record: Record) -> type[Any]:
    """The type of a row of a record's samples.parquet. Raises: RecordError, RecordDamagedError."""
    return evaluator_of(record).tables(record.started())["samples.parquet"]


def settings_asked_for(
    values: Mapping[str, Any], source: str, command: str | None = None
) -> tuple[Evaluator, SittingSettings]:
    """The evaluator that settings name, and the settings, checked; `source` is what errors call them.

    Raises: ConfigError, UsageError; ConfigError, too, for an evaluator of another `command` than this.
    """
    evaluator = evaluator_asked_for(str(values.get("spec", _JUDGING_SPEC if "set" in values else RUN_SPEC)))
    if command not in (None, evaluator.command):
        expected = f"another evaluator; that one is `benchbook {evaluator.command}`'s"
        raise ConfigError("spec", evaluator.id, expected)
    return evaluator, checked_settings(evaluator, values, source)


def settings_for_batch(
    values: Mapping[str, Any], batch: Mapping[str, Any], source: str, scorer: Scorer | None = None
) -> tuple[Evaluator, SittingSettings]:
    """The same for a run that is asked by batch: `batch` are settings of the table of that name, and win. `scorer` is a
    function that scores the answers, in the place of an evaluator's name.

    Raises: as `settings_asked_for`.
    """
    table = values.get("batch") or {}
    if not isinstance(table, Mapping):
        raise ConfigError(f"{source}: batch", type(table).__name__, "a table: [batch]")
    values = {**values, "batch": {**table, **batch}} | ({} if scorer is None else {"spec": scorer.id})
    named = str(values.get("spec", _JUDGING_SPEC if "set" in values else RUN_SPEC))
    evaluator = evaluator_asked_for(named) if scorer is None else answers_evaluator(scorer)
    return evaluator, checked_settings(evaluator, evaluator.settings_by_batch(values), source)


def checked_settings(evaluator: Evaluator, values: Mapping[str, Any], source: str) -> Any:
    """The settings of an evaluator, checked. Where some are wrong, what the others name is looked at too: files, keys.

    Raises: as `Evaluator.settings`; SeveralFaultsError with all that is wrong.
    """
    try:
        return evaluator.settings(values, source)
    except UsageError as error:
        wrong = Gathering()
        wrong.add(error)
        if (rest := evaluator.settings_that_hold(values)) is not None:
            with wrong:
                from benchbook.ask.starting import prepared_to_ask

                prepared_to_ask(evaluator, rest)
        wrong.raise_any()
        raise


async def start_run(
    config: SittingSettings,
    on_progress: ProgressHandler | None = None,
    source: str | Path | None = None,
    on_begun: Callable[[Record], None] = lambda _: None,
) -> RunResult[Any]:
    """Begin a record under the evaluator that the settings name, and ask all of its plan.

    Raises: as `ask.starting.start`.
    """
    from benchbook.ask.starting import start

    return await start(evaluator_asked_for(config.spec), config, on_progress, source, on_begun)


async def resume_run(
    record: Record,
    changes: Mapping[str, Any] | None = None,
    on_progress: ProgressHandler | None = None,
    scorer: Scorer | None = None,
    on_begun: Callable[[Record], None] = lambda _: None,
) -> RunResult[Any]:
    """Go on with a record of any evaluator where its journal ends. Raises: as `evaluator_of`, `ask.starting.resume`."""
    from benchbook.ask.starting import resume

    return await resume(evaluator_of(record, scorer), record, changes, on_progress, on_begun)
