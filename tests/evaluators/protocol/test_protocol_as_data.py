"""`judge_protocol@v1`, written in the form of a user's own protocol, is the same: the proof that the form is right."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.protocol import plan
from benchbook.evaluators.protocol.evaluator import EVALUATOR
from benchbook.evaluators.protocol.folders import read_protocol
from benchbook.evaluators.protocol.probes import probe_rules, probes_for
from benchbook.evaluators.protocol.requests import RenderedPrompt, prompt_values, render_prompt
from benchbook.evaluators.protocol.spec import MethodPrompt, protocol_v1, reply_schema
from benchbook.evaluators.protocol.validity import parse_line
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.specs import load_spec
from benchbook.specs.folders import FilesBeside
from golden.views import FOLDERS, PROTOCOL
from support import cases

FOLDER = Path(__file__).parent / "protocol_as_data" / "judge_protocol@v1"
AS_DATA = read_protocol(FilesBeside(FOLDER), FOLDER / "spec.toml")
V1 = protocol_v1()
ASKED = {
    "judge_model": "j", "target_model": "t", "question_id": "Q1", "prompt_variant": "A", "output_id": "o",
    "method": "cross_judge",
}  # fmt: skip


def test_it_compiles_to_the_same() -> None:
    assert replace(AS_DATA, sha256=V1.sha256) == V1
    assert AS_DATA.prompt_sha256 == V1.prompt_sha256 == load_spec("judge_protocol@v1").file_sha256("prompt.txt")


def test_the_schema_of_its_reply_follows_from_its_dimensions() -> None:
    frozen = load_spec("judge_protocol@v1").files["reply.schema.json"]
    asked = {name: part for name, part in msgspec.json.decode(frozen).items() if name not in ("$schema", "title")}
    assert msgspec.json.encode(reply_schema(AS_DATA)) == msgspec.json.encode(asked)  # its bytes are sent, in this order


def test_what_a_protocol_says_of_itself_are_the_frozen_prompts_words() -> None:
    prompt = MethodPrompt("words", ("cross_judge",), (("user", "{{reply}}\n{{verdict}}"),))
    values = prompt_values(task="t", output_text="o", asked=ASKED, date="2026-01-01")
    said = str(RenderedPrompt(prompt, V1).render(values))
    reply, _, verdict = said.partition("\noverall_score")
    frozen = V1.prompts[0].text
    assert reply in frozen
    assert all(line in frozen for line in verdict.splitlines()[1:3])


hostile = st.text() | st.sampled_from(["{{output_text}}", "{{dimensions}}{{task}}", "{{", "}}", "{{{{meta}}}}"])


@given(hostile, hostile)
def test_a_judge_is_asked_the_same_bytes(task: str, output_text: str) -> None:  # R2.2
    values: dict[str, Any] = {"task": task, "output_text": output_text, "asked": ASKED, "date": "2026-03-14"}
    assert render_prompt(AS_DATA, **values) == render_prompt(V1, **values)
    assert probes_for(output_text, task, AS_DATA) == probes_for(output_text, task, V1)


def test_verdicts_and_probes_are_the_same() -> None:
    for scores in product(range(3), repeat=4):
        assert AS_DATA.verdict(scores) == V1.verdict(scores)
    expected = {kind: rule.expected for kind, rule in probe_rules(V1).items()}
    assert {kind: rule.expected for kind, rule in probe_rules(AS_DATA).items()} == expected


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("protocol_reply"))
def test_replies_are_read_alike(case: dict[str, Any]) -> None:
    assert parse_line(case, AS_DATA) == parse_line(case, V1)


@pytest.mark.parametrize("name", PROTOCOL)
def test_records_are_derived_to_the_same_bytes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record(FOLDERS[name])
    made = {}
    for form, protocol in (("v1", V1), ("data", AS_DATA)):
        monkeypatch.setattr(plan, "protocol_of", lambda *_, protocol=protocol: protocol)
        folder = tmp_path / form
        folder.mkdir()
        assert EVALUATOR.derive_checked(record, folder, read_state(record.journal)) == []
        made[form] = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert made["v1"].keys() == {"samples.parquet", "aggregates.json", "manifest.json"}
    assert made["data"] == made["v1"]
