"""The command line: output, exit codes, errors for people (DESIGN, Interfaces)."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.commands import COMMANDS
from running import benchbook, benchbook_here, options, run, write_items
from scripted_server import GOOD_VERDICT, ScriptedServer, always_good, running
from support import CASES

KEY = "sk-live-0123456789abcdef"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command: str) -> None:
    found = benchbook_here(command, "--help")
    assert found.returncode == 0
    assert b"Usage: benchbook" in found.stdout


def test_the_start_is_quick_because_little_is_imported() -> None:
    import subprocess
    import sys

    code = "import sys, benchbook.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode().split()
    assert not {"polars", "scipy", "numpy", "pyarrow", "aiohttp", "httptools", "rich", "msgspec"} & set(loaded)
    assert benchbook("--version").stdout.startswith(b"benchbook ")


def test_tab_completion_is_there() -> None:
    found = benchbook(env={"_BENCHBOOK_COMPLETE": "bash_source"})
    assert b"complete" in found.stdout


@pytest.fixture
def server() -> Any:
    with running(always_good) as running_server:
        yield running_server


def test_a_run_and_what_follows_from_it(tmp_path: Path, server: ScriptedServer) -> None:
    write_items(tmp_path / "items.jsonl", 8)
    words = options(tmp_path, server, reports=str(tmp_path / "reports"))
    done = benchbook("run", *words)
    assert done.returncode == 0, done.stderr
    assert b"release-ready by the rubric's rule; 8 samples can't show it: at least 59 can" in done.stdout  # R6.4
    names = {path.name for path in (tmp_path / "reports" / "run").iterdir()}
    assert names == {"report.html", "report.md", "junit.xml", "samples.csv"}
    runs = ["--runs", str(tmp_path / "runs")]
    assert benchbook_here("gate", *runs).returncode == 1  # eight samples settle nothing
    assert benchbook_here("gate", "run", *runs, "--confidence", "none").returncode == 0
    by_rule = benchbook_here("gate", "run", *runs, "--by-rule")
    assert (by_rule.returncode, b"Gated by the rubric's rule" in by_rule.stdout) == (0, True)
    assert json.loads(benchbook_here("gate", "run", *runs, "--by-rule", "--json").stdout)["gated_by"] == "rule"
    verified = json.loads(benchbook_here("verify", "run", *runs, "--json").stdout)
    assert verified["holds"]
    assert benchbook_here("verify", "run", *runs, "--expect", verified["sha256"]).returncode == 0
    assert benchbook_here("verify", "run", *runs, "--expect", "0" * 64).returncode == 1
    listed = json.loads(benchbook_here("runs", *runs, "--json").stdout)
    assert [row["decision"] for row in listed] == ["INCONCLUSIVE"]
    shown = json.loads(benchbook_here("show", *runs, "--json").stdout)
    assert shown["decision"]["release_ready"] is True
    assert json.loads(benchbook_here("show", *runs, "--sample", "3", "--json").stdout)["item_id"] == "i3"
    said = benchbook("show", *runs, "--sample", "3").stdout
    said = said.replace(b"\\u2013", "–".encode())  # as an encoding without the dash shows it
    assert "prompt:\n    What is 3 + 1?\ncontext: –\nexpected_answer:\n    4\ncandidate_answer: ".encode() in said
    assert b"judge reply 1" in said
    assert benchbook_here("show", *runs, "--failed").stdout == b""
    before = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()}
    assert benchbook_here("rescore", *runs, "--reports", "none").returncode == 0
    assert {path: path.read_bytes() for path in before} == before


def test_a_config_file_says_the_same_as_options(tmp_path: Path, server: ScriptedServer) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    (tmp_path / "run.toml").write_text(
        f'evalset = "items.jsonl"\nmodel = "openai/m@1"\njudge = "openai/j@1"\nruns = "runs"\nreports = "r"\n'
        f'model_base_url = "{server.base_url}"\njudge_base_url = "{server.base_url}"\n'
        "model_params = {max_tokens = 7}\n",
        encoding="utf-8",
    )
    done = benchbook_here("run", str(tmp_path / "run.toml"), "--model-params", "seed=null", "--run-id", "x", "--json")
    assert done.returncode == 0, done.stderr
    params = json.loads(done.stdout)["manifest"]["generation_params_effective"]
    assert params == {"temperature": 0, "top_p": 1, "max_tokens": 1024}  # the option wins, whole
    assert (tmp_path / "runs" / "x" / "manifest.json").exists()


def test_init_writes_a_config_that_reads(tmp_path: Path) -> None:
    path = tmp_path / "benchbook.toml"
    assert benchbook_here("init", str(path)).returncode == 0
    dry = benchbook_here("run", str(path), "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    assert json.loads(dry.stdout)["samples"] == 16
    assert benchbook_here("init", str(path)).returncode == 2
    # With every example switched on, each name and form is one that the config takes.
    text = re.sub(r"^# (?=[a-z_]+ = )", "", path.read_text("utf-8"), flags=re.MULTILINE)
    from benchbook.evaluators.settings import config_from_mapping, read_config_file

    (tmp_path / "all.toml").write_text(text, encoding="utf-8")
    values = read_config_file(tmp_path / "all.toml")
    one_judge = {name: values.pop(name) for name in list(values) if name.startswith("judge_")}
    of_panel = {name: values.pop(name) for name in ("judges", "panel_rule")}
    assert len(config_from_mapping(values | one_judge, "all.toml").all_judges) == 1
    assert len(config_from_mapping(values | of_panel | {"judge": None}, "all.toml").all_judges) == 2


MISTAKES = [
    pytest.param(["run", "absent.toml"], "absent.toml", id="no-config"),
    pytest.param(["run", "broken.toml"], "broken.toml", id="broken-toml"),
    pytest.param(["run", "unknown.toml"], "modle", id="unknown-setting"),
    pytest.param(["run", "--evalset", "items.jsonl"], "model", id="no-model"),
    pytest.param(
        ["run", "--model", "gpt", "--judge", "openai/j@1", "--evalset", "items.jsonl"], "provider/", id="bad-id"
    ),
    pytest.param(
        ["run", "--model", "foo/m@1", "--judge", "openai/j@1", "--evalset", "items.jsonl"], "foo", id="provider"
    ),
    pytest.param(
        ["run", "--model", "openai/m@1", "--judge", "openai/j@1", "--evalset", "items.jsonl"],
        "OPENAI_API_KEY",
        id="no-key",
    ),
    pytest.param(
        ["run", "--model", "local/m@1", "--judge", "openai/j@1", "--evalset", "bad.jsonl"], "bad.jsonl:2", id="bad-item"
    ),
    pytest.param(["run", "--resume", "nowhere"], "nowhere", id="no-record"),
    pytest.param(["verify", "nowhere"], "nowhere", id="verify-nothing"),
    pytest.param(["gate"], "no record", id="gate-nothing"),
    pytest.param(["parse", "rubric@v9", "items.jsonl"], "rubric@v9", id="unknown-spec"),
    pytest.param(["parse", "rubric@v1", "absent.jsonl"], "absent.jsonl", id="parse-absent"),
]


@pytest.mark.parametrize(("words", "named"), MISTAKES)
def test_a_mistake_is_a_clear_line_and_leaves_nothing(tmp_path: Path, words: list[str], named: str) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "prompt": "p"}\n{"id": "b"}\n', encoding="utf-8")
    (tmp_path / "broken.toml").write_text("model = \n", encoding="utf-8")
    (tmp_path / "unknown.toml").write_text('modle = "openai/m@1"\n', encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    found = benchbook_here(*words, cwd=tmp_path, env={"OPENAI_API_KEY": ""})
    error = found.stderr.decode("utf-8", "replace")
    assert found.returncode == 2, error
    assert named in error
    assert "Traceback" not in error
    head, *faults = error.strip().splitlines()
    assert not faults or head == f"benchbook: {len(faults)} things are wrong:"
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_is_read_only_is_told(tmp_path: Path, server: ScriptedServer) -> None:
    if os.geteuid() == 0:
        (tmp_path / "runs").write_text("a file where the folder should be", encoding="utf-8")
    else:
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs").chmod(stat.S_IRUSR | stat.S_IXUSR)
    write_items(tmp_path / "items.jsonl", 2)
    found = benchbook_here("run", *options(tmp_path, server))
    assert found.returncode == 3
    assert b"can't be written" in found.stderr


def test_a_run_id_that_is_taken_is_refused(tmp_path: Path, server: ScriptedServer) -> None:
    run(tmp_path, server, 2)
    found = benchbook_here("run", *options(tmp_path, server))
    assert (found.returncode, b"already" in found.stderr) == (2, True)


def test_a_run_in_which_nothing_was_scored_does_not_exit_0(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    with running(lambda role, n, request: {"status": 200, "content": "no JSON" if role == "judge" else "3"}) as server:
        assert benchbook_here("run", *options(tmp_path, server)).returncode == 1


def test_a_key_is_in_no_record_report_or_message(tmp_path: Path) -> None:
    """The server echoes the key in answers, in verdicts and in errors."""

    def echo(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if n == 1:
            return {"status": 400, "body": {"error": {"message": f"no: {KEY}"}}}
        text = f"The key is {KEY}."
        return {"status": 200, "content": json.dumps(GOOD_VERDICT | {"rationale": text}) if role == "judge" else text}

    write_items(tmp_path / "items.jsonl", 4)
    with running(echo) as server:
        words = options(tmp_path, server, reports=str(tmp_path / "reports"))
        words += ["--model-api-key-env", "SOME_KEY", "--judge-api-key-env", "SOME_KEY"]
        done = benchbook("run", *words, env={"SOME_KEY": KEY})
        assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert done.returncode == 3, done.stderr  # two samples are unanswered
    assert KEY.encode() not in done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


LOCALES = [
    pytest.param({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, id="LC_ALL=C"),
    pytest.param({"PYTHONIOENCODING": "cp932"}, id="stdout-cp932"),
]


@pytest.mark.parametrize("env", LOCALES)
def test_texts_survive_any_locale(tmp_path: Path, env: dict[str, str]) -> None:
    """Emoji, CJK, a lone surrogate, an ANSI escape and a right-to-left override in what both models say."""
    text = "Großе 答案 🌾 \ud835 \x1b[31m \u202e"

    def answers(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {
            "status": 200,
            "content": json.dumps(GOOD_VERDICT | {"rationale": text[:-9]}) if role == "judge" else text,
        }

    write_items(tmp_path / "items.jsonl", 2, category="数学")
    with running(answers) as server:
        words = options(tmp_path, server, reports=str(tmp_path / "reports"))
        done = benchbook("run", *words, env=env)
    assert done.returncode == 0, done.stderr
    assert benchbook("verify", "--runs", str(tmp_path / "runs"), env=env).returncode == 0
    shown = benchbook("show", "--runs", str(tmp_path / "runs"), "--sample", "0", env=env)
    assert shown.returncode == 0, shown.stderr
    assert b"\x1b" not in shown.stdout
    row = json.loads(benchbook("show", "--runs", str(tmp_path / "runs"), "--sample", "0", "--json", env=env).stdout)
    assert row["candidate_answer"].startswith("Großе 答案 🌾 \\ud835")
    journal = (tmp_path / "runs" / "run" / "journal" / "000001.jsonl").read_bytes()
    assert b"\\ud835" in journal
    assert "答案".encode() in journal


@pytest.mark.cases
@pytest.mark.parametrize("env", [pytest.param({}, id="utf-8"), *LOCALES])
def test_parse_reads_the_cases_replies_and_stops_at_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    path = CASES / "judge_reply.json"
    if not path.exists():
        pytest.skip("judge_reply.json is not in BENCHBOOK_CASES")
    cases = json.loads(path.read_text("utf-8"))
    lines = [json.dumps({key: case[key] for key in ("id", "reply", "options") if key in case}) for case in cases]
    lines[1:1] = ["not JSON", '["no object"]', '{"id": "no-reply-text", "reply": 3}']
    (tmp_path / "replies.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = benchbook("parse", "rubric@v1", str(tmp_path / "replies.jsonl"), env=env)
    assert found.returncode == 2
    encoding = env.get("PYTHONIOENCODING", "utf-8")
    results = [json.loads(line) for line in found.stdout.decode(encoding).split("\n") if line]
    assert len(results) == len(cases) + 3
    assert [result["ok"] for result in results[1:4]] == [False, False, False]
    for case, result in zip(cases, [results[0], *results[4:]], strict=True):
        expect = case["expect"]
        assert (result["id"], result["ok"]) == (case["id"], expect["ok"])
        if expect["ok"]:
            assert {key: result[key] for key in expect} == expect
        else:
            assert result["detail"]
            reasons = expect.get("parse_error_reason_one_of", [expect.get("parse_error_reason")])
            assert result["parse_error_reason"] in reasons
