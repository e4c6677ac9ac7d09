"""decisions: what the aggregates allow one to say. Pure.

gate        one aggregate held against its threshold.
decision    READY, NOT_READY or INCONCLUSIVE, with its gates. Not: verdict (that is a judge's), status.
"""

from benchbook.decisions.release import Decision, DecisionName, Gate, Interval, Threshold, decide, thresholds

__all__ = ["Decision", "DecisionName", "Gate", "Interval", "Threshold", "decide", "thresholds"]
