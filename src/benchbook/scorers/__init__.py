"""scorers: what a reply or a prediction is worth under a frozen spec. Pure: no paths, clocks or loggers.

scorer      `name@vN`: rubric, judge_protocol, answer_correctness.
reply       a judge's raw text. Not: response, output (that is the candidate's).
sample      one item x one model x one repeat.
"""
