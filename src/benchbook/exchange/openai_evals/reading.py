"""Reads a record file of OpenAI Evals: a run of one eval.

Its final report stands wherever it was written: events that were held back until the end come after it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchbook.ask.providers.keys import redact
from benchbook.errors import InputError
from benchbook.exchange.conversations import as_text
from benchbook.exchange.json_text import number_of
from benchbook.exchange.log import Claim, ForeignLog, LogHeader, LogNote, LogSample, LogScorer
from benchbook.exchange.openai_evals.events import EventFile
from benchbook.exchange.openai_evals.hosted import opened_items, recognises_items
from benchbook.exchange.openai_evals.samples import MATCH, is_invalid, sample_of, scores_of
from benchbook.exchange.tools import Seen, seen_at
from benchbook.text import plural, quoted

_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"spec"\s*:\s*\{')
_COUNTS = "counts/"
_MOST_SCORERS = 2_000

# Whose numbers of these names are the mean of the metrics of the same names.
_MEANS = {
    "ModelBasedClassify": frozenset(("score", "metascore")),
    "FuzzyMatch": frozenset(("accuracy", "f1_score")),
    "JsonMatch": frozenset(("accuracy",)),
}


def recognises(seen: Seen) -> bool:
    """True if OpenAI Evals wrote this. Never raises."""
    return not seen.is_folder and (_FIRST.match(seen.head) is not None or recognises_items(seen.head))


def opened(path: Path) -> Sequence[ForeignLog]:
    """The log of a run; of output items of hosted evals, one for each run.

    Raises: InputError where it makes no sense.
    """
    seen = seen_at(path)
    if seen.is_folder:
        raise InputError(path, found="a folder", expected="a file of OpenAI Evals")
    is_record = _FIRST.match(seen.head) is not None
    return [OpenAIEvalsLog(path)] if is_record else opened_items(path)


class OpenAIEvalsLog(ForeignLog):
    """A run of an eval."""

    def __init__(self, path: Path) -> None:
        self.files = {path.name: path}
        self._file = EventFile(path)
        self._seen = _Survey(self._file)
        claims = tuple(_claims(self._file.report, self._seen))
        self._sums = {one.field: self._seen.counted(one.field) for one in claims if one.field is not None}
        self.header = _header(self._file, self._seen, claims)

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        for asked in self._file.samples():
            yield sample_of(asked, self._sums, whole=whole)

    def notes(self) -> list[LogNote]:
        n = self._seen.n_invalid
        if not n:
            return self._file.notes
        words = f"{plural(n, 'reply', 'replies')} of a judge that named no choice: the log's scores count the lowest"
        return [*self._file.notes, LogNote(code="unreadable_reply", words=words, n=n)]


class _Survey:
    """One pass over the samples, for what has to be known before one is given."""

    def __init__(self, file: EventFile) -> None:
        self.scorers: dict[str, None] = {}
        self.words: dict[str, None] = {}  # metrics whose values are texts
        self.eval_class = _class_of(file)
        self.n_invalid = 0
        self.n_several: Counter[str] = Counter()  # samples with several scores of a name
        for asked in file.samples():
            self.scorers |= dict.fromkeys(name for name, _ in scores_of(asked))
            if len(self.scorers) > _MOST_SCORERS:
                found = f"a metric beyond {_MOST_SCORERS:,} others"
                raise InputError(file.path, line=asked.line, found=found, expected="metrics that recur")
            for metrics in asked.of("metrics"):
                self.n_invalid += is_invalid(metrics)
                self.words |= dict.fromkeys(name for name, value in metrics.items() if isinstance(value, str))
        self.several = {name.partition("#")[0] for name in self.scorers if "#" in name}

    def counted(self, field: str) -> tuple[str, str] | None:
        """The metric and the value whose samples a number counts: `counts/A`, or in older logs `counts/choice/A`."""
        if not field.startswith(_COUNTS):
            return None
        rest = field.removeprefix(_COUNTS)
        name, slash, value = rest.partition("/")
        return (name, value) if slash and name in self.words else ("choice", rest)


def _header(file: EventFile, seen: _Survey, claims: tuple[Claim, ...]) -> LogHeader:
    spec = file.spec
    config = spec.run_config
    args = (config and config.eval_spec and config.eval_spec.args) or {}
    models = [redact(as_text(one) or "") for one in spec.completion_fns]
    judge = models[-1] if models and "choice" in seen.words else None
    about = {
        "run_id": spec.run_id,
        "split": spec.split,
        "eval_class": seen.eval_class,
        "seed": config and config.seed,
        "max_samples": config and config.max_samples,
        "modelgraded_spec": args.get("modelgraded_spec"),
    }
    return LogHeader(
        tool="openai_evals",
        tool_version=None,
        form="record file",
        task=as_text(spec.eval_name) or as_text(spec.base_eval) or file.path.stem,
        model=models[0] if models else None,
        scorers=tuple(
            LogScorer(name=one, highest=1.0, lowest=0.0)
            if one.partition("#")[0] == MATCH
            else LogScorer(name=one, judge=judge if one == "score" else None)
            for one in seen.scorers
        ),
        status="complete" if file.report is not None else "being_written",
        created_at=_time(spec.created_at),
        dataset=as_text(args.get("samples_jsonl")),
        claims=claims,
        metadata={name: value for name, value in about.items() if isinstance(value, str | int)},
    )


def _claims(report: Any, seen: _Survey) -> Iterator[Claim]:
    """The numbers of the final report."""
    for name, value in report.items() if isinstance(report, dict) else ():
        if isinstance(value, dict):
            for inner, one in value.items():
                if number_of(one) is not None:
                    yield _own(f"{name}.{inner}", one, seen)
        elif number_of(value) is not None or value in (None, "NaN"):
            yield _claim(name, value, seen)


def _claim(name: str, value: object, seen: _Survey) -> Claim:
    where = f"final_report[{quoted(name)}]"
    number = number_of(value)
    if name in ("boostrap_std", "bootstrap_std"):
        why_not = "of random halves of the matches: it comes out differently each time"
        return Claim(scorer=MATCH, metric=name, value=number, where=where, why_not=why_not)
    if name.startswith((_COUNTS, "usage_")):
        return Claim(scorer="", metric=name, value=number, where=where, formula="sum", field=name)
    if name in _MEANS.get(seen.eval_class or "", ()) and name in seen.scorers:
        return _mean(name, name, number, where, seen)
    if name == "accuracy" and MATCH in seen.scorers:
        return _mean(MATCH, name, number, where, seen)
    return _own(name, value, seen)


def _mean(scorer: str, name: str, value: float | None, where: str, seen: _Survey) -> Claim:
    if scorer in seen.several:
        why_not = "some samples have several scores of this name, and it is of them all"
        return Claim(scorer=scorer, metric=name, value=value, where=where, why_not=why_not)
    if scorer == "score" and seen.n_invalid:  # the log's own mean counts what nobody said, as the lowest score
        return Claim(scorer=scorer, metric=name, value=value, where=where, formula="mean", field=name)
    return Claim(scorer=scorer, metric=name, value=value, where=where, formula="mean")


def _own(name: str, value: object, seen: _Survey) -> Claim:
    by = f"the eval's own class, {seen.eval_class}," if seen.eval_class else "the eval's own class"
    return Claim(
        scorer="",
        metric=name,
        value=number_of(value),
        where=f"final_report[{quoted(name)}]",
        why_not=f"{by} computes it by rules of its own",
    )


def _class_of(file: EventFile) -> str | None:
    """The name of the eval's class, without its module: `Match` of `evals.elsuite.basic.match:Match`."""
    config = file.spec.run_config
    name = as_text(config.eval_spec.cls) if config and config.eval_spec else None
    return re.split(r"[:.]", name)[-1] if name else None


def _time(value: object) -> str | None:
    """`2023-04-17 22:08:21.904498`, of no zone that the log names."""
    return value.replace(" ", "T", 1) if isinstance(value, str) else None
