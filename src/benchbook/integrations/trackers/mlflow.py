"""A run of MLflow's: metrics with their bounds, parameters, tags, the report, and a table of items.

It is found again by the record's hash, which is one of its tags: a record that is sent twice is one run.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchbook.ask.providers.keys import redact
from benchbook.integrations.trackers.evaluation_events import nanoseconds
from benchbook.integrations.trackers.evaluation_run import EvaluationRun
from benchbook.integrations.trackers.kinds import environment
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.integrations.trackers.sending import ItemsTable, items_table, run_facts, run_metrics, written_report
from benchbook.text import plural
from benchbook.writing import write_file

_EXPERIMENT = "benchbook"
_RECORD = "benchbook.record_sha256"
_TABLE = "items.json"
_NOT_IN_A_NAME = re.compile(r"[^\w\-. :/]", re.ASCII)  # of a metric or a parameter
_LONGEST_NAME, _LONGEST_VALUE = 250, 500
# Nobody is told but the server; and whether that is there is known in seconds, where MLflow would try for minutes.
_DEFAULTS = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2"}
_MOST_AT_ONCE = 100  # in one request


def opened(endpoint: str | None, *, texts: bool) -> MlflowTracker:
    """A tracker at a tracking URI: `endpoint`, or as MLFLOW_TRACKING_URI says. Raises: ImportError."""
    with environment(**_DEFAULTS):
        from mlflow import MlflowClient

        with _quiet():
            return MlflowTracker(MlflowClient(tracking_uri=endpoint), texts=texts)


class MlflowTracker:
    """Writes through MLflow's client. The experiment is MLFLOW_EXPERIMENT_NAME's, by default `benchbook`."""

    def __init__(self, client: Any, *, texts: bool = False) -> None:
        self._client = client
        self._texts = texts
        self._where = redact(str(client.tracking_uri))

    def send(self, results: RecordResults, samples: Iterable[SampleResult]) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or _EXPERIMENT
        table = items_table(samples, texts=self._texts)
        with environment(**_DEFAULTS), _quiet():
            mlflow_run = self._run(results.run, name)
            run_id = mlflow_run.info.run_id
            self._log(run_id, results.run, mlflow_run.data)
            self._attach(run_id, results, table)
            ended_ms = nanoseconds(results.run.ended_at) // 1_000_000
            self._client.set_terminated(run_id, "FINISHED", end_time=ended_ms)
        n_metrics = plural(len(run_metrics(results.run)), "metric")
        return f"run {run_id} of experiment {name} at {self._where}: {n_metrics}, {_TABLE}{table.words}"

    def _run(self, run: EvaluationRun, experiment: str) -> Any:
        """The run of this record: the one that is there, or a new one."""
        found = self._client.get_experiment_by_name(experiment)
        number = self._client.create_experiment(experiment) if found is None else found.experiment_id
        there = self._client.search_runs([number], f"tags.`{_RECORD}` = '{run.record_sha256}'", max_results=1)
        if there:
            return there[0]
        began_ms = nanoseconds(run.began_at) // 1_000_000
        tags = {_RECORD: run.record_sha256, "mlflow.source.name": "benchbook"}
        return self._client.create_run(number, start_time=began_ms, tags=tags, run_name=run.run_id)

    def _log(self, run_id: str, run: EvaluationRun, there: Any) -> None:
        """Metrics, parameters and tags; those that are there already, as they are, are not logged again."""
        from mlflow.entities import Metric, Param, RunTag

        at_ms = nanoseconds(run.ended_at) // 1_000_000
        metrics = _named(run_metrics(run))
        changed = {key: value for key, value in metrics.items() if there.metrics.get(key) != value}
        for some in _parts(changed):
            self._client.log_batch(run_id, metrics=[Metric(key, value, at_ms, 0) for key, value in some.items()])
        facts = run_facts(run)
        tags = {f"benchbook.{key}": value for key, value in facts.items()} | {
            "mlflow.loggedArtifacts": json.dumps([{"path": _TABLE, "type": "table"}])
        }
        decided = {"benchbook.reasons": "; ".join(run.reasons)} if run.reasons else {}
        params = {key: facts[key] for key in ("model", "judges", "eval_set", "evaluator", "repeats") if key in facts}
        wanted = {key: value for key, value in _named(params | dict(run.settings)).items() if key not in there.params}
        for some in _parts(wanted):
            self._client.log_batch(run_id, params=[Param(key, _short(value)) for key, value in some.items()])
        self._client.log_batch(run_id, tags=[RunTag(key, _short(value)) for key, value in (tags | decided).items()])

    def _attach(self, run_id: str, results: RecordResults, table: ItemsTable) -> None:
        """The report, and the items as MLflow's own tables are kept."""
        with tempfile.TemporaryDirectory(prefix="benchbook-mlflow-") as name:
            folder = Path(name)
            for path in written_report(results, folder, texts=self._texts):
                self._client.log_artifact(run_id, str(path))
            content = {"columns": table.columns, "data": table.rows}
            write_file(folder / _TABLE, json.dumps(content, ensure_ascii=False).encode(), synced=False)
            self._client.log_artifact(run_id, str(folder / _TABLE))


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by names that MLflow takes."""
    return {_NOT_IN_A_NAME.sub("_", name)[:_LONGEST_NAME]: value for name, value in values.items()}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _parts(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    names = list(values)
    for first in range(0, len(names), _MOST_AT_ONCE):
        yield {name: values[name] for name in names[first : first + _MOST_AT_ONCE]}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep MLflow's own log from saying how its database is made."""
    logger = logging.getLogger("mlflow")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
