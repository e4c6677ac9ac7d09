"""A record sent twice by MLflow's client into a database in a file, and read back by it: RECORD FOLDER."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from mlflow import MlflowClient

from benchbook.errors import BenchbookError
from benchbook.integrations.trackers.sending import send
from benchbook.record.folder import Record

record_folder, folder = map(Path, sys.argv[1:])
os.chdir(folder)  # beside the database, artifacts go to where one is
record, uri = Record(record_folder), f"sqlite:///{folder}/mlflow.db"
where = [send(record, "mlflow", endpoint=uri).where for _ in range(2)]

client = MlflowClient(uri)
experiment = client.get_experiment_by_name("benchbook")
runs = client.search_runs([experiment.experiment_id])
run_id = runs[0].info.run_id


def files() -> list[str]:
    return sorted(one.path for one in client.list_artifacts(run_id))


without_texts = files()
table = json.loads(Path(client.download_artifacts(run_id, "items.json", str(folder))).read_text("utf-8"))
summary = Path(client.download_artifacts(run_id, "summary.md", str(folder))).read_text("utf-8")
send(record, "mlflow", endpoint=uri, texts=True)
try:
    unreachable = send(record, "mlflow", endpoint="http://127.0.0.1:9").where
except BenchbookError as error:
    unreachable = str(error)

sys.stdout.write(json.dumps({
    "where": where,
    "n_runs": len(client.search_runs([experiment.experiment_id])),
    "name": runs[0].info.run_name,
    "status": runs[0].info.status,
    "times": [runs[0].info.start_time, runs[0].info.end_time],
    "metrics": runs[0].data.metrics,
    "params": runs[0].data.params,
    "tags": runs[0].data.tags,
    "history": len(client.get_metric_history(run_id, "pass_rate")),
    "files": without_texts,
    "files_with_texts": files(),
    "table": table,
    "summary": summary,
    "unreachable": unreachable,
}))  # fmt: skip
