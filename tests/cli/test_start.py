"""How a command starts and ends: help, JSON, exit codes, pipes (DESIGN, Interfaces)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from benchbook.cli.commands import COMMANDS
from benchbook.cli.main import benchbook as main_group
from running import benchbook, benchbook_here, options, run, write_items
from scripted_server import OK_JUDGE, always_good, running

HEAVY = {"polars", "scipy", "numpy", "pyarrow", "aiohttp", "httptools", "msgspec", "rich", "uvloop", "asyncio", "ssl"}


def imported_by(*words: str) -> set[str]:
    """The top-level modules that `benchbook WORDS` imports, by Python's own account."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "benchbook", *words], capture_output=True, check=True, timeout=60
    )
    lines = re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", done.stderr.decode("utf-8"), re.MULTILINE)
    assert "benchbook.cli" in lines
    return {line.split(".")[0] for line in lines}


@pytest.mark.parametrize("words", [["--version"], ["--help"]], ids=" ".join)
def test_the_start_loads_nothing_heavy(words: list[str]) -> None:
    assert imported_by(*words) & HEAVY == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_completion_is_there_for(shell: str) -> None:
    found = benchbook(env={"_BENCHBOOK_COMPLETE": f"{shell}_source"})
    assert found.returncode == 0
    assert b"_BENCHBOOK_COMPLETE" in found.stdout


def test_tab_completes_commands_and_settings() -> None:
    def completed(words: str) -> bytes:
        env = {"_BENCHBOOK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return benchbook(env=env).stdout

    assert b"verify" in completed("benchbook ver")
    assert b"--judge-base-url" in completed("benchbook run --judge-b")


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight items, and a whole record of them."""
    made = tmp_path_factory.mktemp("start")
    with running(always_good) as server:
        run(made, server)
    return made


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        pytest.param(["gate", "run"], {"run", "manifest", "aggregates", "decision"}, id="gate"),
        pytest.param(["show", "run"], {"run", "manifest", "aggregates", "decision"}, id="show"),
        pytest.param(["show", "run", "--sample", "3"], {"sample", "item_id", "judge_replies"}, id="show-sample"),
        pytest.param(["verify", "run"], {"holds", "sha256", "findings", "state", "facts"}, id="verify"),
        pytest.param(
            ["rescore", "run", "--reports", "none"], {"run", "manifest", "aggregates", "decision"}, id="rescore"
        ),
        pytest.param(["doctor"], {"code_version", "environment", "providers"}, id="doctor"),
        pytest.param(
            ["evalset", "show", "items.jsonl"], {"path", "sha256", "n_items", "composition"}, id="evalset-show"
        ),
    ],
)
def test_a_command_prints_one_json_object(folder: Path, words: list[str], keys: set[str]) -> None:
    found = benchbook_here(*words, "--json", cwd=folder)
    assert found.stderr == b""
    assert keys <= json.loads(found.stdout).keys()


@pytest.mark.parametrize(
    "words", [["runs"], ["show", "run", "--failed"], ["evalset", "list"]], ids=lambda words: "-".join(words)
)
def test_a_command_prints_one_json_list(folder: Path, words: list[str]) -> None:
    found = benchbook_here(*words, "--json", cwd=folder)
    assert isinstance(json.loads(found.stdout), list)


def test_a_run_prints_json_and_nothing_else_to_standard_output(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(always_good) as server:
        found = benchbook("run", *options(tmp_path, server, reports=tmp_path / "reports"), "--json")
    told = json.loads(found.stdout)
    assert (told["decision"]["decision"], told["decision"]["release_ready"]) == ("INCONCLUSIVE", True)
    assert told["decision"]["decided_by"] == {"rule": "bounds", "confidence": 0.95}
    assert [Path(path).name for path in told["reports"]] == ["report.html", "report.md", "junit.xml", "samples.csv"]
    assert found.stderr == b""


def test_a_dry_run_asks_nothing_and_writes_nothing(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(always_good) as server:
        words = [*options(tmp_path, server), "--dry-run", "--model-output-price", "1", "--repeats", "2"]
        found, shown = benchbook_here("run", *words, "--json"), benchbook_here("run", *words)
        assert server.asked == {"candidate": [], "judge": []}
    told = json.loads(found.stdout)
    assert (told["samples"], told["calls"]) == (6, 12)
    assert float(told["most_cost_usd"]) == 0.01  # 6 answers of at most 1,024 tokens at a dollar a million
    assert b"Nothing was asked." in shown.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"items.jsonl"}


def test_doctor_takes_any_evaluator(tmp_path: Path) -> None:
    """Without a judge there is one to ask, once an item: three answers of 1,024 tokens, at $1,000 a million."""
    write_items(tmp_path / "items.jsonl", 3)
    with running(always_good) as server:
        words = ["--evalset", "items.jsonl", "--model", "openai/m@2026-01-01", "--model-base-url", server.base_url]
        prices = ["--model-output-price", "1000"]
        found = benchbook("doctor", "--spec", "contains@v1", *words, *prices, "--json", cwd=tmp_path)
        assert {role: len(asked) for role, asked in server.asked.items()} == {"candidate": 1, "judge": 0}
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    assert (list(told["answers"]), told["samples"], told["calls"]) == (["model"], 3, 3)
    assert told["most_cost_usd"] == "3.07"


WITHOUT_JSON = {"label next", "label adjudicate"}  # a dialogue with a person


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_takes_json(name: str) -> None:
    """Of a group: each of its commands."""
    command = main_group.get_command(click.Context(main_group), name)
    assert command is not None
    for each in command.commands.values() if isinstance(command, click.Group) else [command]:
        if f"{name} {each.name}" not in WITHOUT_JSON:
            assert "--json" in {word for option in each.params for word in option.opts}, f"{name} {each.name}"


def test_a_gate_that_says_nothing_else_says_why_it_fails(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 8)
    with running(always_good) as server:
        found = benchbook_here("run", *options(tmp_path, server), "--gate", "--quiet")
    assert (found.returncode, found.stdout) == (1, b"")
    said = found.stderr.decode()
    assert said.startswith(f"benchbook: {tmp_path / 'runs' / 'run'}: INCONCLUSIVE: ")
    assert said.count("\n") == 1


# ── exit codes ───────────────────────────────────────────────────────────────────────────────────────────

BAD = OK_JUDGE | {"content": '{"accuracy_score": 0, "faithfulness_score": 0, "rationale": "No."}'}


def bad_answers(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return BAD if role == "judge" else always_good(role, n, request)


def refusing(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return {"status": 401}


def unreadable(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return OK_JUDGE | {"content": "no JSON"} if role == "judge" else always_good(role, n, request)


def mute(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return always_good(role, n, request) | ({"content": ""} if role == "candidate" else {})


@pytest.mark.parametrize(
    ("server_does", "more", "code"),
    [
        pytest.param(always_good, [], 0, id="ready"),
        pytest.param(always_good, ["--gate"], 1, id="not-shown-and-gated"),
        pytest.param(always_good, ["--gate", "--by-rule"], 0, id="gated-by-the-rule"),
        pytest.param(always_good, ["--gate", "--confidence", "none"], 0, id="gated-by-points"),
        pytest.param(always_good, ["--by-rule"], 2, id="by-rule-without-gate"),
        pytest.param(always_good, ["--confidence", "1.5"], 2, id="a-confidence-that-can-not-be"),
        pytest.param(always_good, ["--confidence", "sure"], 2, id="a-confidence-that-is-none"),
        pytest.param(bad_answers, [], 0, id="not-ready-is-a-result"),
        pytest.param(bad_answers, ["--gate"], 1, id="not-ready-and-gated"),
        pytest.param(unreadable, [], 1, id="nothing-scored"),
        pytest.param(unreadable, ["--gate"], 1, id="nothing-scored-and-gated"),
        pytest.param(mute, [], 1, id="no-answer-was-scored"),
        pytest.param(refusing, [], 3, id="refused-key"),
        pytest.param(refusing, ["--gate"], 3, id="refused-key-and-gated"),
        pytest.param(always_good, ["--modle", "x"], 2, id="no-such-option"),
        pytest.param(always_good, ["--repeats", "0"], 2, id="a-wrong-value"),
    ],
)
def test_how_a_run_exits(tmp_path: Path, server_does: Any, more: list[str], code: int) -> None:
    write_items(tmp_path / "items.jsonl", 8)
    with running(server_does) as server:
        found = benchbook_here("run", *options(tmp_path, server), *more)
    assert found.returncode == code, found.stderr
    assert b"Traceback" not in found.stderr


def test_a_run_that_a_limit_stopped_exits_with_3_and_says_how_to_go_on(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 8)
    limits = ["--max-connections", "1", "--max-cost-usd", "2", "--model-output-price", "500000"]
    with running(always_good) as server:
        found = benchbook_here("run", *options(tmp_path, server), *limits, "--quiet")
        assert len(server.asked["candidate"]) == 2
        assert found.returncode == 3
        record = tmp_path / "runs" / "run"
        assert found.stderr.decode("utf-8") == (
            "benchbook: stopped: the cost limit: 2.0000 of 2 dollars are spent. "
            f"Resume: benchbook run --resume {record}\n"
        )
        again = benchbook_here("run", "--resume", str(record), "--max-cost-usd", "100", "--quiet", "--reports", "none")
    assert (again.returncode, again.stderr) == (0, b"")


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────


def shell(line: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """`line`, in which "$@" is `benchbook WORDS`."""
    return subprocess.run(
        ["bash", "-c", line, "bash", sys.executable, "-m", "benchbook", *words],
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("words", [["runs"], ["verify", "run"], ["show", "run"]], ids=lambda words: words[0])
def test_a_reader_that_goes_away_is_no_fault(folder: Path, words: list[str]) -> None:
    found = shell('"$@" | true; exit ${PIPESTATUS[0]}', *words, "--runs", str(folder / "runs"))
    assert b"Traceback" not in found.stderr
    assert found.returncode == 0


def test_the_answer_stays_the_answer_where_its_reader_goes_away(folder: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "runs" / "run"
    shutil.copytree(folder / "runs" / "run", damaged)
    (damaged / "decision.json").write_bytes(b"{}")
    found = shell('"$@" | true; exit ${PIPESTATUS[0]}', "verify", str(damaged))
    assert found.returncode == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", [["verify", "run"], ["show", "run", "--json"]], ids=lambda words: words[0])
def test_a_stream_may_be_closed(folder: Path, closed: str, words: list[str]) -> None:
    found = shell(f'"$@" {closed}', *words, "--runs", str(folder / "runs"))
    assert (found.returncode, found.stderr) == (0, b"")


def test_nothing_of_a_terminal_is_written_to_a_pipe(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(always_good) as server:
        found = benchbook("run", *options(tmp_path, server), env={"FORCE_COLOR": "", "TERM": "xterm-256color"})
    assert b"\x1b" not in found.stdout + found.stderr


def test_looking_at_a_record_needs_no_server(folder: Path) -> None:
    """Showing, gating, verifying and rescoring read the record alone. Its server is gone by now."""
    for words in (["show"], ["gate", "--by-rule"], ["verify"], ["rescore", "--reports", "none"]):
        assert benchbook_here(words[0], "run", *words[1:], "--runs", str(folder / "runs")).returncode == 0


def test_the_newest_record_is_meant_where_none_is_named(tmp_path: Path) -> None:
    import os

    with running(always_good) as server:
        for number, name in enumerate(["b", "a"]):
            record = run(tmp_path, server, 2, run_id=name).record
            os.utime(record.journal, (1_000 + number, 1_000 + number))
    runs = str(tmp_path / "runs")
    shown = json.loads(benchbook_here("show", "--runs", runs, "--json").stdout)
    assert shown["manifest"]["run_id"] == "a"
    listed = json.loads(benchbook_here("runs", "--runs", runs, "--json").stdout)
    assert [one["run"] for one in listed] == ["a", "b"]
    assert listed[0]["hash"] == shown["manifest"]["journal_sha256"]


@pytest.mark.parametrize(
    ("items", "more", "says"),
    [
        pytest.param([{}] * 16, [], b"with 16 items this run can't be READY: at least 59 can", id="few"),
        pytest.param(
            [{}] * 16, ["--repeats", "5"], b"with 16 items this run can't be READY: at least 59", id="repeats"
        ),
        pytest.param([{"group": f"g{n % 2}"} for n in range(90)], [], b"with 2 groups of items", id="groups"),
        pytest.param(
            [{}] * 60, ["--confidence", "0.99"], b"with 60 items this run can't be READY: at least 90", id="99"
        ),
        pytest.param([{}] * 59, [], None, id="enough"),
        pytest.param([{}] * 16, ["--confidence", "none"], None, id="by-points"),
        pytest.param([{}] * 16, ["--until-decided"], None, id="until-decided"),
    ],
)
def test_a_dry_run_says_whether_ready_can_be_had(
    tmp_path: Path, items: list[dict[str, Any]], more: list[str], says: bytes | None
) -> None:
    lines = (
        json.dumps({"id": f"i{n}", "prompt": f"{n}?", "expected_answer": "1"} | one) for n, one in enumerate(items)
    )
    (tmp_path / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    models = ["--model", "openai/m@2026-01-01", "--judge", "openai/j@2026-01-01"]
    for role in ("model", "judge"):
        models += [f"--{role}-base-url", "http://127.0.0.1:9/v1"]
    found = benchbook_here("run", "--evalset", str(tmp_path / "items.jsonl"), *models, *more, "--dry-run")
    assert found.returncode == 0, found.stderr
    assert b"can't be READY" not in found.stdout if says is None else says in found.stdout
