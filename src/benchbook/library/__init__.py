"""library: what `import benchbook as bb` gives. Objects over records; no logic of its own."""

from benchbook.library.api import load, resume, resume_async, run, run_async, verify
from benchbook.library.objects import Run

__all__ = ["Run", "load", "resume", "resume_async", "run", "run_async", "verify"]
