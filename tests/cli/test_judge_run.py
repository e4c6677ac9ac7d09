"""`benchbook judge run`, `judge archive`, `judge import --record`: as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.scorers.judge_protocol_prompt import render_prompt
from judging import make_set, sound_reply
from running import benchbook, benchbook_here
from scripted_server import ScriptedServer, running


def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return {"status": 200, "content": sound_reply(request) if request["model"] == "j" else "No."}


def config(folder: Path, server: ScriptedServer, **more: str) -> Path:
    lines = ['set = "set"', 'prompts = "prompts.jsonl"', 'run_id = "run"']
    lines += [f"{name} = {value}" for name, value in more.items()]
    for name in ("j", "k"):
        lines += ["[[judges]]", f'model = "openai/{name}@2026-01-01"', f'base_url = "{server.base_url}"']
    path = folder / "judging.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An experiment with a sound judge, j, and one that says nothing, k."""
    make_set(tmp_path)
    with running(reply) as server:
        found = benchbook("judge", "run", str(config(tmp_path, server)), "--quiet", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, b"")
    return tmp_path


def test_the_record_and_its_reports_lie_where_the_command_ran(folder: Path) -> None:
    assert (folder / "reports" / "run" / "report.html").is_file()
    archive = folder / "reports" / "run" / "archive"
    valid = sorted(path.name for path in (archive / "valid_evaluations").rglob("*.json"))
    invalid = sorted(path.name for path in (archive / "invalid_evaluations").rglob("*.json"))
    assert (len(valid), len(invalid)) == (8, 8)
    assert benchbook_here("verify", str(folder / "runs" / "run")).returncode == 0
    assert b"| j |" in (archive / "results_analysis.md").read_bytes()


def test_show_says_who_can_be_used_and_why_not(folder: Path) -> None:
    said = benchbook_here("show", "run", "--runs", str(folder / "runs")).stdout.decode("utf-8")
    assert "8 of 16 evaluations count (judge_protocol@v1)" in said
    assert "j: too few evaluations to say (4 evaluations)" in " ".join(said.split())
    assert "m, base: overall 8.000 (too few: 2 of 5 outputs), of 8 at most; PASS 2" in " ".join(said.split())


def test_show_says_what_the_run_said(tmp_path: Path) -> None:
    """In the same order too, though files sort what a run has in the protocol's order."""
    make_set(tmp_path)

    def changing(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        said = sound_reply(request, 1 if "# Answer 1" in request["messages"][0]["content"] else 2)
        return {"status": 200, "content": said}

    with running(changing) as server:
        ran = benchbook("judge", "run", str(config(tmp_path, server)), "--reports", "none", cwd=tmp_path)
    assert ran.stdout.count(b"PASS 2, PARTIAL 2") == 2  # of the target that both judges judge
    assert benchbook_here("show", "run", cwd=tmp_path).stdout == ran.stdout


def test_a_sample_is_shown_with_its_faults(folder: Path) -> None:
    failed = benchbook_here("show", "run", "--failed", "--runs", str(folder / "runs")).stdout.decode("utf-8")
    assert failed.count("UNPARSABLE_OUTPUT") == 8
    said = benchbook_here("show", "run", "--sample", "1", "--runs", str(folder / "runs")).stdout.decode("utf-8")
    assert '"code": "not_strict_json"' in said
    assert "raw_reply: No." in said


def test_the_archive_is_written_again_byte_for_byte_and_changes_are_named(folder: Path) -> None:
    archive = folder / "reports" / "run" / "archive"
    check = ("judge", "archive", "run", "--runs", str(folder / "runs"), "--check", str(archive))
    assert benchbook_here(*check).returncode == 0
    victim = next((archive / "valid_evaluations").rglob("*.json"))
    victim.write_bytes(victim.read_bytes().replace(b"PASS", b"FAIL"))
    (archive / "stray.txt").write_bytes(b"")
    (archive / "results_analysis.md").unlink()
    found = benchbook_here(*check, "--json")
    assert found.returncode == 1
    assert sorted(json.loads(found.stdout)["differences"]) == sorted(
        [
            "results_analysis.md: is missing",
            "stray.txt: does not belong to the archive",
            f"{victim.relative_to(archive).as_posix()}: was changed",
        ]
    )


def test_another_kind_of_record_has_no_archive(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"item_id": "golden-001", "predicted": "x"}\n', encoding="utf-8")
    words = ["--evalset", "@golden_v1", "--run-status", "crashed", "--reason", "x", "--run-id", "a"]
    benchbook("score", *words, "--runs", str(tmp_path / "runs"), "--reports", "none")
    found = benchbook_here("judge", "archive", "a", "--runs", str(tmp_path / "runs"))
    assert found.returncode == 2
    assert b"only judge_protocol@v1 has an archive" in found.stderr


def test_a_run_without_a_valid_evaluation_ends_with_1(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(lambda role, n, request: {"status": 200, "content": "No."}) as server:
        found = benchbook("judge", "run", str(config(tmp_path, server)), "--json", cwd=tmp_path)
    assert found.returncode == 1
    told = json.loads(found.stdout)
    assert told["aggregates"]["n_valid"] == 0
    assert "No evaluation is valid" in told["aggregates"]["warnings"][0]


def test_a_limit_stops_and_the_command_says_how_to_go_on(tmp_path: Path) -> None:
    make_set(tmp_path)

    def priced(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 200, "content": sound_reply(request), "usage": {"prompt_tokens": 10, "completion_tokens": 1}}

    with running(priced) as server:
        path = config(tmp_path, server, max_cost_usd='"2.5"', max_connections="1")
        path.write_text(path.read_text(encoding="utf-8") + 'output_price = "1000000"\n', encoding="utf-8")
        found = benchbook("judge", "run", str(path), "--quiet", cwd=tmp_path)
        assert found.returncode == 3
        record = "runs/run"
        assert f"Resume: benchbook judge run --resume {record}" in found.stderr.decode("utf-8")
        again = benchbook("judge", "run", "--resume", record, "--max-cost-usd", "100", "--quiet", cwd=tmp_path)
        assert (again.returncode, again.stderr) == (0, b"")
        assert len(server.asked["candidate"]) == 16


def replies_table(folder: Path, judge: str, method: str) -> Path:
    """What `judge` said of each output of target m, all by one method."""
    outputs = make_set(folder)
    path = folder / "replies.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for output in outputs.outputs:
            if output.target_model != "m":
                continue
            named = output.cell | {"judge_model": judge, "method": method}
            asked = render_prompt(task="t", output_text=outputs.text(output), asked=named, date="2026-01-01")
            row = named | {"reply": sound_reply({"messages": [{"content": asked}]})}
            file.write(json.dumps(row) + "\n")
    return path


def test_an_import_becomes_a_record_with_its_page(tmp_path: Path) -> None:
    replies_table(tmp_path, "z", "cross_judge")
    found = benchbook_here("judge", "import", "replies.jsonl", "--set", "set", "--record", "a", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, b"")
    assert (tmp_path / "reports" / "a" / "report.html").is_file()
    assert f"  {Path('reports', 'a', 'report.html')}\n" in found.stdout.decode("utf-8")
    check = ("judge", "archive", "a", "--check", "reports/a/archive")
    assert benchbook_here(*check, cwd=tmp_path).returncode == 0
    words = ("--record", "b", "--reports", "none", "--json")
    found = benchbook_here("judge", "import", "replies.jsonl", "--set", "set", *words, cwd=tmp_path)
    told = json.loads(found.stdout)
    assert (told["run"], told["reports"]) == (str(Path("runs", "b")), [])


@pytest.mark.parametrize(("declared", "n_valid"), [([], 0), (["--same-model", "m-2026-01-01=m"], 4)])
def test_an_import_knows_a_model_by_another_name(tmp_path: Path, declared: list[str], n_valid: int) -> None:
    """P1: a snapshot and its alias are one model where that is declared; judging itself is then no contradiction."""
    replies_table(tmp_path, "m-2026-01-01", "self_judge")
    words = ("--set", "set", "--record", "a", "--reports", "none", *declared)
    assert benchbook_here("judge", "import", "replies.jsonl", *words, cwd=tmp_path).returncode == 0
    told = json.loads(benchbook_here("show", "a", "--json", cwd=tmp_path).stdout)
    assert told["aggregates"]["n_valid"] == n_valid


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["judge", "run", "--set", "nowhere", "--judge", "openai/x@1"], "no evaluation set"),
        (["judge", "run"], "set"),
        (["judge", "run", "--set", "set"], "judges"),
        (["judge", "run", "--set", "set", "--judge", "x"], "provider/"),
        (["judge", "run", "--set", "set", "--judge", "openai/x@1", "--same-model", "x"], "ALIAS=MODEL"),
        (["judge", "run", "--resume", "nowhere"], "not a record"),
        (["judge", "archive", "nowhere"], "not a record"),
    ],
)
def test_wrong_use_is_told_and_ends_with_2(tmp_path: Path, words: list[str], says: str) -> None:
    make_set(tmp_path)
    found = benchbook_here(*words, cwd=tmp_path)
    assert found.returncode == 2, found.stderr
    assert says in found.stderr.decode("utf-8")
    assert b"Traceback" not in found.stderr
