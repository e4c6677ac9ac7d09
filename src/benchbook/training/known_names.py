"""The names that trainers and trackers give to steps, times and losses, and what they put around a metric's name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from benchbook.errors import InputError
from benchbook.text import shorten
from benchbook.training.forms import EVENT_STEP, EVENT_TIME, MLFLOW_VALUE, LogForm

AXES = ("step", "tokens", "time")
# Names under which logs hold it; the first is ours. `epoch` is none of them: it counts passes over the data.
AXIS_NAMES: Mapping[str, tuple[str, ...]] = {
    "step": ("step", "global_step", EVENT_STEP),
    "tokens": ("tokens", "num_tokens", "num_input_tokens_seen", "train/num_tokens", "train/num_input_tokens_seen"),
    "time": ("time", "wall_time", "timestamp", EVENT_TIME),
}
# Where a log has none of these, the first of those that trackers and trainers write themselves; none is a metric.
# TensorBoard's and W&B's tables, W&B's history, ms-swift, LLaMA-Factory.
ELSE_NAMES: Mapping[str, tuple[str, ...]] = {
    "step": ("Step", "train/global_step", "trainer/global_step", "_step", "global_step/max_steps", "current_steps"),
    "tokens": (),
    "time": ("Wall time", "_timestamp", "_runtime", "elapsed_time"),
}
# Where a log has several of these, the first is the curve and the others stay metrics under their own names: the
# `train_loss` of Hugging Face is the mean over all of training, logged once at its end.
LOSS_NAMES: Mapping[str, tuple[str, ...]] = {
    "loss": ("loss", "train/loss", "train_loss"),
    "eval_loss": ("eval_loss", "eval/loss", "val_loss", "val/loss", "validation_loss", "validation/loss"),
}
LOSSES = frozenset(name for names in LOSS_NAMES.values() for name in names)

_OF_RUN = re.compile(r"(?P<run>.+) - (?P<metric>.+)", re.DOTALL)
_SPREAD = ("__MIN", "__MAX")  # W&B's least and greatest value of the steps that one row stands for
_TAG = re.compile(r"(?:^|[-_.])tag[-_](?P<tag>.+)")  # run-NAME-tag-TAG.csv, as TensorBoard calls what it downloads
_TENSORBOARD = frozenset({"Wall time", "Step", "Value"})


def metric_names(path: Path, form: LogForm, columns: Collection[str], *, is_chosen: bool) -> dict[str, str]:
    """The columns that may be metrics, each with its metric's name: a tracker's table has more around it, and more
    columns than metrics. With `is_chosen` the user said which one is the loss.

    TensorBoard's table has one tag, whose name is in the file's, as is that of a metric's file of MLflow's; W&B's calls
    a column `RUN - METRIC`.

    Raises: InputError for a table of several runs' losses, unless the user said which of them it is.
    """
    if form == "mlflow":
        below = path.parts[len(path.parts) - path.parts[::-1].index("metrics") :]
        return {MLFLOW_VALUE: "/".join(below)}
    if set(columns) == _TENSORBOARD:
        tag = _TAG.search(path.stem)
        return {"Value": tag["tag"] if tag else path.stem}
    axes = {name for names in ELSE_NAMES.values() for name in names}
    spread = {f"{name}{end}" for name in columns for end in _SPREAD}
    found = {name: name for name in columns if name not in axes and name not in spread}
    if "Step" not in columns and not spread & set(columns):
        return found
    split = {name: one for name in found if (one := _OF_RUN.fullmatch(name)) is not None}
    if not is_chosen:
        _refuse_several(path, [name for name, one in split.items() if one["metric"] in LOSS_NAMES["loss"]])
    if len({one["run"] for one in split.values()}) == 1:
        found |= {name: one["metric"] for name, one in split.items()}
    return {name: metric for name, metric in found.items() if metric not in axes}


def _refuse_several(path: Path, losses: Iterable[str]) -> None:
    if len(there := list(losses)) > 1:
        found = f"the losses of several runs ({shorten(', '.join(there), 200)})"
        expected = f"the table of one run; or say which: --training-columns loss={shorten(repr(there[0]), 80)}"
        raise InputError(path, field="loss", found=found, expected=expected)
