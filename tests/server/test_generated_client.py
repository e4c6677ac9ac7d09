"""A client for Python that a generator makes from the API's document, tried on a server."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchbook.server.openapi import openapi_document
from benchbook.server.operations_list import OPERATIONS
from server.making import copied
from server.test_live import serving

if importlib.util.find_spec("openapi_python_client") is None:
    pytest.skip("openapi-python-client is not installed: script/setup does it", allow_module_level=True)

CONFIG = {
    "post_hooks": [],  # a formatter and a linter, which nobody waits for here
    "content_type_overrides": dict.fromkeys(
        ("application/x-ndjson", "application/vnd.apache.parquet"), "application/octet-stream"
    ),
}
# What it does with the client: each line prints what it got, by its types.
PROGRAM = """
import json, sys
from benchbook_client import Client
from benchbook_client.api.comparisons import compare_pair, list_compared_items
from benchbook_client.api.predictions import get_tunix_predictions
from benchbook_client.api.runs import get_aggregates, get_decision, get_manifest, get_run, list_runs, put_tags
from benchbook_client.api.samples import download_sample_table, get_sample, list_samples
from benchbook_client.models import ListRunsSort, TagsNew

with Client(base_url=sys.argv[1], raise_on_unexpected_status=True) as client:
    of = lambda found: type(found).__name__
    said = {"runs": [run.run_id for run in list_runs.sync(client=client, sort=ListRunsSort.RUN).runs]}
    for name, operation in {"aggregates": get_aggregates, "decision": get_decision, "manifest": get_manifest}.items():
        said[name] = {run: of(operation.sync(run, client=client)) for run in ("a", "rubric", "experiment", "dry")}
    decision = get_decision.sync("rubric", client=client)
    said["decided"] = [decision.decision, decision.release_ready, of(decision.gates[0]), decision.gates[0].aggregate]
    said["n"] = get_aggregates.sync("rubric", client=client).aggregates.n_samples
    page = list_samples.sync("rubric", client=client, limit=1)
    said["samples"] = [page.n, page.next_cursor is not None, get_sample.sync("rubric", 0, client=client).item_id]
    said["predictions"] = {run: of(get_tunix_predictions.sync(run, client=client)) for run in ("a", "dry")}
    said["pair"] = compare_pair.sync(client=client, run=["a", "b"]).n_compared
    said["items"] = len(list_compared_items.sync(client=client, run=["a", "b"]).items)
    said["tags"] = put_tags.sync("a", client=client, body=TagsNew(tags=["x"])).tags
    said["table"] = download_sample_table.sync("a", client=client).payload.read(4).decode()
    said["none"] = [of(get_run.sync("none", client=client)), get_run.sync("none", client=client).status]
print(json.dumps(said))
"""


def run_python(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    # The generator opens its own configuration without naming an encoding, which script/test makes an error of ours.
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTHONWARN")}
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, check=False, cwd=cwd, env=others)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package that was made."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(openapi_document(OPERATIONS)), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    words = ("--path", "openapi.json", "--config", "config.json", "--meta", "none", "--fail-on-warning")
    made = run_python(
        "-m", "openapi_python_client", "generate", *words, "--output-path", "benchbook_client", cwd=folder
    )
    said = made.stdout.decode() + made.stderr.decode()
    assert made.returncode == 0, said
    assert "warning" not in said.lower()
    return folder


def test_every_operation_and_type_is_in_it(client: Path) -> None:
    document = openapi_document(OPERATIONS)
    modules = [path.stem for path in (client / "benchbook_client" / "api").glob("*/*.py") if path.stem != "__init__"]
    assert len(modules) == len(OPERATIONS)
    listed = (client / "benchbook_client" / "models" / "__init__.py").read_text(encoding="utf-8")
    # Questions are parameters there; all that is answered or sent is a class.
    assert [name for name in document["components"]["schemas"] if f'"{name}"' not in listed] == []


def test_it_asks_a_server_and_knows_its_types(client: Path, records: Path, tmp_path: Path) -> None:
    (client / "program.py").write_text(PROGRAM, encoding="utf-8")
    with serving(copied(records, tmp_path)) as (address, _):
        done = run_python("program.py", address, cwd=client)
    assert done.returncode == 0, done.stderr.decode()
    said: dict[str, Any] = json.loads(done.stdout)
    assert {"a", "rubric", "experiment"} <= set(said.pop("runs"))
    assert said == {
        "aggregates": {"a": "CorrectnessAggregates", "rubric": "AggregatesFile", "experiment": "ProtocolAggregates",
                       "dry": "CorrectnessAggregates"},
        "decision": {"a": "VerdictOfRun", "rubric": "DecisionOfRun", "experiment": "Problem", "dry": "VerdictOfRun"},
        "manifest": {"a": "CorrectnessManifest", "rubric": "RubricManifest", "experiment": "ProtocolManifest",
                     "dry": "CorrectnessManifest"},
        "decided": ["INCONCLUSIVE", True, "Gate", "aggregate_score"],
        "n": 4,
        "samples": [4, True, "i0"],
        "predictions": {"a": "PredictionsOfRun", "dry": "PredictionsUnavailable"},
        "pair": 5,
        "items": 5,
        "tags": ["x"],
        "table": "PAR1",
        "none": ["Problem", 404],
    }  # fmt: skip
