"""Writes a log's headline as Hugging Face has evaluation results: a file of a model's folder `.eval_results`.

A leaderboard takes one value of each benchmark, which is a dataset of the Hub and one of the tasks that it defines. So
a log is its first scorer's mean there, over what was scored; all else is a sentence in `notes`, or lost. The YAML is
written by hand, in the little of it that every reader takes alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchbook.errors import UsageError
from benchbook.exchange.log import ForeignLog, LogHeader, LogScorer, Lost
from benchbook.exchange.totals import ScorerTotals
from benchbook.text import one_line, plural, shorten, storable
from benchbook.writing import written_new

# `org/name`, a dataset of the Hub, and behind a colon the task.
_DATASET = re.compile(r"([\w.-]{1,96}/[\w.-]{1,96})(?::(\S{1,200}))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TASK = "default"
# In quotes YAML would read these as line ends, or refuse them.
_NOT_PLAIN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")


def written(log: ForeignLog, target: Path) -> list[Lost]:
    """Write a log's first scorer's mean into a new file.

    Raises: UsageError where no sample has a score; FileExistsError; RecordError where it can't be written.
    """
    header = log.header
    scorers = {one.name: one for one in header.scorers}
    totals: dict[str, ScorerTotals] = {name: ScorerTotals(header.repeats > 1) for name in scorers}
    n = 0
    for sample in log.samples(whole=False):
        n += 1
        for name, score in sample.scores.items():
            totals.setdefault(name, ScorerTotals(header.repeats > 1)).add(sample.id, score.value)
    headline = next((name for name, one in totals.items() if one.scored), None)
    if headline is None:
        raise UsageError("Hugging Face's evaluation results are one value a benchmark, and no sample here has a score")
    scorer = scorers.get(headline) or LogScorer(name=headline)
    text = _entry(header, scorer, totals[headline])
    with written_new(target) as file:
        file.write(text.encode())
    return list(_lost(header, n, [name for name in totals if name != headline]))


def _entry(header: LogHeader, scorer: LogScorer, totals: ScorerTotals) -> str:
    dataset, task = _dataset(header)
    lines = ["- dataset:", f"    id: {_quoted(dataset)}", f"    task_id: {_quoted(task)}"]
    if header.dataset_version and _COMMIT.fullmatch(header.dataset_version):
        lines.append(f"    revision: {_quoted(header.dataset_version)}")
    lines.append(f"  value: {_number(totals.mean)}")
    if header.created_at and _DATE.fullmatch(header.created_at):
        lines.append(f"  date: {_quoted(header.created_at)}")
    lines.append(f"  notes: {_quoted(_notes(header, scorer, totals))}")
    return "\n".join((*lines, ""))


def _notes(header: LogHeader, scorer: LogScorer, totals: ScorerTotals) -> str:
    """Which mean it is, of how many samples, how sure, and of which record."""
    unscored = f", {totals.unscored:,} unscored" if totals.unscored else ""
    parts = [f"{one_line(scorer.name)}, mean of {plural(totals.scored, 'sample')}{unscored}"]
    if scorer.lowest is not None and scorer.highest is not None:
        parts.append(f"from {scorer.lowest:g} to {scorer.highest:g}")
    if not scorer.higher_is_better:
        parts.append("lower is better")
    sure = totals.sureness(scorer)
    if sure.error is not None:
        parts.append(f"standard error {sure.error:.4g}")
    record = header.metadata.get("record_sha256")
    if isinstance(record, str):
        parts.append(f"Benchbook record {record}")
    return "; ".join(parts)


def _dataset(header: LogHeader) -> tuple[str, str]:
    """The benchmark and its task: a dataset's name may have the task behind a colon."""
    name = one_line(header.dataset or header.task)
    match = _DATASET.fullmatch(name)
    return (match[1], match[2] or _TASK) if match else (name, _TASK)


def _lost(header: LogHeader, n: int, others: list[str]) -> Iterator[Lost]:
    yield Lost(what="the samples: it holds one value of a benchmark", n=n)
    if others:
        yield Lost(
            what=f"the means of {shorten(', '.join(others), 200)}: it holds one value of a benchmark", n=len(others)
        )
    if header.claims:
        yield Lost(what="the numbers of the log's header: the value is computed from samples", n=len(header.claims))
    match = _DATASET.fullmatch(one_line(header.dataset or header.task))
    if match is None:
        yield Lost(what="`dataset.id` must be a benchmark's on the Hub, as `org/name`: the log's own name stands there")
    if match is None or not match[2]:
        yield Lost(what=f"`dataset.task_id` must be one of the benchmark's tasks: `{_TASK}` stands there")
    if header.dataset_version and not _COMMIT.fullmatch(header.dataset_version):
        yield Lost(what="the version of the dataset: `dataset.revision` is a commit of the Hub")
    yield Lost(what="`source`, which must have an address: none is known")


# ── YAML ─────────────────────────────────────────────────────────────────────────────────────────────────


def _quoted(text: str) -> str:
    """A text in double quotes, as JSON has it, which YAML reads alike but for a few characters."""
    found = msgspec.json.encode(storable(text)).decode()
    return _NOT_PLAIN.sub(lambda match: f"\\u{ord(match[0]):04x}", found)


def _number(value: float) -> str:
    """A number that is one in YAML 1.1 too, where one without a point before its exponent is a text."""
    found = repr(value)
    digits, exponent, power = found.partition("e")
    return f"{digits}.0e{power}" if exponent and "." not in digits else found
