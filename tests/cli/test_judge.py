"""`benchbook judge init` and `benchbook judge import`, as a user calls them."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchbook.cli.judge import judge
from benchbook.errors import BenchbookError
from running import benchbook
from support import ROOT, shared_data

MAPPING = ROOT / "docs" / "examples" / "judgements" / "prompt-drift-lab.toml"
PATTERN = "{target_model}/{question_id}_{prompt_variant}.{ext}"
TEXT = "Rain is likely on Monday. Take an umbrella."


def call(*words: str | Path, code: int = 0) -> str:
    """The command in this process; what it says, or the error that it ends with."""
    done = CliRunner().invoke(judge, list(map(str, words)))
    if isinstance(done.exception, BenchbookError):
        assert done.exception.exit_code == code, str(done.exception)
        return str(done.exception)
    assert done.exit_code == code, done.output
    return done.stdout if code < 2 else done.stderr


def run(*words: str | Path, **env: str) -> str:
    """In a process of its own, as a user does."""
    done = benchbook("judge", *map(str, words), env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode("utf-8")


def outputs(folder: Path, *names: str, text: str = TEXT) -> Path:
    for name in names:
        (folder / "outputs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "outputs" / name).write_text(text, encoding="utf-8")
    return folder / "outputs"


def a_set(folder: Path) -> Path:
    call("init", outputs(folder, "acme/q1_a.md", "acme/q1_b.md"), "--pattern", PATTERN, "--out", folder / "set")
    return folder / "set"


def reply(*quotes: Any) -> dict[str, Any]:
    return {"evidence": [{"dimension": "COMPLETENESS", "quote": quote, "reason": "So."} for quote in quotes]}


def table(folder: Path, *replies: Any, **more: Any) -> Path:
    path = folder / "replies.jsonl"
    known = {"judge_model": "j", "method": "cross_judge", "prompt_variant": "a"} | more
    path.write_text("".join(json.dumps(known | {"reply": each}) + "\n" for each in replies), encoding="utf-8")
    return path


def test_init_says_what_it_found_and_writes_the_set(tmp_path: Path) -> None:
    folder = outputs(tmp_path, "acme/q1_a.md", "acme/q2_a.md", "notes.txt")
    (folder / "acme" / "q2_a.md").write_text("", encoding="utf-8")
    said = call("init", folder, "--pattern", PATTERN, "--out", tmp_path / "set")
    lines = said.splitlines()
    assert lines[:3] == [
        "2 outputs: 2 question_id x 1 prompt_variant x 1 target_model, 0 gaps, 0 doubles",
        "not read: notes.txt: does not fit the pattern",
        "no text: q2, a, acme, acme/q2_a.md: empty: the file is empty",
    ]
    assert lines[3].startswith(f"{tmp_path / 'set'}: written, 1 outputs without a text, sha256 ")
    assert (tmp_path / "set" / "manifest.jsonl").read_text("utf-8").count("\n") == 2


def test_gaps_are_listed_before_anything_is_written(tmp_path: Path) -> None:
    folder = outputs(tmp_path, "acme/q1_a.md", "acme/q1_b.md", "bolt/q1_a.md")
    said = call("init", folder, "--pattern", PATTERN, "--out", tmp_path / "set", code=1)
    assert said.splitlines()[1:] == ["gap: q1, b, bolt", "nothing is written: gaps; see --allow-gaps"]
    assert not (tmp_path / "set").exists()
    call("init", folder, "--pattern", PATTERN, "--out", tmp_path / "set", "--allow-gaps")
    assert (tmp_path / "set").is_dir()


def test_doubles_are_listed_and_allowed_by_nothing(tmp_path: Path) -> None:
    folder = outputs(tmp_path, "q1.md", "q1.txt")
    words = ["--pattern", "{output_id}.{ext}", *(f"--value={name}=x" for name in (
        "question_id", "prompt_variant", "target_model"
    ))]  # fmt: skip
    said = call("init", folder, *words, "--out", tmp_path / "set", "--allow-gaps", code=1)
    assert said.splitlines()[1:] == [
        "double: x, x, x, q1: q1.md, q1.txt",
        "nothing is written: a sample is there twice",
    ]


def test_init_for_programs(tmp_path: Path) -> None:
    folder = outputs(tmp_path, "acme/q1_a.md", "acme/q1_b.md", "bolt/q1_a.md", "x\x1b[31m.md")
    said = json.loads(call("init", folder, "--pattern", PATTERN, "--out", tmp_path / "set", "--json", code=1))
    assert (said["set"], said["n_outputs"], said["n_gaps"], said["doubles"]) == (None, 3, 1, [])
    assert said["gaps"] == [["q1", "b", "bolt"]]
    assert said["not_read"] == [{"name": "x\x1b[31m.md", "reason": "does not fit the pattern"}]


def test_a_table_needs_no_pattern(tmp_path: Path) -> None:
    path = tmp_path / "outputs.csv"
    path.write_text(
        "question_id,prompt_variant,target_model,output_id,file,text\nq1,a,acme,1,,Rain.\nq1,b,acme,1,b.md,\n",
        encoding="utf-8",
    )
    outputs(tmp_path, "b.md")
    said = json.loads(call("init", path, "--files", tmp_path / "outputs", "--out", tmp_path / "set", "--json"))
    assert (said["n_outputs"], said["without_text"]) == (2, [])


def test_a_book_is_too_large(tmp_path: Path) -> None:
    folder = outputs(tmp_path, "acme/q1_a.md")
    words = ("init", folder, "--pattern", PATTERN, "--out", tmp_path / "set", "--max-characters", "42", "--json")
    (fault,) = json.loads(call(*words))["without_text"]
    assert fault["error"] == {"code": "too_large", "detail": "43 characters, over 42"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["outputs"], "say how its files are named", id="no-pattern"),
        pytest.param(["outputs", "--pattern", "{model}"], "found {model}", id="no-placeholder"),
        pytest.param(
            ["outputs", "--pattern", PATTERN, "--value", "q1"], "found 'q1'; expected NAME=VALUE", id="no-sign"
        ),
        pytest.param(["outputs", "--pattern", "x/" + PATTERN], "no output found", id="none"),
        pytest.param(["absent.jsonl"], "can't be read", id="no-file"),
        pytest.param(["outputs/acme/q1_a.md", "--pattern", PATTERN], "is no folder", id="a-file"),
        pytest.param(["outputs/acme/q1_a.md"], "can't tell its form", id="no-table"),
    ],
)
def test_init_used_wrongly_ends_with_2(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs(tmp_path, "acme/q1_a.md")
    monkeypatch.chdir(tmp_path)
    assert says in call("init", *words, "--out", "set", code=2)
    assert not (tmp_path / "set").exists()


def test_import_counts_quotes_by_where_they_were_found(tmp_path: Path) -> None:
    quotes = ("Rain is likely", "RAIN is", "Rain … umbrella", "Snow", "", 7)
    path = table(tmp_path, reply(*quotes), "no JSON")
    said = call("import", path, "--set", a_set(tmp_path))
    head, row = said.splitlines()
    assert head.split() == [
        "source", "judgements", "quotes", "exact", "normalised", "fragments", "not", "found", "empty",
    ]  # fmt: skip
    assert row.split() == [str(path), "2", "5", "1", "1", "1", "1", "1"]


def test_judgements_are_written_or_printed_as_they_are(tmp_path: Path) -> None:
    path, folder = table(tmp_path, "\x1b[31m 答案"), a_set(tmp_path)
    call("import", path, "--set", folder, "--out", tmp_path / "out.jsonl")
    (written,) = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    printed = run("import", path, "--set", folder, "--out", "-", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert json.loads(printed) == json.loads(written)
    assert json.loads(written)["reply"] == "\x1b[31m 答案"
    assert "is there already" in call("import", path, "--set", folder, "--out", tmp_path / "out.jsonl", code=2)


def test_a_judgement_of_no_output_is_told_and_ends_with_1(tmp_path: Path) -> None:
    path, folder = table(tmp_path, reply("Rain"), prompt_variant="\x1b[31m"), a_set(tmp_path)
    said = call("import", path, "--set", folder, code=1).splitlines()
    assert said[1].split() == [str(path), "1", "1", "0", "0", "0", "0", "0", "0"]
    assert said[2] == f"note: {path} line 1: no output of the set with prompt_variant '\\u001b[31m'"
    said_json = json.loads(call("import", path, "--set", folder, "--json", code=1))
    assert said_json["sources"][0]["n_no_output"] == 1


def test_a_judgement_of_an_output_without_a_text_counts_no_quote(tmp_path: Path) -> None:
    folder = outputs(tmp_path, "acme/q1_a.md", text="")
    call("init", folder, "--pattern", PATTERN, "--out", tmp_path / "set")
    (row,) = json.loads(call("import", table(tmp_path, reply("x")), "--set", tmp_path / "set", "--json"))["sources"]
    assert (row["n_no_text"], row["n_quotes"], row["not_found"]) == (1, 0, 0)


def test_a_folder_of_replies(tmp_path: Path) -> None:
    folder = tmp_path / "replies"
    folder.mkdir()
    (folder / "j__a.json").write_text(json.dumps(reply("Rain")), encoding="utf-8")
    (folder / "README").write_text("x", encoding="utf-8")
    pattern = "{judge_model}__{prompt_variant}.json"
    said = call("import", folder, "--set", a_set(tmp_path), "--pattern", pattern, "--value", "method=cross_judge")
    assert said.splitlines()[1].split() == [str(folder), "1", "1", "1", "0", "0", "0", "0"]
    assert said.splitlines()[2] == "not read: README: does not fit the pattern"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param([], "Missing argument", id="no-source"),
        pytest.param(["x.json", "--mapping", "m.toml", "--pattern", "x"], "one of them", id="two-ways"),
        pytest.param(["x.json", "--out", "-", "--json"], "one of them", id="two-forms"),
        pytest.param(["absent.jsonl"], "can't be read", id="no-file"),
        pytest.param(["x.json", "--mapping", "absent.toml"], "absent.toml: can't be read", id="no-mapping"),
        pytest.param(["x.jsonl", "--value", "method=a", "--value", "method=b"], "2 values", id="two-values"),
        pytest.param(["x.jsonl", "--value", "method=a"], "found 'a'", id="no-method"),
    ],
)
def test_import_used_wrongly_ends_with_2(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_set(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert says in call("import", *words, "--set", "set", code=2)


def test_without_a_set_it_says_how_to_make_one(tmp_path: Path) -> None:
    assert "benchbook judge init" in call("import", table(tmp_path), "--set", tmp_path, code=2)


@pytest.mark.skipif(find_spec("pypdfium2") is None, reason="pypdfium2 is not installed")
def test_the_real_bundles_on_the_command_line(tmp_path: Path) -> None:
    """One of them; all ten are in tests/evalsets/test_judgement_bundles.py."""
    lab = shared_data("prompt-drift-lab")
    values = ("--value", "question_id=q3", "--value", "question_id=q4")
    pattern = "{target_model}/{question_id}_{prompt_variant}.pdf"
    said = run("init", lab / "outputs", "--pattern", pattern, *values, "--out", tmp_path / "set")
    assert said.startswith("32 outputs: 2 question_id x 8 prompt_variant x 2 target_model, 0 gaps, 0 doubles\n")
    bundle = lab / "judge_bundles" / "v0_invalid" / "self_judge_gemini.json"
    out = tmp_path / "out.jsonl"
    words = ("import", bundle, "--set", tmp_path / "set", "--mapping", MAPPING, "--out", out, "--json")
    (row,) = json.loads(run(*words))["sources"]
    assert row == {
        "source": str(bundle), "n_judgements": 16, "n_no_output": 0, "n_no_text": 0, "n_quotes": 80,
        "exact": 16, "normalised": 6, "fragments": 29, "not_found": 29, "empty": 0, "n_not_read": 0,
    }  # fmt: skip
    assert out.read_bytes().count(b"\n") == 16
    assert len(list((tmp_path / "set" / "texts").iterdir())) == 32


@pytest.mark.parametrize(
    "words",
    [
        ["--evidence", "report"], ["--same-model", "a=b"], ["--prompts", "x"], ["--judges", "x"], ["--reports", "x"],
        ["--judge-version", "x"], ["--judge-params", "x=1"], ["--tools", "none"], ["--web-access", "no"],
        ["--judge-prompt", "x"], ["--runs", "x"],
    ],
    ids=lambda one: one[0],
)  # fmt: skip
def test_what_is_about_a_record_needs_one(tmp_path: Path, words: list[str]) -> None:
    call("init", outputs(tmp_path, "acme/q1_a.md"), "--pattern", PATTERN, "--out", tmp_path / "set")
    (tmp_path / "r.jsonl").write_text("", encoding="utf-8")
    said = CliRunner().invoke(judge, ["import", str(tmp_path / "r.jsonl"), "--set", str(tmp_path / "set"), *words])
    assert said.exit_code == 2
    assert f"{words[0]}: of a record" in said.output
