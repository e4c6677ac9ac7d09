"""evaluators: one contract, and a folder for each evaluator, which none of the others imports.

evaluator   `name@vN`: a frozen spec, what it plans and asks, how replies are read, what is added up, and its gates.
            Not: scorer, metric.
plan        what will be asked. Not: job, task.
row         one sample with all that is known of it, one line of samples.parquet.
gate        one aggregate held against its limit.
decision    READY, NOT_READY or INCONCLUSIVE, with its gates. Not: verdict (that is a judge's), status.
"""
