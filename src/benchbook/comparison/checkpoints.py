"""The order of checkpoints, and which of several runs the others are held against where nobody has chosen one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BaselineRule = Literal["step", "start"]
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


def default_baseline(runs: Sequence[Checkpoint]) -> tuple[str, BaselineRule]:
    """The run to hold the others against, and the rule: the lowest training step, where every run has one and they
    differ; else the run that was started first. The order in which they are given settles ties alone.
    """
    steps = [run.step for run in runs]
    if None not in steps and len(set(steps)) > 1:
        return min(runs, key=lambda run: run.step or 0).run, "step"
    return min(runs, key=lambda run: (run.started_utc is None, run.started_utc or "")).run, "start"
