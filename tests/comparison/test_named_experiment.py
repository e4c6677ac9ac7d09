"""Separate runs of one plan make an experiment by name (SPEC R7.3)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchbook.comparison.experiment import NamedExperiment, named_experiment
from benchbook.errors import UsageError
from benchbook.record.folder import Record
from benchbook.views.several_runs import experiment_document
from benchbook.views.terminal import document_lines
from running import benchbook_here, run
from scripted_server import ScriptedServer, always_good, running


def scripted_run(folder: Path, server: ScriptedServer, run_id: str, latency_ms: int, **settings: object) -> None:
    script = folder / "script.json"
    # R5.2: a latency of 3,000 ms or less has the whole weight of 0.15, and one of 6,000 ms half of it.
    script.write_text(json.dumps({"replies": [{"text": "x", "latency_ms": latency_ms}]}), encoding="utf-8")
    run(
        folder, server, 4, run_id=run_id, model="scripted/m@1", model_path=str(script), model_base_url=None,
        **{"experiment": "e"} | settings,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("experiment")
    with running(always_good) as server:
        for run_id, latency_ms in (("r1", 1000), ("r2", 6000), ("r3", 2000)):
            scripted_run(made, server, run_id, latency_ms)
        scripted_run(made, server, "other-plan", 1000, repeats=2)
        scripted_run(made, server, "other-name", 1000, experiment="f")
        scripted_run(made, server, "no-name", 1000, experiment=None)
        scripted_run(made, server, "stopped", 1000)
    return made / "runs"


def found(folder: Path) -> NamedExperiment:
    return named_experiment("e", [Record(path) for path in folder.iterdir()])


def test_mean_and_sd_are_over_the_runs_of_one_plan(folder: Path) -> None:
    of_one, other = sorted(found(folder).plans, key=lambda plan: -len(plan.runs))
    assert of_one.runs == ["r1", "r2", "r3", "stopped"]
    assert other.runs == ["other-plan"]
    score, latency = of_one.summaries
    assert score.per_repeat == [1.0, 0.925, 1.0, 1.0]
    assert score.mean == 0.98125
    assert score.sd == 0.0375  # sqrt((3 * 0.01875^2 + 0.05625^2) / 3)
    assert latency.per_repeat == [1000.0, 6000.0, 2000.0, 1000.0]
    assert latency.mean == 2500.0
    assert latency.sd == 2380.476142848  # sqrt(17,000,000 / 3)
    assert [summary.sd for summary in other.summaries] == [None, None]


def test_what_is_not_whole_or_can_not_be_read_is_left_out_by_name(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "runs")
    manifest = tmp_path / "runs" / "stopped" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"state": "complete"', b'"state": "interrupted"'))
    (tmp_path / "runs" / "r2" / "aggregates.json").write_text("{", encoding="utf-8")
    result = found(tmp_path / "runs")
    assert [plan.runs for plan in result.plans if len(plan.runs) > 1] == [["r1", "r3"]]
    assert [one.run for one in result.left_out] == ["r2", "stopped"]
    assert result.left_out[1].reason == "it is interrupted"
    assert any(line.startswith("  - left out: r2:") for line in document_lines(experiment_document(result)))


def test_a_name_that_no_run_has_is_an_error(folder: Path) -> None:
    with pytest.raises(UsageError, match="names the experiment 'nobody'"):
        named_experiment("nobody", [Record(path) for path in folder.iterdir()])


def test_the_command_shows_it(folder: Path) -> None:
    shown = benchbook_here("experiment", "e", "--runs", str(folder))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.decode().splitlines()
    assert lines[0] == "2 plans name this experiment; runs of different plans are not averaged."
    table = [line.split() for line in lines]
    assert ["Mean", "0.9812", "2,500", "ms"] in table
    assert ["SD", "0.0375", "2,380", "ms"] in table
    as_json = json.loads(benchbook_here("experiment", "e", "--runs", str(folder), "--json").stdout)
    assert sorted(len(plan["runs"]) for plan in as_json["plans"]) == [1, 4]
    assert benchbook_here("experiment", "x", "--runs", str(folder)).returncode == 2
