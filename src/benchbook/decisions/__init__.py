"""decisions: what the aggregates allow one to say. Pure.

gate        one aggregate held against its threshold.
decision    READY, NOT_READY or INCONCLUSIVE, with its gates. Not: verdict (that is a judge's), status.
"""

from benchbook.decisions.gates import DecisionName, Gate, Interval, Threshold, ToSettle, thresholds
from benchbook.decisions.release import Decision, decide

__all__ = ["Decision", "DecisionName", "Gate", "Interval", "Threshold", "ToSettle", "decide", "thresholds"]
