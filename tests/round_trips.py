"""A log imported, exported in another tool's form, and imported again: what came back other than it went, in words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchbook as bb
from benchbook.evaluators.registry import evaluator_of
from benchbook.exchange.audit.auditing import audited
from benchbook.exchange.audit.result import LogAudit, ScorerLedger
from benchbook.exchange.log import LogHeader, LogSample, LogScore
from benchbook.exchange.of_record import RecordLog, log_of_record
from benchbook.exchange.tools import TOOLS, opened_logs
from benchbook.record.folder import Record
from golden.views import FOLDERS

# Forms that hold answers with their scores, and what their files are called.
FORMS = [one.name for one in TOOLS if one.reads and one.writes and one.name != "openai_batch"]
ENDINGS = {"inspect": ".eval", "promptfoo": ".json"}

_OF_HEADER = ("task", "model", "status", "n_claimed", "dataset", "generation_params")
_OF_SCORER = ("lowest", "highest", "higher_is_better", "judge", "passes_at")
_OF_SAMPLE = tuple(name for name in LogSample.__struct_fields__ if name not in ("id", "repeat", "where", "scores"))
_OF_LEDGER = ("n_held", "n_absent", "n_items", "repeats", "failures", "limits", "n_without_answer")
_OF_LEDGER_OF_SCORER = ("n_scored", "n_unscored", "n_without", "unscored", "mean", "judge")

# What may come back otherwise, by the beginning of a difference, and the loss by which that was told.
TOLD = {
    "every_eval_ever": {
        "header.": ("a result must have a score",),
        "scorer ": ("a result must have a score", "are outside of its scale"),
    },
}


def derived_copy(name: str, folder: Path) -> Record:
    """A copy of a golden record in a folder, derived anew."""
    record = Record(folder / name)
    for part in ("journal", "inputs"):
        shutil.copytree(FOLDERS[name] / part, folder / name / part)
    evaluator_of(record).derive(record, record.path)
    return record


def trip(record: Record, form: str, folder: Path) -> list[str]:
    """The differences that nobody was told of, after a record went into a form and came back."""
    path = folder / f"{form}{ENDINGS.get(form, '')}"
    lost = [one.what for one in bb.export(record.path, to=form, out=path).lost]
    (run,) = bb.import_logs(path, runs=folder / f"runs of {form}")
    assert run.verify().holds
    audits = bb.audit(path)
    found = [f"audit: {one.where}: {one.reason}" for one in audits.logs[0].numbers if one.verdict == "does_not_follow"]
    before, after = log_of_record(record), log_of_record(run.record)
    found += differences(before, after)
    with log_of_record(record) as log, next(iter(opened_logs(path))) as written:
        found += of_ledgers(audited(log), audited(written))
    told, losses = TOLD.get(form, {}).items(), "; ".join(lost)
    return [
        one
        for one in found
        if not any(one.startswith(begins) and any(word in losses for word in words) for begins, words in told)
    ]


def differences(before: RecordLog, after: RecordLog) -> Iterator[str]:
    """How one log differs from another, but for names of scorers."""
    yield from _of_headers(before.header, after.header)
    there = {(one.id, one.repeat): one for one in after.samples()}
    here = {(one.id, one.repeat): one for one in before.samples()}
    if there.keys() != here.keys():
        yield f"samples: {sorted(here)}, {sorted(there)}"
    for key in here.keys() & there.keys():
        yield from (f"{key} {one}" for one in _of_samples(here[key], there[key]))


def _of_headers(before: LogHeader, after: LogHeader) -> Iterator[str]:
    for name in _OF_HEADER:
        yield from _differ(f"header.{name}", _told(getattr(before, name)), _told(getattr(after, name)))
    for scorer in before.scorers:
        other = _named(scorer.name, {one.name: one for one in after.scorers})
        for name in _OF_SCORER:
            yield from _differ(f"scorer {scorer.name}.{name}", getattr(scorer, name), getattr(other, name, "gone"))


def _of_samples(before: LogSample, after: LogSample) -> Iterator[str]:
    for name in _OF_SAMPLE:
        was, became = getattr(before, name), getattr(after, name)
        if name == "metadata":
            became = {key: value for key, value in became.items() if key in was}  # a form's own are beside them
        yield from _differ(name, was, became)
    for scorer, score in before.scores.items():
        other = _named(scorer, after.scores)
        for name in LogScore.__struct_fields__:
            yield from _differ(f"{scorer}.{name}", getattr(score, name), getattr(other, name, "gone"))


def of_ledgers(before: LogAudit, after: LogAudit) -> Iterator[str]:
    """How two logs' samples differ in number: scored, unscored, failed, unanswered, absent."""
    for name in _OF_LEDGER:
        yield from _differ(f"ledger.{name}", getattr(before.ledger, name), getattr(after.ledger, name))
    others: dict[str, ScorerLedger] = {one.scorer: one for one in after.scorers}
    for scorer in before.scorers:
        other = _named(scorer.scorer, others)
        for name in _OF_LEDGER_OF_SCORER:
            was, became = getattr(scorer, name), getattr(other, name, "gone")
            yield from _differ(f"scorer {scorer.scorer}: {name}", was, became)


def _named(name: str, among: dict[str, Any]) -> Any:
    """By a scorer's own name, or the one that it has in lm-evaluation-harness or promptfoo."""
    return next((among[one] for one in (name, f"{name},none", f"namedScores.{name}") if one in among), None)


def _told(value: Any) -> Any:
    """Without what is said to be nothing."""
    return {name: one for name, one in value.items() if one is not None} if isinstance(value, dict) else value


def _differ(name: str, was: Any, became: Any) -> Iterator[str]:
    if was != became:
        yield f"{name}: {was!r}, {became!r}"
