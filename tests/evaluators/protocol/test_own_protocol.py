"""A user's own judge protocol, with dimensions, scales, thresholds and prompts of its own: judged, stopped and resumed,
verified, archived, shown; and its folder is gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import benchbook as bb
from benchbook.ask.work import Progress, run_async
from benchbook.errors import ConfigError, RecordError, UsageError
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.protocol.folders import kept_protocol, load_protocol
from benchbook.evaluators.protocol.validity import Options, validate
from benchbook.evaluators.registry import evaluator_of, resume_run, start_run
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.views.protocol.archive import read_archive
from judging import make_set
from own_protocol import SPEC, experiment, judged, written
from running import benchbook_here
from scripted_server import running
from server.making import api_over


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, list[dict[str, Any]]]:
    """Two questions under two variants by two targets; the user's folder is gone. And what the judge was asked."""
    folder = tmp_path_factory.mktemp("own")
    make_set(folder)
    spec = written(folder / "shop@v2")
    with running(judged) as server:
        record = experiment(folder, server, spec, probes=1).record
        asked = list(server.asked["candidate"])
    shutil.rmtree(spec)
    return record, asked


def test_rows_have_its_dimensions(made: tuple[Record, list[dict[str, Any]]]) -> None:
    record, _ = made
    rows = pl.read_parquet(record.samples)
    columns = rows.columns
    assert columns[columns.index("verdict") + 1 : columns.index("overall_score")] == ["Right", "kind"]
    found = {
        (row["question_id"], row["target_model"]): (row["valid"], row["verdict"], row["Right"], row["kind"])
        for row in rows.iter_rows(named=True)
    }
    assert found == {  # 5 + 1 passes, 4 + 0 is between 2 and 5
        ("q0", "m"): (True, "PASS", 5, 1), ("q1", "m"): (False, "PASS", 5, 1),
        ("q0", "j"): (True, "PARTIAL", 4, 0), ("q1", "j"): (True, "PARTIAL", 4, 0),
    }  # fmt: skip
    (codes,) = {tuple(one["code"] for one in row["details"]) for row in rows.iter_rows(named=True) if row["details"]}
    assert codes == ("quote_too_long",)


def test_each_method_has_its_prompt(made: tuple[Record, list[dict[str, Any]]]) -> None:
    record, asked = made
    protocol = evaluator_of(record).protocol  # type: ignore[attr-defined]
    rows = pl.read_parquet(record.samples)
    used = {(row["method"], row["prompt_sha256"]) for row in rows.iter_rows(named=True)}
    assert used == {(method, protocol.prompt_of(method).sha256) for method in ("cross_judge", "self_judge")}
    assert {len(request["messages"]) for request in asked} == {1, 2}
    own = next(request["messages"] for request in asked if len(request["messages"]) == 2)
    assert own[0]["role"] == "system"
    assert "PASS if overall_score >= 5" in own[0]["content"]
    assert '"Right": 1|2|3|4|5,' in own[0]["content"]
    assert all("- kind (0 or 1): Is it kind?" in request["messages"][-1]["content"] for request in asked)
    assert {request["max_tokens"] for request in asked} == {512}


def test_it_is_analysed_on_its_scales(made: tuple[Record, list[dict[str, Any]]]) -> None:
    record, _ = made
    analysis = json.loads(record.aggregates.read_bytes())["analysis"]
    (target,) = {one["target_model"] for one in analysis["targets"]}
    assert target == "m"  # by cross-judging alone
    assert all(one["overall"]["value"] == 6 for one in analysis["targets"])
    assert analysis["rules"]["severity_at_most"] == 5 / 8  # an eighth of the points from 1 to 6
    probes = {one["probe"]: (one["passed"], one["expected"], one["found"]) for one in analysis["probes"]}
    assert probes["empty"] == (False, "FAIL, with Right 1", "PARTIAL 4, Right 4")  # by j, of its own first output
    assert probes["padded"][2] == "4 of 6, and 4 as it is"
    assert probes["other_question"][1] == "no PASS"


def test_the_record_needs_no_folder(made: tuple[Record, list[dict[str, Any]]], tmp_path: Path) -> None:
    record, _ = made
    assert verify(record).holds
    started = record.started()
    kept = {name: value for name, value in started.inputs.items() if name.startswith("spec/")}
    assert sorted(kept) == ["spec/others.txt", "spec/spec.toml", "spec/system.txt"]
    manifest = json.loads(record.manifest.read_bytes())
    assert (manifest["spec"], manifest["spec_sha256"]) == ("shop@v2", evaluator_of(record).spec_sha256)
    path = str(record.path)
    for words in (
        ("rescore", path, "--reports", str(tmp_path)), ("verify", path), ("show", path),
        ("show", path, "--sample", "0"), ("runs", "--runs", str(record.path.parent)),
        ("judge", "archive", path, "--out", str(tmp_path / "archive")),
        ("judge", "archive", path, "--check", str(tmp_path / "archive")),
    ):  # fmt: skip
        done = benchbook_here(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    page = next(tmp_path.rglob("report.html")).read_text("utf-8")
    assert "with the overall score of 6" in page
    assert "kind" in page


def test_the_server_shows_its_evaluations(made: tuple[Record, list[dict[str, Any]]], tmp_path: Path) -> None:
    api = api_over(made[0].path.parent, str(tmp_path / "catalog.sqlite"))
    try:
        first = api.json("/api/v1/evaluations/0?run=run")
        assert (first["scores"], first["overall_score"]) == ({"Right": 4, "kind": 0}, 4)
        assert api.json("/api/v1/evaluations?run=run")["n"] == 8
        found = api.json("/api/v1/judges/run")
        assert (found["spec"], found["analysis"]["rules"]["severity_at_most"]) == ("shop@v2", 0.625)
        assert found["protocol"] == {
            "dimensions": [
                {"name": "Right", "title": "Right", "lowest": 1, "highest": 5},
                {"name": "kind", "title": "Kind", "lowest": 0, "highest": 1},
            ],
            "lowest": 1, "highest": 6, "span": 5,
        }  # fmt: skip
        (listed,) = api.json("/api/v1/judges")["experiments"]
        assert (listed["run_id"], listed["spec"], listed["n_evaluations"]) == ("run", "shop@v2", 8)
        assert api.json("/api/v1/runs/run")["samples_are"] == "evaluations"
    finally:
        api.app.stop()


def test_the_archive_is_whole_by_itself(made: tuple[Record, list[dict[str, Any]]], tmp_path: Path) -> None:
    record, _ = made
    folder = tmp_path / "archive"
    assert benchbook_here("judge", "archive", str(record.path), "--out", str(folder)).returncode == 0
    assert sorted(path.name for path in (folder / "used_spec").iterdir()) == ["others.txt", "spec.toml", "system.txt"]
    readme = (folder / "valid_evaluations" / "README.md").read_text("utf-8")
    assert "- Each dimension is scored: `Right` 1, 2, 3, 4 or 5, `kind` 0 or 1." in readme
    assert "`FAIL` up to 2, `PASS` from 5 on" in readme
    assert "- Evidence is there for `Right`: a quote of at most 3 words, or 6 characters" in readme
    prompts = (folder / "used_prompt_manifest.md").read_text("utf-8")
    assert re.findall("^## (.*)$", prompts, re.MULTILINE) == ["shop&#64;v2 others", "shop&#64;v2 own"]
    found = read_archive(folder)
    assert found.protocol.names == ("Right", "kind")
    assert {row.verdict for row in found.rows} == {"PASS", "PARTIAL"}
    spec = folder / "used_spec" / "spec.toml"
    spec.write_bytes(spec.read_bytes().replace(b"pass_at_least = 5", b"pass_at_least = 6"))
    with pytest.raises(RecordError, match=r"run_log\.json names another"):
        read_archive(folder)


def test_a_strangers_file_beside_the_archived_spec_is_not_lost(
    made: tuple[Record, list[dict[str, Any]]], tmp_path: Path
) -> None:
    words = ("judge", "archive", str(made[0].path), "--out", str(tmp_path / "archive"))
    assert benchbook_here(*words).returncode == 0
    assert benchbook_here(*words).returncode == 0  # in its own place
    (tmp_path / "archive" / "used_spec" / "mine.txt").write_text("x", encoding="utf-8")
    done = benchbook_here(*words)
    assert (done.returncode, b"used_spec/mine.txt" in done.stderr) == (2, True)


def test_no_name_of_a_kept_file_leads_elsewhere(made: tuple[Record, list[dict[str, Any]]], tmp_path: Path) -> None:
    """A record is somebody's file: what it calls the files of its spec is not written to where that leads."""
    started = made[0].started()
    hostile = {"spec/../../out.txt": started.inputs["spec/others.txt"]}
    changed = msgspec.structs.replace(started, inputs={**started.inputs, **hostile})
    with pytest.raises(RecordError, match=r"found '\.\./\.\./out\.txt'; expected a file's name"):
        kept_protocol(made[0], changed)


def test_an_archived_file_is_read_again(made: tuple[Record, list[dict[str, Any]]], tmp_path: Path) -> None:
    record, _ = made
    folder = tmp_path / "archive"
    benchbook_here("judge", "archive", str(record.path), "--out", str(folder))
    protocol = load_protocol(folder / "used_spec").protocol
    files = sorted((folder / "valid_evaluations").rglob("*.json"))
    texts = {sha256: record.input(sha256).read_text("utf-8") for name, sha256 in record.started().inputs.items()
             if name.startswith("text/")}  # fmt: skip
    assert files
    for file in files:
        text = texts[json.loads(file.read_bytes())["text_sha256"]]
        assert validate(file.read_text("utf-8"), output_text=text, options=Options(protocol=protocol)).valid


def test_an_interrupted_experiment_goes_on_without_the_folder(tmp_path: Path) -> None:
    make_set(tmp_path)
    spec = written(tmp_path / "shop@v2")

    def stop(progress: Progress) -> None:
        if progress.done == 2 and not progress.stopping:
            os.kill(os.getpid(), signal.SIGINT)

    with running(judged) as server:
        values = {
            "spec": str(spec), "set": str(tmp_path / "set"), "task": "unknown", "run_id": "run",
            "runs": str(tmp_path / "runs"), "judges": [{"model": "openai/j@2026-01-01", "base_url": server.base_url}],
            "max_connections": 1,
        }  # fmt: skip
        first = run_async(start_run(judging_config_from_mapping(values, "test"), stop))
        assert first.derived.aggregates.n_evaluations < 8
        shutil.rmtree(spec)
        second = run_async(resume_run(first.record))
        assert len(server.asked["candidate"]) == 8
    assert second.derived.aggregates.n_evaluations == 8
    assert second.derived.aggregates.warnings == [
        "What the targets were asked is not known: everything was judged without the instructions."
    ]
    assert verify(second.record).holds


def test_two_methods_may_share_a_text(tmp_path: Path) -> None:
    make_set(tmp_path)
    prompts = 'file = "others.txt"\n[[prompts]]\nname = "own"\nmethods = ["self_judge"]\nfile = "others.txt"\n'
    spec = SPEC[: SPEC.index('file = "others.txt"')] + prompts
    with running(judged) as server:
        record = experiment(tmp_path, server, written(tmp_path / "shop@v2", spec)).record
    words = ("judge", "archive", str(record.path), "--out", str(tmp_path / "archive"))
    assert benchbook_here(*words).returncode == 0
    assert len(list((tmp_path / "archive" / "used_prompts").iterdir())) == 1


def test_the_library_takes_a_folder(tmp_path: Path) -> None:
    make_set(tmp_path)
    spec = written(tmp_path / "shop@v2")
    with running(judged) as server:
        found = bb.judge(
            spec=spec, set=str(tmp_path / "set"), prompts=str(tmp_path / "prompts.jsonl"), runs=str(tmp_path / "runs"),
            judges=[{"model": "openai/j@2026-01-01", "base_url": server.base_url}],
        )  # fmt: skip
    assert found.aggregates.n_valid == 6


def test_replies_are_parsed_by_a_folder(tmp_path: Path) -> None:
    written(tmp_path / "shop@v2")
    meta = {"judge_model": "j", "target_model": "t", "question_id": "q", "prompt_variant": "v", "output_id": "o",
            "method": "cross_judge", "timestamp": "2026-01-01"}  # fmt: skip
    reply = {
        "meta": meta, "scores": {"Right": 5, "kind": 2, "overall_score": 7}, "verdict": "PASS", "flags": [],
        "evidence": [{"dimension": "Right", "quote": "We open at nine.", "reason": "So."}],
    }  # fmt: skip
    line = {"id": 1, "reply": json.dumps(reply), "output_text": "We open at nine."}
    (tmp_path / "replies.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = benchbook_here("parse", "shop@v2", "replies.jsonl", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert [(one["code"], one["message"]) for one in found["details"]] == [
        ("score_out_of_range", "found 2; expected 0 or 1"), ("quote_too_long", "4 words, over 3"),
    ]  # fmt: skip


def test_other_thresholds_are_another_experiment(tmp_path: Path) -> None:
    one = load_protocol(written(tmp_path / "one")).protocol
    other = load_protocol(written(tmp_path / "other", SPEC.replace("pass_at_least = 5", "pass_at_least = 6"))).protocol
    assert one.sha256 != other.sha256
    assert (one.verdict((4, 1)), other.verdict((4, 1)), other.verdict((5, 1))) == ("PASS", "PARTIAL", "PASS")


@pytest.mark.parametrize("spec", ["rubric@v1", "judge_protocol@v2", "nowhere"])
def test_another_evaluator_does_not_judge_outputs(spec: str, tmp_path: Path) -> None:
    make_set(tmp_path)
    with pytest.raises(ConfigError, match="expected judge_protocol@v1, or the folder of a judge protocol of your own"):
        bb.judge(spec=spec, set=str(tmp_path / "set"), task="unknown", judges=[{"model": "openai/j@2026-01-01"}])


def test_a_folder_of_another_kind_does_not_judge_outputs(tmp_path: Path) -> None:
    make_set(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "spec.toml").write_text('name = "x"\nversion = 1\nabout = "x"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="dimensions: found nothing; expected at least one"):
        bb.judge(
            spec=tmp_path / "own", set=str(tmp_path / "set"), task="unknown", judges=[{"model": "openai/j@2026-01-01"}]
        )


def test_judgements_made_elsewhere_are_read_by_it(tmp_path: Path) -> None:
    outputs = make_set(tmp_path)
    spec = written(tmp_path / "shop@v2")
    rows = [
        output.cell | {
            "judge_model": "z", "method": "cross_judge", "reply": {
                "meta": output.cell | {"judge_model": "z", "method": "cross_judge", "timestamp": "2026-01-01"},
                "scores": {"Right": 3, "kind": 1, "overall_score": 4}, "verdict": "PARTIAL", "flags": [],
                "evidence": [{"dimension": "Right", "quote": "# Answer", "reason": "So."}],
            },
        }
        for output in outputs.outputs
    ]  # fmt: skip
    table = tmp_path / "replies.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = (
        "judge",
        "import",
        str(table),
        "--set",
        str(tmp_path / "set"),
        "--record",
        "r",
        "--runs",
        str(tmp_path / "runs"),
    )
    done = benchbook_here(*words, "--spec", str(spec), "--reports", "none")
    assert done.returncode == 0, done.stderr
    shutil.rmtree(spec)
    record = Record(tmp_path / "runs" / "r")
    assert verify(record).holds
    found = pl.read_parquet(record.samples)
    assert (found["valid"].all(), set(found["Right"]), set(found["verdict"])) == (True, {3}, {"PARTIAL"})
