"""Writes a log as Inspect's `.eval`: a zip archive with a member for each sample, and its header last.

Inspect marks an unscored sample by the score NaN, with a reason, and so it is done here. What it has no field for
stands in the metadata of the log, of a sample or of a score, and is told as lost: nobody looks for it there.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from benchbook.errors import UsageError
from benchbook.exchange.inspect.writing_samples import Losses, error_as, sample_as, summary_of, usage_of
from benchbook.exchange.log import Claim, ForeignLog, LogHeader, LogSample, LogScorer, LogStatus, Lost
from benchbook.exchange.ours import OURS
from benchbook.text import all_storable
from benchbook.writing import written_new

SUFFIX = ".eval"
_FORM = 2  # the version of the form
_NO_MODEL = "none/none"  # as Inspect calls it, where a task has no model
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
_NO_TIME = "1970-01-01T00:00:00+00:00"
_STATUS: Mapping[LogStatus, str] = {
    "complete": "success", "being_written": "started", "failed": "error", "cancelled": "cancelled",
    "not_known": "success",
}  # fmt: skip


def written(log: ForeignLog, target: Path) -> list[Lost]:
    """Write a log into a new file, whose name ends in `.eval`.

    Raises: UsageError for another name, which Inspect would not read; FileExistsError; RecordError.
    """
    if target.suffix != SUFFIX:
        raise UsageError(f"{target}: Inspect reads logs by their names; expected one that ends in {SUFFIX}")
    with written_new(target) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        return _Writing(log, archive).write()


class _Writing:
    """One log on its way into an archive."""

    def __init__(self, log: ForeignLog, archive: ZipFile) -> None:
        self._log, self._header, self._archive = log, log.header, archive
        self._lost = Losses()
        self._reduced = {one.name: _Reduced() for one in log.header.scorers}
        self._items: dict[str, int] = {}  # by their ids, in the order in which they come
        self._usage: Counter[str] = Counter()
        self._n = Counter({"samples": 0, "completed": 0})

    def write(self) -> list[Lost]:
        spec, plan = _spec(self._header, self._lost), _plan(self._header)
        self._put("_journal/start.json", {"version": _FORM, "eval": spec, "plan": plan})
        with TemporaryFile() as summaries:
            for sample in self._log.samples():
                self._add(sample, summaries)
            self._put_spooled("summaries.json", summaries)
        self._put("reductions.json", [self._reduction(name) for name in self._reduced])
        self._put("header.json", self._head(spec, plan))
        return self._lost.told()

    # ── members ──────────────────────────────────────────────────────────────────────────────────────────────

    def _put(self, name: str, value: Any) -> None:
        with self._archive.open(_member(name), "w") as member:
            member.write(self._json(value))

    def _put_spooled(self, name: str, entries: IO[bytes]) -> None:
        """A list of which each line is an entry, with a comma at its end but for the last."""
        entries.seek(0)
        with self._archive.open(_member(name), "w") as member:
            member.write(b"[")
            for line in entries:
                member.write(line)
            member.write(b"]")

    def _json(self, value: Any) -> bytes:
        """JSON with NaN, as Inspect reads and writes it, and no lone surrogate, which it refuses."""
        try:
            return _encoder.encode(value).encode()
        except UnicodeEncodeError:
            self._lost["half a character (a lone surrogate), which no reader takes, stands as its escape"] += 1
            return _encoder.encode(all_storable(value)).encode()

    # ── samples ──────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, sample: LogSample, summaries: IO[bytes]) -> None:
        usage = usage_of(sample, self._lost)
        whole = sample_as(sample, self._header.model or _NO_MODEL, usage, self._lost)
        self._put(self._name_of(sample), whole)
        summaries.write((b",\n" if self._n["samples"] else b"") + self._json(summary_of(whole)))
        self._n["samples"] += 1
        self._n["completed"] += sample.failure is None
        self._usage.update(usage or {})
        item = self._items.setdefault(sample.id, len(self._items))
        for name, score in sample.scores.items():
            self._reduced.setdefault(name, _Reduced()).add(item, score.value, of_parts=score.parts is not None)

    def _name_of(self, sample: LogSample) -> str:
        """The member of a sample. Inspect looks for one sample by it, and reads all whatever they are called."""
        name = f"samples/{sample.id}_epoch_{sample.repeat + 1}.json"
        if _is_a_name(name) and name not in self._archive.NameToInfo:
            return name
        self._lost[
            "samples whose id can't name a file, or is there twice, are found by reading the whole log alone"
        ] += 1
        return f"samples/{self._n['samples']}.of.{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:16]}.json"

    def _reduction(self, name: str) -> dict[str, Any]:
        values = self._reduced[name]
        samples = [{"value": values.mean(item), "sample_id": one} for one, item in self._items.items()]
        return {"scorer": name, "samples": samples} | ({"reducer": "mean"} if self._header.repeats > 1 else {})

    # ── the header ───────────────────────────────────────────────────────────────────────────────────────────

    def _head(self, spec: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
        header = self._header
        head = {"version": _FORM, "status": _STATUS[header.status], "eval": spec, "plan": plan}
        if header.status == "not_known":
            self._lost["nothing says whether the log is whole: it stands as a success"] = 0
        known = {one.name: one for one in header.scorers}
        head["results"] = {
            "total_samples": self._n["samples"] if header.n_claimed is None else header.n_claimed,
            "completed_samples": self._n["completed"],
            "scores": [self._score(name, known.get(name, LogScorer(name=name))) for name in self._reduced],
            "headline": spec["headline_metric"],
            "metadata": {one.metric: one.value for one in header.claims if not one.scorer} or None,
        }
        ended = _time(header.metadata.get("ended_utc")) or spec["created"]
        usage = {header.model or _NO_MODEL: dict(self._usage)} if self._usage else {}
        head["stats"] = {"started_at": spec["created"], "completed_at": ended, "model_usage": usage}
        if head["status"] == "error" or header.error:
            head["error"] = error_as(header.error or "the whole eval failed")
        return head

    def _score(self, name: str, scorer: LogScorer) -> dict[str, Any]:
        """The log's numbers of a scorer, and its mean as Inspect takes it: over items, each one's own mean first."""
        values = self._reduced[name]
        own = {one.metric: one for one in self._header.claims if one.scorer == name}
        metrics = {metric: one.value for metric, one in own.items()}
        metrics |= {metric: value for metric, value in values.metrics() if metric not in own}
        return {
            "name": name,
            "scorer": name,
            "reducer": "mean" if self._header.repeats > 1 else None,
            "scored_samples": None if values.of_parts else values.n_items,
            "unscored_samples": None if values.of_parts else values.n_unscored,
            "params": {},
            "metrics": {
                metric: {
                    "name": metric,
                    "value": math.nan if value is None else value,
                    "params": {OURS: _how(own[metric])} if metric in own else {},
                }
                for metric, value in metrics.items()
            },
            "metadata": _said_of(scorer),
        }


class _Reduced:
    """The values of one scorer, added up by item: repeats are reduced by their mean."""

    def __init__(self) -> None:
        self.of_parts = False  # of which no item has a value
        self._sums, self._counts, self._had = array("d"), array("q"), bytearray()

    def add(self, item: int, value: float | None, *, of_parts: bool = False) -> None:
        self.of_parts = self.of_parts or of_parts
        while len(self._sums) <= item:
            self._sums.append(0.0)
            self._counts.append(0)
            self._had.append(0)
        self._had[item] = 1
        if value is not None:
            self._sums[item] += value
            self._counts[item] += 1

    def mean(self, item: int) -> float:
        """NaN where no repeat was scored."""
        has_any = item < len(self._counts) and self._counts[item]
        return self._sums[item] / self._counts[item] if has_any else math.nan

    @property
    def n_items(self) -> int:
        return sum(count > 0 for count in self._counts)

    @property
    def n_unscored(self) -> int:
        """Items that have a score without a value, and none with one; what nobody scored is none of them."""
        return sum(had and not count for had, count in zip(self._had, self._counts, strict=True))

    def _means(self) -> Iterator[float]:
        return (total / count for total, count in zip(self._sums, self._counts, strict=True) if count)

    def metrics(self) -> Iterator[tuple[str, float]]:
        """The mean, and its standard error s / sqrt(n)."""
        if not (n := self.n_items):
            return
        mean = _sum(self._means()) / n
        yield "mean", mean
        if n > 1:
            yield "stderr", math.sqrt(_sum((one - mean) ** 2 for one in self._means()) / (n - 1) / n)


def _sum(values: Iterator[float]) -> float:
    """An exact sum; NaN or an infinity where numbers are too large for one."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


# ── the eval ─────────────────────────────────────────────────────────────────────────────────────────────────


def _spec(header: LogHeader, lost: Losses) -> dict[str, Any]:
    created = _time(header.created_at)
    if created is None:
        lost["when it was made, which nothing says: it stands as 1970"] = 0
    if header.model is None:
        lost[f"the model, which nothing says: it stands as {_NO_MODEL}"] = 0
    told = msgspec.to_builtins(header)
    own = ("tool", "tool_version", "form", "dataset_version", "prompt_template", "generation_params")
    metadata = {name: told[name] for name in own if told[name] not in (None, {})} | dict(header.metadata)
    metadata["written_by"] = OURS
    name = hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()
    headline = next(({"scorer": one.scorer, "metric": one.metric} for one in header.claims if one.scorer), None)
    judges = sorted({one.judge for one in header.scorers if one.judge is not None})
    return {
        "eval_id": name[:22],
        "run_id": str(header.metadata.get("run_id") or name[22:44]),
        "created": created or _NO_TIME,
        "task": header.task,
        "task_id": name[:22],
        "task_version": 0,
        "dataset": {
            "name": header.dataset,
            "samples": None if header.n_claimed is None else header.n_claimed // max(header.repeats, 1),
        },
        "model": header.model or _NO_MODEL,
        "model_generate_config": _generation(header.generation_params),
        "model_args": {},
        "model_roles": {"grader": {"model": judges[0], "config": {}, "args": {}}} if len(judges) == 1 else None,
        "config": {"epochs": header.repeats, "epochs_reducer": ["mean"]},
        "packages": {} if header.tool_version is None else {header.tool: header.tool_version},
        "scorers": [{"name": one.name, "metadata": _said_of(one)} for one in header.scorers],
        "metadata": metadata,
        "headline_metric": headline,
    }


def _plan(header: LogHeader) -> dict[str, Any]:
    return {"name": "plan", "steps": [], "config": _generation(header.generation_params)}


def _how(claim: Claim) -> dict[str, str]:
    """How a number of the log's own follows from the samples, or why it does not."""
    if claim.formula is None:
        return {"why_not": claim.why_not}
    is_plain = (claim.reducer, claim.clusters, claim.only, claim.field) == (None, None, None, None)
    return {"formula": claim.formula} if is_plain else {"why_not": "it is made of values in a way that is not kept"}


def _said_of(scorer: LogScorer) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(scorer)
    return {name: value for name, value in told.items() if name != "name" and value is not None}


_NUMBERS = ("temperature", "top_p", "frequency_penalty", "presence_penalty")
_WHOLE_NUMBERS = ("max_tokens", "seed", "top_k")


def _generation(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that Inspect has, where they are of its types; the log's metadata has all of them."""

    def those(names: tuple[str, ...], fits: Callable[[Any], bool]) -> dict[str, Any]:
        return {name: params[name] for name in names if fits(params.get(name))}

    found = those(_NUMBERS, lambda one: isinstance(one, int | float) and not isinstance(one, bool))
    found |= those(_WHOLE_NUMBERS, lambda one: isinstance(one, int) and not isinstance(one, bool))
    stops = params.get("stop")
    if isinstance(stops, list) and all(isinstance(one, str) for one in stops):
        found["stop_seqs"] = stops
    return found


def _time(said: Any) -> str | None:
    """A time as Inspect takes it, in UTC; None for what is no time."""
    try:
        at = datetime.fromisoformat(said)
    except (TypeError, ValueError):
        return None
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (OverflowError, ValueError):
        return None


# ── the archive ──────────────────────────────────────────────────────────────────────────────────────────────


def _member(name: str) -> ZipInfo:
    """A member, compressed, without a time: the same log gives the same bytes."""
    info = ZipInfo(name)
    info.compress_type = ZIP_DEFLATED
    return info


def _is_a_name(name: str) -> bool:
    """True for a name that a file can have in any archive, and that leads nowhere else."""
    try:
        is_short = len(name.encode()) <= 240
    except UnicodeEncodeError:
        return False
    return is_short and name.isprintable() and "\\" not in name and not {"", ".", ".."} & set(name.split("/"))
