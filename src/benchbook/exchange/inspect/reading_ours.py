"""Reads back what `writing` puts into an Inspect log's metadata, because Inspect has no field for it.

Only a log that says it was written here is read so. What Inspect has a field for is taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_args

import msgspec

from benchbook.canonical import ready
from benchbook.exchange.inspect.reading_forms import InspectHeader, InspectMetric, InspectScore
from benchbook.exchange.log import Formula, LogFailure, LogSample, LogScore, LogScorer
from benchbook.exchange.ours import OURS, said_of

_Said = TypeVar("_Said", bound=msgspec.Struct)
_FORMULAS = frozenset(get_args(Formula))


class OfScorer(msgspec.Struct):
    """A scorer's scale and judge."""

    lowest: float | None = None
    highest: float | None = None
    higher_is_better: bool = True
    judge: str | None = None
    passes_at: float | None = None


class OfScore(msgspec.Struct):
    """Of a score, what has no field."""

    passed: bool | None = None
    said: str | None = None
    guessed: str | None = None
    parts: tuple[float, ...] | None = None


class OfSample(msgspec.Struct, omit_defaults=True):
    """Of a sample, what has no field. `fields` are those that stand in its metadata under their own names; those whose
    names are taken there stand in `values`."""

    fields: list[str] = []
    values: dict[str, str] = {}
    failure: str | None = None  # its kind
    limit: str | None = None
    finish_reason: str | None = None
    unknown_tokens: str | None = None  # input, output
    messages: list[dict[str, Any]] | None = None


_FIELDS = ("context", "group", "category")


def is_ours(header: InspectHeader) -> bool:
    """True for a log that was written here."""
    said = header.eval.metadata
    return isinstance(said, Mapping) and said.get("written_by") == OURS


def scorer_of_ours(name: str, metadata: Any) -> LogScorer:
    """A scorer with its scale and judge."""
    said = _of(metadata, OfScorer)
    return LogScorer(name=name, **msgspec.structs.asdict(said))


def formula_of_ours(metric: InspectMetric) -> tuple[Formula | None, str] | None:
    """The formula of a number that is the record's own, or why there is none; None for one of Inspect's."""
    said = metric.params.get(OURS) if isinstance(metric.params, Mapping) else None
    if not isinstance(said, Mapping):
        return None
    formula, why_not = said.get("formula"), said.get("why_not")
    if isinstance(formula, str) and formula in _FORMULAS:
        return cast("Formula", formula), ""
    return None, why_not if isinstance(why_not, str) and why_not else "the record has no formula for it"


def score_of_ours(made: LogScore, score: InspectScore) -> LogScore:
    """A score with what its metadata says of it; one that was edited since is what it is now."""
    if len(score.history or ()) > 1:
        return made
    try:
        said = _of(msgspec.json.decode(bytes(score.metadata)), OfScore)
    except msgspec.DecodeError:
        return made
    if made.value is None:
        made.unscored = score.reason if isinstance(score.reason, str) else None if said.parts else made.unscored
        made.parts = said.parts
    made.passed, made.guessed = said.passed, said.guessed
    made.said = said.said if said.said is not None else made.said
    return made


def sample_of_ours(made: LogSample, *, whole: bool) -> LogSample:
    """A sample with what its metadata says of it."""
    metadata = {name: value for name, value in made.metadata.items() if name != OURS}
    said = said_of(made.metadata, OfSample) or OfSample()
    for name in _FIELDS:
        if name in said.fields and isinstance(metadata.get(name), str):
            setattr(made, name, metadata.pop(name))
        elif name in said.values:
            setattr(made, name, said.values[name])
    made.metadata = metadata if whole else {}
    if made.failure is not None and said.failure is not None:
        made.failure = LogFailure(message=made.failure.message, kind=said.failure)
    made.limit = said.limit if said.limit is not None and made.limit is not None else made.limit
    made.finish_reason = said.finish_reason if said.finish_reason is not None else made.finish_reason
    made.messages = said.messages if said.messages is not None and whole else made.messages
    if said.unknown_tokens == "input":
        made.input_tokens = None
    elif said.unknown_tokens == "output":
        made.output_tokens = None
    return made


def _of(value: Any, form: type[_Said]) -> _Said:
    """All that metadata say, or nothing where they are of another form."""
    try:
        return msgspec.convert(value, ready(form))
    except msgspec.ValidationError:
        return form()
