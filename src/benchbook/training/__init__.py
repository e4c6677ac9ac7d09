"""training: what trainers logged, as facts, and the curves through it. Knows nothing of runs.

point       one value of one metric at one step. Not: sample, record.
segment     a stretch of a log between two starts of the training.
curve       a metric's points, each step once: where training was started again, the last time counts.
"""

from benchbook.training.columns import resolve_columns
from benchbook.training.curves import Curve, MetricPoint, curves, thin
from benchbook.training.forms import LogForm, recognise
from benchbook.training.logs import read_training_metrics

__all__ = [
    "Curve",
    "LogForm",
    "MetricPoint",
    "curves",
    "read_training_metrics",
    "recognise",
    "resolve_columns",
    "thin",
]
