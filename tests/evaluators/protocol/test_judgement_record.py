"""Records of judgements that were made elsewhere: whole or not at all, verified like all others (SPEC P5, P6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import UsageError
from benchbook.evalsets.output_set_sources import find_in_folder
from benchbook.evalsets.output_sets import OutputSet, write_output_set
from benchbook.evaluators.protocol.import_mapping import OutputIndex, load_mapping
from benchbook.evaluators.protocol.import_record import ImportConfig, record_judgements
from benchbook.evaluators.protocol.imported import ImportedJudgement
from benchbook.evaluators.protocol.importing import How, import_source
from benchbook.evaluators.protocol.requests import render_prompt
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.registry import samples_type
from benchbook.evaluators.verify import verify
from benchbook.record.tables import read_rows
from judging import make_set, sound_reply
from support import ROOT, shared_data


def judgement(outputs: OutputSet, number: int, **more: Any) -> ImportedJudgement:
    output = outputs.outputs[number]
    asked = output.cell | {"judge_model": "z", "method": "cross_judge"}
    prompt = render_prompt(protocol_v1(), task="t", output_text=outputs.text(output), asked=asked, date="2026-01-01")
    values = {
        "source": "s.jsonl", "source_sha256": "0" * 64, "place": f"line {number + 1}", "judge_model": "z",
        "method": "cross_judge", "reply": sound_reply({"messages": [{"content": prompt}]}), **output.cell,
    }  # fmt: skip
    return ImportedJudgement(**(values | more))


def test_judgements_become_facts_that_verify(tmp_path: Path) -> None:
    outputs = make_set(tmp_path)
    made = [judgement(outputs, number) for number in range(8)]
    found = record_judgements(outputs, made, ImportConfig(runs=str(tmp_path / "runs"), run_id="a"))
    assert found.left_out == ()
    assert (found.derived.aggregates.n_evaluations, found.derived.aggregates.n_valid) == (8, 8)
    assert [judge.judge_model for judge in found.derived.aggregates.judges] == ["z"]
    assert verify(found.record).holds


def test_a_name_without_a_version_is_the_one_that_the_table_names(tmp_path: Path) -> None:
    """The judge z is m@1, and the set says m: what calls itself a cross_judge judged its own output."""
    outputs = make_set(tmp_path)
    made = [judgement(outputs, number) for number in range(8)]
    config = ImportConfig(runs=str(tmp_path / "runs"), same_model={"z": "m@1"})
    record = record_judgements(outputs, made, config).record
    found = read_rows(record.samples, samples_type(record))
    assert {(row.target_model, row.valid) for row in found} == {("j", True), ("m", False)}


def test_what_names_no_output_is_left_out_and_counted(tmp_path: Path) -> None:
    outputs = make_set(tmp_path)
    lost = judgement(outputs, 0, question_id=None, remarks=("no output of the set",))
    made = [judgement(outputs, 1), lost]
    found = record_judgements(outputs, made, ImportConfig(runs=str(tmp_path / "runs")))
    assert found.left_out == (lost,)
    identity = found.record.started().identity
    assert (identity["n_left_out"], identity["left_out"][0]["remarks"]) == (1, ["no output of the set"])


def test_two_judgements_of_one_output_by_one_judge_leave_nothing(tmp_path: Path) -> None:
    outputs = make_set(tmp_path)
    made = [judgement(outputs, 1), judgement(outputs, 0), judgement(outputs, 0, source="other.jsonl", place="line 9")]
    with pytest.raises(UsageError, match=r"two judgements of '1' by 'z': s.jsonl line 1 and other.jsonl line 9"):
        record_judgements(outputs, made, ImportConfig(runs=str(tmp_path / "runs")))
    assert not (tmp_path / "runs").exists()


def test_no_judgement_at_all_is_refused(tmp_path: Path) -> None:
    outputs = make_set(tmp_path)
    with pytest.raises(UsageError, match="nothing to record"):
        record_judgements(outputs, [], ImportConfig(runs=str(tmp_path / "runs")))
    assert not (tmp_path / "runs").exists()


def test_a_changed_judgement_is_named(tmp_path: Path) -> None:
    """The file of judgements is an input: its hash holds it; a fact that says otherwise is found too."""
    outputs = make_set(tmp_path)
    record = record_judgements(
        outputs, [judgement(outputs, number) for number in range(4)], ImportConfig(runs=str(tmp_path / "runs"))
    ).record
    path = record.input(record.started().inputs["judgements"])
    path.write_bytes(path.read_bytes().replace(b"It says so.", b"It said so.", 1))
    assert {finding.file for finding in verify(record).findings} == {f"inputs/{path.name}"}


@pytest.fixture(scope="module")
def real_outputs(tmp_path_factory: pytest.TempPathFactory) -> OutputSet:
    folder = shared_data("prompt-drift-lab") / "outputs"
    values = {"question_id": ["q3", "q4"]}
    found = find_in_folder(folder, "{target_model}/{question_id}_{prompt_variant}.{ext}", values)
    return write_output_set(found.candidates, tmp_path_factory.mktemp("drift-lab") / "set")


@pytest.mark.slow  # a process reads each of 32 PDFs
@pytest.mark.xdist_group("drift-lab")  # of one worker, which makes the set once
@pytest.mark.parametrize(
    ("bundle", "not_found"),
    [("v0_invalid/self_judge_claude", 54), ("v1_paraphrase_judge/judge_chatgpt_bundle_gemini", 49)],
)
def test_a_real_bundle_becomes_a_record_with_every_quote_looked_up(
    real_outputs: OutputSet, tmp_path: Path, bundle: str, not_found: int
) -> None:
    bundles = shared_data("prompt-drift-lab") / "judge_bundles"
    mapping = load_mapping(ROOT / "docs" / "examples" / "judgements" / "prompt-drift-lab.toml", protocol_v1())
    source = import_source(str(bundles / f"{bundle}.json"), OutputIndex(real_outputs.outputs), How(mapping))
    made = record_judgements(real_outputs, source.judgements, ImportConfig(runs=str(tmp_path / "runs")))
    rows = list(read_rows(made.record.samples, samples_type(made.record)))
    quotes = [item.located for row in rows for item in row.evidence]
    assert (len(rows), len(quotes), quotes.count("not_found")) == (16, 80, not_found)
    assert json.loads(rows[0].raw_reply)["scores"]
    assert verify(made.record).holds
