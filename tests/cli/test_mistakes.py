"""A user's mistake ends in one line that says what, where and what to do; nothing half-written stays behind.

Those that `test_commands.py` has are not repeated here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbook.record.folder import Record
from running import benchbook_here, options, run, write_items
from scripted_server import ScriptedServer, always_good, running


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def one_line(stderr: bytes) -> str:
    """What a command said: one line."""
    text = stderr.decode("utf-8")
    assert "Traceback" not in text
    assert text.count("\n") == 1, text
    assert text.startswith("benchbook: ")
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_items(tmp_path / "items.jsonl", 2)
    (tmp_path / "a-file").write_text("x", encoding="utf-8")
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "latin-1.toml").write_bytes(b'model = "\xe9"\n')
    (tmp_path / "empty.jsonl").write_bytes(b"\n\n")
    (tmp_path / "latin-1.jsonl").write_bytes(b'{"id": "a", "prompt": "\xe9"}\n')
    (tmp_path / "list.jsonl").write_text('["a"]\n', encoding="utf-8")
    (tmp_path / "twice.jsonl").write_text('{"id": "a", "prompt": "p"}\n' * 2, encoding="utf-8")
    (tmp_path / "number.jsonl").write_text('{"id": 7, "prompt": "p"}\n', encoding="utf-8")
    (tmp_path / "template.txt").write_text("no place for the prompt", encoding="utf-8")
    (tmp_path / "script.json").write_text("{}", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        pytest.param({"evalset": "absent.jsonl"}, "absent.jsonl: the eval set can't be read", id="no-eval-set"),
        pytest.param({"evalset": "a-folder"}, "a-folder: the eval set can't be read", id="a-folder-for-an-eval-set"),
        pytest.param({"evalset": "empty.jsonl"}, "empty.jsonl: found no items", id="no-items"),
        pytest.param({"evalset": "latin-1.jsonl"}, "latin-1.jsonl:1: found byte 0xe9", id="not-utf-8"),
        pytest.param({"evalset": "list.jsonl"}, "list.jsonl:1: found a JSON list; expected an object", id="no-object"),
        pytest.param({"evalset": "twice.jsonl"}, "twice.jsonl:2: id: found 'a' again", id="the-same-id"),
        pytest.param({"evalset": "number.jsonl"}, "number.jsonl:1: id: found 7; expected a string", id="another-type"),
        pytest.param({"evalset": "@nothing"}, "Benchbook ships no such set", id="no-such-shipped-set"),
        pytest.param({"model": "openai"}, "model: found 'openai'; expected provider/", id="no-model-id"),
        pytest.param({"model": "openai/m@"}, "model: found 'openai/m@'", id="no-version-behind-the-at-sign"),
        pytest.param({"judge": "other/j@1"}, "judge: found provider 'other'; expected openai/", id="no-such-provider"),
        pytest.param({"judge": "recorded/j@1"}, "judge: found recorded/j@1", id="a-judge-that-can-not-be-asked"),
        pytest.param({"model": "recorded/m@1"}, "outputs: found nothing; expected a file", id="recorded-alone"),
        pytest.param({"model": "recorded/m@1", "outputs": "a-file"}, "a-file: can't tell", id="outputs-of-no-form"),
        pytest.param({"outputs": "a-file"}, "outputs: found a-file; expected no file", id="outputs-of-an-asked-model"),
        pytest.param({"model": "local/m"}, "model: found local/m without model_path", id="local-without-a-file"),
        pytest.param({"model": "scripted/m@1"}, "model_path: found nothing", id="scripted-without-a-script"),
        pytest.param(
            {"model": "scripted/m@1", "model-path": "script.json"}, "model_path: found script.json", id="no-script"
        ),
        pytest.param(
            {"spec": "rubric@v9"}, "spec: found 'rubric@v9'; expected rubric@v1, which is near", id="no-such-spec"
        ),
        pytest.param({"spec": "judge_protocol@v1"}, "spec: found judge_protocol@v1", id="another-commands-spec"),
        pytest.param({"prompt-template": "absent.txt"}, "prompt_template: found absent.txt", id="no-template"),
        pytest.param({"prompt-template": "template.txt"}, "which has no {{prompt}}", id="a-template-without-its-place"),
        pytest.param({"run-id": "../run"}, "run id '../run'", id="a-run-id-that-is-a-path"),
        pytest.param({"run-id": "-run"}, "run id '-run'", id="a-run-id-that-is-an-option"),
        pytest.param({"model-base-url": "localhost:8000"}, "model_base_url: found localhost:8000", id="no-address"),
        pytest.param({"judge-base-url": "http://me:pw@h/v1"}, "found an address with credentials", id="credentials"),
        pytest.param({"model-params": "temperature"}, "--model-params: found 'temperature'", id="no-pair"),
        pytest.param({"max-cost-usd": "five"}, "max_cost_usd: found 'five'", id="no-amount"),
        pytest.param({"max-cost-usd": "nan"}, "found NaN; expected dollars, 0 or more", id="not-a-number"),
        pytest.param({"confidence": "95"}, "confidence: found '95'", id="a-percentage"),
        pytest.param({"unmeasured": "latency"}, "unmeasured: found latency", id="unmeasured-though-asked"),
        pytest.param({"judge-api-key-env": "NOT_SET"}, "judge_api_key_env: found NOT_SET", id="no-key"),
        pytest.param({"cache": "a-file/cache"}, "cache: found a-file/cache", id="no-place-for-the-cache"),
    ],
)  # fmt: skip
def test_a_run_that_can_not_begin_says_why_and_leaves_nothing(
    folder: Path, settings: dict[str, str], says: str
) -> None:
    before = files_in(folder)
    with running(always_good) as server:
        words = options(folder, server, **({"evalset": "items.jsonl", "runs": "runs"} | settings))
        found = benchbook_here("run", *words, cwd=folder)
        assert server.asked == {"candidate": [], "judge": []}
    assert (found.returncode, found.stdout) == (2, b"")
    assert says in one_line(found.stderr)
    assert files_in(folder) == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(["run", "latin-1.toml"], 2, "latin-1.toml: found byte 0xe9", id="a-config-that-is-not-utf-8"),
        pytest.param(["run", "a-folder"], 2, "a-folder: can't be read", id="a-folder-for-a-config"),
        pytest.param(["show", "absent"], 2, "absent: not a record, here or in runs/", id="show"),
        pytest.param(["runs", "--runs", "a-file"], 2, "a-file: not a folder", id="records-in-a-file"),
        pytest.param(["run", "--resume", "x", "--dry-run"], 2, "--dry-run looks at a new run", id="dry-run-of-old"),
        pytest.param(["gate", "a-folder"], 2, "a-folder: not a record", id="gate-of-a-folder"),
        pytest.param(["verify", "a-file"], 2, "a-file: not a record", id="verify-of-a-file"),
        pytest.param(["rescore", "absent"], 2, "absent: not a record", id="rescore"),
        pytest.param(["run", "--resume", "absent"], 2, "absent: not a record", id="resume"),
        pytest.param(["show"], 2, "there is no record yet", id="no-record"),
        pytest.param(["init", "a-file"], 2, "a-file: is there already", id="init-over-a-file"),
        pytest.param(["init", "absent/x.toml"], 2, "absent/x.toml: can't be written", id="init-nowhere"),
        pytest.param(["init", "--force", "a-folder"], 2, "a-folder: can't be written", id="init-over-a-folder"),
        pytest.param(["doctor", "absent.toml"], 2, "absent.toml: can't be read", id="doctor"),
        pytest.param(["parse", "rubric@v1", "a-folder"], 2, "a-folder: can't be read", id="parse-a-folder"),
    ],
)  # fmt: skip
def test_a_command_that_can_not_begin_says_why(folder: Path, words: list[str], code: int, says: str) -> None:
    before = files_in(folder)
    found = benchbook_here(*words, cwd=folder, env={"OPENAI_API_KEY": ""})
    assert (found.returncode, found.stdout) == (code, b"")
    assert says in one_line(found.stderr)
    assert files_in(folder) == before


# ── a record that is not as it should be ─────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Record:
    with running(always_good) as server:
        return run(tmp_path_factory.mktemp("mistakes"), server, 3).record


@pytest.fixture
def record(whole: Record, tmp_path: Path) -> Record:
    made = Record(tmp_path / "runs" / "run")
    shutil.copytree(whole.path, made.path)
    return made


def _flip(path: Path) -> None:
    """Flip a bit in the middle one of a file's lines: the first is as long as this machine's paths."""
    lines = path.read_bytes().split(b"\n")
    middle = bytearray(lines[len(lines) // 2])
    middle[len(middle) // 2] ^= 1
    lines[len(lines) // 2] = bytes(middle)
    path.write_bytes(b"\n".join(lines))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        pytest.param("show", "its derived files can't be read", id="show"),
        pytest.param("gate", "000001.jsonl:", id="gate"),
        pytest.param("rescore", "000001.jsonl:", id="rescore"),
    ],
)
def test_a_damaged_record_is_told_with_its_place(record: Record, tmp_path: Path, command: str, says: str) -> None:
    _flip(record.journal / "000001.jsonl")
    record.manifest.write_bytes(b"\xff{")
    found = benchbook_here(command, "run", cwd=tmp_path)
    assert found.returncode == 3
    assert says in one_line(found.stderr)


CHANGED = (
    "benchbook: runs/run/decision.json: was changed: it does not have the hash that manifest.json names; "
    "`benchbook rescore` the run\n"
)


@pytest.mark.parametrize("decision", ["{}", '{"verdict": "pass", "reason": null}', "[]", '{"decision": "READY"}'])
def test_a_decision_that_is_none_of_a_rubric_is_told(record: Record, tmp_path: Path, decision: str) -> None:
    record.decision.write_text(decision, encoding="utf-8")
    found = benchbook_here("show", "run", cwd=tmp_path)
    assert (found.returncode, found.stderr.decode()) == (3, CHANGED)


def test_a_damaged_record_does_not_resume(record: Record, tmp_path: Path) -> None:
    _flip(record.journal / "000001.jsonl")
    before = (record.journal / "000001.jsonl").read_bytes()
    found = benchbook_here("run", "--resume", "run", cwd=tmp_path)
    assert found.returncode == 3
    assert "000001.jsonl:" in one_line(found.stderr)
    assert (record.journal / "000001.jsonl").read_bytes() == before


def test_rescoring_a_damaged_record_leaves_its_derived_files_as_they_are(record: Record, tmp_path: Path) -> None:
    _flip(record.journal / "000001.jsonl")
    before = {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()}
    assert benchbook_here("rescore", "run", cwd=tmp_path).returncode == 3
    assert {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()} == before


def test_a_record_without_derived_files_says_how_to_get_them(record: Record, tmp_path: Path) -> None:
    for path in (record.manifest, record.samples):
        path.unlink()
    for words in (["show", "run"], ["show", "run", "--sample", "1"], ["show", "run", "--failed"]):
        found = benchbook_here(*words, cwd=tmp_path)
        assert found.returncode in (2, 3)
        assert "benchbook rescore" in one_line(found.stderr)
    assert benchbook_here("rescore", "run", "--reports", "none", cwd=tmp_path).returncode == 0
    assert benchbook_here("verify", "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["--judge", "openai/other@1"], "judge is part of the plan and can't change", id="the-judge"),
        pytest.param(["--repeats", "3"], "repeats is part of the plan", id="repeats"),
        pytest.param(["config.toml"], "--resume takes its settings from the record", id="a-config"),
    ],
)
def test_what_can_not_change_on_resuming_is_told(record: Record, tmp_path: Path, words: list[str], says: str) -> None:
    found = benchbook_here("run", "--resume", "run", *words, cwd=tmp_path)
    assert found.returncode == 2
    assert says in one_line(found.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["show", "run", "--sample", "3"], "no sample 3 was attempted", id="no-such-sample"),
        pytest.param(["rescore", "run", "--spec", "rubric@v2"], "was made under rubric@v1", id="another-spec"),
    ],
)
def test_what_a_record_does_not_hold_is_told(record: Record, tmp_path: Path, words: list[str], says: str) -> None:
    found = benchbook_here(*words, cwd=tmp_path)
    assert found.returncode == 2
    assert says in one_line(found.stderr)


# ── places that can't be written ─────────────────────────────────────────────────────────────────────────


def test_a_reports_folder_that_can_not_be_made_is_told_and_the_record_is_whole(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    (tmp_path / "a-file").write_text("x", encoding="utf-8")
    with running(always_good) as server:
        found = benchbook_here("run", *options(tmp_path, server, reports=tmp_path / "a-file"))
    assert found.returncode == 3
    assert b"a-file/run: can't be written" in found.stderr
    assert b"Traceback" not in found.stderr
    assert benchbook_here("verify", "--runs", str(tmp_path / "runs")).returncode == 0


def test_a_run_id_that_is_taken_leaves_that_record_as_it_is(record: Record, tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    before = {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()}
    with running(always_good) as server:
        found = benchbook_here("run", *options(tmp_path, server))
        check_nobody_was_asked(server)
    assert found.returncode == 2
    assert "there is a record already; resume it, or choose another run id" in one_line(found.stderr)
    assert {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()} == before
    assert files_in(tmp_path / "runs") == {"run"} | {f"run/{name}" for name in files_in(record.path)}


def check_nobody_was_asked(server: ScriptedServer) -> None:
    assert server.asked == {"candidate": [], "judge": []}
