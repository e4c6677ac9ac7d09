"""The order of checkpoints: the first of them is the baseline where nobody has chosen one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BaselineRule = Literal["step", "start"]
"""By which the first of several runs is the baseline, unless somebody chose another."""

BASELINE_RULES: dict[BaselineRule, str] = {
    "step": "it has the lowest training step",
    "start": "it was started first",
}

_STEP = re.compile(r"(?<![a-z])(?:steps?|checkpoint|ckpt|iter(?:ation)?)[-_@=:. ]?(\d{1,12})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A run in the order of training; `step` is null where nothing tells it, `started_utc` where nobody knows."""

    run: str
    step: int | None
    started_utc: str | None


def step_named(*names: str | None) -> int | None:
    """The training step in the first of these names that has one: 300 of `local/my-model@step-300`, or `ckpt_300`."""
    for name in names:
        if name is not None and (found := _STEP.search(name)) is not None:
            return int(found[1])
    return None


def in_order(runs: Sequence[Checkpoint]) -> tuple[list[Checkpoint], BaselineRule]:
    """The runs from the first on, and what orders them: the training step, where every run has one and they differ;
    else when they were started. The order in which they are given settles ties alone.
    """
    steps = [run.step for run in runs]
    if None not in steps and len(set(steps)) > 1:
        return sorted(runs, key=lambda run: run.step or 0), "step"
    return sorted(runs, key=lambda run: (run.started_utc is None, run.started_utc or "")), "start"
