"""runner: plan, schedule, limit, retry, cache, resume. Knows no wire format.

plan        what will be asked. Not: job, task.
attempt     one asking of one prompt; a judge's second is its parse retry (R3.5). Transport retries happen within one.
"""
