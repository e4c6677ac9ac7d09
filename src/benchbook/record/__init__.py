"""record: what happened, on disk.

fact      one journal line, bound to the one before by its hash. Not: event, entry.
journal   the facts of a record, in segments. Append-only.
record    a run's folder: journal, inputs, and what was derived from them. Not: log, run dir.
"""
