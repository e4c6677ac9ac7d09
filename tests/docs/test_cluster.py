"""The templates for clusters, as their schedulers run them: each task asks one shard, and whatever was lost goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from sharded import joined, write_judged

TEMPLATES = Path(__file__).parents[2] / "docs" / "examples" / "cluster"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a plan, and with `benchbook` on its path."""
    config = write_judged(tmp_path, 12, 1)
    names = ("evalset", "outputs", "model", "judge", "judge_path")
    lines = [f'{name} = "{getattr(config, name)}"' for name in names]
    (tmp_path / "benchbook.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "benchbook"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m benchbook "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


def run(words: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        words, cwd=folder, env=os.environ | environment | {"PATH": path}, capture_output=True, check=False
    )


def task(folder: Path, number: int, **more: str) -> subprocess.CompletedProcess[bytes]:
    given = {"PLAN": "benchbook.toml", "RUN_ID": "july", "SLURM_ARRAY_TASK_ID": str(number)}
    return run(["bash", str(TEMPLATES / "slurm.sh")], folder, **(given | more))


def test_a_slurm_array_asks_all_shards(folder: Path) -> None:
    for number in (2, 1):
        done = task(folder, number, SLURM_ARRAY_TASK_MAX="3", AT_ONCE="2")
        assert done.returncode == 0, done.stderr
    # Alone, later, of an array that has no other task: how many shards there are is said.
    assert task(folder, 3, SLURM_ARRAY_TASK_MAX="3", SHARDS="3").returncode == 0
    assert task(folder, 3, SLURM_ARRAY_TASK_MAX="3").returncode == 0  # requeued: it is whole
    record = Record(folder / "runs" / "july")
    joined(record)
    assert verify(record).findings == ()


@pytest.mark.parametrize("lacking", ["PLAN", "RUN_ID"])
def test_a_slurm_task_says_what_it_lacks(folder: Path, lacking: str) -> None:
    done = task(folder, 1, SLURM_ARRAY_TASK_MAX="3", **{lacking: ""})
    assert (done.returncode != 0, lacking.encode() in done.stderr) == (True, True)
    assert not (folder / "runs").exists()


def job() -> dict[str, Any]:
    found = yaml.safe_load((TEMPLATES / "kubernetes.yaml").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_job_is_one_that_kubernetes_takes() -> None:
    """By the reference of batch/v1: what an Indexed Job needs, and what does not go together."""
    found = job()
    assert (found["apiVersion"], found["kind"]) == ("batch/v1", "Job")
    spec = found["spec"]
    assert spec["completionMode"] == "Indexed"
    assert 0 < spec["parallelism"] <= spec["completions"]
    assert spec["backoffLimitPerIndex"] >= 0
    assert spec["maxFailedIndexes"] <= spec["completions"]
    assert "backoffLimit" not in spec
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # as backoffLimitPerIndex asks for
    (container,) = pod["containers"]
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]}
    environment = {one["name"]: one["value"] for one in container["env"]}
    assert environment["SHARDS"] == str(spec["completions"])
    assert found["metadata"]["name"].endswith(environment["RUN_ID"])


def test_an_indexed_job_asks_all_shards(folder: Path) -> None:
    (container,) = job()["spec"]["template"]["spec"]["containers"]
    script = container["args"][0].replace("/runs", str(folder / "runs"))
    environment = {one["name"]: one["value"] for one in container["env"]}
    for index in range(int(environment["SHARDS"])):
        given = environment | {"JOB_COMPLETION_INDEX": str(index)}
        done = run([*container["command"], script], folder, **given)
        assert done.returncode == 0, done.stderr
    record = Record(folder / "runs" / environment["RUN_ID"])
    joined(record)
    assert verify(record).findings == ()
