"""An experiment, whose samples are evaluations by judges, in short: who judged whom, and the texts that they saw."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment with judges in short: who judged whom, and how many of the evaluations count."""

    judges: tuple[str, ...]
    targets: tuple[str, ...]
    n_outputs: int
    n_evaluations: int
    n_valid: int
    n_invalid: int


class SeenOutput(NamedTuple):
    """The text that a judge saw in a sample, and the prompt that its target was given; empty where nobody said."""

    text: str
    task: str


class JudgedTexts(Protocol):
    """The texts that the judges of a record saw. Each is read when it is asked for."""

    @property
    def n_outputs(self) -> int: ...

    def seen(self, sample: int) -> SeenOutput: ...
