"""The GitHub action: its form, and its steps run as the runner runs them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ci.jobs import ACTION, GITLAB, STEPS, Job, yaml
from scored import ITEMS, scored
from support import ROOT

RUN_STEPS = [name for name, step in STEPS.items() if "run" in step]
_USED = re.compile(r"\binputs\.([\w-]+)")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


# ── its form ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_input_is_described_and_used() -> None:
    used = set(_USED.findall(json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])
    assert [name for name, one in ACTION["inputs"].items() if not one["description"] or "default" not in one] == []


def test_the_manual_names_every_input_and_no_other() -> None:
    page = (ROOT / "docs" / "how-to" / "use-in-ci.md").read_text("utf-8")
    table = page.split("| input | what it is |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))) == set(
        ACTION["inputs"]
    )
    blocks = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    steps = [*blocks[0]["jobs"]["evaluate"]["steps"], *blocks[1]]
    ours = [step["with"] for step in steps if step["uses"].startswith("benchbook/")]
    assert len(ours) == 2
    assert {name for given in ours for name in given} <= set(ACTION["inputs"])
    assert set(blocks[2]["benchbook"]["variables"]) <= set(GITLAB["benchbook"]["variables"])


def test_other_people_s_actions_are_pinned() -> None:
    """By the commit, which nobody can move, with the version beside it."""
    lines = [line for line in (ROOT / "action.yml").read_text("utf-8").splitlines() if "uses:" in line]
    assert len(lines) == 1
    assert all(re.search(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line) for line in lines)


@pytest.mark.parametrize("name", RUN_STEPS)
def test_no_script_is_put_together_from_inputs(name: str) -> None:
    step = STEPS[name]
    assert "${{" not in step["run"]
    assert step["shell"] == "bash"
    assert "eval" not in step["run"].split()
    known = {*step.get("env", {}), "GITHUB_ACTION_PATH", "GITHUB_EVENT_NAME", "GITHUB_OUTPUT", "GITHUB_PATH",
             "GITHUB_STEP_SUMMARY", "RUNNER_TEMP"}  # fmt: skip
    assert set(re.findall(r"\$\{?#?([A-Z_]+)", step["run"])) <= known


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("name", RUN_STEPS)
def test_shellcheck_finds_nothing(name: str) -> None:
    words = ["shellcheck", "--shell=bash", "--exclude=SC2154", "-"]  # what is set by `env`
    done = subprocess.run(words, input=STEPS[name]["run"].encode(), capture_output=True, check=False)
    assert done.stdout.decode() == ""


# ── its steps ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, str(ROOT)),
        ({"version": "1.2.0"}, "benchbook==1.2.0"),
        ({"extras": "any-llm,pdf"}, f"{ROOT}[any-llm,pdf]"),
        ({"version": "1.2.0", "extras": "pdf"}, "benchbook[pdf]==1.2.0"),
    ],
)
def test_it_installs_its_own_checkout_or_a_version(given: dict[str, str], what: str, job: Job) -> None:
    done = job.step("Install Benchbook", python=job.fake_python(), **given)
    assert done.returncode == 0, done.stderr
    assert job.calls() == [["install", "--quiet", "--disable-pip-version-check", what]]
    assert (job.folder / "path").read_text("utf-8") == f"{job.folder}/temp/benchbook-bin\n"


RUN = ["run", "c.toml", "--run-id", "ci-12-1", "--runs", "runs", "--reports", "reports"]
GATE = ["gate", "ci-12-1", "--runs", "runs"]
JUNIT = ["--junit", "reports/regressions.xml"]
CALLS: dict[str, tuple[dict[str, str], list[list[str]]]] = {
    "a run": ({"config": "c.toml"}, [RUN]),
    "with words of its own": ({"config": "c.toml", "args": "--max-cost-usd\n2\n\n--model\na b\n"},
                              [[*RUN, "--max-cost-usd", "2", "--model", "a b"]]),
    "ready": ({"config": "c.toml", "gate": "ready"}, [RUN, GATE]),
    "by its rule": ({"config": "c.toml", "gate": "rule"}, [RUN, [*GATE, "--by-rule"]]),
    "against a baseline": ({"config": "c.toml", "baseline": "old"}, [RUN, [*GATE, *JUNIT, "--baseline", "old"]]),
    "against the baseline that is set": ({"config": "c.toml", "gate": "baseline"}, [RUN, [*GATE, *JUNIT]]),
    "with all that a gate takes": (
        {"config": "c.toml", "baseline": "old", "margin": "0.1", "max_regressions": "2", "allow_different": "judge",
         "allow_undecided": "true"},
        [RUN, [*GATE, *JUNIT, "--baseline", "old", "--margin", "0.1", "--max-regressions", "2", "--allow-different",
               "judge", "--allow-undecided"]]),
    "as people would judge": (
        {"config": "c.toml", "baseline": "old", "labels": "labels/old\n\nlabels of new\n"},
        [RUN, [*GATE, *JUNIT, "--labels", "labels/old", "--labels", "labels of new", "--baseline", "old"]]),
    "ready as people would judge": ({"gate": "ready", "labels": "l"}, [[*GATE, "--labels", "l"]]),
    "a baseline that is only told of": ({"config": "c.toml", "baseline": "old", "gate": "none"}, [RUN]),
    "a record that is there": ({"run": "mine", "baseline": "old"},
                               [["gate", "mine", "--runs", "runs", *JUNIT, "--baseline", "old"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_it_runs_and_gates(name: str, job: Job) -> None:
    given, calls = CALLS[name]
    done = job.step("Evaluate", **given)
    assert (done.returncode, done.stderr) == (0, "")
    assert job.calls() == calls
    assert job.outputs() == {"code": "0"}


@pytest.mark.parametrize(
    ("codes", "given", "code", "n_calls"),
    [
        ({"CODE_run": "2"}, {}, "2", 1),
        ({"CODE_run": "3"}, {"gate": "rule"}, "3", 1),  # a run that is not whole is not gated
        ({"CODE_gate": "1"}, {"gate": "rule"}, "1", 2),
        ({"CODE_gate": "4"}, {"baseline": "old"}, "4", 2),
        ({}, {"gate": "tight"}, "2", 1),
    ],
)
def test_the_job_ends_as_the_run_and_its_gate_did(
    codes: dict[str, str], given: dict[str, str], code: str, n_calls: int, tmp_path: Path
) -> None:
    job = Job(tmp_path, codes)
    assert job.step("Evaluate", config="c.toml", **given).returncode == 0
    assert job.outputs() == {"code": code}
    assert len(job.calls()) == n_calls
    assert job.step("End as the run and its gate did").returncode == int(code)


def test_a_step_that_never_ran_is_no_success(job: Job) -> None:
    assert job.step("End as the run and its gate did").returncode == 3


def test_inputs_are_words_and_no_commands(job: Job) -> None:
    evil = '$(touch pwned) `touch pwned`"; touch pwned; #'
    given = dict.fromkeys(
        ("config", "args", "run", "baseline", "margin", "max_regressions", "allow_different", "labels"), evil
    )
    assert job.step("Evaluate", **given).returncode == 0
    assert job.step("Comment", **given, sarif=evil, comment_name=evil).returncode == 0
    assert not (job.folder / "pwned").exists()
    assert {word for call in job.calls() for word in call if "pwned" in word} == {evil}


def test_what_a_model_says_gives_the_runner_no_orders(job: Job) -> None:
    """All that the evaluation prints stands between the stop and a word that nobody can guess."""
    first, second = (job.step("Evaluate", config="c.toml").stdout.splitlines() for _ in range(2))
    words = [lines[0].removeprefix("::stop-commands::") for lines in (first, second)]
    assert all(re.fullmatch("[0-9a-f]{32}", word) for word in words)
    assert words[0] != words[1]
    assert (first[-1], second[-1]) == (f"::{words[0]}::", f"::{words[1]}::")


COMMENT = ["comment", "ci-12-1", "--runs", "runs", "--name", "benchbook", "--out"]


@pytest.mark.parametrize(
    ("event", "given", "more"),
    [
        ("push", {}, []),
        ("pull_request", {}, ["--post", "github"]),
        ("pull_request", {"comment": "false"}, []),
        ("push", {"baseline": "old"}, ["--baseline", "old", "--annotations"]),
        ("push", {"labels": "one\ntwo"}, ["--labels", "one", "--labels", "two"]),
        ("push", {"baseline": "old", "sarif": "s.sarif", "annotations": "false", "margin": "0.1"},
         ["--baseline", "old", "--margin", "0.1", "--sarif", "s.sarif"]),
    ],
)  # fmt: skip
def test_it_comments(event: str, given: dict[str, str], more: list[str], tmp_path: Path) -> None:
    job = Job(tmp_path, {"GITHUB_EVENT_NAME": event})
    done = job.step("Comment", **given)
    file = f"{tmp_path}/temp/benchbook-comment.md"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert job.calls() == [[*COMMENT, file, *more]]
    assert (job.summary(), job.outputs()) == ("<!-- comment -->\n", {"file": file})


def test_no_comment_is_no_end(tmp_path: Path) -> None:
    """A forge that is down takes no comment; the summary has what was written before it was asked."""
    job = Job(tmp_path, {"GITHUB_EVENT_NAME": "pull_request", "CODE_comment": "3"})
    assert job.step("Comment").returncode == 0
    assert job.summary() == "<!-- comment -->\n"


@pytest.mark.slow  # starts the real program twice
def test_with_the_real_program(tmp_path: Path) -> None:
    good: list[dict[str, Any]] = [{"item_id": one["id"], "predicted": one["expected_answer"]} for one in ITEMS]
    scored(tmp_path, good, run_id="before")
    scored(tmp_path, [*good[:4], {"item_id": "e", "predicted": "::error::@me"}], run_id="now")
    job = Job(tmp_path, real=True)
    done = job.step("Evaluate", run="now", baseline="before", max_regressions="0")
    assert job.outputs() == {"code": "1"}, done.stderr
    done = job.step("Comment", run="now", baseline="before", max_regressions="0", sarif="lost.sarif")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::warning file=items.jsonl,line=5,title=")
    assert "# The gate does not hold" in job.summary()
    assert len(json.loads((tmp_path / "lost.sarif").read_bytes())["runs"][0]["results"]) == 1
