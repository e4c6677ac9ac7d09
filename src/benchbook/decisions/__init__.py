"""decisions: what the aggregates allow one to say. Pure.

gate        one aggregate held against its threshold.
decision    READY, NOT_READY or INCONCLUSIVE, with its gates. Not: verdict (that is a judge's), status.
"""

from benchbook.decisions.caps import Cap
from benchbook.decisions.gates import DecisionName, Gate, Interval, Threshold, ToSettle, thresholds
from benchbook.decisions.proving import decide_by_bounds
from benchbook.decisions.release import DecidedBy, Decision, by_points, decide

__all__ = [
    "Cap",
    "DecidedBy",
    "Decision",
    "DecisionName",
    "Gate",
    "Interval",
    "Threshold",
    "ToSettle",
    "by_points",
    "decide",
    "decide_by_bounds",
    "thresholds",
]
