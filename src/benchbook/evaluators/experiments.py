"""What is told of an experiment, whose samples are evaluations by judges: who judged whom, and what they saw."""

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


class Seen(NamedTuple):
    """What a judge saw in a sample: the text, and the prompt that its target was given; empty where nobody said."""

    text: str
    task: str


class JudgedTexts(Protocol):
    """What the judges of a record saw. A text is read when it is asked for."""

    @property
    def n_outputs(self) -> int: ...

    def seen(self, sample: int) -> Seen: ...
