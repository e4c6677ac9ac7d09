"""Records sent by each tracker's real client: to its exporter in memory, a database in a file, files, or a server here.

Their packages are those of `script/peers`, behind our own: Benchbook runs with its own Python, in a process for each.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record
from peers.conftest import PROGRAMS
from support import ROOT

Sent: TypeAlias = Callable[..., Any]
SHA256 = "bb5856968e8d5b9b16d06873b6296c14b6532b0a2be4673728e71565e8b41faf"
UNSCORED = {"i3": "request", "i5": "parse_error", "i6": "provider_error", "i9": "parse_error", "i11": "parse_error"}
ENDED_NS = 1_795_928_924_939_000_000  # 2026-11-29T05:08:44.939Z
_BEHIND_OURS = (
    "import os, runpy, sys; sys.argv.pop(0); sys.path.append(sys.argv.pop(0)); "
    "sys.path.insert(0, os.path.dirname(sys.argv[0])); runpy.run_path(sys.argv[0], run_name='__main__')"
)
PROMPT = "What is 1 + 1?"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden run with every way of a sample: 12 samples, 7 with a score, of which one was not answered."""
    path = tmp_path_factory.mktemp("sent") / "rubric_faults"
    shutil.copytree(ROOT / "tests" / "golden" / "records" / "rubric_faults", path)
    evaluator_of(Record(path)).derive(Record(path), path)
    return path


@pytest.fixture(scope="module")
def sent(peers: Path) -> Sent:
    """Runs a program of `programs/` with our Python and the clients' packages; returns its line of JSON."""
    clients = peers / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"

    @cache
    def run(client: str, *words: Path) -> Any:
        if not (clients / client).is_dir():
            pytest.skip(f"{client} is not among the tools for this Python: script/peers installs it")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL", "MLFLOW", "WANDB"))}
        ours.pop("PYTHONWARNDEFAULTENCODING", None)
        places = {"BENCHBOOK_CLIENTS": str(clients), "PYTHONPATH": str(ROOT / "src")}
        environment = ours | places | {"PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", _BEHIND_OURS, clients, PROGRAMS / f"sent_{client}.py", *words]
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
        assert done.returncode == 0, f"{client}: {done.stderr.decode()[-4000:]}"
        return json.loads(done.stdout.decode().splitlines()[-1])

    return run


def test_opentelemetry(sent: Sent, record: Path) -> None:
    found = sent("opentelemetry", record)
    events = found["over_http"]["events"]
    # 7 sample scores, 7 of accuracy, 6 of faithfulness (no answer makes no claim); 5 without a score; 10 aggregates and
    # the decision.
    assert len(events) == 7 + 7 + 6 + 5 + 10 + 1
    assert {(one["name"], one["time"]) for one in events} == {("gen_ai.evaluation.result", ENDED_NS)}
    assert [one["attributes"] for one in found["in_memory"]] == [one["attributes"] for one in events]
    assert {(one["service"], one["scope"]) for one in found["in_memory"]} == {("benchbook", "benchbook")}
    attributes = [one["attributes"] for one in events]
    assert {one["benchbook.record.sha256"] for one in attributes} == {SHA256}
    assert {one["benchbook.evaluator.name"] + one["benchbook.evaluator.version"] for one in attributes} == {"rubricv1"}
    unscored = {one["benchbook.item.id"]: one["error.type"] for one in attributes if "error.type" in one}
    assert unscored == UNSCORED
    assert not [one for one in attributes if "error.type" in one and "gen_ai.evaluation.score.value" in one]
    values = [
        one["gen_ai.evaluation.score.value"]
        for one in attributes
        if one["gen_ai.evaluation.name"] == "sample_score" and "error.type" not in one
    ]
    assert values == [1.0, 0.55, 0.7, 0.25, 1.0, 1.0, 0.625]
    assert len({one["log.record.uid"] for one in attributes}) == len(attributes)
    assert PROMPT not in json.dumps(found)
    over_http = found["over_http"]
    assert (over_http["tenants"], over_http["paths"]) == (["seven"], ["/v1/logs"])
    assert over_http["where"] == "36 events gen_ai.evaluation.result at /v1/logs"


def test_what_a_collector_refuses_is_an_error(sent: Sent, record: Path) -> None:
    """A part of a request that it rejects, too: the exporter takes that for a success."""
    found = sent("opentelemetry", record)
    assert "3 events were rejected: they are too old" in found["partial"]
    assert "status 401: who are you?" in found["unauthorized"]
    assert "OTEL_SDK_DISABLED" in found["switched_off"]


def test_langfuse(sent: Sent, record: Path) -> None:
    found = sent("langfuse", record)
    assert (found["paths"], found["keys"]) == (["/api/public/scores"], ["a-public-one:a-secret-one"])
    assert found["where"] == "43 scores at , session rubric_faults"
    # As the events, and of each of the 7 scored samples whether it passed.
    assert found["n_once"] == 7 + 7 + 6 + 7 + 5 + 10 + 1
    assert len(found["scores"]) == found["n_once"]  # sent twice, kept once
    named: dict[str, list[Any]] = {}
    for one in found["scores"]:
        named.setdefault(one["name"], []).append(one)
    unscored = {one["metadata"]["item_id"]: one["value"] for one in named["rubric@v1.unscored"]}
    assert unscored == UNSCORED
    assert [one["value"] for one in named["rubric@v1.sample_score"]] == [1.0, 0.55, 0.7, 0.25, 1.0, 1.0, 0.625]
    assert [one["value"] for one in named["rubric@v1.passed"]] == [1, 0, 0, 0, 1, 1, 1]
    assert named["rubric@v1.decision"][0]["value"] == "INCONCLUSIVE"
    assert PROMPT not in json.dumps(found)


def test_what_langfuse_rejects_is_an_error_without_the_key(sent: Sent, record: Path) -> None:
    found = sent("langfuse", record)
    assert "rejected 2 of 43 scores: no such config" in found["rejected"]
    assert "status 401" in found["unauthorized"]
    assert "a-secret-one" not in found["unauthorized"]


def test_mlflow(sent: Sent, record: Path, tmp_path: Path) -> None:
    found = sent("mlflow", record, tmp_path)
    assert (found["n_runs"], found["name"], found["status"], found["history"]) == (1, "rubric_faults", "FINISHED", 1)
    assert found["times"][1] == ENDED_NS // 1_000_000
    metrics = found["metrics"]
    assert (metrics["pass_rate"], metrics["n_scored"], metrics["n_unanswered"]) == (0.333333333, 7, 2)
    assert metrics["pass_rate.low"] < 1 / 3 < metrics["pass_rate.high"]
    assert found["params"]["model"] == "openai/m@2026-01-01"
    assert found["tags"]["benchbook.record_sha256"] == SHA256
    assert found["tags"]["benchbook.decision"] == "INCONCLUSIVE"
    assert found["files"] == ["items.json", "summary.md"]
    assert {"report.html", "samples.csv"} <= {*found["files_with_texts"]}
    rows = [dict(zip(found["table"]["columns"], row, strict=True)) for row in found["table"]["data"]]
    assert {row["item_id"]: row["error"] for row in rows if row["sample_score"] is None} == UNSCORED
    assert PROMPT not in json.dumps([found["table"], found["summary"], found["params"], found["tags"]])
    assert "MLflow: could not be sent: API request to http://127.0.0.1:9" in found["unreachable"]


def test_wandb(sent: Sent, record: Path, tmp_path: Path) -> None:
    found = sent("wandb", record, tmp_path)
    assert found["run"]["name"] == "rubric_faults"
    assert (found["run"]["project"], found["run"]["host"]) == ("benchbook", "benchbook")
    assert (found["config"]["record_sha256"], found["config"]["evaluator"]) == (SHA256, "rubric@v1")
    summary = found["summary"]
    assert (summary["pass_rate"], summary["decision"]) == (0.333333333, "INCONCLUSIVE")
    assert (found["history"]["items.nrows"], found["files"][-1]) == (12, "files/report/summary.md")
    rows = [dict(zip(found["table"]["columns"], row, strict=True)) for row in found["table"]["data"]]
    assert {row["item_id"]: row["error"] for row in rows if row["sample_score"] is None} == UNSCORED
    assert "Would sync 1 run(s)" in found["dry_run"]
    assert "has it already" in found["where"][1]
    assert [word for word in (PROMPT, f'"{socket.gethostname()}"', str(ROOT)) if word in found["data"]] == []
