"""A log as a record like any other: its file among the inputs, and all that it says as facts (SPEC R1.3b).

The log is read twice: for its items, and for the facts. Nothing of an unreadable log is imported.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.ask.identity import first_fact, new_run_id, project_identity
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.requests import RolePlan
from benchbook.ask.sharding import ShardResult, recorded_shard
from benchbook.ask.starting import RunResult
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.opening import evalset_path
from benchbook.evaluators.answers.asking import identity_of
from benchbook.evaluators.answers.tables import AnswersDerived, derive_answers
from benchbook.evaluators.candidate import CandidatePlan, candidate_plan_of
from benchbook.evaluators.imported.log import SPEC, ImportedLog, ImportedScorer, columns_of
from benchbook.evaluators.imported.metric import ImportedMetric
from benchbook.exchange.first_look import FirstLook, LookedItems, OwnItems, Values
from benchbook.exchange.imported_facts import MOST_SCORERS, LogFacts
from benchbook.exchange.log import PROMPTS_NOT_KNOWN, ForeignLog, LogNote, LogSample, LogScorer
from benchbook.exchange.set_items import SetItems
from benchbook.exchange.tools import Tool, opened_logs
from benchbook.record.facts import RunStarted, Shard
from benchbook.record.folder import Inputs, Record, SeenFile, create_record, seen
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import MAX_SAMPLES
from benchbook.record.shards import ShardAsked
from benchbook.text import all_storable, plural, quoted, sentence, shorten, storable

_MOST_ABSENT = 100_000  # samples that a log does not hold, by the numbers of its repeats
_MOST_TIMES_ABSENT = 100  # or so many times as many as it holds


class EmptyLogError(InputError):
    """A log that holds no samples: there is nothing to make a record of."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a log is imported. `scorer` is the one whose values are the record's score, and `scale` are the ends of its
    scale, where the log does not say them; `model` is who was asked, where the log does not say it; `requests` is the
    file with a batch's requests; `evalset` is the set that was asked, by its name in settings, which samples are joined
    with by id."""

    runs: str = "runs"
    run_id: str | None = None
    scorer: str | None = None
    scale: tuple[float, float] | None = None
    model: str | None = None
    requests: str | None = None
    evalset: str | None = None


def import_logs(
    path: str | Path, wanted: Wanted, tool: Tool | None = None, on_left_out: Callable[[InputError], None] | None = None
) -> Iterator[RunResult[AnswersDerived]]:
    """A record of each log in a file or folder, one after another. `on_left_out` is called with the error of one that
    holds no samples (`EmptyLogError`), or that makes no sense beside others in a folder, and the others are imported.

    Raises: as `import_log`; UsageError for several logs and one `run_id`; the last error where nothing is imported.
    """
    n, last = 0, None

    def leave_out(error: InputError) -> None:
        nonlocal last
        last = error
        if on_left_out is not None:
            on_left_out(error)

    logs: Iterable[ForeignLog] = opened_logs(path, tool, requests=wanted.requests, on_broken=leave_out)
    if wanted.run_id is not None:
        logs = _one_to_import(list(logs), path)
    for log in logs:
        with log:
            try:
                result = import_log(log, wanted)
            except InputError as error:
                if not (isinstance(error, EmptyLogError) or Path(path).is_dir()):
                    raise
                leave_out(error)
                continue
        n += 1
        yield result
    if not n and last is not None:
        raise last


def _one_to_import(logs: list[ForeignLog], path: str | Path) -> list[ForeignLog]:
    """The same logs, of which one at most becomes a record. Raises: UsageError, with all of them closed."""
    if sum(map(_has_samples, logs)) > 1:
        for log in logs:
            log.close()
        raise UsageError(f"run_id: {path} holds several logs, and each becomes a record of its own")
    return logs


@contextmanager
def one_log(path: str | Path, wanted: Wanted, tool: Tool | None = None) -> Iterator[ForeignLog]:
    """The one log in a file or folder of which a record can be made.

    Raises: UsageError where there are several; InputError where there is none.
    """
    logs = _one_to_import(list(opened_logs(path, tool, requests=wanted.requests)), path)
    with ExitStack() as opened:
        for log in logs:
            opened.enter_context(log)
        yield next((log for log in logs if _has_samples(log)), logs[0])


def _has_samples(log: ForeignLog) -> bool:
    """False for a log of which no record can be made."""
    try:
        return not log.header.samples_of and next(log.samples(whole=False), None) is not None
    except InputError:
        return False


def import_log(log: ForeignLog, wanted: Wanted) -> RunResult[AnswersDerived]:
    """Make a whole record of a log, or none where anything is wrong.

    Raises: InputError where the log stops making sense, or holds nothing; ConfigError for a scorer that it does not
    have, a model's name that can't be; RecordError where the record can't be written.
    """
    run_id = wanted.run_id or new_run_id()
    with _readied(log, wanted, run_id) as ready_to:
        derived: list[AnswersDerived] = []

        def fill(record: Record) -> None:
            ready_to.write(record)
            derived.append(derive_answers(record, record.path, ready_to.metric))

        record = create_record(wanted.runs, run_id, ready_to.inputs, ready_to.first_fact, fill)
    return RunResult(record, derived[0], Stop())


def import_shard(log: ForeignLog, wanted: Wanted, asked: ShardAsked) -> ShardResult:
    """Make one shard of a record of a log, unless it is there already.

    Raises: as `import_log`; UsageError where the shard is of another plan.
    """
    run_id = asked.run_id_in(wanted)
    with _readied(log, wanted, run_id) as ready_to:

        def first_fact(hashes: dict[str, str]) -> RunStarted:
            whole = ready_to.first_fact(hashes)
            return asked.first_fact(candidate_plan_of(whole), whole)

        return recorded_shard(asked, wanted.runs, run_id, ready_to.inputs, first_fact, ready_to.write)


@dataclass(frozen=True, slots=True)
class _Readied:
    """A log that was looked through, and all that its record begins with."""

    log: ForeignLog
    look: FirstLook
    metric: ImportedMetric
    inputs: Inputs
    first_fact: Callable[[dict[str, str]], RunStarted]

    def write(self, record: Record, shard: Shard | None = None) -> None:
        """Append the log's samples as facts, or those of one shard."""
        with JournalWriter(record.journal) as journal:
            facts = LogFacts(journal, self.look, shard)
            for sample in self.log.samples():
                facts.add(sample)
            facts.end()


@contextmanager
def _readied(log: ForeignLog, wanted: Wanted, run_id: str) -> Iterator[_Readied]:
    if log.header.samples_of:
        found = f"{shorten(log.header.task, 60)}, a group whose samples are those of other logs"
        raise EmptyLogError(_path_of(log), found=found, expected=f"these: {', '.join(log.header.samples_of[:5])}")
    files: Inputs = {f"log/{name}": seen(path) for name, path in log.files.items()}
    with (
        tempfile.TemporaryDirectory(prefix="benchbook-import-") as folder,
        _looked_at(log, wanted, Path(folder)) as (look, items),
    ):
        _check(log, look)
        metric = ImportedMetric(_described(log, look, wanted))
        yield _Readied(
            log,
            look,
            metric,
            {"evalset": items, **files},
            lambda hashes: _run_started(run_id, log, look, metric, items.path, wanted, hashes),
        )


@contextmanager
def _looked_at(log: ForeignLog, wanted: Wanted, folder: Path) -> Iterator[tuple[FirstLook, SeenFile]]:
    """A first look through a log, and the file of its items: the eval set that was asked, or one made of the log."""
    if wanted.evalset is not None:
        file = seen(evalset_path(wanted.evalset))
        with open_evalset(file.path) as evalset:
            asked = SetItems(evalset)
            look = _look_through(log, asked)
            asked.check(_path_of(log))
            yield look, file
        return
    path = folder / f"{_file_name(log.header.task)}.jsonl"
    with tempfile.TemporaryFile(dir=folder) as spool:
        own = OwnItems(spool)
        look = _look_through(log, own)
        with path.open("wb") as lines:
            own.write(lines)
    yield look, seen(path)


def _look_through(log: ForeignLog, items: LookedItems) -> FirstLook:
    look = FirstLook(items)
    for sample in log.samples():
        _check_repeat(log, sample)
        look.add(sample)
    return look


def _path_of(log: ForeignLog) -> Path:
    return next(iter(log.files.values()), Path(log.header.task))


def _check(log: ForeignLog, look: FirstLook) -> None:
    path = _path_of(log)
    if not look.n_held:
        said = f"a log of {log.header.tool}, task {shorten(log.header.task, 60)}, without samples"
        if log.header.status == "being_written":
            said += ": it is still being written"
        raise EmptyLogError(path, found=said, expected="at least one; `benchbook audit` reads it all the same")
    if (n := look.n_items * look.repeats) > MAX_SAMPLES:
        raise InputError(path, found=f"{n:,} samples", expected=f"at most {MAX_SAMPLES:,} in one record")
    if look.repeats > 1 and n - look.n_held > max(_MOST_ABSENT, _MOST_TIMES_ABSENT * look.n_held):
        found = (
            f"{plural(look.n_held, 'sample')} of {plural(look.n_items, 'item')}, and numbers of repeats up to "
            f"{look.repeats:,}: {n - look.n_held:,} would be absent"
        )
        raise InputError(path, found=found, expected="repeats that are numbered from one on")


def _check_repeat(log: ForeignLog, sample: LogSample) -> None:
    """Raises: InputError for a number that no repeat can have: the record would have a place for each before it."""
    if not 0 <= sample.repeat < MAX_SAMPLES:
        found = f"repeat {sample.repeat:,} of item {quoted(sample.id, 60)}"
        expected = f"0 to {MAX_SAMPLES - 1:,}"
        raise InputError(_path_of(log), field=sample.where or None, found=found, expected=expected)


def _file_name(task: str) -> str:
    plain = "".join(mark if mark.isascii() and (mark.isalnum() or mark in "._-") else "-" for mark in task)
    return plain.strip(".-")[:80] or "log"


# ── what a record's first fact says of it ────────────────────────────────────────────────────────────────────


def _described(log: ForeignLog, look: FirstLook, wanted: Wanted) -> ImportedLog:
    header = log.header
    told = {storable(one.name): one for one in header.scorers}
    names = [*told, *(name for name in look.values if name not in told)][:MOST_SCORERS]
    scorers = [_scorer(told.get(name) or LogScorer(name=name), column, look) for name, column in _named(names)]
    headline = _headline(scorers, look, wanted)
    if wanted.scale is not None:
        scorers = [_on_scale(one, wanted.scale, look) if one.name == headline else one for one in scorers]
    return ImportedLog(
        tool=header.tool,
        tool_version=header.tool_version,
        form=header.form,
        task=shorten(header.task, 200),
        status=header.status,
        scorers=tuple(scorers),
        headline=headline,
        n_claimed=header.n_claimed,
        n_held=look.n_held,
        created_at=header.created_at,
        dataset=header.dataset,
        dataset_version=header.dataset_version,
        error=header.error,
        notes=(*look.notes(), *(sentence(one.words) for one in log.notes() if _is_news(one, wanted))),
    )


def _is_news(note: LogNote, wanted: Wanted) -> bool:
    """False for prompts that are not known, where an eval set has them."""
    return wanted.evalset is None or note.code != PROMPTS_NOT_KNOWN


def _named(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    kept = list(names)
    return zip(kept, columns_of(kept), strict=True)


def _scorer(told: LogScorer, column: str, look: FirstLook) -> ImportedScorer:
    found = look.values.get(storable(told.name), Values())
    lowest = 0.0 if told.lowest is None else told.lowest
    highest = 1.0 if told.highest is None else told.highest
    return ImportedScorer(
        name=storable(told.name),
        column=column,
        lowest=told.lowest,
        highest=told.highest,
        higher_is_better=told.higher_is_better,
        judge=told.judge,
        passes_at=told.passes_at,
        is_rate=bool(found.n) and found.distinct <= {lowest, highest},
    )


def _on_scale(scorer: ImportedScorer, scale: tuple[float, float], look: FirstLook) -> ImportedScorer:
    is_rate = look.values[scorer.name].distinct <= set(scale)
    return msgspec.structs.replace(scorer, lowest=scale[0], highest=scale[1], is_rate=is_rate)


def _headline(scorers: list[ImportedScorer], look: FirstLook, wanted: Wanted) -> str | None:
    """The scorer whose values are the record's score: the one that was asked for, else the first on a known scale.

    Raises: ConfigError for one that the log does not have.
    """
    names = [one.name for one in scorers]
    if wanted.scorer is not None:
        if wanted.scorer not in names:
            raise ConfigError("scorer", repr(shorten(wanted.scorer, 60)), " or ".join(map(repr, names)) or "none")
        return wanted.scorer
    if wanted.scale is not None and len(names) == 1:
        return names[0]
    for one in scorers:
        found = look.values.get(one.name, Values())
        lowest = 0.0 if one.lowest is None else one.lowest
        highest = 1.0 if one.highest is None else one.highest
        if found.n and one.higher_is_better and lowest <= found.least and found.most <= highest:
            return one.name
    return None


def _run_started(
    run_id: str,
    log: ForeignLog,
    look: FirstLook,
    metric: ImportedMetric,
    items: Path,
    wanted: Wanted,
    inputs: dict[str, str],
) -> RunStarted:
    header = log.header
    model = parse_model_id(wanted.model or _model_id(header.model), "model")
    params = all_storable(msgspec.to_builtins(header.generation_params))
    with open_evalset(items, needs_expected_answer=False) as evalset:
        plan = CandidatePlan(
            spec=SPEC,
            spec_sha256=metric.sha256,
            evalset_sha256=evalset.sha256,
            n_items=len(evalset),
            repeats=look.repeats,
            prompt_template_id="",
            prompt_template_sha256="",
            candidate=RolePlan(model_id=str(model), provider="recorded", name=model.name, params=params),
        )
        data = str(next(iter(log.files.values()), items))
        identity = identity_of(
            metric,
            plan,
            evalset,
            project_identity(None, "log", data),
            generation_params=params,
            log_metadata=all_storable(msgspec.to_builtins(header.metadata)),
        )
    config = {name: getattr(wanted, name) for name in ("runs", "scorer", "scale", "model", "requests", "evalset")}
    given = {name: value for name, value in config.items() if value is not None}
    return first_fact(run_id, plan, given, inputs, identity, n_items=plan.n_items, repeats=plan.repeats)


def _model_id(model: str | None) -> str:
    """A log's name of its model as `provider/name`: what it does not say is not known."""
    if model is None or not model.strip():
        return "not-known/not-known"
    plain = "".join("-" if mark.isspace() else mark for mark in model.strip()).strip("@")
    provider, slash, name = plain.partition("/")
    return plain if slash and provider and name.strip("/") else f"not-known/{plain.strip('/') or 'not-known'}"
