"""trackers: a finished record's results, sent to where others look at theirs (docs/decisions/0039).

results             a record's samples as plain data, whatever evaluator made them.
evaluation_run      its run as a whole.
evaluation_events   these as events of OpenTelemetry's convention.
kinds               which trackers there are, their extras and keys.
sending             what a tracker is, `send`, and what those show that keep tables and files.
opentelemetry       events, over OTLP.
langfuse            scores.
mlflow              a run with metrics, parameters, tags, the report and a table of items.
wandb               the same as files of an offline run.
"""
