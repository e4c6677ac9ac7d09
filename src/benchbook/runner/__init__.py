"""runner: plan, schedule, limit, retry, cache, resume. Knows no wire format.

plan        what will be asked. Not: job, task.
attempt     one asking of one prompt; a judge's second is its parse retry (R3.5). Transport retries happen within one.
"""

from benchbook.runner.config import RunConfig
from benchbook.runner.run import RunResult, resume_run, start_run

__all__ = ["RunConfig", "RunResult", "resume_run", "start_run"]
