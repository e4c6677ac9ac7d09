"""`benchbook judge run`, `judge archive`, `judge import --record`: as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.evalsets.output_sets import read_output_set
from benchbook.evaluators.protocol.requests import render_prompt
from benchbook.evaluators.protocol.spec import protocol_v1
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
        found = benchbook_here("judge", "run", str(config(tmp_path, server)), "--quiet", cwd=tmp_path)
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
    (archive / "valid_evaluations" / ".DS_Store").write_bytes(b"")  # a desktop's, and no fault
    (archive / "results_analysis.md").unlink()
    (archive / "run_log.json").unlink()
    (archive / "run_log.json").symlink_to("nowhere")
    found = benchbook_here(*check, "--json")
    assert found.returncode == 1
    assert sorted(json.loads(found.stdout)["differences"]) == sorted(
        [
            "results_analysis.md: is missing",
            "run_log.json: is no file",
            "stray.txt: does not belong to the archive",
            f"{victim.relative_to(archive).as_posix()}: was changed",
        ]
    )


def test_another_kind_of_record_has_no_archive(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"item_id": "golden-001", "predicted": "x"}\n', encoding="utf-8")
    words = ["--evalset", "@golden_v1", "--run-status", "crashed", "--reason", "x", "--run-id", "a"]
    benchbook_here("score", *words, "--runs", str(tmp_path / "runs"), "--reports", "none")
    found = benchbook_here("judge", "archive", "a", "--runs", str(tmp_path / "runs"))
    assert found.returncode == 2
    assert b"only records under a judge protocol have an archive" in found.stderr


def test_a_run_without_a_valid_evaluation_ends_with_1(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(lambda role, n, request: {"status": 200, "content": "No."}) as server:
        found = benchbook_here("judge", "run", str(config(tmp_path, server)), "--json", cwd=tmp_path)
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
        found = benchbook_here("judge", "run", str(path), "--quiet", cwd=tmp_path)
        assert found.returncode == 3
        record = "runs/run"
        assert f"Resume: benchbook judge run --resume {record}" in found.stderr.decode("utf-8")
        again = benchbook_here("judge", "run", "--resume", record, "--max-cost-usd", "100", "--quiet", cwd=tmp_path)
        assert (again.returncode, again.stderr) == (0, b"")
        assert len(server.asked["candidate"]) == 16


def test_a_judge_that_is_down_is_asked_again(tmp_path: Path) -> None:
    """R1.3b: the run ends with 3 and says why first; resuming asks what is missing; or it is ended as it is."""
    make_set(tmp_path)
    down = True

    def sometimes(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        away = down and request["model"] == "k" and "# Answer 1" in request["messages"][0]["content"]
        return {"status": 400} if away else {"status": 200, "content": sound_reply(request)}

    with running(sometimes) as server:
        first = benchbook_here("judge", "run", str(config(tmp_path, server)), cwd=tmp_path)
        assert first.returncode == 3, first.stderr
        assert (
            first.stdout.decode("utf-8").lstrip().startswith("! 4 of 16 samples are unanswered: the judge k's server")
        )
        as_it_is = benchbook_here("judge", "run", "--resume", "runs/run", "--accept-unanswered", "--json", cwd=tmp_path)
        told = json.loads(as_it_is.stdout)["aggregates"]
        assert (as_it_is.returncode, told["n_unanswered"], told["n_invalid"]) == (0, 4, 0)
        second = benchbook_here(
            "judge", "run", str(config(tmp_path, server)), "--run-id", "again", "--quiet", cwd=tmp_path
        )
        assert second.returncode == 3
        before, down = len(server.asked["candidate"]), False
        resumed = benchbook_here("judge", "run", "--resume", "runs/again", "--json", cwd=tmp_path)
        told = json.loads(resumed.stdout)["aggregates"]
        assert (resumed.returncode, told["n_unanswered"], told["n_valid"]) == (0, 0, 16)
        assert len(server.asked["candidate"]) - before == 4
    analysis = (tmp_path / "reports/run/archive/results_analysis.md").read_text("utf-8")
    assert "## Not there yet\n\n4 cells" in analysis
    assert "## Not evaluated" not in analysis
    assert "unanswered, the judge was not reached" in (tmp_path / "reports/run/report.html").read_text("utf-8")


def without_prompts(path: Path) -> Path:
    path.write_text(path.read_text("utf-8").replace('prompts = "prompts.jsonl"\n', ""), encoding="utf-8")
    return path


def test_a_set_without_its_prompts_is_refused(tmp_path: Path) -> None:
    """P4.3; nothing is asked and nothing written."""
    make_set(tmp_path)
    with running(reply) as server:
        path = without_prompts(config(tmp_path, server))
        found = benchbook_here("judge", "run", str(path), cwd=tmp_path)
        both = benchbook_here(
            "judge", "run", str(path), "--prompts", "prompts.jsonl", "--task", "unknown", cwd=tmp_path
        )
        assert server.asked["candidate"] == []
    assert (found.returncode, both.returncode) == (2, 2)
    assert b"prompts: found none; expected a table of what the targets were asked" in found.stderr
    assert b'task = "unknown"' in found.stderr
    assert b"task: found unknown beside prompts; expected one of them" in both.stderr
    assert not (tmp_path / "runs").exists()


def test_an_unknown_task_is_said_in_every_report(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(reply) as server:
        path = without_prompts(config(tmp_path, server))
        found = benchbook_here("judge", "run", str(path), "--task", "unknown", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    told = json.loads(benchbook_here("show", "run", "--json", cwd=tmp_path).stdout)
    assert (told["aggregates"]["task"], told["manifest"]["task"]) == ("unknown", "unknown")
    (said,) = (warning for warning in told["aggregates"]["warnings"] if "asked is not known" in warning)
    assert said in " ".join(found.stdout.decode("utf-8").replace("!", "").split())
    report = tmp_path / "reports" / "run"
    assert said in (report / "report.html").read_text("utf-8")
    assert said.replace("_", "\\_") in (report / "archive" / "results_analysis.md").read_text("utf-8")
    assert json.loads((report / "archive" / "run_log.json").read_text("utf-8"))["log"]["task"] == "unknown"


def test_a_dry_run_says_what_would_be_asked(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(reply) as server:
        path = config(tmp_path, server, probes="1", repeats="2")
        found = benchbook_here("judge", "run", str(path), "--dry-run", cwd=tmp_path)
        told = json.loads(benchbook_here("judge", "run", str(path), "--dry-run", "--json", cwd=tmp_path).stdout)
        missing = benchbook_here("judge", "run", str(without_prompts(path)), "--dry-run", cwd=tmp_path)
        assert server.asked["candidate"] == []
    lines = found.stdout.decode("utf-8").splitlines()
    assert lines[0] == "8 outputs: 2 question_id x 2 prompt_variant x 2 target_model, 0 without a text"
    assert lines[2].startswith("judge  j  openai/j@2026-01-01  {")
    assert lines[1] == f"{told['calls']} calls: 8 x 2 judges x 2 repeats, and {told['calls_about_probes']} about probes"
    assert told["calls"] == 32 + told["calls_about_probes"]
    assert lines[-1] == "Nothing was asked."
    assert (missing.returncode, b"prompts: found none" in missing.stderr) == (2, True)
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_says_what_judging_costs_at_most(tmp_path: Path) -> None:
    """Two judges' 16 answers, of at most 2,048 tokens at $10 a million the one's, at nothing the other's."""
    make_set(tmp_path)
    path = tmp_path / "judging.toml"
    judges = ['[[judges]]\nmodel = "openai/j@1"\noutput_price = "10"\n', '[[judges]]\nmodel = "openai/k@1"\n']
    path.write_text('set = "set"\nprompts = "prompts.jsonl"\n' + "".join(judges), encoding="utf-8")
    words, env = ("judge", "run", str(path), "--dry-run", "--json"), {"OPENAI_API_KEY": "a-key"}
    told = json.loads(benchbook_here(*words, cwd=tmp_path, env=env).stdout)
    assert (told["calls"], told["most_cost_usd"]) == (16, "0.16")
    assert [(one["role"], one["name"]) for one in told["models"]] == [("judge", "j"), ("judge", "k")]
    assert json.loads(told["first_request"])["model"] == "j"


def test_what_is_not_told_of_an_endpoint_is_not_known(tmp_path: Path) -> None:
    """An endpoint may have tools and web access that it does not tell; what is declared of a judge stands (P7)."""
    make_set(tmp_path)
    with running(reply) as server:
        path = config(tmp_path, server)
        with path.open("a", encoding="utf-8") as file:
            file.write('tools = ["search"]\nweb_access = true\n')  # of the last judge, k
        assert benchbook_here("judge", "run", str(path), "--quiet", cwd=tmp_path).returncode == 0
    log = json.loads((tmp_path / "reports/run/archive/run_log.json").read_text("utf-8"))["log"]
    assert [(one["tools"], one["web_access"]) for one in log["judges"]] == [(None, None), (["search"], True)]
    analysis = (tmp_path / "reports/run/archive/results_analysis.md").read_text("utf-8")
    assert "tools: not known; web access: not known" in analysis
    assert "tools: search; web access: yes" in analysis


def test_an_archive_of_a_run_is_valid_when_it_is_read_again(folder: Path) -> None:
    """Each valid file is a reply that `benchbook parse` finds valid, against the same set and text."""
    outputs = read_output_set(folder / "set")
    cells = [output.cell for output in outputs.outputs]
    texts = {output.text_sha256: outputs.text(output) for output in outputs.outputs}
    lines = []
    for path in sorted((folder / "reports/run/archive/valid_evaluations").rglob("*.json")):
        archived = json.loads(path.read_text("utf-8"))
        asked = {name: value for name, value in archived["asked"].items() if name != "repeat"}
        case = {"id": path.name, "reply": path.read_text("utf-8"), "output_text": texts[archived["text_sha256"]]}
        lines.append(json.dumps(case | {"asked": asked, "evaluation_set": cells}))
    (folder / "again.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = benchbook_here("parse", "judge_protocol@v1", "again.jsonl", cwd=folder).stdout.decode("utf-8").splitlines()
    assert [json.loads(line)["valid"] for line in told] == [True] * 8


def replies_table(folder: Path, judge: str, method: str) -> Path:
    """What `judge` said of each output of target m, all by one method."""
    outputs = make_set(folder)
    path = folder / "replies.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for output in outputs.outputs:
            if output.target_model != "m":
                continue
            named = output.cell | {"judge_model": judge, "method": method}
            asked = render_prompt(
                protocol_v1(), task="t", output_text=outputs.text(output), asked=named, date="2026-01-01"
            )
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


ODD = b'{"scores": {},\r\n  "notes": "caf\xe9"}\xed\xa0\x80'


def test_an_import_archives_the_bytes_of_its_sources(tmp_path: Path) -> None:
    """A reply in a file, UTF-8 or not, an object in a row, an entry of a bundle: as they stand (P5)."""
    make_set(tmp_path, targets=("m",))
    written = {"q0": '{ "verdict":"PASS" ,\r\n "x": 1.0 }'.encode("utf-8-sig"), "q1": ODD}
    (tmp_path / "in").mkdir()
    for question, data in written.items():
        (tmp_path / "in" / f"{question}.txt").write_bytes(data)
    entry = '{"output": "1",   "scores": {"a": 2, "b" : 1},\n "evidence": {"a": "# Answer 0"}, "é": "\\u00e9"}'
    (tmp_path / "z.json").write_text('{"meta": {}, "list": [\n  ' + entry + "]}", encoding="utf-8")
    (tmp_path / "mapping.toml").write_text(BUNDLE, encoding="utf-8")
    row = '{"judge_model": "y", "method": "cross_judge", "question_id": "q1", "reply":  {"b": 1,  "a": [ ]} }\n'
    (tmp_path / "y.jsonl").write_text(row, encoding="utf-8")
    of_all = ["--value", "prompt_variant=base"]
    words = {
        "files": ["in", "--pattern", "{question_id}.txt", "--value=judge_model=j", *of_all,
                  "--value=method=cross_judge"],
        "bundle": ["z.json", "--mapping", "mapping.toml", "--value", "question_id=q0", *of_all],
        "rows": ["y.jsonl", *of_all],
    }  # fmt: skip
    expected = {"files": sorted(written.values()), "bundle": [entry.encode()], "rows": [b'{"b": 1,  "a": [ ]}']}
    for name, sources in words.items():
        found = benchbook_here("judge", "import", *sources, "--set", "set", "--record", name, cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        archive = tmp_path / "reports" / name / "archive"
        assert sorted(path.read_bytes() for path in archive.rglob("*.reply.txt")) == expected[name], name
        assert benchbook_here("verify", name, cwd=tmp_path).returncode == 0
        check = benchbook_here("judge", "archive", name, "--check", str(archive), cwd=tmp_path)
        assert (check.returncode, check.stdout) == (0, f"{archive}: is the archive of {name}\n".encode())
    (file,) = (tmp_path / "reports/bundle/archive/invalid_evaluations").rglob("*.json")
    archived = json.loads(file.read_text("utf-8"))
    assert archived["scores"] == {"FORMAT_COMPLIANCE": 2, "COMPLETENESS": 1}
    assert archived.keys().isdisjoint({"verdict", "notes"}), "the judge wrote none"


BUNDLE = """
name = "b"
version = 1
entries = "list"
[[file_names]]
pattern = "{judge_model}.json"
method = "cross_judge"
[output]
at = ["output"]
match = "output_id"
[scores]
at = "scores"
[dimensions]
a = "FORMAT_COMPLIANCE"
b = "COMPLETENESS"
[evidence]
at = "evidence"
"""


def test_an_import_says_what_is_declared_of_its_judges(tmp_path: Path) -> None:
    replies_table(tmp_path, "z", "cross_judge")
    (tmp_path / "p.txt").write_text("Judge!\n", encoding="utf-8")
    words = ["--judge-version", "2026-01", "--judge-params", "temperature=0", "--tools", "none", "--web-access", "no"]
    words += ["--judge-prompt", "p.txt", "--record", "a"]
    found = benchbook_here("judge", "import", "replies.jsonl", "--set", "set", *words, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    archive = tmp_path / "reports" / "a" / "archive"
    log = json.loads((archive / "run_log.json").read_text("utf-8"))["log"]
    assert log["judges"] == [
        {"judge_model": "z", "version": "2026-01", "params": {"temperature": 0}, "tools": [], "web_access": False}
    ]
    assert (log["started_utc"], log["ended_utc"]) == ("2026-01-01", "2026-01-01")
    assert "Judge!" in (archive / "used_prompt_manifest.md").read_text("utf-8")
    assert "First evaluation: 2026-01-01; last: 2026-01-01" in (archive / "results_analysis.md").read_text("utf-8")


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


def test_an_experiment_is_not_ranked_among_answers_and_the_message_says_what_shows_it(folder: Path) -> None:
    named = benchbook_here("leaderboard", "run", cwd=folder)
    assert named.returncode == 2
    assert b"their samples are judges' evaluations of outputs" in named.stderr
    assert b"`benchbook show RUN` has their targets side by side" in named.stderr
    (folder / "p.jsonl").write_text('{"item_id": "g1-01", "predicted": "x"}\n', encoding="utf-8")
    words = ["--evalset", "@golden_v1", "--predictions", "p.jsonl", "--run-id", "a", "--reports", "none"]
    assert benchbook_here("score", *words, cwd=folder).returncode == 0
    (folder / "runs" / "run" / "journal").touch()  # the newest again
    ranked = benchbook_here("leaderboard", "--json", cwd=folder)
    assert [place["run"] for place in json.loads(ranked.stdout)["places"]] == ["a"]
