"""The parts of our own logs that promptfoo has no place for: written into its metadata, and read back from there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchbook.exchange.conversations import messages_in
from benchbook.exchange.log import LogFailure, LogHeader, LogSample, LogScore, LogScorer
from benchbook.exchange.ours import OURS


class OfResult(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A sample, but for its texts and values, which stand where promptfoo has them."""

    id: str
    repeat: int = 0
    references: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    context: str | None = None
    scores: dict[str, LogScore] = {}
    first: str | None = None  # the scorer whose values are the results'
    failure: LogFailure | None = None
    limit: str | None = None
    finish_reason: str | None = None
    group: str | None = None
    category: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int | None = None
    model_reported: str | None = None
    has_messages: bool = False  # they are what was asked, as JSON
    fields: list[str] = []  # of the sample, under their own names among its metadata


class OfConfig(msgspec.Struct, omit_defaults=True):
    """A header, but for what promptfoo has a place for."""

    scorers: tuple[LogScorer, ...] = ()
    n_claimed: int | None = None
    repeats: int = 1
    status: str = "complete"
    dataset: str | None = None
    dataset_version: str | None = None
    prompt_template: str | None = None
    generation_params: dict[str, Any] = {}


_SAME = tuple(name for name in OfResult.__struct_fields__ if name not in ("first", "has_messages", "fields"))


def ours_of(sample: LogSample, header: LogHeader, fields: list[str]) -> dict[str, Any]:
    """All that a result's metadata says of a sample."""
    found = OfResult(
        **{name: getattr(sample, name) for name in _SAME},
        first=header.scorers[0].name if header.scorers else None,
        has_messages=bool(sample.messages),
        fields=fields,
    )
    told: dict[str, Any] = msgspec.to_builtins(found)
    return told


def config_of(header: LogHeader) -> dict[str, Any]:
    """All that the config's metadata says of a header."""
    names = OfConfig.__struct_fields__
    told: dict[str, Any] = msgspec.to_builtins(OfConfig(**{name: getattr(header, name) for name in names}))
    return told


def sample_of_ours(made: LogSample, own: OfResult, metadata: Mapping[str, Any], asked: str, prompt: Any) -> LogSample:
    """A sample with what its result's metadata say of it. `asked` was sent, and `prompt` is the variable's text."""
    for name in _SAME:
        if name not in ("scores", "failure"):
            setattr(made, name, getattr(own, name))
    made.prompt = prompt if isinstance(prompt, str) else made.prompt
    made.messages = messages_in(asked) if own.has_messages else None
    made.metadata |= {name: value for name, value in metadata.items() if name not in (OURS, *own.fields)}
    return made


def scorers_of_ours(own: OfConfig, whole: str, named: str) -> Iterator[LogScorer]:
    """The scorers under promptfoo's names: `whole` is that of a result's own score, which is the first one's."""
    for n, one in enumerate(own.scorers):
        if n == 0:
            yield msgspec.structs.replace(one, name=whole)
        yield msgspec.structs.replace(one, name=named + one.name)
